"""The rounds of a search, studies on a log's first weeks; then the study of its best settings on all.

A round proposes some settings (`sweep.tuning.proposing`). They are policies of a study on the first quarter
of the search's weeks (``screen``). Settings that are not shown to be worse there than the site's settings, or
than the best so far, under the same jobs, are run on all of the search's weeks (``full``). Both studies are
in the folder ``search`` of the results and grow with each round, so tasks, executors, store and resume are
the usual ones. The settings tried and their results are in a JSON file beside them; without it, the same
rounds, whose tasks are done, are proposed again.

The last weeks are held back from the search. The study that follows runs the site's settings, the best
ones, and the best one without each of its keys, on the whole log; its report compares them on these weeks.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from models import workloads
from models.counting import counted
from models.jobs.calendar import DAY, periods
from models.jobs.trace import SHORT, Trace
from sweep import executors, run
from sweep.config import canonical
from sweep.config.settings import WEEK, Config, Search, refused, seconds_of, shown
from sweep.errors import INTERRUPTED, RunError, SweepError, one_line
from sweep.executors import Detached
from sweep.executors.staying import Staying
from sweep.plan import checks, families
from sweep.plan.data import Plan
from sweep.plan.expansion import expand
from sweep.progress import duration, say
from sweep.statistics.correlation import MIN_BATCHES
from sweep.store import state, writing
from sweep.store.folder import Folder, spare
from sweep.tuning import proposing
from sweep.tuning.proposing import Tried
from sweep.tuning.ranges import applied, ranges

SCREEN, FULL = "screen", "full"
SHARE = 4
"""The search's weeks over the weeks of its first stage."""

FINALISTS = 3
"""Number of settings that are compared on the weeks held back: the more, the wider each interval."""

LIMITED = ("longest_wait", "group_wait")
"""Ratios that a site limits: keys of ``accept``."""

FARTHEST = 1e3
"""Largest ratio that Optuna is given."""

APPRAISED = {"change", "low", "high", *LIMITED, "broken", "lost_jobs", "is_worse"}
"""The values that are kept of a setting's result."""

Setting = dict[str, Any]
"""A setting that was tried, as JSON: name, values, stage, whether it has ended, seconds, and result."""


class Stage(NamedTuple):
    """A part of the log from its beginning on: its length in seconds, and in weeks."""

    name: str
    seconds: float
    weeks: int


class Division(NamedTuple):
    """The stages of a search, all weeks, the first one that is held back, and ``batch_size`` of the studies.

    For a short log, days take the place of weeks, or batches of equally many jobs (``batch_size`` is None).
    """

    stages: tuple[Stage, ...]
    weeks: int
    held_from: int
    batch_size: str | None

    @property
    def values(self) -> str:
        """The name of the parts into which it divides the log."""
        if self.batch_size is None:
            return "batches"
        return "days" if self.stages[-1].seconds < 2 * DAY * self.stages[-1].weeks else "weeks"


def settled(config: Config, folder: Folder, console: Console) -> Config | None:
    """Return the config of the study that follows a search; the search is run first if it is not done.

    Returns
    -------
    Config or None
        For any action except run, the study of the search's next stage; None while a batch system runs a
        round, after which the same command continues.

    Raises
    ------
    SweepError
        If the study cannot be searched over, or Optuna is missing.
    """
    settings = config.settings
    if not settings.tune or settings.searched:
        return config
    search = _Search(config, folder, console)
    if settings.action in ("run", "plan"):
        proposing.check()
        search.check()
    if settings.action == "run" and not search.finish():
        return None
    if search.is_done:
        return search.study()
    say(console, search.progress)
    if settings.action == "plan":
        search.propose()
        say(console, "search: the next round; others follow until budget or search.settings is used up")
    return search.next_study()


class _Search:
    """A search: its ranges, the parts of its log, and the settings tried so far."""

    def __init__(self, config: Config, folder: Folder, console: Console) -> None:
        self._config, self._console, self._folder = config, console, folder
        settings = config.settings
        if len(names := settings.grid["policy"]) != 1:
            raise SweepError(
                f"tune begins with one policy, and grid.policy has {len(names)}: grid.policy=[NAME]"
            )
        self._reference = str(names[0])
        self._file = config.files["policy"][self._reference]
        self._ranges = ranges(settings.tune, self._file, settings.policy)
        if not self._ranges:
            raise SweepError(
                "tune has no key: give the keys that a search may set, tune={KEY: [LOW, HIGH]} (docs/tune.md)"
            )
        self._most = settings.search.settings or math.inf
        budget = math.inf if settings.budget is None else seconds_of(settings.budget)
        if budget is None:
            raise SweepError(refused("budget", settings.budget))
        if budget == self._most == math.inf:
            raise SweepError("tune needs an end: give budget=10min, or search.settings=100")
        self._budget = budget
        plan = expand(self._of_policies({}))
        self._division = _divided(plan, settings.search)
        content = [settings.tune, asdict(settings.accept), settings.seed, self._division, plan.ids]
        self._key = hashlib.sha256(canonical.text(content).encode()).hexdigest()[:8]
        self._place = folder.path / "search" / self._key
        known: Any = folder.read_manifest().get("settings", {})
        if (other := (known.get("searched") or {}).get("key", self._key)) != self._key:
            raise SweepError(
                f"{folder.path} has the results of another search ({other}: other ranges, limits, log or "
                f"code); to keep both: output={spare(folder.path)}"
            )
        self._tried: list[Setting] = []
        with suppress(OSError, ValueError, RecursionError):
            found = json.loads((self._place / "search.json").read_text(encoding="utf-8"))
            self._tried = found if _is_record(found) else []
        self._is_exhausted = False
        made = executors.create(settings.executor, [*plan.families] if settings.action == "run" else [])
        self._executor = made if isinstance(made, Detached) else Staying(made)
        self._parallel = settings.search.at_once if isinstance(made, Detached) else made.workers

    @property
    def _spent(self) -> float:
        """Seconds of the search: the seconds of all its tasks, divided by the number that run at a time."""
        return sum(one["seconds"] for one in self._tried) / self._parallel

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to try."""
        at_end = len(self._tried) >= self._most or self._spent >= self._budget or self._is_exhausted
        return bool(self._tried) and at_end and all(one["ended"] for one in self._tried)

    @property
    def progress(self) -> str:
        """Its progress, in one line."""
        ended = [one for one in self._tried if one["ended"]]
        if not ended:
            of, n = self._division, min(self._config.settings.search.at_once, self._most)
            keys, held = ", ".join(one.key for one in self._ranges), of.weeks - of.held_from
            return (
                f"search: no settings tried yet; {n} at once of {keys}, beside {self._reference}, on the "
                f"first {of.stages[-1].weeks} of {of.weeks} {of.values}; the last {held} are held back"
            )
        stopped = sum(one["stage"] != FULL for one in ended)
        text = f"search: {counted(len(ended), 'setting')} tried, {stopped} stopped early"
        if failed := sum(one["result"] is None for one in ended):
            text += f", {failed} failed"
        for best in _ordered(self._tried)[:1]:
            mean, low, high = (f"{100 * best['result'][part]:+.0f}" for part in ("change", "low", "high"))
            text += f"; the best, {best['name']}, changes the mean wait by {mean} % ({low} to {high} %) there"
        if self._budget < math.inf:
            text += f"; {duration(self._spent)} of {duration(self._budget)}"
        return text

    def check(self) -> None:
        """Refuse outermost values that are not allowed, before the first round."""
        if self._tried:
            return
        ends = ({**one.conditions, one.key: end} for one in self._ranges for end in one.ends)
        those = ({"name": f"trial_{n}", "values": values} for n, values in enumerate(ends))
        try:
            notes = checks.notes(expand(self._of_policies(self._files(those))))
        except SweepError as error:
            raise SweepError(f"outermost values of tune: {error}", error.added) from None
        for note in notes:
            if note.startswith("policy.lines["):  # the final study lacks a key whose line changes nothing
                say(self._console, note)

    def finish(self) -> bool:
        """Run what is left of the search; return whether it is done."""
        with nullcontext() if isinstance(self._executor, Detached) else closing(self._executor):
            while not self.is_done:
                if (running := self._running()) is None:
                    self.propose()
                    self._save()
                elif not self._run(*running):
                    say(self._console, "search: the same command continues when this round has ended")
                    return False
                elif self._running() is None:
                    say(self._console, self.progress)
        return True

    def propose(self) -> None:
        """Add the settings of the next round, unless one is running; nothing is written."""
        settings, tried = self._config.settings, self._tried
        if self._running() is not None:
            return
        n = min(settings.search.at_once, self._most - len(tried))
        known = [_known(one, asdict(settings.accept)) for one in tried]
        found = proposing.proposed(self._ranges, known, int(n), settings.seed)
        if not found:
            self._is_exhausted = True
            say(self._console, "search: all settings within the ranges were tried")
        empty: Setting = {"stage": "", "ended": False, "seconds": 0.0, "result": {}}
        first = len(tried) + 1
        tried += [{"name": f"trial_{n}", "values": values, **empty} for n, values in enumerate(found, first)]

    def _running(self) -> tuple[Stage, list[Setting]] | None:
        """Return the next stage and its settings, all of one round; None between two rounds."""
        left = [one for one in self._tried if not one["ended"]]
        if not left:
            return None
        names = ["", *(stage.name for stage in self._division.stages)]
        return self._division.stages[names.index(left[0]["stage"])], left

    def _run(self, stage: Stage, those: list[Setting]) -> bool:
        """Run settings on a part of the log, and keep their results; return whether they have ended."""
        plan = expand(self._staged(stage, those))
        there = Folder(Path(plan.settings.output), plan.settings.name)
        quiet, before = Console(quiet=True), state.read(plan, there)
        is_detached = isinstance(self._executor, Detached)
        if is_detached and len(before.done) + len(before.failed) < before.total:
            run.run(plan, there, self._console, [], summarise=False)
            return False
        if is_detached and before.failed:
            run.gather(plan, there, quiet, [])
        elif run.run(plan, there, quiet, [], summarise=False, executor=self._executor) == INTERRUPTED:
            raise KeyboardInterrupt
        if plan.ids[0] not in state.read(plan, there).done:
            raise RunError(
                f"{there.path}: the task of {self._reference} failed: run the same command with tune=null to "
                "see the error"
            )
        best = [one["name"] for one in _ordered(self._tried)[:1]]
        appraising: Any = importlib.import_module("analysis.notebook")  # above all packages
        found = appraising.appraised_of(there.path, self._reference, *best)
        for one in those:
            one["stage"], result = stage.name, found.get(one["name"])
            one["ended"] = result is None or stage.name == FULL or result["is_worse"]
            if result is not None:  # None: its task failed
                one["seconds"] += result.pop("seconds")
                one["result"] = result
        self._save()
        return True

    def _save(self) -> None:
        self._folder.create()
        writing.inner(self._place.parent)
        text = f"{json.dumps(self._tried, indent=1)}\n"
        writing.replace(writing.inner(self._place) / "search.json", text.encode())

    def next_study(self) -> Config:
        """Return the study of the next stage; between two rounds, of the site's settings."""
        return self._staged(*(self._running() or (self._division.stages[0], [])))

    def _staged(self, stage: Stage, those: Iterable[Setting]) -> Config:
        """Return a study of some settings, and the best ones so far, on a part of the log."""
        settings = self._config.settings
        return self._of_policies(
            self._files([*_ordered(self._tried)[:1], *those]), output=str(self._place / stage.name),
            schedule=None, fresh=False, batches=stage.weeks, batch_size=self._division.batch_size, tune={},
            workload={**settings.workload, "duration": stage.seconds},
        )  # fmt: skip

    def study(self) -> Config:
        """Return the study of the best settings on the whole log."""
        best = _finalists(self._tried)
        files, without = self._files(best), {}
        words = {
            one["name"]: ", ".join(f"{key}={shown(value)}" for key, value in one["values"].items())
            for one in best
        }
        for one in best[:1]:
            for key in one["values"]:
                left = {other: value for other, value in one["values"].items() if other != key}
                if (file := applied(self._file, left, self._ranges)) != files[one["name"]]:
                    files[name := f"{one['name']} without {key}"] = file
                    without[name] = key
                    words[name] = f"{one['name']} with {key} as in {self._reference}"
        of, is_equal = self._division, self._division.batch_size is None
        searched = {
            "key": self._key, "reference": self._reference, "finalists": [one["name"] for one in best],
            "without": without, "weeks": of.weeks, "held_from": of.held_from, "tried": self._tried,
            "stages": {one.name: one.weeks for one in of.stages},
        }  # fmt: skip
        equal = {"batch_size": None, "batches": SHORT} if is_equal else {}
        made = self._of_policies(files, searched=searched, **equal)
        known = made.described
        return replace(made, described={**known, "policy": {**known.get("policy", {}), **words}})

    def _files(self, those: Iterable[Setting]) -> dict[str, dict[str, Any]]:
        return {one["name"]: applied(self._file, one["values"], self._ranges) for one in those}

    def _of_policies(self, files: Mapping[str, dict[str, Any]], **changed: Any) -> Config:
        """Return a study of the site's settings and others, without a search."""
        config = self._config
        grid = {**config.settings.grid, "policy": [self._reference, *files]}
        settings = replace(config.settings, grid=grid, budget=None, replace=True, **changed)
        policies = {self._reference: self._file, **files}
        return replace(config, settings=settings, files={**config.files, "policy": policies})


def _divided(plan: Plan, search: Search) -> Division:
    """Return the parts of a plan's log: weeks or days, or equal numbers of jobs if these are too few.

    Raises
    ------
    SweepError
        If the study is not of one log as recorded.
    """
    trace, settings = None, plan.settings
    if len(plan.points) == 1 == plan.replications and settings.batch_size == WEEK:
        point = plan.task(0).point
        try:
            trace = (families.find(point.policy["family"]).open_log or workloads.open_workload)(point)
        except ValueError as error:  # a log that cannot be read
            raise SweepError(one_line(error)) from None
    if not isinstance(trace, Trace) or settings.workload.get("duration") is not None:
        raise SweepError(
            "tune searches on one log as recorded: one workload, machine and load, batch_size=week, and "
            "neither workload.resample nor workload.duration"
        )
    submit = trace.jobs.submit
    for size in (WEEK, None):
        begins = periods(submit, settings.batches)[:-1] if size else submit[:: -(-len(submit) // SHORT)]
        held = round(len(begins) * search.held_back)
        mine = len(begins) - held - 1  # a week between belongs to neither: its queue has earlier jobs
        if min(mine, held) >= MIN_BATCHES:
            break
    else:
        raise SweepError(
            f"{trace.name} has {counted(len(submit), 'job')}: too few for {SHORT} batches, which tune needs"
        )
    numbers = {SCREEN: max(MIN_BATCHES, mine // SHARE), FULL: mine}
    if 2 * numbers[SCREEN] > mine:  # hardly cheaper than the whole
        del numbers[SCREEN]
    stages = tuple(Stage(name, float(begins[n] - submit[0]), n) for name, n in numbers.items())
    return Division(stages, len(begins), mine + 1, size)


def _is_record(found: Any) -> bool:
    """Return whether JSON is a record of settings as written; if not, the rounds are proposed again."""
    of: dict[str, Any] = {
        "name": str,
        "values": dict,
        "stage": str,
        "ended": bool,
        "seconds": float,
        "result": dict | None,
    }
    return isinstance(found, list) and all(
        isinstance(one, dict)
        and one.keys() == of.keys()
        and all(isinstance(one[key], kind) for key, kind in of.items())
        and one["stage"] in ("", SCREEN, FULL)
        and (not one["result"] or one["result"].keys() == APPRAISED)
        for one in found
    )


def _known(one: Setting, limits: Mapping[str, Any]) -> Tried:
    """Return a setting for Optuna, with the logarithm of the ratio of the mean waits as its value."""
    result = one["result"]
    if not result:
        return Tried(one["values"], math.log(FARTHEST), {"failed": 1.0})
    broken = {"jobs": float(result["lost_jobs"])}
    for key in (key for key in LIMITED if limits[key] is not None):
        broken[key] = min(result[key], FARTHEST) / limits[key] - 1
    return Tried(one["values"], math.log(max(1 + result["change"], 1 / FARTHEST)), broken)


def _ordered(tried: Iterable[Setting]) -> list[Setting]:
    """Return the settings that are better on the search's weeks and keep the constraints, the best first."""
    results = [(one["result"], one) for one in tried if one["stage"] == FULL and one["result"]]
    kept = [(of["change"], one) for of, one in results if not of["broken"] and of["change"] < 0]
    return [one for _, one in sorted(kept, key=lambda pair: pair[0])]


def _finalists(tried: Sequence[Setting]) -> list[Setting]:
    """Return the settings to compare on the weeks held back: the best of the three waits' Pareto front."""
    front: list[Setting] = []
    for one in _ordered(tried):
        costs = [one["result"][key] for key in LIMITED]
        others = ([other["result"][key] for key in LIMITED] for other in front)
        if not any(all(map(float.__le__, other, costs)) for other in others):
            front.append(one)
    return front[:FINALISTS]

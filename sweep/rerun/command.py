"""The command: check the file and the environment, run its study, compare."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from rich.console import Console

from models.counting import counted
from models.dotted import OURS
from sweep import actions
from sweep.config.chosen import executor
from sweep.config.settings import ACTIONS, Config, Settings
from sweep.errors import RunError, SweepError, unknown
from sweep.plan import finding
from sweep.plan.data import Plan
from sweep.programs.family import COMMAND
from sweep.progress import say
from sweep.rerun import foreign, needs, sameness, versions
from sweep.rerun.original import Original, opened, understood
from sweep.store import provenance, state
from sweep.store.folder import Folder
from sweep.store.loading import loaded

KEYS = ("action", "executor", "fresh", "logs", "modules", "output", "slurm", "trust")
"""Keys of a rerun; all other settings come from the file."""

DEFAULT_EXECUTOR = "dask"

MOST = 8
"""Lines on what differs."""


def main(given: Sequence[str], folders: Sequence[Path], arguments: Sequence[str], watch: bool = False) -> int:
    """Run a study again from its dataset, and return the exit status: 0 only if the results are the same.

    Parameters
    ----------
    given : sequence of str
        The file, then ``key=value``.
    folders : sequence of Path
        Config folders, for the executor.
    """
    named = [argument for argument in given if "=" not in argument]
    if len(named) != 1:
        raise SweepError(
            "rerun takes one dataset: python -m sweep rerun results/packing/packing.nc"
            + (f"; given: {', '.join(named)}" if named else "")
        )
    chosen = _settings([argument for argument in given if argument != named[0]])
    console = Console()
    original = opened(named[0])
    folder = Folder(
        Path(str(chosen.get("output", f"results/{original.config.settings.name}-rerun"))).expanduser(),
        original.config.settings.name,
    )
    if folder.dataset.exists() and folder.dataset.samefile(original.path):
        raise SweepError(f"output={folder.path} holds the file that is to be rerun; give another folder")
    config = _config(original, chosen, folders, folder)
    with understood(original.path):
        _find_modules(original, chosen, console)
        packages = foreign.allowed(original, chosen.get("trust", False), brings_code="modules" in chosen)
        config = replace(config, logs=_logs(original, chosen, packages, console))
        expanded = foreign.planned(original, config, packages)
        _report(original, expanded, console)
    action = config.settings.action
    again = action in ("run", "plan") and not config.settings.fresh and folder.holds_results()
    if again and (n := len(state.read(expanded, folder).done)):
        say(console, f"{folder.path} has {counted(n, 'task')} of an earlier rerun; fresh=true repeats them")
    status = actions.act(expanded, folder, console, list(arguments), watch)
    if status or action not in ("run", "gather"):
        return status
    return _compare(original, folder, console)


def _settings(given: Sequence[str]) -> dict[str, Any]:
    """Return the settings of the rerun; keys of the executor below ``executor.``."""
    chosen: dict[str, Any] = {}
    for argument in given:
        key, _, text = argument.partition("=")
        if key.partition(".")[0] not in KEYS or ("." in key and not key.startswith("executor.")):
            line = unknown("key of a rerun", key, [*KEYS, "executor.KEY"])
            raise SweepError(f"{argument}: a rerun takes its settings from the file; {line}")
        if not text:
            raise SweepError(f"{argument} is empty: give a value")
        chosen[key] = OmegaConf.to_container(OmegaConf.from_dotlist([f"value={text}"]))["value"]  # type: ignore[index, call-overload]
    if (action := chosen.get("action", "run")) not in ACTIONS:
        raise SweepError(unknown("action", action, ACTIONS))
    for key in ("fresh", "trust"):
        if not isinstance(chosen.get(key, False), bool):
            raise SweepError(f"{key}={chosen[key]}: give true or false")
    if "logs" in chosen and not Path(str(chosen["logs"])).expanduser().is_dir():
        raise SweepError(f"logs={chosen['logs']}: no such folder; give the one that holds the logs")
    return chosen


def _config(original: Original, chosen: Mapping[str, Any], folders: Sequence[Path], folder: Folder) -> Config:
    name = str(chosen.get("executor", DEFAULT_EXECUTOR if "slurm" not in chosen else "slurm"))
    keys = {key.partition(".")[2]: value for key, value in chosen.items() if key.startswith("executor.")}
    if "slurm" in chosen:
        keys["profile"] = chosen["slurm"]
    settings: Settings = replace(
        original.config.settings,
        output=str(folder.path),
        action=chosen.get("action", "run"),
        fresh=chosen.get("fresh", False),
        executor=executor(name, keys, folders),
    )
    return replace(original.config, settings=settings)


def _logs(
    original: Original, chosen: Mapping[str, Any], packages: Collection[str] | None, console: Console
) -> dict[str, str]:
    given = Path(str(chosen["logs"])).expanduser() if "logs" in chosen else None
    found, wrong = needs.logs(original, given, packages)
    for line in wrong:
        say(console, line, "red")
    if wrong:
        raise SweepError(
            f"nothing was run: {counted(len(wrong), 'log', 'is', of=len(original.logs))} not here with "
            "the content that was used"
        )
    return found


def _find_modules(original: Original, chosen: Mapping[str, Any], console: Console) -> None:
    """Make sure that the study's own code can be imported."""
    if "modules" in chosen:
        if not original.modules:
            raise SweepError(
                f"modules={chosen['modules']}: {original.path} has no code of its own; omit modules="
            )
        for file in needs.write_modules(original.modules, Path(str(chosen["modules"])).expanduser()):
            say(console, f"written from the file: {file}")
    finding.clear_caches()  # files may have gone since this session found them; nothing is imported here
    for name in original.attribute("sources"):
        if name.startswith(COMMAND) or finding.find(name) is not None:
            continue
        carried = name.replace(".", "/")
        if any(place.startswith((f"{carried}.", f"{carried}/")) for place in original.modules):
            raise SweepError(
                f"module {name} is not installed, but the file carries it: modules=FOLDER writes it there "
                "and runs it (it is code: read it first if you do not trust the origin of the file)"
            )
        if name.partition(".")[0] in OURS:
            way = versions.checkout(original) or "use the version that the file was made with"
            raise SweepError(f"module {name} is not in this version of the project: {way}")
        raise SweepError(
            f"module {name} is not installed, and the file does not carry it, as it belongs to a package: "
            "install that package"
        )


def _report(original: Original, expanded: Plan, console: Console) -> None:
    made = str(original.data.attrs.get("created", ""))[:10]
    commit = f", commit {provenance.shown_commit(original.commit)}" if original.commit else ""
    say(
        console,
        f"rerun of {original.path}" + (f", made {made}{commit}" if made else "")
        + f": {counted(len(expanded.points), 'point')} x {counted(expanded.replications, 'replication')}",
    )  # fmt: skip
    for line in versions.differences(original, expanded):
        say(console, line, "yellow")
    if n := sameness.unfinished(original.data):
        tasks = f"{counted(n, 'task')} of the file never finished"
        say(console, f"{tasks}: all are run here, and the finished points are compared")


def _compare(original: Original, folder: Folder, console: Console) -> int:
    if not folder.dataset.is_file():
        say(console, "not finished yet: run the same command later, which then compares the two")
        return 0
    new = loaded(folder.dataset, decode_cf=False)
    if n := sameness.lacking(original.data, new):
        say(
            console,
            f"{counted(n, 'task', 'is')} not finished yet: run the same command later, which then compares",
        )
        return 0
    lines = list(sameness.differences(original.data, new))
    if not lines:
        say(console, f"identical, bit for bit: {_same(original, new)}", "green")
        return 0
    say(console, f"differs from {original.path}:", "red")
    for line in lines[:MOST]:
        say(console, f"  {line}")
    if len(lines) > MOST:
        say(console, f"  and {len(lines) - MOST} more")
    return RunError.status


def _same(original: Original, new: Any) -> str:
    n = len(new.data_vars) - sum(name in new.data_vars for name in sameness.OWN)
    where = ", where it was finished" if sameness.unfinished(original.data) else ""
    return f"all {counted(n, 'variable')} of {original.path}{where} (except seconds, the time of each task)"

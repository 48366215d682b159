"""Every figure and every drawing, made from short runs of the experiments.

The registry of papers lists them; ``short_runs.yaml`` has the settings of short runs, and `short` settings of
other experiments. Pictures, runs and their descriptions are kept in one folder; only pictures whose code or
settings have changed are made again.
"""

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
SETTINGS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("short_runs.yaml").read_text("utf-8"))
CODE = ("models", "sweep", "analysis", "conf", "docs/sitetools")
"""Folders on which pictures depend; the sweep itself finds stale runs."""

SHORT = {"replications": 2, "batches": 4, "batch_size": 100}
"""At most, in an experiment's short run."""

LOG = "LOG"
"""Word in the settings that is replaced by the path of the generated log."""


@dataclass
class Group:
    """The pictures of one experiment, or a drawing.

    Parameters
    ----------
    ran : str
        Settings of the run for these pictures; empty for a drawing.
    pictures : list of dict of str to str
        ``name``, ``title``, ``caption``, ``image`` (its file below the gallery's folder, empty where there is
        none) and ``skipped`` (why there is none).
    error : str
        Why there are none at all.
    """

    name: str
    is_drawing: bool
    ran: str = ""
    pictures: list[dict[str, str]] = field(default_factory=list)
    error: str = ""

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that make it in full."""
        if self.is_drawing:
            return (f"python -m analysis draw {self.name}",)
        needs = f" workload.path={LOG}" if _needs_a_log(self.name) else ""
        return (f"python -m sweep +experiment={self.name}{needs}", f"python -m analysis results/{self.name}")


def experiments(paper: Any) -> list[str]:
    """Return the experiments of a paper that have a file of their own."""
    return [name for name in paper.experiments if _files("experiment", name)]


def every() -> list[Group]:
    """Return all experiments, then all drawings, which read the runs of experiments."""
    from analysis.registry import papers

    groups = [Group(name, False) for paper in papers().values() for name in experiments(paper)]
    return groups + [Group(name, True) for paper in papers().values() for name in paper.drawings]


def make(folder: Path, wanted: list[Group]) -> Iterator[Group]:
    """Make the pictures that are missing or stale side by side, one process a core; yield what was made."""
    stale = [one for one in wanted if not kept(folder, one, is_current=True)]
    folder.mkdir(parents=True, exist_ok=True)
    workers = max(1, min(len(os.sched_getaffinity(0)), len(stale)))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for kind in (False, True):
            parts = [pool.submit(make_one, folder, one) for one in stale if one.is_drawing == kind]
            yield from (part.result() for part in as_completed(parts))


def make_one(folder: Path, wanted: Group) -> Group:
    """Make the pictures of an experiment, or a drawing, and keep them."""
    from analysis.errors import AnalysisError, DrawingError
    from sweep.errors import SweepError

    os.chdir(ROOT)
    group = Group(wanted.name, wanted.is_drawing)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            (_draw if group.is_drawing else _run)(folder, group)
    except (SweepError, AnalysisError, DrawingError) as error:
        group.error = str(error) or repr(error)
        return group
    note = _note(folder, group)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps({"key": _key(group.name), **asdict(group)}), encoding="utf-8")
    return group


def kept(folder: Path, wanted: Group, is_current: bool = False) -> Group | None:
    """Return a group that was made before; `is_current` asks for the same code and settings."""
    note = _note(folder, wanted)
    if not note.is_file():
        return None
    found = json.loads(note.read_text(encoding="utf-8"))
    key, group = found.pop("key"), Group(**found)
    are_there = all((folder / one["image"]).exists() for one in group.pictures)
    return group if are_there and not (is_current and key != _key(group.name)) else None


def short(folder: Path, name: str) -> dict[str, Any]:
    """Return the settings of an experiment's short run."""
    if name in SETTINGS:
        found: dict[str, Any] = _with_log(SETTINGS[name], folder)
        return found
    data = _experiment(name)
    return {key: min(n, data[key]) for key, n in SHORT.items() if isinstance(data.get(key), int)}


def _run(folder: Path, group: Group) -> None:
    import sweep
    from analysis import registry
    from sweep.config import nested

    chosen, place = short(folder, group.name), str(folder / "results" / group.name)
    study = sweep.Study(group.name, executor="serial", output=place, replace=True, **chosen)
    study.run(progress=False)
    seen, paper = registry.opened(study.folder)
    for picture in paper.pictures(seen, _logs()):
        _save(folder, group, picture.draw, group.name, picture.name, picture.title, picture.caption)
    words = (f"{key}={json.dumps(value)}" for key, value in nested.leaves(SETTINGS.get(group.name, chosen)))
    group.ran = " ".join(word.replace('"', "").replace(" ", "") for word in words)


def _draw(folder: Path, group: Group) -> None:
    from analysis.registry import drawings

    drawing = drawings()[group.name]
    settings = dict(drawing.settings)
    if "results" in settings:
        settings["results"] = str(folder / settings["results"])
    caption = drawing.help[0].upper() + drawing.help[1:]
    _save(folder, group, lambda: drawing.draw(settings), "drawings", group.name, group.name, caption)


def _save(
    folder: Path, group: Group, draw: Callable[[], Any], below: str, name: str, title: str, caption: str
) -> None:
    """Draw and save as SVG, or keep the reason why none was drawn."""
    from analysis.errors import DrawingError
    from analysis.figures import style

    image, skipped = f"{below}/{name}.svg", ""
    with style.styled():
        try:
            figure = draw()
            (folder / below).mkdir(parents=True, exist_ok=True)
            figure.savefig(folder / image, metadata={"Date": None, "Creator": None})
        except DrawingError as reason:
            image, skipped = "", str(reason)
    parts = {"name": name, "title": title, "caption": caption, "image": image, "skipped": skipped}
    group.pictures.append(parts)


def _files(group: str, name: str) -> list[Path]:
    """Return the file of a config group that has this name, in any folder; empty where there is none."""
    return list((ROOT / "conf" / group).rglob(f"{name}.yaml"))


def _experiment(name: str) -> dict[str, Any]:
    """Return the content of an experiment's file."""
    return yaml.safe_load(_files("experiment", name)[0].read_text("utf-8"))


def _needs_a_log(name: str) -> bool:
    """Whether an experiment needs a log that only its user can name."""
    named = _experiment(name).get("grid", {}).get("workload", ())
    files = (file for workload in named for file in _files("workload", workload))
    return any("path: ???" in file.read_text(encoding="utf-8") for file in files)


def _with_log(chosen: Any, folder: Path) -> Any:
    """Put the made log's path where the settings have its word."""
    if isinstance(chosen, Mapping):
        return {key: _with_log(value, folder) for key, value in chosen.items()}
    return str(made_log(folder)) if chosen == LOG else chosen


def made_log(folder: Path) -> Path:
    """Return a log of a simulated machine, written once: 128 processors under EASY, four weeks, thirty users.

    Jobs follow Lublin and Feitelson's model with requested times; users are drawn with the
    inverse of their rank as weight.
    """
    import numpy as np

    import sweep

    path = folder / "made_log.swf"
    if not path.is_file():
        jobs = sweep.simulate("easy", workload="lublin2003", machine=128, load=0.7, jobs=2500)
        weights = 1 / np.arange(1, 31)
        users = np.random.default_rng(1).choice(30, size=jobs.sizes["job"], p=weights / weights.sum()) + 1
        work = {name: jobs[name].values for name in ("submit", "runtime", "processors", "requested")}
        part = path.with_suffix(f".{os.getpid()}.swf")
        sweep.simulate("easy", workload={**work, "user": users}, machine=128).schedule.to_swf(part)
        os.replace(part, path)
    return path


@cache
def _code() -> str:
    """Return a digest of all files on which pictures depend."""
    digest = hashlib.sha256()
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".py", ".yaml"):
                digest.update(file.relative_to(ROOT).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()


def _logs() -> Path | None:
    """Return the folder of logs of the archive, which some figures are about."""
    from sweep.logs import folders

    return next((there for one in folders() if (there := ROOT / one).is_dir()), None)


def _key(name: str) -> str:
    return f"{_code()} {json.dumps(SETTINGS.get(name))} {_logs()}"


def _note(folder: Path, group: Group) -> Path:
    return folder / "notes" / f"{'drawing' if group.is_drawing else 'experiment'}-{group.name}.json"

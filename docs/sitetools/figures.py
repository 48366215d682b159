"""Every figure and every drawing, made from short runs of the experiments.

The registry of papers lists them; ``short_runs.yaml`` has the settings of short runs, and `shortened`
settings of other experiments. Pictures, runs and their descriptions are kept in one folder; only pictures
whose code or settings have changed are made again.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
SETTINGS = Path(__file__).with_name("short_runs.yaml")
CODE = ("models", "sweep", "analysis", "conf")
"""Folders on which pictures depend; the sweep itself finds stale runs."""

LOG = "LOG"
"""Word in the settings that is replaced by the path of the generated log."""


@dataclass(frozen=True)
class Entry:
    """A picture of the gallery.

    Parameters
    ----------
    name, title, caption : str
    image : str
        File below the gallery's folder; empty where there is none.
    skipped : str
        Why there is none.
    """

    name: str
    title: str
    caption: str
    image: str = ""
    skipped: str = ""


@dataclass(frozen=True)
class Group:
    """Pictures of one command.

    Parameters
    ----------
    name : str
        Experiment or drawing.
    commands : tuple of str
        Those that make it in full.
    ran : str
        Settings of the run for these pictures; empty for a drawing.
    entries : tuple of Entry
    error : str
        Its message, empty for a success.
    seconds : float
        CPU time that it took.
    """

    name: str
    commands: tuple[str, ...]
    ran: str = ""
    entries: tuple[Entry, ...] = ()
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Section:
    """Experiments and drawings of a paper."""

    citation: str
    experiments: tuple[str, ...]
    drawings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Making:
    """Where pictures are made, and from what.

    Parameters
    ----------
    folder : Path
    logs : Path, optional
        Folder of logs of the archive, which some figures are about.
    settings : dict
        Experiment -> settings of its short run.
    """

    folder: Path
    logs: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def sections() -> dict[str, Section]:
    """Return the sections by the keys of papers, without experiments that have no file of their own."""
    from analysis.registry import papers

    return {
        key: Section(
            paper.citation,
            tuple(name for name in paper.experiments if _files("experiment", name)),
            tuple(paper.drawings),
        )
        for key, paper in papers().items()
    }


def commands_of(name: str, drawing: bool = False) -> tuple[str, ...]:
    """Return the commands that make an experiment's figures in full, or a drawing."""
    if drawing:
        return (f"python -m analysis draw {name}",)
    needs = " workload.path=LOG" if _needs_a_log(name) else ""
    return (f"python -m sweep +experiment={name}{needs}", f"python -m analysis results/{name}")


def make(making: Making, experiments: list[str], drawings: list[str]) -> Iterator[tuple[Group, bool]]:
    """Make all pictures side by side, one process a core; yield each group, and whether it was made now."""
    code = _code()
    made_now = []
    for name, drawing in [*((name, False) for name in experiments), *((name, True) for name in drawings)]:
        if (found := kept(making, name, drawing, code)) is not None:
            yield found, False
        else:
            made_now.append((name, drawing))
    if not made_now:
        return
    making.folder.mkdir(parents=True, exist_ok=True)
    workers = min(len(os.sched_getaffinity(0)), len(made_now))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        # Drawings read the runs of experiments.
        for kind in (False, True):
            parts = [
                pool.submit(make_one, making, name, kind) for name, drawing in made_now if drawing == kind
            ]
            for part in as_completed(parts):
                group = part.result()
                if not group.error:
                    _keep(making, group, kind, code)
                yield group, True


def make_one(making: Making, name: str, drawing: bool) -> Group:
    """Make the pictures of an experiment, or a drawing."""
    import contextlib
    import io

    from analysis.errors import AnalysisError, DrawingError
    from sweep.errors import SweepError

    os.chdir(ROOT)
    begin, output = time.process_time(), io.StringIO()
    try:
        with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
            group = _drawn(making, name) if drawing else _run(making, name)
        return replace(group, seconds=time.process_time() - begin)
    except (SweepError, AnalysisError, DrawingError) as error:
        return Group(name, commands_of(name, drawing), error=str(error) or repr(error))


def _run(making: Making, name: str) -> Group:
    import sweep
    from analysis import registry

    chosen = short(making, name)
    study = sweep.Study(
        name, executor="serial", output=str(making.folder / "results" / name), replace=True, **chosen
    )
    study.run(progress=False)
    seen, paper = registry.opened(study.folder)
    entries = []
    for picture in paper.pictures(seen, making.logs):
        image, skipped = _save(picture.draw, making.folder / name, picture.name)
        entries.append(Entry(picture.name, picture.title, picture.caption, image, skipped))
    return Group(name, commands_of(name), _words(chosen), tuple(entries))


def _drawn(making: Making, name: str) -> Group:
    from analysis.registry import drawings

    drawing = drawings()[name]
    settings = dict(drawing.settings)
    if "results" in settings:
        settings["results"] = str(making.folder / settings["results"])
    image, skipped = _save(lambda: drawing.draw(settings), making.folder / "drawings", name)
    caption = drawing.help[0].upper() + drawing.help[1:]
    return Group(name, commands_of(name, True), entries=(Entry(name, name, caption, image, skipped),))


def _save(draw: Any, folder: Path, name: str) -> tuple[str, str]:
    """Draw and save as SVG; return the file below the gallery's folder, or why there is none."""
    from analysis.errors import DrawingError
    from analysis.figures import style

    with style.styled():
        try:
            figure = draw()
        except DrawingError as reason:
            return "", str(reason)
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    return f"{folder.name}/{name}.svg", ""


def short(making: Making, name: str) -> dict[str, Any]:
    """Return the settings of an experiment's short run."""
    own = making.settings.get(name)
    return shortened(name) if own is None else _with_log(own, making.folder)


def shortened(name: str) -> dict[str, Any]:
    """Return settings that make any experiment's run short: few replications of few small batches."""
    data = _experiment(name)
    most = {"replications": 2, "batches": 4, "batch_size": 100}
    return {key: min(n, data[key]) for key, n in most.items() if isinstance(data.get(key), int)}


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


def _words(chosen: Mapping[str, Any]) -> str:
    """Return the settings of a run in the words of the command line."""

    def words(prefix: str, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            for key, below in value.items():
                yield from words(f"{prefix}.{key}" if prefix else key, below)
        else:
            text = json.dumps(value, default=str).replace('"', "").replace(" ", "")
            yield f"{prefix}={Path(text).name if '/' in text and prefix.endswith('path') else text}"

    return " ".join(words("", {key: value for key, value in chosen.items() if key != "exclude"}))


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


def _code() -> str:
    """Return a digest of all files on which pictures depend."""
    digest = hashlib.sha256()
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".py", ".yaml"):
                digest.update(file.relative_to(ROOT).as_posix().encode() + file.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


def _note(making: Making, name: str, drawing: bool) -> Path:
    return making.folder / "notes" / f"{'drawing' if drawing else 'experiment'}-{name}.json"


def _key(making: Making, name: str, code: str) -> str:
    return f"{code} {json.dumps(making.settings.get(name))} {making.logs}"


def _keep(making: Making, group: Group, drawing: bool, code: str) -> None:
    note = _note(making, group.name, drawing)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(
        json.dumps({"key": _key(making, group.name, code), "group": asdict(group)}), encoding="utf-8"
    )


def kept(making: Making, name: str, drawing: bool, code: str | None = None) -> Group | None:
    """Return a group that was made before; by the same code and settings, if the code's digest is given."""
    note = _note(making, name, drawing)
    if not note.is_file():
        return None
    found = json.loads(note.read_text(encoding="utf-8"))
    if code is not None and found["key"] != _key(making, name, code):
        return None
    group = found["group"]
    entries = tuple(Entry(**entry) for entry in group["entries"])
    if any(entry.image and not (making.folder / entry.image).is_file() for entry in entries):
        return None
    return Group(**{**group, "commands": tuple(group["commands"]), "entries": entries})


def making(folder: Path) -> Making:
    """Return how the site makes its pictures in a folder."""
    from sweep.logs import folders

    logs = next((place for one in folders() if (place := ROOT / one).is_dir()), None)
    return Making(folder, logs, yaml.safe_load(SETTINGS.read_text(encoding="utf-8")))

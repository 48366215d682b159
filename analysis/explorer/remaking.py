"""The input of the models at a point of a dataset: its files, its load, its seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.explorer.rerun import ANY_KEYS, GROUPS
from analysis.study import Study
from analysis.study.study import text
from models.point import Batches, Parameters, Point
from sweep.config.settings import MSER, WEEK, at_load
from sweep.errors import SweepError
from sweep.logs import VARIABLE
from sweep.logs import folders as folders_of_logs
from sweep.plan.seeds import seed
from sweep.plan.variants import KeyAxis, build

HASHED = "sha256:"


def point_of(study: Study, place: Mapping[str, str], replication: int, logs: Sequence[Path] = ()) -> Point:
    """Return the input of the models at a point.

    Parameters
    ----------
    study : Study
    place : dict of str to str
        Axes of the grid and their values.
    replication : int
    logs : sequence of Path
        Folders to look for log files in.

    Raises
    ------
    AnalysisError
        If the dataset holds no config of the point, or a log cannot be found.
    """
    if not all(place[group] in study.config.get(group, {}) for group in GROUPS):
        raise AnalysisError("this dataset holds no config of this point, so its run cannot be repeated")
    settings = study.settings
    policy, workload, machine = (_parameters(study, group, place, logs) for group in GROUPS)
    load = None if place["load"] == "null" else _load(study, place["load"])
    size, warmup = settings.get("batch_size", 1000), settings.get("warmup", 1)
    batches = Batches(
        size if isinstance(size, int) else None,
        0 if warmup == MSER else int(_at_load(warmup, load)),
        _checkpoints(settings, load),
        weeks=size == WEEK,
    )
    root = seed(int(settings.get("seed", 1)), str(workload["name"]), replication)
    return Point(policy, workload, machine, load, batches, root)


def _checkpoints(settings: Mapping[str, Any], load: float | None) -> tuple[int, ...]:
    """Return the numbers of batches at which a run may end."""
    precision, batches = settings.get("precision") or {}, int(_at_load(settings.get("batches", 30), load))
    if precision.get("relative") is None:
        return (batches,)
    return tuple(precision.get("checkpoints") or (batches * factor for factor in (1, 2, 4, 8)))


def _at_load(value: Any, load: float | None) -> Any:
    """Return a number that may depend on the load; the keys of a mapping became text in the dataset."""
    return at_load({float(key): n for key, n in value.items()} if isinstance(value, Mapping) else value, load)


def _load(study: Study, value: str) -> float:
    return float(study.data["load"].values[study.values_of("load").index(value)])


def _parameters(study: Study, group: str, place: Mapping[str, str], logs: Sequence[Path]) -> Parameters:
    """Return a file of a group with what the axes set in it at this place.

    The other files are passed, too, but not their logs: an axis may set a key that only another family has.
    """
    name = place[group]
    file = dict(study.config[group][name])
    if str(file.get("path", "")).startswith(HASHED):
        file["path"] = str(_log(study, str(file["path"]).removeprefix(HASHED), logs))
    files = {name: file}
    for other, content in study.config[group].items():
        files.setdefault(other, {**content, "path": None} if "path" in content else content)
    try:
        return build(group, files, {}, list(_axes(study, group, place)))[0].parameters
    except SweepError as error:
        raise AnalysisError(str(error)) from None


def _axes(study: Study, group: str, place: Mapping[str, str]) -> Iterator[KeyAxis]:
    for axis, target in (study.settings.get("axes") or {}).items():
        known = study.settings["grid"].get(axis, [])
        value = next((one for one in known if text(one) == place[axis]), place[axis])
        named = (study.settings.get("values") or {}).get(axis, {})
        if target == ANY_KEYS:
            yield KeyAxis(axis, "", (named.get(value, {}).get(group, {}),))
        elif target.partition(".")[0] == group:
            yield KeyAxis(axis, target.partition(".")[2], (named.get(value, value),))


def _log(study: Study, digest: str, folders: Sequence[Path]) -> Path:
    """Return the file with this content."""
    names = [str(log["file"]) for log in study.facts.get("logs", [])]
    places = list(dict.fromkeys([*folders, *folders_of_logs()]))
    for folder in places:
        for name in names:
            if (file := folder / Path(name).name).is_file() and _digest(file) == digest:
                return file
    files = " or ".join(dict.fromkeys(names)) or "its log"
    raise AnalysisError(
        f"this picture needs the log {files} with its original content, which is not in "
        f"{', '.join(map(str, places))}: start again with {VARIABLE} set to its folder, or with logs=FOLDER"
    )


@cache
def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()

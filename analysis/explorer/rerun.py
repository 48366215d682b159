"""The command that runs a point again, with the same jobs."""

import re
import shlex
from collections.abc import Iterator, Mapping

from analysis.study import Study
from analysis.study.study import text
from sweep.config.nested import has, leaves
from sweep.config.settings import GROUPS
from sweep.plan.grid import ANY_KEYS

DROPPED = ("output", "action", "executor", "fresh", "replace", "zip", "exclude", "schedule", "slurm")
"""Keys of the original command that do not change a point's numbers, or do not apply to a single point."""


def command(study: Study, place: Mapping[str, str]) -> str:
    """Return the command that reruns a point: the dataset's command, for that point and another folder.

    All replications of the point have the same seeds as before: seeds do not depend on the rest of the grid.

    Parameters
    ----------
    place : dict of str to str
        Axes and their values.

    Returns
    -------
    str
        Empty if the dataset holds no command, or if no command can express the point because its values come
        from a notebook.
    """
    typed = shlex.split(str(study.data.attrs.get("command", "")))
    own = not study.is_program and _has_own(study, place)
    if typed[:3] != ["python", "-m", "sweep"] or own or "__main__." in " ".join(typed):
        return ""
    grid = study.axes_shown
    kept = [argument for argument in typed[3:] if not _is_dropped(argument, grid)]
    others = {
        axis: _others(study, axis, place) if axis in GROUPS and not study.is_program else [] for axis in grid
    }
    found = [
        f"grid.{axis}=[{','.join(_value(study, axis, one) for one in (place[axis], *others[axis]))}]"
        for axis in grid
    ]
    left_out = [
        f"{{{axis}: [{','.join(_value(study, axis, one) for one in names)}]}}"
        for axis, names in others.items()
        if names
    ]
    freed = ["zip=[]"] if study.settings.get("zip") else []
    if left_out or study.settings.get("exclude"):
        freed.append(f"exclude=[{','.join(left_out)}]")
    return shlex.join([*typed[:3], *kept, *found, *freed, f"output=results/{study.name}-again"])


def seeds(study: Study, place: Mapping[str, str]) -> str:
    """Return the seeds of a point in words."""
    n = int(study.data.sizes["replication"])
    numbers = "replication 0" if n == 1 else f"replications 0 to {n - 1}"
    workload = "" if study.is_program else f" workload {place['workload']},"
    return f"seed {study.settings.get('seed', '?')},{workload} {numbers}"


def _has_own(study: Study, place: Mapping[str, str]) -> bool:
    """Whether a point has values without a config file, such as values of a notebook's grid."""
    described = study.facts.get("described") or {}
    return any(group in described and place[group] not in described[group] for group in GROUPS)


def _others(study: Study, group: str, place: Mapping[str, str]) -> list[str]:
    """Return the files of a group that the grid must name and then exclude.

    An experiment may set a key that only another family has; a grid without any file that has the key is an
    error.
    """
    files = study.config.get(group) or {}
    lacking = [key for key in _set(study, group, place) if not has(files.get(place[group], {}), key)]
    found: list[str] = []
    for key in lacking:
        having = [name for name, file in files.items() if has(file, key)]
        if having and not set(having) & set(found):
            found.append(having[0])
    return found


def _set(study: Study, group: str, place: Mapping[str, str]) -> Iterator[str]:
    """Yield the dotted keys of a group that the experiment and its axes set at this place."""
    yield from dict(leaves(study.settings.get(group) or {}))
    for axis, target in (study.settings.get("axes") or {}).items():
        if target == ANY_KEYS:
            named = (study.settings.get("values") or {}).get(axis, {})
            yield from dict(leaves(named.get(place[axis], {}).get(group, {})))
        elif target.partition(".")[0] == group:
            yield target.partition(".")[2]


def _is_dropped(argument: str, grid: list[str]) -> bool:
    key = argument.partition("=")[0].lstrip("+~")
    return key in (*DROPPED, *grid, *(f"grid.{axis}" for axis in grid)) or key.startswith("executor.")


def _value(study: Study, axis: str, value: str) -> str:
    """Return a value of an axis as users type it, numbers with all digits."""
    known = study.data[axis].values[study.values_of(axis).index(value)]
    if isinstance(known, float):  # so are numpy's
        # Beside null, the dataset stores whole numbers as floats, which integer keys refuse.
        typed = [one for one in study.settings["grid"].get(axis, []) if isinstance(one, int) and one == known]
        return "null" if known != known else repr(typed[0] if typed else float(known))
    written = text(known)
    if re.fullmatch(r"[\w./+-]+", written):
        return written
    escaped = written.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

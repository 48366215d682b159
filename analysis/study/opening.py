"""From a results folder to a study."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import xarray as xr

from analysis.errors import AnalysisError
from analysis.study.axes import Axes
from analysis.study.study import Study
from sweep.errors import printable
from sweep.store.loading import loaded


def open_study(where: Path, axes: Axes | None = None) -> Study:
    """Open the dataset of a results folder (or a dataset itself).

    Parameters
    ----------
    axes : Axes, optional
        The paper's axes, if they are known already, see `Study.under`.

    Raises
    ------
    AnalysisError
        If there is none, or it cannot be read as one.
    """
    path = dataset_path(where)
    try:
        data = loaded(path, decode_times=False)
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # the last is what netCDF4 raises for a damaged array
        reason = str(error).partition("\n")[0]
        raise AnalysisError(
            f"{path} cannot be read as a dataset ({reason}): run its command again, which writes it again "
            "from the logs and simulates nothing"
        ) from None
    missing = [name for name in ("policy", "load", "state", "saturated") if name not in data.variables]
    if missing:
        raise AnalysisError(
            f"{path} is no dataset of a sweep, it lacks {', '.join(missing)}: give a folder that "
            "python -m sweep has written, e.g. results/packing"
        )
    if "replication" in data["saturated"].dims:
        raise AnalysisError(
            f"{path} was written by an earlier version, which recorded saturation otherwise: run the sweep's "
            "command again (it is in the dataset's attribute command), then this one"
        )
    if hostile := next(_unprintable(data), None):
        raise AnalysisError(f"{path} has control characters in {hostile}, which no sweep writes: not shown")
    study = Study(data, path.parent)
    return study if axes is None else study.under(axes)


def _unprintable(data: xr.Dataset) -> Iterator[str]:
    """Yield names of attributes and variables with characters that a page or a terminal would obey."""
    for name, value in data.attrs.items():
        # Code of one's own is not shown.
        if name != "recipe" and any(map(_is_hostile, _texts(value))):
            yield f"the attribute {name}"
    for name, variable in data.variables.items():
        texts = variable.values.ravel().tolist() if variable.dtype.kind in "OU" else []
        if any(map(_is_hostile, [*texts, *variable.attrs.values()])):
            yield f"the variable {printable(str(name))}"


def _texts(value: Any) -> Iterator[Any]:
    """Yield the texts of an attribute, those inside JSON as well."""
    if isinstance(value, str) and value.startswith("{"):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *_texts(item))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        yield value


def _is_hostile(value: Any) -> bool:
    return isinstance(value, str) and printable(value) != value


def dataset_path(where: Path) -> Path:
    """Return the dataset of a results folder, or the dataset itself."""
    if where.is_file():
        return where
    if not where.is_dir():
        raise AnalysisError(
            f"{where} does not exist: give the folder of a study's results, e.g. results/packing after "
            "python -m sweep +experiment=packing"
        )
    named = where / f"{where.name}.nc"
    found = [named] if named.is_file() else sorted(where.glob("*.nc"))
    if not found:
        raise AnalysisError(f"{where} holds no dataset (*.nc): run python -m sweep, or action=gather")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise AnalysisError(f"{where} holds several datasets ({names}): name one of them")
    return found[0]

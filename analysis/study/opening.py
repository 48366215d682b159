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
from sweep.errors import SweepError, printable
from sweep.store import loading


def open_study(where: Path, axes: Axes | None = None) -> Study:
    """Open the dataset of a results folder (or a dataset itself).

    Parameters
    ----------
    axes : Axes, optional
        The paper's axes, if they are already known, see `Study.under`.

    Raises
    ------
    AnalysisError
        If there is none, or it cannot be read as one.
    """
    try:
        path, data = loading.opened(where, decode_times=False)
        data = loading.with_all_axes(data)
    except SweepError as error:
        raise AnalysisError(str(error)) from None
    if "replication" in data["saturated"].dims:
        raise AnalysisError(
            f"{path} was written by an earlier version, which recorded saturation differently: run the "
            "sweep's command again (the dataset's attribute `command` has it), then this command"
        )
    if hostile := next(_unprintable(data), None):
        raise AnalysisError(
            f"{path} has control characters in {hostile}, which no sweep writes: it is not opened"
        )
    study = Study(data, path.parent)
    return study if axes is None else study.under(axes)


def _unprintable(data: xr.Dataset) -> Iterator[str]:
    """Yield names of attributes and variables with characters that a page or a terminal would interpret."""
    for name, value in data.attrs.items():
        # A user's own code is never shown.
        if name != "recipe" and any(map(_is_hostile, _texts(value))):
            yield f"the attribute {name}"
    for name, variable in data.variables.items():
        texts = variable.values.ravel().tolist() if variable.dtype.kind in "OU" else []
        if any(map(_is_hostile, [*texts, *variable.attrs.values()])):
            yield f"the variable {printable(str(name))}"


def _texts(value: Any) -> Iterator[Any]:
    """Yield the texts of an attribute, including the texts inside JSON."""
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

"""Finds datasets and reads them as a whole, within the limits of a study's size."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import xarray as xr
from netCDF4 import Dataset

from sweep.errors import SweepError, closest, one_line
from sweep.plan.grid import ALWAYS
from sweep.store import layout
from sweep.store.probe import measured

NEEDED = ("policy", "load", "state", "saturated")
"""Variables that every dataset of a sweep has, and a program's dataset."""


def place(where: Path) -> Path:
    """Return the path of the dataset in a results folder, or of the dataset itself; raises like `opened`."""
    if where.is_file():
        return where
    if not where.is_dir():
        siblings = [one.name for one in where.parent.glob("*") if one.is_dir() or one.suffix == ".nc"]
        meant = closest(where.name, siblings)
        hint = f"did you mean {where.with_name(meant)}? " if meant else ""
        raise SweepError(
            f"{where} does not exist: {hint}give the folder of a study's results, or its dataset, e.g. "
            "results/packing after python -m sweep +experiment=packing"
        )
    named = where / f"{where.name}.nc"
    found = [named] if named.is_file() else sorted(where.glob("[!.]*.nc"))
    if not found and (where / "search").is_dir():
        raise SweepError(f"{where} has a search that has not ended: the command that started it continues it")
    if not found:
        raise SweepError(f"{where} holds no dataset (*.nc): run python -m sweep, or action=gather")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise SweepError(f"{where} holds several datasets ({names}): name one of them")
    return found[0]


def loaded(path: Path, needed: Sequence[str] = (), *, groups: bool = True, **options: Any) -> xr.Dataset:
    """Return a dataset with all its arrays: a checksum is verified only where its array is read.

    Parameters
    ----------
    needed : sequence of str
        Variables without which it is not read.
    groups : bool
        Whether to merge the variables of its groups into it, as in format 1.
    **options
        For `xarray.open_dataset`.

    Raises
    ------
    SweepError
        With one line if the file is damaged, not netCDF, unpacks to too much, or lacks a variable.
    """
    try:
        measured(path)
        with Dataset(path) as file:
            there = [group for group in layout.GROUPS if groups and group in file.groups]
        with ExitStack() as opened:
            parts = [
                opened.enter_context(xr.open_dataset(path, engine="netcdf4", group=group, **options))
                for group in (*there, None)
            ]
            variables = {name: one for part in parts for name, one in part.variables.items()}
            wanted = [name for name in needed if name == "state" or not _is_program(parts[-1].attrs)]
            if missing := [name for name in wanted if name not in variables]:
                raise SweepError(
                    f"{path} is not a dataset of a sweep, it lacks {', '.join(missing)}: give one that "
                    "python -m sweep has written, e.g. results/packing"
                )
            form = str(parts[-1].attrs.get("schedsweep_format", 1))
            if form not in layout.FORMATS:
                raise SweepError(
                    f"{path} has format {form[:20]}, this version reads {' and '.join(layout.FORMATS)}: use "
                    "the version that wrote it, or a later one"
                )
            coords = {name for part in parts for name in part.coords}
            return xr.Dataset(variables, attrs=parts[-1].attrs).set_coords(coords).load()
    except (OSError, ValueError, RuntimeError) as error:  # the last one is raised for a damaged array
        raise SweepError(
            f"{path} cannot be read as a dataset ({one_line(error)}): run its command again, which makes it "
            "from the logs without simulating, or give another copy"
        ) from None


def _is_program(attributes: Mapping[str, Any]) -> bool:
    """Whether the model of a dataset is a function or a command."""
    try:
        settings = json.loads(attributes.get("config", "{}"))["settings"]
        return bool(settings.get("model") or settings.get("command"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def with_all_axes(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset with the axes policy, load and so on, of one value each if a program lacks them."""
    if not _is_program(data.attrs):
        return data
    name = str(next(iter(json.loads(data.attrs["families"]))).rpartition(".")[2])
    lacking = {axis: [math.nan if axis == "load" else name] for axis in ALWAYS if axis not in data.dims}
    found = (
        data
        if "saturated" in data
        else data.assign(saturated=xr.zeros_like(data["state"].isel(replication=0)))
    )
    return found.expand_dims(lacking)


def opened(where: Path, **options: Any) -> tuple[Path, xr.Dataset]:
    """Return the dataset of a sweep and its path.

    Raises
    ------
    SweepError
        With one line if it does not exist, cannot be read, or was not written by a sweep.
    """
    path = place(where)
    return path, loaded(path, NEEDED, **options)

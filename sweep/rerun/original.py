"""The dataset that a study is rerun from, read as it lies there and checked before anything is run."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from sweep.config.settings import Config
from sweep.errors import SweepError, one_line
from sweep.store import provenance, recipe
from sweep.store.loading import loaded

NEEDED = ("policy", "load", "state", "saturated")
"""Variables that every dataset of a sweep has."""


@dataclass(frozen=True)
class Original:
    """What is known of a study from its dataset.

    Parameters
    ----------
    data : Dataset
        As it is stored: flags and missing values not decoded.
    logs : dict of str to str
        Path of each log -> SHA-256 of its content.
    modules : dict of str to str
        File -> text of its own code.
    """

    path: Path
    data: xr.Dataset
    config: Config
    logs: Mapping[str, str]
    modules: Mapping[str, str]

    def attribute(self, name: str) -> dict[str, Any]:
        """Return an attribute that is a JSON object, empty where there is none."""
        found = json.loads(self.data.attrs.get(name, "{}"))
        return found if isinstance(found, dict) else {}

    @property
    def commit(self) -> str:
        """The commit that it was made with, empty where that is not known, or is none."""
        return provenance.known_commit(str(self.data.attrs.get("commit", "")))


def stored(path: Path) -> xr.Dataset:
    """Return a dataset with the bits that the file has.

    Raises
    ------
    SweepError
        If the file is damaged, or no netCDF.
    """
    try:
        return loaded(path, decode_cf=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise SweepError(
            f"{path} cannot be read as a dataset ({one_line(error)}): it is damaged, or something else; give "
            "another copy of it"
        ) from None


def opened(given: str) -> Original:
    """Return the study of a dataset, or of the one in a results folder."""
    path = _path(Path(given).expanduser())
    data = stored(path)
    if missing := [name for name in NEEDED if name not in data.variables]:
        raise SweepError(
            f"{path} is no dataset of a sweep, it lacks {', '.join(missing)}: give one that python -m sweep "
            "has written, e.g. results/packing/packing.nc"
        )
    if "recipe" not in data.attrs:
        raise SweepError(f"{path} has no recipe, from which it could be made again; type its command again")
    with understood(path):
        return Original(path, data, *recipe.read(data.attrs))


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Turn whatever a strange recipe leads to into one line."""
    try:
        yield
    except SweepError:
        raise
    except Exception as error:
        raise SweepError(
            f"{path} has a recipe that this version of the project does not understand "
            f"({type(error).__name__}: {one_line(error)}); use the version that wrote it, or another copy"
        ) from None


def _path(given: Path) -> Path:
    if given.is_file():
        return given
    if not given.is_dir():
        raise SweepError(
            f"{given}: no such file; give a dataset that python -m sweep has written, e.g. "
            "results/packing/packing.nc"
        )
    found = sorted(file for file in given.glob("*.nc") if not file.name.startswith("."))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "no dataset (*.nc)"
        raise SweepError(f"{given} holds {names}: name one file")
    return found[0]

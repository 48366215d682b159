"""The dataset from which a study is rerun, read as stored and checked before anything is run."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from sweep.config.settings import Config
from sweep.errors import SweepError, one_line
from sweep.store import loading, provenance, recipe


@dataclass(frozen=True)
class Original:
    """A study as described by its dataset.

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
        """The commit that it was made with, empty if unknown or not a commit."""
        return provenance.known_commit(str(self.data.attrs.get("commit", "")))


def opened(given: str) -> Original:
    """Return the study of a dataset, or of the one in a results folder, with the stored bits."""
    path, data = loading.opened(Path(given).expanduser(), decode_cf=False)
    if "recipe" not in data.attrs:
        raise SweepError(f"{path} has no recipe from which it could be made again; run its command again")
    with understood(path):
        return Original(path, data, *recipe.read(data.attrs))


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Turn any error that a malformed recipe causes into one line."""
    try:
        yield
    except SweepError:
        raise
    except Exception as error:
        raise SweepError(
            f"{path} has a recipe that this version of the project does not understand "
            f"({type(error).__name__}: {one_line(error)}); use the version that wrote it, or another copy"
        ) from None

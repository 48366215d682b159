"""Single files of conf as plain data, merged with the files on which they build."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf
from yaml import MarkedYAMLError, YAMLError  # type: ignore[import-untyped] # types only by another package

from models.workloads.replayed import of_file
from sweep.config import choices
from sweep.errors import SweepError

FORM = "a file of conf is YAML, with lines of key: value"


def merged(group: str, name: str, folders: Sequence[Path]) -> dict[str, Any]:
    """Return a file merged with those on which it builds; interpolations stay as they are.

    See `lineage` for parameters and errors.
    """
    found: dict[str, Any] = {}
    for keys in lineage(group, name, folders):
        update(found, keys)
    return found


def lineage(
    group: str, name: str, folders: Sequence[Path], above: tuple[str, ...] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the keys of each file in a file's ``defaults``, in that order, and its own.

    A file's own keys come where ``_self_`` stands, otherwise last.

    Parameters
    ----------
    group, name : str
        The full name within the group, see `sweep.config.choices`.
    above : tuple of str, optional
        Files that build on this one.

    Raises
    ------
    SweepError
        If one of the files is missing, is not a YAML mapping, or includes itself.
    """
    path = choices.path(group, name, folders)
    chain = (*above, f"{group}/{name}")
    if chain[-1] in above:
        raise SweepError(f"{path}: builds on itself, {' -> '.join(chain)}; remove it from its defaults")
    own = read(path)
    bases = own.pop("defaults", None) or []
    if not isinstance(bases, list):
        raise SweepError(f"{path}: defaults must be a list; write defaults: [_base, _self_]")
    for base in bases if "_self_" in bases else [*bases, "_self_"]:
        if base == "_self_":
            yield own
        elif isinstance(base, str):
            yield from lineage(*_place_of(base, group, name, folders), folders, chain)
        elif group == "experiment" and isinstance(base, dict) and [*base] == ["override /executor"]:
            yield {"executor": base["override /executor"]}
        else:
            raise SweepError(f"{path}: defaults has {base}; give names of files, [_base, _self_]")


def _place_of(base: str, group: str, name: str, folders: Sequence[Path]) -> tuple[str, str]:
    """Return group and full name of a base: ``_gang`` of the same group, or ``/policy/gang/_gang@_here_``."""
    folder = f"{group}/{name}".rpartition("/")[0]
    given = base[1:].partition("@")[0] if base.startswith("/") else f"{folder}/{base}"
    of_group, _, rest = given.partition("/")
    found = choices.find_base(of_group, rest, folders)
    if found is None:
        raise SweepError(
            f"{group}/{name} builds on {given}, which does not exist; give the name of a file in {of_group}, "
            "or its path from the top, /policy/gang/_gang@_here_"
        )
    return of_group, found


def read(path: Path) -> dict[str, Any]:
    """Return the keys of a YAML file."""
    return copy.deepcopy(_read(path, of_file(str(path))))


@cache  # each file that builds on a base reads it; a file whose state has changed is read again
def _read(path: Path, state: tuple[int, int] | None) -> dict[str, Any]:
    try:
        text = path.read_bytes().decode()
        if text.startswith("\ufeff"):
            raise SweepError(f"{path}: begins with a byte-order mark; save it as UTF-8 without one")
        data = OmegaConf.load(path)
    except UnicodeDecodeError:
        raise SweepError(f"{path}: not a text file in UTF-8; {FORM}") from None
    except MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SweepError(f"{path}{where}: {error.problem}; the file is not valid YAML") from None
    except YAMLError:
        raise SweepError(f"{path}: not a text file in UTF-8; {FORM}") from None
    except OSError as error:
        if error.errno is None:  # raised by OmegaConf
            raise SweepError(f"{path}: holds a single value; {FORM}") from None
        raise SweepError(f"{path}: {error.strerror}; give a file that can be read") from None
    if isinstance(data, ListConfig):
        raise SweepError(f"{path}: holds a list; {FORM}")
    if not isinstance(data, DictConfig) or (data and ":" not in text):
        raise SweepError(f"{path}: holds a single value; {FORM}")
    found: dict[str, Any] = dict(OmegaConf.to_container(data))  # type: ignore[arg-type] # of a mapping: a dict
    if found and all(value is None for value in found.values()):
        raise SweepError(f"{path}: no value for {', '.join(map(str, found))}; {FORM}")
    return found


def update(found: dict[str, Any], keys: Mapping[str, Any]) -> None:
    """Override existing keys; mappings are merged."""
    for key, value in keys.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            update(found[key], value)
        else:
            found[key] = copy.deepcopy(value)

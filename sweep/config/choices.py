"""The files of a config group by name, found without Hydra.

Policies have a folder for each family, ``policy/gang/buddy.yaml``. The full name ``gang/buddy`` always works,
the short name ``buddy`` where no other family has a policy of that name; datasets show short names.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sweep.config import renamed
from sweep.errors import SweepError, unknown

IN_FOLDERS = ("policy",)
"""Groups whose files lie in folders."""

FIRST_SENTENCE = re.compile(r".*?(?:\.(?= [A-Z])|(?=:?$))")

KINDS = {"groups": "groups of jobs"}
"""What a file of a group is, where the group's name does not say it."""


def names(group: str, folders: Sequence[Path]) -> list[str]:
    """Return the full names of the files of a group in all config folders, sorted.

    Files whose name starts with an underscore are bases for others, not choices.
    """
    pattern = "*/*.yaml" if group in IN_FOLDERS else "*.yaml"
    files = [file.relative_to(top) for top in _tops(group, folders) for file in top.glob(pattern)]
    return sorted({file.with_suffix("").as_posix() for file in files if not file.name.startswith("_")})


def find(group: str, given: object, folders: Sequence[Path]) -> str:
    """Return the full name of the file that is meant.

    Raises
    ------
    SweepError
        If there is none, with the closest name or the file's new place; if several, with all of them.
    """
    full, name = names(group, folders), str(given)
    if name in full:
        return name
    meant = [candidate for candidate in full if short(candidate) == name]
    if len(meant) > 1:
        raise SweepError(f"{group} {name}: several families have one of that name; give {' or '.join(meant)}")
    if meant:
        return meant[0]
    if (line := renamed.file(group, name)) is not None:
        raise SweepError(line)
    if (misplaced := _misplaced(group, name, folders)) is not None:
        raise SweepError(misplaced)
    if alike := [candidate for candidate in full if "/" in name and short(candidate) == short(name)]:
        raise SweepError(f"unknown {group} {name!r}: did you mean {' or '.join(map(repr, alike))}?")
    offered = full if "/" in name else labels(full).values()
    raise SweepError(unknown(KINDS.get(group, group), name, offered))


def short(name: str) -> str:
    """Return a full name without its folder."""
    return name.rpartition("/")[2]


def labels(full: Sequence[str]) -> dict[str, str]:
    """Return full name -> what it is called among these: its short name, unless another one has that too.

    Examples
    --------
    >>> labels(["gang/buddy", "gang/migration", "torus/buddy"])
    {'gang/buddy': 'gang/buddy', 'gang/migration': 'migration', 'torus/buddy': 'torus/buddy'}
    """
    count = Counter(short(name) for name in dict.fromkeys(full))
    return {name: short(name) if count[short(name)] == 1 else name for name in full}


def described(group: str, folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield full name and description of each file of a group, sorted by name, see `description`."""
    for name in names(group, folders):
        yield name, description(path(group, name, folders))


def path(group: str, name: str, folders: Sequence[Path]) -> Path:
    """Return the file of a full name: in the first of the config folders that has it."""
    return next(file for top in _tops(group, folders) if (file := top / f"{name}.yaml").is_file())


def check(group: str, name: str, folders: Sequence[Path], above: tuple[str, ...] = ()) -> None:
    """Look at a file, and at those that it builds on, before Hydra does, whose answers are long.

    Raises
    ------
    SweepError
        If one of them is no YAML of keys and values, or builds on itself.
    """
    file = next((file for top in _tops(group, folders) if (file := top / f"{name}.yaml").is_file()), None)
    if file is None:
        return  # told by whoever looks for it
    chain = (*above, f"{group}/{name}")
    if chain[-1] in above:
        raise SweepError(f"{file}: builds on itself, {' -> '.join(chain)}; take it out of its defaults")
    bases = _mapping(file).get("defaults") or []
    if not isinstance(bases, list):
        raise SweepError(f"{file}: defaults is no list; write defaults: [_base, _self_]")
    folder, _, _ = chain[-1].rpartition("/")
    for base in bases:
        if isinstance(base, str) and base != "_self_":
            place = base[1:].partition("@")[0] if base.startswith("/") else f"{folder}/{base}"
            of_group, _, rest = place.partition("/")
            check(of_group, rest, folders, chain)


def _mapping(file: Path) -> Mapping[str, Any]:
    """Return what a YAML file holds, or raise `SweepError` if it is anything but keys and values."""
    import yaml  # type: ignore[import-untyped] # types only by another package

    try:
        data = yaml.safe_load(file.read_bytes().decode())
    except (UnicodeDecodeError, yaml.reader.ReaderError):
        raise SweepError(f"{file}: is no text; a file of conf is YAML, lines of key: value") from None
    except (yaml.YAMLError, RecursionError):
        return {}  # told with its line by Hydra
    except OSError as error:
        raise SweepError(f"{file}: {error.strerror}; give a file that can be read") from None
    if data is not None and not isinstance(data, Mapping):
        kind = "a list" if isinstance(data, list) else "a single value"
        raise SweepError(f"{file}: is {kind}; a file of conf is YAML, lines of key: value")
    return data or {}


def _tops(group: str, folders: Sequence[Path]) -> list[Path]:
    return [folder / group for folder in folders]


def description(file: Path) -> str:
    """Return what a file says of itself: the first sentence of the comment that it begins with."""
    comments = itertools.takewhile(
        lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines()
    )
    lines = (line.removeprefix("#").strip() for line in comments)
    told = " ".join(line for line in lines if line and not line.startswith("@"))
    return FIRST_SENTENCE.match(told)[0]  # type: ignore[index] # it matches any text


def _misplaced(group: str, name: str, folders: Sequence[Path]) -> str | None:
    """Say where a file belongs that lies in the group's folder itself, where all policies once were."""
    if group not in IN_FOLDERS or "/" in name or name.startswith("_"):
        return None
    for top in _tops(group, folders):
        if (file := top / f"{name}.yaml").is_file():
            family = _family(_read(file), group, folders)
            return f"{file}: each family's policies have a folder now; move it to {top / family / file.name}"
    return None


def _family(data: Mapping[str, Any], group: str, folders: Sequence[Path]) -> str:
    """Return the folder that a file belongs to: its family's, or that of the first file that it builds on."""
    if isinstance(data.get("family"), str):
        return str(data["family"]).rpartition(".")[2]
    for base in data.get("defaults") or []:
        for top in _tops(group, folders):
            for file in top.glob(f"*/{base}.yaml"):
                return file.parent.name
    return "FAMILY"


def _read(file: Path) -> Mapping[str, Any]:
    # Only here: the help needs none.
    import yaml

    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError):
        return {}
    return data if isinstance(data, Mapping) else {}

"""The files of a config group by name, found without Hydra.

A file lies in its group's folder or in a folder of it, ``policy/gang/buddy.yaml``. The full name
``gang/buddy`` always works, the short name ``buddy`` where no other file of the group has it; datasets show
short names.
"""

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

from sweep.errors import SweepError, unknown

FIRST_SENTENCE = re.compile(r".*?(?:\.(?= [A-Z])|(?=:?$))")

KINDS = {"groups": "groups of jobs"}
"""What a file of a group is called, where it differs from the group's name."""


def names(group: str, folders: Sequence[Path], bases: bool = False) -> list[str]:
    """Return the full names of the files of a group in all config folders, sorted.

    Files whose name starts with an underscore are bases for others, not choices.
    """
    return sorted({name for name in _all_names(group, folders) if bases or not short(name).startswith("_")})


def _all_names(group: str, folders: Sequence[Path]) -> Iterator[str]:
    for folder in folders:
        top = folder / group
        for file in itertools.chain(*(glob(form, root_dir=top) for form in ("*.yaml", "*/*.yaml"))):
            if os.path.isfile(top / file):  # no folder, pipe or broken link
                yield file.removesuffix(".yaml")


def find(group: str, given: object, folders: Sequence[Path]) -> str:
    """Return the full name of the file that a short or full name refers to.

    Raises
    ------
    SweepError
        If no file matches, with the closest name; if several match, with all of their names.
    """
    full, name = names(group, folders), str(given)
    if name in full:
        return name
    meant = [candidate for candidate in full if short(candidate) == name]
    if len(meant) > 1:
        raise SweepError(f"{group} {name}: several files have this name; give {' or '.join(meant)}")
    if meant:
        return meant[0]
    if alike := [candidate for candidate in full if "/" in name and short(candidate) == short(name)]:
        raise SweepError(f"unknown {group} {name!r}: did you mean {' or '.join(map(repr, alike))}?")
    for folder in folders:
        other = (*(folder / group).glob("*.yml"), *(folder / group).glob("*/*.yml"))
        for file in (file for file in other if file.stem == short(name)):
            raise SweepError(f"{group} {name}: rename {file} to {file.with_suffix('.yaml').name}")
    if group == "machine" and (shape := re.fullmatch(r"(\d+)(x\d+)?", name)):
        key = "mesh" if shape[2] else "processors"
        raise SweepError(f"machine {name}: no file has this name; did you mean machine.{key}={name}?")
    offered = full if "/" in name else labels(full).values()
    raise SweepError(unknown(KINDS.get(group, group), name, offered))


def find_base(group: str, name: str, folders: Sequence[Path]) -> str | None:
    """Return the full name of the file on which another one builds, or None if it does not exist.

    Parameters
    ----------
    name : str
        A file in the same folder, ``gang/_gang``, takes precedence; otherwise it refers to the only file of
        the group with that short name.
    """
    full = set(_all_names(group, folders))
    if name in full:
        return name
    alike = [candidate for candidate in full if short(candidate) == short(name)]
    return alike[0] if len(alike) == 1 else None


def short(name: str) -> str:
    """Return a full name without its folder."""
    return name.rpartition("/")[2]


def labels(full: Sequence[str]) -> dict[str, str]:
    """Return full name -> label among these names: the short name, unless another one has the same.

    Examples
    --------
    >>> labels(["gang/buddy", "gang/migration", "torus/buddy"])
    {'gang/buddy': 'gang/buddy', 'gang/migration': 'migration', 'torus/buddy': 'torus/buddy'}
    """
    count = Counter(short(name) for name in dict.fromkeys(full))
    return {name: short(name) if count[short(name)] == 1 else name for name in full}


def described(group: str, folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield label and description of each file of a group, sorted by label, see `description`."""
    for name, label in sorted(labels(names(group, folders)).items(), key=lambda pair: pair[1]):
        yield label, description(path(group, name, folders))


def path(group: str, name: str, folders: Sequence[Path]) -> Path:
    """Return the file of a full name: in the first of the config folders that has it."""
    return next(file for folder in folders if (file := folder / group / f"{name}.yaml").is_file())


def description(file: Path) -> str:
    """Return the first sentence of the comment at the beginning of a file."""
    comments = itertools.takewhile(
        lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines()
    )
    lines = (line.removeprefix("#").strip() for line in comments)
    text = " ".join(line for line in lines if line and not line.startswith("@"))
    return FIRST_SENTENCE.match(text)[0]  # type: ignore[index] # it matches any text

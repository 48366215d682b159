"""Keys of slurm.conf as fields of records: a key is declared in one line, by its name, values and default.

Keys that Slurm knows but no record declares are data, in ``known.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from models.slurm.configuration.errors import Faults

KNOWN: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("known.toml").read_text(encoding="utf-8"))
LINES = frozenset(KNOWN["lines"].split())
"""Keys that begin a line with keys of its own."""


OF_FILE = ", line "
"""What the place of a line of a file has, before its number."""

SHOWN = "(shown)"
EVENT, NETWORK = "Event", "TopologyName"
"""How a place ends that scontrol shows: with keys that no slurm.conf may have, and without FUTURE nodes. Keys
of lines that no file of Slurm has."""


class Pairs(NamedTuple):
    """A logical line: where it begins, and its pairs of a key and a value, in order."""

    where: str
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Line:
    """A line with keys of its own, or all keys outside such lines; keys are in lower case.

    Parameters
    ----------
    where : str
        Where the line begins, for messages; `places` has the place of each key if they differ, and `names`
        the spelling of its keys.
    """

    where: str
    given: Mapping[str, str]
    faults: Faults
    places: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """The value of the line's first key."""
        return next(iter(self.given.values()))

    @property
    def of_file(self) -> bool:
        """Whether it is a line of a slurm.conf, not of a policy, and not what scontrol shows."""
        return OF_FILE in self.where and not self.where.endswith(SHOWN)

    def text(self, key: str, default: str = "") -> str:
        """Return the text of a key."""
        return self.given.get(key.lower(), default)

    def value(self, names: str, parse: Callable[[str], Any], default: Any) -> Any:
        """Return the parsed value of the first of some keys that is given and not empty; the default beside a
        fault, which has what `parse` states as allowed."""
        name = next((name for name in names.split() if self.text(name)), "")
        try:
            return parse(self.text(name)) if name else default
        except ValueError as allowed:
            where, first = self.places.get(name.lower(), self.where), str(allowed).partition(",")[0]
            of_file = "/" in first and not where.startswith("policy.")
            wins = f"; add policy.lines=['{name}={first}'], which wins over it" if of_file else ""
            self.faults.add(f"{where}: {name}={self.text(name)}; allowed: {allowed}{wins}")
            return default

    def fault(self, text: str) -> None:
        """Add a fault of this line."""
        self.faults.add(f"{self.where}: {text}")

    def record(self, declared: Any) -> dict[str, Any]:
        """Return the declared fields of a record."""
        return {
            one.name: self.value(one.metadata["key"], one.metadata["parse"], one.default)
            for one in fields(declared)
            if "key" in one.metadata
        }

    def check(self, declared: Sequence[Any], section: str, more: Sequence[str] = ()) -> None:
        """Add a note for each key that neither the records nor Slurm know."""
        known = [*names_of(*declared), *KNOWN[section]["no_effect"].split(), *more]
        small = {name.lower() for name in known}
        for key in self.given:
            if key not in small:
                kind = next(iter(self.given))
                what = f"a key of a line {self.names.get(kind, kind)}=..."
                self.faults.unknown(self.where, what, self.names.get(key, key), known)


def key(names: str, parse: Callable[[str], Any], default: Any) -> Any:
    """Declare a key, followed by its older names: the field's value is what `parse` returns for its text."""
    return field(default=default, metadata={"key": names, "parse": parse})


def word(name: str, default: int, most: int, to: Callable[[int], int] = int) -> Any:
    """Declare a number of SchedulerParameters; outside of 0 to `most`, Slurm takes its default."""
    return field(default=to(default), metadata={"word": name, "default": default, "most": most, "to": to})


def switch(name: str) -> Any:
    """Declare a word of SchedulerParameters that is present or absent."""
    return field(default=False, metadata={"word": name})


def choice(name: str, *values: str) -> Any:
    """Declare a word of SchedulerParameters with one of these values, by its number; 0 is none of them."""
    return field(default=0, metadata={"word": name, "values": values})


def names_of(*declared: Any) -> list[str]:
    """Return all names that records declare."""
    every = [one.metadata for record in declared for one in fields(record)]
    return [name for metadata in every for name in metadata.get("key", "").split()]


def known_names(declared: Any, section: str) -> list[str]:
    """Return the names that a record declares, and the further ones that Slurm knows."""
    data = KNOWN[section]
    return [*names_of(declared), *data.get("not_modelled", {}), *data["no_effect"].split()]


def words_of(declared: Any) -> dict[str, Mapping[str, Any]]:
    """Return the declarations of the words of SchedulerParameters."""
    return {one.metadata["word"]: one.metadata for one in fields(declared) if "word" in one.metadata}

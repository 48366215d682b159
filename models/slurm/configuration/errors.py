"""The error of a slurm.conf that cannot be used, and the collection of its faults and notes."""

import difflib
from collections.abc import Collection

MOST_FAULTS = 20
"""Faults that are reported; a file with more of them is not a slurm.conf."""


class ConfigurationError(ValueError):
    """One line: the file and the line of each mistake, what is allowed, and what to do."""


class Faults:
    """The faults of a file, which are reported together, and its notes."""

    def __init__(self) -> None:
        self.found: dict[str, None] = {}
        self.notes: dict[str, None] = {}

    def add(self, fault: str) -> None:
        """Add a fault unless it is known."""
        self.found[fault] = None

    def note(self, note: str) -> None:
        """Add a note unless it is known."""
        self.notes[note] = None

    def unknown(self, where: str, what: str, word: str, known: Collection[str]) -> None:
        """Note an unknown word, which a newer version may have, with the known word most similar to it."""
        names = {name.lower(): name for name in known}
        near = next(iter(difflib.get_close_matches(word.lower(), names, 1)), None)
        hint = f"; did you mean {names[near]}?" if near else ""
        self.note(f"{where}: {word} is not {what} known here, so it has no effect{hint}")

    def check(self) -> None:
        """Raise `ConfigurationError` with all faults, if there are any."""
        if len(self.found) > 1:
            shown = [*self.found][:MOST_FAULTS]
            rest = f"; and {len(self.found) - MOST_FAULTS} more" if len(self.found) > MOST_FAULTS else ""
            numbered = "; ".join(f"({n}) {fault}" for n, fault in enumerate(shown, start=1))
            raise ConfigurationError(f"{len(self.found)} faults: {numbered}{rest}")
        for fault in self.found:
            raise ConfigurationError(fault)

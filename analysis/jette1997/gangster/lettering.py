"""A letter for each job, which it keeps as long as it is seen."""

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits

LETTERS = ascii_lowercase + ascii_uppercase + digits
NO_LETTER = "*"
"""Of jobs beyond so many."""


class Lettering:
    """Gives letters to jobs, each time the next free one after the one given last, as Fig. 2 does."""

    def __init__(self) -> None:
        self._letters: dict[int, str] = {}
        self._next = 0

    def of(self, jobs: Sequence[int]) -> dict[int, str]:
        """Return the letter of each of the jobs that are seen now; those of all others are free again."""
        self._letters = {job: letter for job, letter in self._letters.items() if job in set(jobs)}
        taken = set(self._letters.values())
        for job in jobs:
            if job in self._letters:
                continue
            turns = LETTERS[self._next :] + LETTERS[: self._next]
            letter = next((one for one in turns if one not in taken), NO_LETTER)
            self._letters[job] = letter
            taken.add(letter)
            if letter != NO_LETTER:
                self._next = (LETTERS.index(letter) + 1) % len(LETTERS)
        return dict(self._letters)

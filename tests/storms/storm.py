"""A storm: many random attacks on one thing, and a table of what became of them.

``make storm`` makes many times as many attacks as the tests do, and shows the tables.
"""

import os
import random
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

IN_FULL = "STORM" in os.environ
"""Whether this is ``make storm``."""

LIMIT_S = 300
"""Seconds after which an answer in this process counts as a hang."""

BAD = (
    "traceback",
    "hang",
    "wrong bits",
    "left behind",
    "too much memory",
    "code has run",
    "control characters",
    "several lines",
)
"""Outcomes of which there must be none."""


NOTED = ("refused without the file's name",)
"""Outcomes of which one is shown."""


class Storm:
    """Counts outcomes, and keeps the first attack of each bad one.

    Parameters
    ----------
    name : str
    attacks, in_full : int
        How many in the tests, and in ``make storm``.
    """

    def __init__(self, name: str, attacks: int, in_full: int) -> None:
        self.name = name
        self.attacks = in_full if IN_FULL else attacks
        self.outcomes: Counter[str] = Counter()
        self._worst: dict[str, str] = {}

    def __iter__(self) -> Iterator[random.Random]:
        """Yield a source of chance for each attack, so that a single one can be repeated."""
        for number in range(self.attacks):
            yield random.Random(f"{self.name} {number}")

    def note(self, outcome: str, attack: object) -> None:
        """Count an outcome."""
        self.outcomes[outcome] += 1
        self._worst.setdefault(outcome, str(attack))

    def end(self) -> None:
        """Print the table, and fail if anything bad came out."""
        for outcome, number in self.outcomes.most_common():
            first = f", first {self._worst[outcome][:300]}" if outcome in NOTED else ""
            print(f"{self.name:<12} {number:>6}  {outcome}{first}")
        bad = {outcome: self._worst[outcome] for outcome in BAD if outcome in self.outcomes}
        assert not bad, bad
        assert sum(self.outcomes.values()) >= self.attacks


class HungError(BaseException):
    """An answer took too long."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise in this process what would otherwise never end."""

    def late(*_: object) -> NoReturn:
        raise HungError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def verdict(act: Callable[[], object]) -> tuple[str, object]:
    """Return ``answered`` with what a call returned, or what was wrong with it."""
    try:
        with limited():
            return "answered", act()
    except HungError:
        return "hang", ""
    except Exception:
        return "traceback", traceback.format_exc()


def of_error(text: str) -> str:
    """Return what is wrong with the text of a refusal: it is one line, of characters that can be shown."""
    if not text.removesuffix("\n").isprintable():
        return "control characters" if text.count("\n") == 1 else "several lines"
    return "refused in one line"

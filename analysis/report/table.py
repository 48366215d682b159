"""Tables of a report: cells of plain text, coloured by their meaning.

No table is wider than the page or the terminal: one with too many columns is split into several below each
other, each of which begins with the first column.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.study.curve import FAILED, SATURATED, UNFINISHED

PAGE = 112
"""Characters of small print in a line of the report, the gaps between columns included."""

GAP = 2
"""Characters between two columns."""

WRAPPED = 26
"""Characters in a line of prose in a cell, at least."""

LONG = 40
"""Most characters of a name in one line; a longer one is broken."""


@dataclass(frozen=True)
class Cell:
    """One entry.

    Parameters
    ----------
    tone : str
        A class of the report's style sheet: ``better``, ``worse``, ``open``, or nothing.
    note : str
        Below the text, in small print.
    """

    text: str
    tone: str = ""
    note: str = ""

    @property
    def lines(self) -> list[str]:
        """The text in pieces that are never broken: prose into words, a number before its brackets."""
        if not self.is_number:
            return self.text.split()
        return re.split(r" (?=\()", self.text)

    @property
    def is_long(self) -> bool:
        """Whether it is too long for one line as the label of a row."""
        return len(self.text) > LONG

    @property
    def is_number(self) -> bool:
        """Whether it is a number, possibly with its interval, unit and reference."""
        return len(self.text) <= 2 * WRAPPED and re.match(r"([▼▲] )?[+−<>≤]?[\d.,]+", self.text) is not None


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Parameters
    ----------
    name : str
        Unique in the report, for links.
    columns : sequence of str
        Headings.
    is_first : bool
        Whether it is shown unfolded at the top of the report; where one is, all others are folded.
    is_open : bool
        Whether its fold is open.
    """

    name: str
    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    is_first: bool = False
    is_open: bool = False

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers, which stand below each other at the right."""
        states = ("", "–", SATURATED, FAILED, UNFINISHED)
        columns = (
            [cell for cell in column if cell.text not in states] for column in zip(*self.rows, strict=True)
        )
        return [bool(column) and all(cell.is_number for cell in column) for column in columns]

    @property
    def pages(self) -> list[Table]:
        """The table in parts that fit the report; cells may have several lines."""
        return self.parts([self._wrapped(number) for number in range(len(self.columns))], PAGE)

    def _wrapped(self, number: int) -> int:
        """Return the least width of a column."""
        cells = [row[number] for row in self.rows]
        longest = max((len(line) for cell in cells for line in cell.lines), default=0)
        if any(len(cell.text) > WRAPPED and not cell.is_number for cell in cells):
            longest = max(longest, WRAPPED)
        if number == 0:  # the label of a row is in one line
            longest = min(max((len(cell.text) for cell in cells), default=0), LONG)
        title = max(len(word) for word in self.columns[number].replace("_", "_ ").split())
        return max(longest, min(title, LONG), 1)

    def parts(self, widths: Sequence[int], room: int) -> list[Table]:
        """Return the table cut between columns, so that each part fits; the first column begins each of them.

        Parameters
        ----------
        widths : sequence of int
            Of the columns, characters.
        room : int
            Characters of a line. A wider column becomes a separate part.
        """
        groups: list[list[int]] = [[]]
        used = widths[0]
        for number in range(1, len(widths)):
            if groups[-1] and used + GAP + widths[number] > room:
                groups.append([])
                used = widths[0]
            groups[-1].append(number)
            used += GAP + widths[number]
        if len(groups) == 1:
            return [self]
        return [self._part([0, *group]) for group in groups]

    def _part(self, chosen: Sequence[int]) -> Table:
        columns = [self.columns[i] for i in chosen]
        return replace(self, columns=columns, rows=[[row[i] for i in chosen] for row in self.rows])

    def as_lines(self, room: int | None = None) -> list[str]:
        """Return the table for a terminal: the first column to the left, all others to the right.

        Parameters
        ----------
        room : int, optional
            Characters of a line; None is as many as it takes.
        """
        widths = [max(map(len, column)) for column in zip(*self._texts, strict=True)]
        parts = [self] if room is None else self.parts(widths, room)
        lines: list[str] = []
        for part in parts:
            texts = part._texts
            own = [max(map(len, column)) for column in zip(*texts, strict=True)]
            lines += [""] * bool(lines)
            for row in texts:
                others = (text.rjust(width) for text, width in zip(row[1:], own[1:], strict=True))
                lines.append("  ".join([row[0].ljust(own[0]), *others]).rstrip())
        return lines

    @property
    def _texts(self) -> list[list[str]]:
        return [list(self.columns), *([cell.text for cell in row] for row in self.rows)]


def room() -> int | None:
    """Return the characters of a line of the terminal; None for a file, which has no limit."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns or None
    return None

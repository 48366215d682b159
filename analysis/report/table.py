"""Tables of a report: cells of plain text, coloured by what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One entry.

    Parameters
    ----------
    text : str
    tone : str
        A class of the report's style sheet: ``better``, ``worse``, ``open``, or nothing.
    note : str
        Below the text, in small print.
    """

    text: str
    tone: str = ""
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Parameters
    ----------
    name : str
        Unique in the report, for links.
    title, caption : str
    columns : sequence of str
        Headings.
    rows : sequence of sequence of Cell
    """

    name: str
    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def as_lines(self) -> list[str]:
        """Return the table for a terminal: the first column to the left, all others to the right."""
        texts = [list(self.columns), *([cell.text for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        return ["  ".join(_aligned(row, widths)).rstrip() for row in texts]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for i, (text, width) in enumerate(zip(row, widths, strict=True)):
        yield text.rjust(width) if i else text.ljust(width)

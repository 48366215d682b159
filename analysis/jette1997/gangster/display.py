"""The display as text: on the left the job on each node, on the right a row for each job, by class."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from analysis.jette1997.gangster.remaking import WEEK, Remade, weekday_time
from models.counting import counted

if TYPE_CHECKING:
    from models.production_gang.t3d.moment import Moment

CLASS_NAMES = ("Expr", "Int", "Dbug", "Prod", "Bnch", "Stby")
"""Names of the classes, in the order of their numbers; Dbug and Prod are the paper's."""

GOLDEN, LIGHTNESS = 0.618034, (0.72, 0.58, 0.82)
"""Step around the circle of hues, which never repeats one, and lightnesses in turn, all legible."""

QUEUED = "Q"
UNUSED = "."
HEADER = "CLAS JOB-USER      NUMBER  #PE BASE  W ST   MM:SS"


@dataclass(frozen=True)
class Row:
    """A job of the table.

    Parameters
    ----------
    job : int
        Position in the schedule.
    base : str
        Coordinates of the node where its partition begins, a digit each; ``-1`` without nodes.
    ran : float, seconds
    """

    job: int
    letter: str
    class_name: str
    user: str
    processors: int
    base: str
    wire: str
    state: str
    ran: float

    @property
    def line(self) -> str:
        """The row as in Fig. 2; the time that the job has run is in minutes and seconds."""
        minutes, seconds = divmod(int(self.ran), 60)
        run = f"{minutes}:{seconds:02}" if self.ran > 0 else ""
        owner = f"{self.letter} - {self.user}"
        return (
            f"{self.class_name:<4} {owner:<13} {self.job + 1:>6} {self.processors:>4} {self.base:>4} "
            f"{self.wire:>2}  {self.state} {run:>7}"
        )


@dataclass(frozen=True)
class Screen:
    """The whole display.

    Parameters
    ----------
    nodes : sequence of str
        Lines of letters, a blank line between two planes.
    waiting : int
        Jobs that have not been submitted to the scheduler yet.
    """

    title: str
    summary: str
    nodes: Sequence[str]
    rows: Sequence[Row]
    waiting: int

    @property
    def lines(self) -> list[str]:
        """The display, line by line."""
        width = max(map(len, self.nodes), default=0)
        right = [HEADER, *(row.line for row in self.rows)]
        if self.waiting:
            right += ["", f"{counted(self.waiting, 'more job', 'waits')} in queues"]
        pairs = zip_longest(self.nodes, right, fillvalue="")
        return [self.title, self.summary, "", *(f"{left:<{width}}   {job}".rstrip() for left, job in pairs)]

    @property
    def text(self) -> Text:
        """The same with a colour for each job, for a terminal."""
        width = max(map(len, self.nodes), default=0)
        found = Text()
        for number, line in enumerate(self.lines):
            body = number > 2
            for place, letter in enumerate(line):
                seen = body and (place < width or place in (width + 8, width + 3 + 5))
                found.append(letter, style=color_of(letter) if seen and letter in LETTERS else "")
            found.append("\n")
        return found


def color_of(letter: str) -> str:
    """Return the colour of a job, by its letter: all differ, most between neighbouring letters."""
    if letter not in LETTERS:
        return "#cccccc"
    number = LETTERS.index(letter)
    rgb = colorsys.hls_to_rgb(number * GOLDEN % 1, LIGHTNESS[number % len(LIGHTNESS)], 0.6)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def screen(made: Remade, moment: Moment, letters: Mapping[int, str], abreast: int = 1) -> Screen:
    """Return the display of a moment.

    Parameters
    ----------
    letters : dict of int to str
        Of the jobs submitted to the scheduler, by position in the schedule.
    abreast : int
        Planes of the torus beside each other.
    """
    rows = table(moment, letters)
    date = made.date(moment.time)
    week = int(moment.clock // WEEK) + 1
    when = f"{date.day} {date:%b %Y}" if date else f"week {week}"
    node = made.run.machine.total // moment.owner.size
    total, free = node * moment.owner.size, int(node * (moment.owner < 0).sum())
    disk = sum(row.state == "O" for row in rows)
    return Screen(
        f"gangster - {weekday_time(moment.clock)} - {when} - {made.name}",
        f"{total - free:,} of {total:,} processors assigned, {free:,} free; {counted(disk, 'job')} on disk",
        planes(moment, letters, abreast),
        rows,
        int((moment.state == QUEUED).sum()),
    )


def table(moment: Moment, letters: Mapping[int, str]) -> list[Row]:
    """Return a row for each job submitted to the scheduler, by class, in order of submission."""
    found = []
    for place in np.lexsort((moment.job, moment.job_class)).tolist():
        state = str(moment.state[place])
        if state == QUEUED:
            continue
        job, user, wire = int(moment.job[place]), int(moment.user[place]), int(moment.wire[place])
        found.append(
            Row(
                job,
                letters.get(job, "*"),
                CLASS_NAMES[int(moment.job_class[place])],
                f"user{user}" if user >= 0 else "-",
                int(moment.processors[place]),
                base(moment, place),
                str(wire) if wire >= 0 else "-",
                state,
                float(moment.ran[place]),
            )
        )
    return found


def known(moment: Moment) -> list[int]:
    """Return the positions in the schedule of the jobs submitted to the scheduler."""
    return [int(job) for job, state in zip(moment.job, moment.state, strict=True) if state != QUEUED]


DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def base(moment: Moment, place: int) -> str:
    """Return the coordinates of the node where a job's partition begins, ``-1`` without nodes.

    A partition that wraps around the torus begins at the node without a predecessor in it.
    """
    coordinates = np.argwhere(moment.owner == place)
    if not coordinates.size:
        return "-1"
    found = ""
    for axis, side in enumerate(moment.sides):
        there = set(coordinates[:, axis].tolist())
        first = min((one for one in there if (one - 1) % side not in there), default=0)
        found += DIGITS[first] if first < len(DIGITS) else f".{first}"
    return found


def planes(moment: Moment, letters: Mapping[int, str], abreast: int = 1) -> list[str]:
    """Return the letter on each node: rows are the first dimension, columns the second, planes the third."""
    names = np.array([letters.get(int(job), "*") for job in moment.job] + [UNUSED])
    cells = names[moment.owner]
    cells = cells.reshape(*cells.shape, *(1,) * (3 - cells.ndim))
    each = [[" ".join(row) for row in cells[:, :, plane]] for plane in range(cells.shape[2])]
    lines: list[str] = []
    for first in range(0, len(each), abreast):
        beside = each[first : first + abreast]
        lines += ["   ".join(parts) for parts in zip(*beside, strict=True)]
        if first + abreast < len(each):
            lines.append("")
    return lines


def abreast_for(moment: Moment, height: int) -> int:
    """Return how many planes must be beside each other for a display of at most `height` lines."""
    n_rows, n_planes = moment.sides[0], moment.sides[2] if len(moment.sides) > 2 else 1
    beside = 1
    while beside < n_planes and 4 + -(-n_planes // beside) * (n_rows + 1) > height:
        beside *= 2
    return beside


LETTERS = ascii_lowercase + ascii_uppercase + digits
NO_LETTER = "*"
"""The letter of all jobs beyond the available letters."""


class Lettering:
    """Gives letters to jobs, each time the next free one after the one given last, as Fig. 2 does."""

    def __init__(self) -> None:
        self._letters: dict[int, str] = {}
        self._next = 0

    def of(self, jobs: Sequence[int]) -> dict[int, str]:
        """Return the letter of each visible job; the letters of all other jobs become free."""
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

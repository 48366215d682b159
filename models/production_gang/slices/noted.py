"""What an engine notes: pieces of a schedule, and what becomes of processors that no job has.

An engine stops where the room is full, and goes on when it has been emptied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.jobs.schedule import check_pieces
from models.kernels.compiling import part
from models.kernels.types import record
from models.production_gang.systems import Levels

ROOM = 200_000
WHAT_TO_DO = "take fewer jobs, with a smaller batch_size=… or workload.end=…, or a longer policy.slice=…"


class SlicePieces(NamedTuple):
    """When a job ran on a host, how many of its processors it used, and how many it had; shape (room,).

    `n` is one number, of all pieces that are noted.
    """

    job: Ints
    host: Ints
    begin: Floats
    end: Floats
    used: Floats
    had: Ints
    n: Ints


class SliceLevels(NamedTuple):
    """What is lost from each time on, see `models.production_gang.systems.Levels`; shape (room,).

    `switch_ends` is one time, seconds: until then jobs that have `switching[0]` processors, and use
    `switching[1]` of them later, wait for a switch. `n` is one number, of all that is noted.
    """

    time: Floats
    lost: Floats
    packing: Floats
    limits: Floats
    switch_ends: Floats
    switching: Ints
    n: Ints


class SliceNotes(NamedTuple):
    """Pieces, when processors waited for a switch, and levels."""

    pieces: SlicePieces
    switches: SlicePieces
    levels: SliceLevels


SLICE_PIECES, SLICE_LEVELS, SLICE_NOTES = map(record, (SlicePieces, SliceLevels, SliceNotes))


@part(void(SLICE_PIECES, int64, int64, float64, float64, float64, int64))
def note(pieces: SlicePieces, job: int, host: int, begin: float, end: float, used: float, had: int) -> None:
    """Note a piece, for which there has to be room. O(1)."""
    at = pieces.n[0]
    pieces.n[0] = at + 1
    pieces.job[at] = job
    pieces.host[at] = host
    pieces.begin[at] = begin
    pieces.end[at] = end
    pieces.used[at] = used
    pieces.had[at] = had


@part(boolean(SLICE_NOTES, int64, int64))
def has_room(notes: SliceNotes, n_pieces: int, n_switches: int) -> bool:
    """Tell whether so much more can be noted, and the levels of an instant."""
    pieces, switches, levels = notes.pieces, notes.switches, notes.levels
    return (
        pieces.n[0] + n_pieces <= pieces.job.shape[0]
        and switches.n[0] + n_switches <= switches.job.shape[0]
        and levels.n[0] + 2 <= levels.time.shape[0]
    )


@part(void(SLICE_LEVELS, float64, float64, float64, float64))
def _note_level(levels: SliceLevels, time: float, lost: float, packing: float, limits: float) -> None:
    at = levels.n[0]
    if at > 0 and levels.time[at - 1] == time:
        at -= 1
    elif (
        at > 0
        and levels.lost[at - 1] == lost
        and levels.packing[at - 1] == packing
        and levels.limits[at - 1] == limits
    ):
        return
    levels.time[at] = time
    levels.lost[at] = lost
    levels.packing[at] = packing
    levels.limits[at] = limits
    levels.n[0] = at + 1


@part(void(SLICE_LEVELS, float64, float64, float64, boolean))
def note_levels(levels: SliceLevels, now: float, idle: float, reserve: float, waits: bool) -> None:
    """Note what is lost from now on. O(1).

    Parameters
    ----------
    levels : SliceLevels
    now : float
    idle : float
        Processors that no job uses, switches not looked at.
    reserve : float
        Those of them that are kept from gangs.
    waits : bool
        Whether some job that has been submitted does not run.
    """
    lost = 0.0
    meanwhile = idle
    if now < levels.switch_ends[0]:
        lost = float(levels.switching[0])
        meanwhile = idle + levels.switching[1] - lost
    if lost > 0:
        short = min(reserve, meanwhile)
        _note_level(levels, now, lost, (meanwhile - short) * waits, short * waits)
    else:
        _note_level(levels, now, 0.0, (idle - reserve) * waits, reserve * waits)


@part(void(SLICE_LEVELS, float64, float64, float64, boolean))
def end_switches(levels: SliceLevels, now: float, idle: float, reserve: float, waits: bool) -> None:
    """Before anything happens at an instant: note that switches have ended since the last one. O(1)."""
    if levels.switching[0] > 0 and levels.switch_ends[0] <= now:
        _note_level(levels, levels.switch_ends[0], 0.0, (idle - reserve) * waits, reserve * waits)
        levels.switching[0] = 0
        levels.switching[1] = 0


class Collected:
    """All that a run notes: an engine stops where the room is full, and goes on when it has been emptied."""

    def __init__(self) -> None:
        self.room = SliceNotes(_pieces(ROOM), _pieces(ROOM), _levels(ROOM))
        self._kept: tuple[list[tuple[np.ndarray, ...]], ...] = ([], [], [])
        self._n = 0

    def make_room(self) -> None:
        """Take what was noted, or get more room; ``ValueError`` with one line for more than can be kept."""
        pieces, switches, levels = self.room
        self._n += int(pieces.n[0])
        check_pieces(self._n, WHAT_TO_DO)
        nothing = not (pieces.n[0] or switches.n[0])
        self._take()
        if nothing:
            size = 2 * pieces.job.size
            levels = _levels(size)._replace(switch_ends=levels.switch_ends, switching=levels.switching)
            self.room = SliceNotes(_pieces(size), _pieces(size), levels)

    def all(self) -> tuple[SlicePieces, SlicePieces, Levels]:
        """Return all that was noted, in order of the times at which it was."""
        self._take()
        pieces, switches, levels = (
            [np.concatenate(values) for values in zip(*parts, strict=True)] for parts in self._kept
        )
        job, host, begin, end, used, had = pieces
        n = [np.array([columns[0].size]) for columns in (pieces, switches)]
        noted = SlicePieces(job, host, begin, end, used, had, n[0])
        job, host, begin, end, used, had = switches
        return noted, SlicePieces(job, host, begin, end, used, had, n[1]), Levels(*levels)

    def _take(self) -> None:
        pieces, switches, levels = self.room
        for kept, columns, n in (
            (self._kept[0], pieces[:6], pieces.n),
            (self._kept[1], switches[:6], switches.n),
            (self._kept[2], levels[:4], levels.n),
        ):
            kept.append(tuple(column[: n[0]].copy() for column in columns))
            n[0] = 0


def _pieces(n: int) -> SlicePieces:
    job, host, had = (np.empty(n, np.int64) for _ in range(3))
    begin, end, used = (np.empty(n) for _ in range(3))
    return SlicePieces(job, host, begin, end, used, had, np.zeros(1, np.int64))


def _levels(n: int) -> SliceLevels:
    time, lost, packing, limits = (np.empty(n) for _ in range(4))
    return SliceLevels(time, lost, packing, limits, np.zeros(1), np.zeros(2, np.int64), np.zeros(1, np.int64))

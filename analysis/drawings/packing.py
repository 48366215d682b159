"""The processors of a host on which the pieces of a schedule are drawn.

The models count processors and do not name them. For a drawing, each piece is given processors that are free
for all of its time: those that its job had before, otherwise the shortest free run that is long enough,
otherwise several runs.
"""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.errors import DrawingError

ROUNDING = 1e-6


class Run(NamedTuple):
    """Consecutive processors from `low` up to, and without, `high`; parts of one where a policy shares it."""

    low: float
    high: float


class Placed(NamedTuple):
    """A run of processors of a piece; a piece that is split has several."""

    piece: int
    run: Run


def pack(
    begin: np.ndarray, end: np.ndarray, processors: np.ndarray, job: np.ndarray, capacity: float
) -> list[Placed]:
    """Give every piece processors of one host, none of them twice at a time.

    Parameters
    ----------
    begin, end : ndarray, shape (n_pieces,), seconds
    processors : ndarray, shape (n_pieces,)
    job : ndarray of int, shape (n_pieces,)
        Pieces of one job keep its processors as far as they can.
    capacity : float
        Number of processors of the host.

    Raises
    ------
    DrawingError
        If more processors are in use at a time than the host has.
    """
    free = [Run(0.0, float(capacity))]
    running: list[tuple[float, int, list[Run]]] = []
    before: dict[int, list[Run]] = {}
    placed = []
    for piece in np.lexsort((job, begin)):
        while running and running[0][0] <= begin[piece] + ROUNDING:
            free = _joined([*free, *heapq.heappop(running)[2]])
        if end[piece] <= begin[piece] or processors[piece] <= 0:
            continue
        runs, free = _taken(free, float(processors[piece]), before.get(int(job[piece]), []))
        if sum(run.high - run.low for run in runs) < processors[piece] - ROUNDING:
            raise DrawingError(
                f"at {begin[piece]:g} s more than the {capacity:g} processors of a host are in use: this is "
                "not a valid schedule"
            )
        heapq.heappush(running, (float(end[piece]), int(piece), runs))
        before[int(job[piece])] = runs
        placed += [Placed(int(piece), run) for run in runs]
    return placed


def _taken(free: Sequence[Run], need: float, wanted: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs taken from the free ones, and the free runs that remain."""
    taken: list[Run] = []
    left = list(free)

    def take(run: Run) -> None:
        nonlocal need, left
        taken.append(run)
        need -= run.high - run.low
        left = [part for one in left for part in _without(one, run)]

    for again in wanted:
        for one in list(left):
            low, high = max(one.low, again.low), min(one.high, again.high)
            if need > ROUNDING and high - low > ROUNDING:
                take(Run(low, min(high, low + need)))
    while need > ROUNDING and left:
        enough = [one for one in left if one.high - one.low >= need - ROUNDING]
        # The longest of the runs that are too short are taken first, so that a job has few pieces.
        one = min(enough, key=_length) if enough else max(left, key=_length)
        take(Run(one.low, min(one.high, one.low + need)))
    return _joined(taken), left


def _length(run: Run) -> float:
    return run.high - run.low


def _without(run: Run, taken: Run) -> list[Run]:
    if taken.high <= run.low or taken.low >= run.high:
        return [run]
    parts = [Run(run.low, taken.low), Run(taken.high, run.high)]
    return [part for part in parts if _length(part) > ROUNDING]


def _joined(runs: Sequence[Run]) -> list[Run]:
    """Return runs in ascending order, neighbours as one."""
    joined: list[Run] = []
    for run in sorted(runs):
        if joined and run.low <= joined[-1].high + ROUNDING:
            joined[-1] = Run(joined[-1].low, max(joined[-1].high, run.high))
        else:
            joined.append(run)
    return joined

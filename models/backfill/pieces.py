"""Pieces of a schedule as an event loop records them: a job, its processors on a host, and when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.jobs.schedule import Pieces
from models.kernels.compiling import part
from models.kernels.types import record


class Noted(NamedTuple):
    """Pieces in arrays of some capacity, see `models.jobs.schedule.Pieces`; `n` is one number, of all pieces.

    Pieces beyond the capacity are counted but not kept: the caller then runs again with more.
    """

    job: Ints
    host: Ints
    begin: Floats
    end: Floats
    processors: Ints
    n: Ints


NOTED = record(Noted)


def room_for(n_pieces: int) -> Noted:
    """Return no pieces, with a capacity of so many."""
    job, host, processors = (np.empty(n_pieces, np.int64) for _ in range(3))
    return Noted(job, host, np.empty(n_pieces), np.empty(n_pieces), processors, np.zeros(1, np.int64))


def twice(noted: Noted) -> Noted:
    """Return the same pieces with twice the capacity."""
    kept, more = pieces_of(noted), room_for(2 * noted.job.size)
    more.n[0] = noted.n[0]
    for name in ("job", "host", "begin", "end", "processors"):
        getattr(more, name)[: noted.n[0]] = getattr(kept, name)
    return more


def all_fit(noted: Noted) -> bool:
    """Return whether all pieces were kept."""
    return bool(noted.n[0] <= noted.job.size)


def pieces_of(noted: Noted) -> Pieces:
    """Return the pieces, as views: unused capacity was never touched, so that it takes no memory."""
    kept = slice(noted.n[0])
    return Pieces(
        noted.job[kept], noted.host[kept], noted.begin[kept], noted.end[kept], noted.processors[kept]
    )


@part(void(NOTED, int64, int64, float64, float64, int64))
def note(noted: Noted, job: int, host: int, begin: float, end: float, processors: int) -> None:
    """Record a piece. O(1)."""
    at = noted.n[0]
    noted.n[0] = at + 1
    if at < noted.job.shape[0]:
        noted.job[at] = job
        noted.host[at] = host
        noted.begin[at] = begin
        noted.end[at] = end
        noted.processors[at] = processors

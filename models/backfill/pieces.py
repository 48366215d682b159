"""Pieces of a schedule as an event loop records them: a job, its processors on a host, and the times."""

from typing import NamedTuple

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.jobs.schedule import Pieces
from models.kernels.compiling import part
from models.kernels.types import record


class PieceBuffer(NamedTuple):
    """Pieces in arrays of some capacity, see `models.jobs.schedule.Pieces`; `n` is the number of all pieces.

    Pieces beyond the capacity are counted but not kept: the caller then runs again with more.
    """

    job: Ints
    host: Ints
    begin: Floats
    end: Floats
    processors: Ints
    n: Ints


PIECE_BUFFER = record(PieceBuffer)


def buffer_for(n_pieces: int) -> PieceBuffer:
    """Return an empty buffer with a capacity of `n_pieces` pieces."""
    job, host, processors = (np.empty(n_pieces, np.int64) for _ in range(3))
    return PieceBuffer(job, host, np.empty(n_pieces), np.empty(n_pieces), processors, np.zeros(1, np.int64))


def twice(buffer: PieceBuffer) -> PieceBuffer:
    """Return the same pieces with twice the capacity."""
    kept, more = pieces_of(buffer), buffer_for(2 * buffer.job.size)
    more.n[0] = buffer.n[0]
    for name in ("job", "host", "begin", "end", "processors"):
        getattr(more, name)[: buffer.n[0]] = getattr(kept, name)
    return more


def pieces_of(buffer: PieceBuffer) -> Pieces:
    """Return the pieces, as views: unused capacity was never touched, so that it takes no memory."""
    kept = slice(buffer.n[0])
    return Pieces(
        buffer.job[kept], buffer.host[kept], buffer.begin[kept], buffer.end[kept], buffer.processors[kept]
    )


@part(void(PIECE_BUFFER, int64, int64, float64, float64, int64))
def add_piece(buffer: PieceBuffer, job: int, host: int, begin: float, end: float, processors: int) -> None:
    """Record a piece. O(1)."""
    at = buffer.n[0]
    buffer.n[0] = at + 1
    if at < buffer.job.shape[0]:
        buffer.job[at] = job
        buffer.host[at] = host
        buffer.begin[at] = begin
        buffer.end[at] = end
        buffer.processors[at] = processors

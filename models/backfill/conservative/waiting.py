"""The waiting jobs of one pool, in order of submission, and an index to find those that fit into a gap.

Every waiting job has a position. Sets of jobs are sets of bits, one a position, so that 64 jobs are passed
over at a time. There is a set for each class of sizes and each class of requested times, with all jobs of
smaller classes in it, and for each stretch of time (a zone), with all jobs that hold a start in it or later:
who fits into a gap is in three of them at once. For each zone and each class of sizes the shortest request of
all that hold a start in it or later is known as well, which tells of most gaps at once that nobody fits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, types, uint64, void
from numpy.typing import NDArray

from models.arrays import Floats, Ints
from models.kernels.bits import ONE, WORD_BITS, ZERO, words
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS

NOBODY = -1
CLASSES = 32
"""Of sizes, and of requested times."""
ZONES = 128
SHIFT, MASK = 6, WORD_BITS - 1

Sets = NDArray[np.uint64]


class Waiting(NamedTuple):
    """Who waits, by position.

    Parameters
    ----------
    job : ndarray of int, shape (n_jobs,)
        The job that has a position, or `NOBODY`.
    looked_at : ndarray of uint64, shape (n_words,)
        Those that are looked at when jobs are placed anew, see `pool`.
    of_size, of_request : ndarray of uint64, shape (n_words, n_classes)
        In each column the jobs of this class and of smaller ones.
    later : ndarray of uint64, shape (n_words, ZONES)
        In each column the jobs that hold a start in this zone or later, and some that did.
    shortest : ndarray of float, shape (ZONES, n_classes), seconds
        No job of this class of sizes or a smaller one that holds a start in this zone or later requests less.
    grid : ndarray of float, shape (2,)
        When the first zone begins (seconds), and zones a second.
    class_of_size : ndarray of int, shape (processors + 1,)
    least_request : ndarray of float, shape (n_classes,), seconds
        The shortest request of each class, ascending; the first is 0.
    """

    job: Ints
    looked_at: Sets
    of_size: Sets
    of_request: Sets
    later: Sets
    shortest: Floats
    grid: Floats
    class_of_size: Ints
    least_request: Floats


SETS = uint64[:, ::1]
WAITING = types.NamedTuple(
    [INTS, uint64[::1], SETS, SETS, SETS, float64[:, ::1], FLOATS, INTS, FLOATS], Waiting
)


def nobody(size: Ints, requested: Floats, processors: int) -> Waiting:
    """Return room for jobs of these sizes and requested times (seconds), of whom nobody waits yet."""
    n_words = words(size.size) + 1
    shares = np.arange(CLASSES) / CLASSES
    least_size, least_request = (
        np.unique(np.quantile(values, shares, method="inverted_cdf")) for values in (size, requested)
    )
    least_size[0], least_request[0] = 0, 0.0
    return Waiting(
        np.full(size.size, NOBODY, np.int64),
        np.zeros(n_words, np.uint64),
        np.zeros((n_words, least_size.size), np.uint64),
        np.zeros((n_words, least_request.size), np.uint64),
        np.zeros((n_words, ZONES), np.uint64),
        np.full((ZONES, least_size.size), np.inf),
        np.zeros(2),
        np.searchsorted(least_size, np.arange(processors + 1), side="right") - 1,
        least_request,
    )


@part(int64(WAITING, float64))
def zone(waiting: Waiting, instant: float) -> int:
    """Return the zone of an instant; what is later than all belongs to the last one. O(1)."""
    return int(min(max((instant - waiting.grid[0]) * waiting.grid[1], 0.0), ZONES - 1.0))


@part(void(WAITING, int64))
def look_at(waiting: Waiting, position: int) -> None:
    """Have a job looked at when jobs are placed anew. O(1)."""
    waiting.looked_at[position >> SHIFT] |= ONE << np.uint64(position & MASK)


@part(void(WAITING, int64, int64, float64, float64))
def index(waiting: Waiting, position: int, size: int, requested: float, planned: float) -> None:
    """Put a job that holds a start into the sets that it belongs to. O(classes + zones)."""
    word = position >> SHIFT
    bit = ONE << np.uint64(position & MASK)
    for c in range(waiting.class_of_size[size], waiting.of_size.shape[1]):
        waiting.of_size[word, c] |= bit
    shortest = waiting.least_request.shape[0] - 1
    while waiting.least_request[shortest] > requested:
        shortest -= 1
    for c in range(shortest, waiting.of_request.shape[1]):
        waiting.of_request[word, c] |= bit
    for z in range(zone(waiting, planned) + 1):
        waiting.later[word, z] |= bit


@part(void(WAITING, int64, uint64))
def keep_only(waiting: Waiting, word: int, kept: np.uint64) -> None:
    """Leave only the jobs of some bits of a word in the sets. O(classes + zones)."""
    for c in range(waiting.of_size.shape[1]):
        waiting.of_size[word, c] &= kept
    for c in range(waiting.of_request.shape[1]):
        waiting.of_request[word, c] &= kept
    for z in range(ZONES):
        waiting.later[word, z] &= kept


@part(void(WAITING, int64, int64, float64, float64))
def enter(waiting: Waiting, position: int, size: int, requested: float, planned: float) -> None:
    """Let a job wait that holds a start. O(classes + zones), O(classes x zones) at worst."""
    index(waiting, position, size, requested, planned)
    size_class = waiting.class_of_size[size]
    z = zone(waiting, planned)
    while z >= 0 and waiting.shortest[z, size_class] > requested:
        for c in range(size_class, waiting.shortest.shape[1]):
            waiting.shortest[z, c] = min(waiting.shortest[z, c], requested)
        z -= 1


@part(void(WAITING, int64))
def leave(waiting: Waiting, position: int) -> None:
    """Let a job wait no more. O(classes + zones).

    What `shortest` says stays true, and gets less precise, as it does where a job moves forward.
    """
    word = position >> SHIFT
    others = ~(ONE << np.uint64(position & MASK))
    waiting.job[position] = NOBODY
    waiting.looked_at[word] &= others
    keep_only(waiting, word, others)


@part(int64(WAITING, INTS, int64))
def close_up(waiting: Waiting, position: Ints, n: int) -> int:
    """Leave no empty positions among the first `n`, and return how many there are then.

    O(n), and O(classes + zones) for each word. The index has to be made anew then, see `index_anew`.

    Parameters
    ----------
    waiting : see there
    position : the position of each job
    n : positions given so far
    """
    kept = 0
    for word in range((n + MASK) >> SHIFT):
        looked_at = waiting.looked_at[word]
        waiting.looked_at[word] = ZERO
        keep_only(waiting, word, ZERO)
        for old in range(word << SHIFT, min((word + 1) << SHIFT, n)):
            job = waiting.job[old]
            if job != NOBODY:
                waiting.job[old] = NOBODY
                waiting.job[kept] = job
                position[job] = kept
                if looked_at >> np.uint64(old & MASK) & ONE != ZERO:
                    look_at(waiting, kept)
                kept += 1
    return kept


@part(void(WAITING, int64, float64, INTS, FLOATS, FLOATS))
def index_anew(
    waiting: Waiting, n: int, now: float, size: Ints, requested: Floats, planned: Floats
) -> None:  # fmt: skip
    """Make the index of `n` jobs without empty positions. O((n + zones) x classes + n x zones).

    Parameters
    ----------
    waiting : see there
    n, now : how many wait, at this instant
    size, requested, planned : of each job, whether it waits or not
    """
    last = now
    for i in range(n):
        last = max(last, planned[waiting.job[i]])
    waiting.grid[0] = now
    waiting.grid[1] = ZONES / max(last - now, 1.0)
    shortest = waiting.shortest
    for z in range(ZONES):
        for c in range(shortest.shape[1]):
            shortest[z, c] = np.inf
    for i in range(n):
        job = waiting.job[i]
        index(waiting, i, size[job], requested[job], planned[job])
        z, c = zone(waiting, planned[job]), waiting.class_of_size[size[job]]
        shortest[z, c] = min(shortest[z, c], requested[job])
    for z in range(ZONES - 1, -1, -1):
        for c in range(shortest.shape[1]):
            if c > 0:
                shortest[z, c] = min(shortest[z, c], shortest[z, c - 1])
            if z < ZONES - 1:
                shortest[z, c] = min(shortest[z, c], shortest[z + 1, c])

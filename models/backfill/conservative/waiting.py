"""The waiting jobs of one pool, in order of submission, and an index to find those that fit into a gap.

Every waiting job has a position. Sets of jobs are sets of bits, one a position, so that 64 jobs are passed
over at a time. There is a set for each class of sizes and each class of requested times, with all jobs of
smaller classes in it, and for each stretch of time (a zone), with all jobs that hold a start in it or later:
who fits into a gap is in three of them at once. For each zone and each class of sizes the shortest request of
all that hold a start in it or later is known as well, which tells of most gaps at once that nobody fits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types, uint32, uint64, void
from numpy.typing import NDArray

from models.arrays import Floats, Ints
from models.kernels.bits import ONE, WORD_BITS, ZERO, words
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS

NOBODY = -1
CLASSES = 32
"""Of sizes, and of requested times: twice as many at most."""
ZONES = 128
SHIFT, MASK = 6, WORD_BITS - 1
BLOCK = 4
"""So many words are looked at together."""

Sets = NDArray[np.uint64]


class Waiting(NamedTuple):
    """Who waits, by position.

    Parameters
    ----------
    job : ndarray of int, shape (n_jobs,)
        The job that has a position, or `NOBODY`.
    moved_to : ndarray of int, shape (n_jobs,)
        The new position of the job that had an old one, right after they have been closed up.
    looked_at : ndarray of uint64, shape (n_words,)
        Those that may have room right before their start, and are looked at when jobs are placed anew, see
        `pool`.
    may_fit : ndarray of uint64, shape (n_words,)
        Those that may fit as a whole where something has become free, see `holes`; looked at as well.
    present : ndarray of uint64, shape (n_words,)
        Those that wait: the sets below keep others, too, until they are made anew.
    of_size : ndarray of uint64, shape (n_classes + 1, n_words)
        In each row the jobs of smaller classes than this.
    of_request : ndarray of uint64, shape (n_classes, n_words)
        In each row the jobs of this class and of smaller ones.
    later : ndarray of uint64, shape (ZONES, n_words)
        In each row the jobs that hold a start in this zone or later, and some that did.
    shortest : ndarray of float, shape (ZONES, n_classes), seconds
        No job of this class of sizes or a smaller one that holds a start in this zone or later requests less.
    grid : ndarray of float, shape (2,)
        When the first zone begins (seconds), and zones a second.
    class_of_size : ndarray of int, shape (processors + 1,)
    least_request : ndarray of float, shape (n_classes,), seconds
        The shortest request of each class, ascending; the first is 0.
    """

    job: Ints
    moved_to: NDArray[np.uint32]
    looked_at: Sets
    may_fit: Sets
    present: Sets
    of_size: Sets
    of_request: Sets
    later: Sets
    shortest: Floats
    grid: Floats
    class_of_size: Ints
    least_request: Floats


SETS = uint64[:, ::1]
WAITING = types.NamedTuple(
    [INTS, uint32[::1], *[uint64[::1]] * 3, *[SETS] * 3, float64[:, ::1], FLOATS, INTS, FLOATS], Waiting
)


def nobody(size: Ints, requested: Floats, processors: int) -> Waiting:
    """Return room for jobs of these sizes and requested times (seconds), of whom nobody waits yet."""
    n_words = (words(size.size) // BLOCK + 1) * BLOCK
    least_size = _least_of_classes(size, size * requested)
    least_request = _least_of_classes(requested, size * requested)
    least_size[0], least_request[0] = 0, 0.0
    return Waiting(
        np.full(size.size, NOBODY, np.int64),
        np.zeros(size.size, np.uint32),
        np.zeros(n_words, np.uint64),
        np.zeros(n_words, np.uint64),
        np.zeros(n_words, np.uint64),
        np.zeros((least_size.size + 1, n_words), np.uint64),
        np.zeros((least_request.size, n_words), np.uint64),
        np.zeros((ZONES, n_words), np.uint64),
        np.full((ZONES, least_size.size), np.inf),
        np.zeros(2),
        np.searchsorted(least_size, np.arange(processors + 1), side="right") - 1,
        least_request,
    )


def _least_of_classes(values: NDArray[Any], area: Floats) -> NDArray[Any]:
    """Return the least value of each class: quantiles of all jobs, and of what they ask for.

    Most of those that wait are the few that ask for most, in long queues.
    """
    shares = np.arange(CLASSES) / CLASSES
    in_order = np.argsort(values)
    up_to = np.cumsum(area[in_order])
    heaviest = values[in_order][np.searchsorted(up_to, shares * up_to[-1])]
    return np.unique(np.concatenate([np.quantile(values, shares, method="inverted_cdf"), heaviest]))


@part(uint32(WAITING, float64))
def zone(waiting: Waiting, instant: float) -> np.uint32:
    """Return the zone of an instant; what is later than all belongs to the last one. O(1)."""
    return np.uint32(min(max((instant - waiting.grid[0]) * waiting.grid[1], 0.0), ZONES - 1.0))


@part(void(WAITING, uint32))
def look_at(waiting: Waiting, position: int) -> None:
    """Have a job looked at when jobs are placed anew. O(1)."""
    waiting.looked_at[position >> SHIFT] |= ONE << np.uint64(position & MASK)


@part(void(WAITING, int64, int64, float64, int64))
def index_first(waiting: Waiting, position: int, size_class: int, requested: float, its_zone: int) -> None:
    """Put a job into the smallest of the sets that it belongs to, see `accumulate`. O(classes)."""
    word = position >> SHIFT
    bit = ONE << np.uint64(position & MASK)
    waiting.present[word] |= bit
    waiting.of_size[size_class + 1, word] |= bit
    c = waiting.least_request.shape[0] - 1
    while waiting.least_request[c] > requested:
        c -= 1
    waiting.of_request[c, word] |= bit
    waiting.later[its_zone, word] |= bit


@part(void(WAITING, int64))
def accumulate(waiting: Waiting, word: int) -> None:
    """Let who is in a set be in all larger ones, the jobs of one word. O(classes + zones)."""
    for c in range(1, waiting.of_size.shape[0]):
        waiting.of_size[c, word] |= waiting.of_size[c - 1, word]
    for c in range(1, waiting.of_request.shape[0]):
        waiting.of_request[c, word] |= waiting.of_request[c - 1, word]
    for z in range(ZONES - 2, -1, -1):
        waiting.later[z, word] |= waiting.later[z + 1, word]


@part(void(WAITING, int64))
def no_index(waiting: Waiting, word: int) -> None:
    """Leave nobody of a word in the sets of the index. O(classes + zones)."""
    waiting.present[word] = ZERO
    for c in range(waiting.of_size.shape[0]):
        waiting.of_size[c, word] = ZERO
    for c in range(waiting.of_request.shape[0]):
        waiting.of_request[c, word] = ZERO
    for z in range(ZONES):
        waiting.later[z, word] = ZERO


@part(void(WAITING, int64, int64, float64, float64))
def enter(waiting: Waiting, position: int, size: int, requested: float, planned: float) -> None:
    """Let a job wait that holds a start. O(classes + zones), O(classes x zones) at worst."""
    size_class = waiting.class_of_size[size]
    z = int(zone(waiting, planned))
    index_first(waiting, position, size_class, requested, z)
    accumulate(waiting, position >> SHIFT)
    while z >= 0 and waiting.shortest[z, size_class] > requested:
        for c in range(size_class, waiting.shortest.shape[1]):
            waiting.shortest[z, c] = min(waiting.shortest[z, c], requested)
        z -= 1


@part(void(WAITING, int64))
def leave(waiting: Waiting, position: int) -> None:
    """Let a job wait no more. O(1).

    What `shortest` says stays true, and gets less precise, as it does where a job moves forward.
    """
    word = position >> SHIFT
    others = ~(ONE << np.uint64(position & MASK))
    waiting.job[position] = NOBODY
    waiting.looked_at[word] &= others
    waiting.may_fit[word] &= others
    waiting.present[word] &= others

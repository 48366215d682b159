"""Jobs that have been submitted and have not entered the matrix, and room to look ahead for them.

A job takes its place of the table (`models.packing.matrix`) when it is submitted. Its times lie in the table
by its position in the list of those in the matrix; so what is known of it before is kept here, by its place.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import types, uint64

from models.kernels.bits import words
from models.kernels.compiling import part
from models.kernels.types import INTS
from models.packing.matrix import MATRIX, REAL, SETS, TABLE, WHOLE, Matrix, empty_table, n_rows

Waiting = namedtuple("Waiting", ["order", "times", "memory"])
"""What is known of jobs from their submission on.

order : int64 (position,), places of the jobs that wait, in order of submission; twice as long as there are
    places, so that it is seldom moved
times : float64 (place, field), see below
memory : int64 (place,), KB on each PE
"""
WAITING = types.NamedTuple([INTS, REAL, INTS], Waiting)

# Fields of Waiting.times: when a job was submitted; how long it runs on dedicated PEs; how long it says.
SUBMIT, NEEDED, REQUESTED, N_TIMES = range(4)

Foresight = namedtuple(
    "Foresight", ["matrix", "shown", "table", "counts", "stays", "barred", "sets", "set_row", "memory"]
)
"""Room for what the matrix will look like.

matrix : Matrix, as far as requested times tell when the first of the queue enters, without it
shown : Matrix, what a packing scheme is shown of a matrix
table, counts : those of all jobs at that time, for a scheme that migrates
stays : int64 (place,), 1 for the jobs of the matrix that are still there then
barred : int64 (slot,), 1 for the slots in which a job would delay the first of the queue
sets : uint64 (2, word), PEs that a scheme chose for the first of the queue; PEs without enough memory
set_row : uint64 (word,), the first of these rows
memory : int64 (2, PE), KB of the jobs on each PE, now and then
"""
FORESIGHT = types.NamedTuple([MATRIX, MATRIX, TABLE, INTS, INTS, INTS, SETS, uint64[::1], WHOLE], Foresight)

# Rows of Foresight.sets and of Foresight.memory.
CHOSEN, LACKING = range(2)
AT_PRESENT, THEN = range(2)


def nobody_waits(job_limit: int) -> Waiting:
    """Return room for so many jobs."""
    return Waiting(
        np.zeros(2 * job_limit, np.int64), np.zeros((job_limit, N_TIMES)), np.zeros(job_limit, np.int64)
    )


def enlarged_waiting(waiting: Waiting, job_limit: int) -> Waiting:
    """Return more room, the same otherwise."""
    found = nobody_waits(job_limit)
    for after, before in zip(found, waiting, strict=True):
        after[: len(before)] = before
    return found


def foresight_for(matrix: Matrix, n_pes: int, job_limit: int, migrates: bool, bounded: bool) -> Foresight:
    """Return room to look ahead; none where nobody ever waits.

    A scheme that migrates may use more slots, while it is only asked, than it is allowed.
    """
    rows = n_rows(job_limit) if migrates else len(matrix.free)
    if not bounded:
        rows = job_limit = 1
    sets = np.zeros((2, words(n_pes)), np.uint64)
    places = job_limit if migrates else 1
    counts = np.zeros(2, np.int64)
    return Foresight(
        _rows_of(rows, n_pes, np.zeros(rows, np.int64)),
        _rows_of(rows, n_pes, matrix.tags),
        empty_table(n_pes, places),
        counts,
        np.zeros(job_limit, np.int64),
        np.zeros(rows, np.int64),
        sets,
        sets[CHOSEN],
        np.zeros((2, n_pes), np.int64),
    )


def _rows_of(rows: int, n_pes: int, tags: np.ndarray) -> Matrix:
    """Return empty slots with these tags, and without any grants."""
    occupied = np.zeros((rows, words(n_pes)), np.uint64)
    return Matrix(occupied, np.full(rows, n_pes, np.int64), tags, np.zeros((1, 1), np.uint64))


@part()
def join_queue(order, place, first, end):
    """Put a job behind those that wait, and return the first position and the one after the last."""
    if end == order.shape[0]:
        for i in range(first, end):
            order[i - first] = order[i]
        end -= first
        first = 0
    order[end] = place
    return first, end + 1


@part()
def leave_queue(order, i, first):
    """Take the job at a position out of the queue: those before it move up. O(jobs before it)."""
    for later in range(i, first, -1):
        order[later] = order[later - 1]

"""The expected matrix at the shadow time, and the view of a matrix that packing schemes receive."""

from collections import namedtuple

import numpy as np
from numba import types, uint64

from models.kernels.bits import words
from models.kernels.types import INTS
from models.packing.matrix import MATRIX, SETS, TABLE, WHOLE, Matrix, empty_table, n_rows

Profile = namedtuple("Profile", ["matrix", "shown", "table", "stays", "barred", "sets", "set_row", "memory"])
"""Buffers of the queue before the matrix.

matrix : Matrix, at the shadow time according to requested times, without the head of the queue
shown : Matrix, the view of a matrix that a packing scheme receives
table : Table of all jobs at that time, for a scheme that migrates
stays : int64 (place,), 1 for the jobs that are still in the matrix at that time
barred : int64 (slot,), 1 for the slots in which a job would delay the head of the queue
sets : uint64 (2, word), PEs that a scheme chose for the head of the queue; PEs without enough memory
set_row : uint64 (word,), the first of these rows
memory : int64 (2, PE), KB of the jobs on each PE, at present and at the shadow time
"""
PROFILE = types.NamedTuple([MATRIX, MATRIX, TABLE, INTS, INTS, SETS, uint64[::1], WHOLE], Profile)

# Rows of Profile.sets and of Profile.memory.
CHOSEN, LACKING = range(2)
AT_PRESENT, AT_SHADOW = range(2)


def profile_for(matrix: Matrix, n_pes: int, job_limit: int, migrates: bool, bounded: bool) -> Profile:
    """Return an empty profile, of one job and slot if no job ever waits.

    A trial of a scheme that migrates may use more slots than are allowed.
    """
    rows = n_rows(job_limit) if migrates else len(matrix.free)
    if not bounded:
        rows = job_limit = 1
    sets = np.zeros((2, words(n_pes)), np.uint64)
    return Profile(
        _slots(rows, n_pes, np.zeros(rows, np.int64)),
        _slots(rows, n_pes, matrix.tags),
        empty_table(n_pes, job_limit if migrates else 1),
        np.zeros(job_limit, np.int64),
        np.zeros(rows, np.int64),
        sets,
        sets[CHOSEN],
        np.zeros((2, n_pes), np.int64),
    )


def _slots(rows: int, n_pes: int, tags: np.ndarray) -> Matrix:
    """Return empty slots with these tags, and without any grants."""
    occupied = np.zeros((rows, words(n_pes)), np.uint64)
    return Matrix(occupied, np.full(rows, n_pes, np.int64), tags, np.zeros((1, 1), np.uint64))

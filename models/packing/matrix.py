"""The Ousterhout matrix and the table of the jobs in it, as flat arrays in typed tuples.

Packing schemes and the engines of all families that pack jobs into slots read and change them. Everything is
allocated once; an engine only writes into it. A family fills the fields that it needs.
"""

from collections import namedtuple

import numpy as np
from numba import float64, from_dtype, int64, types, uint64

from models.kernels.bits import words
from models.kernels.types import FLOATS, INTS

SETS = uint64[:, ::1]  # sets of PEs, or of jobs, one in a row
LIST = uint64[::1]  # places in a table; unsigned, so that no index is tested for being negative
REAL = float64[:, ::1]
WHOLE = int64[:, ::1]

Matrix = namedtuple("Matrix", ["occupied", "free", "tags", "grants"])
"""The Ousterhout matrix: rows 0 .. n_slots - 1 are the used slots in the order in which they were opened.

occupied : uint64 (slot, word), PEs taken by the jobs mapped to a slot; the row after the last is empty
free : int64 (slot,), number of PEs not taken
tags : int64 (slot,), a number that a packing scheme gave to the slot
grants : uint64 (slot, word), under `exclusive` the places of the jobs mapped elsewhere that run in the slot
    too, one bit each, and in the last words the PEs that they take; the last row is a spare for a set in the
    making
"""
MATRIX = types.NamedTuple([SETS, INTS, INTS, SETS], Matrix)

JOB = np.dtype(
    [
        ("slot", np.int64),  # row of the matrix
        ("size", np.int64),  # PEs
        ("run_slots", np.int64),  # slots in which it runs
        ("number", np.int64),  # jobs submitted before it
        ("session", np.int64),  # sessions that arrived before its own
        ("runs_left", np.int64),  # repetitions that its user will still submit
        ("run", np.int64),  # repetitions before it
        ("key", np.int64),  # names the random numbers of its repetitions
        ("position", np.int64),  # in the list of present jobs
        ("memory", np.int64),  # KB on each PE
        ("submit", np.float64),
        ("start", np.float64),
        ("runtime", np.float64),  # on dedicated PEs
        ("requested", np.float64),
        # The integral of `run_slots` since the start, minus its value if the present number had applied all
        # the time, so that only changes of that number have to be recorded.
        ("slot_seconds", np.float64),
    ],
    align=True,
)
"""A job in the system; times in seconds."""

Table = namedtuple("Table", ["pes", "jobs", "finish", "present", "precedence", "decreasing", "vacant"])
"""The jobs in the system, each in a place of the table that it keeps until it ends.

pes : uint64 (place, word), PEs to which it is mapped
jobs : JOB (place,)
finish : float64 (position,), virtual times at which the present jobs end if the numbers of their slots stay
present : uint64 (position,), places of the jobs in the matrix, in no order
precedence : uint64, the same in the order in which they may take free PEs of foreign slots
decreasing : uint64, the same from the largest to the smallest, earlier first among equals
vacant : uint64, unused places (a stack)
"""
TABLE = types.NamedTuple([SETS, from_dtype(JOB)[::1], FLOATS, LIST, LIST, LIST, LIST], Table)

Buffers = namedtuple("Buffers", ["chosen", "chosen_row", "granted", "scratch"])
"""Intermediate sets of PEs.

chosen, granted : uint64 (1, word)
chosen_row : uint64 (word,), the row of `chosen`
scratch : uint64 (slot, word)
"""
BUFFERS = types.NamedTuple([SETS, uint64[::1], SETS, SETS], Buffers)

Books = namedtuple("Books", ["memory", "parameters"])
"""The state of a packing scheme.

memory : int64, zero at the start, `scheme.Scheme.memory(n_pes)` long
parameters : int64, in the order of `scheme.Scheme.parameters`
"""
BOOKS = types.NamedUniTuple(INTS, 2, Books)


def empty_matrix(n_pes: int, job_limit: int, slots_limit: int | None = None) -> Matrix:
    """Return a matrix without used slots, large enough for one slot per job and the empty one after them.

    With a limit there are at most that many slots, whatever the number of jobs.
    """
    rows = n_rows(job_limit, slots_limit)
    return Matrix(
        np.zeros((rows, words(n_pes)), np.uint64),
        np.full(rows, n_pes, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((rows, words(job_limit) + words(n_pes)), np.uint64),
    )


def n_rows(job_limit: int, slots_limit: int | None = None) -> int:
    """Return the number of rows of a matrix: its slots, an empty one, and a spare one."""
    return (job_limit if slots_limit is None else min(job_limit, slots_limit)) + 2


def empty_table(n_pes: int, job_limit: int) -> Table:
    """Return a table of jobs with `job_limit` vacant places."""
    lists = np.zeros((4, job_limit), np.uint64)
    lists[-1] = np.arange(job_limit)[::-1]
    pes = np.zeros((job_limit, words(n_pes)), np.uint64)
    return Table(pes, np.zeros(job_limit, JOB), np.full(job_limit, np.inf), *lists)


def enlarged_matrix(matrix: Matrix, n_pes: int, job_limit: int, slots_limit: int | None = None) -> Matrix:
    """Return a larger matrix, otherwise equal."""
    found, before = empty_matrix(n_pes, job_limit, slots_limit), len(matrix.free)
    found.occupied[:before], found.free[:before], found.tags[:before] = matrix[:3]
    pes_words = words(n_pes)
    places_words = matrix.grants.shape[1] - pes_words
    # The last row is a spare, which would be a slot of the larger matrix.
    found.grants[: before - 1, :places_words] = matrix.grants[:-1, :places_words]
    found.grants[: before - 1, -pes_words:] = matrix.grants[:-1, places_words:]
    return found


def enlarged_table(table: Table, n_pes: int, job_limit: int) -> Table:
    """Return a table of jobs with more places, otherwise equal; the old one had no vacant place."""
    found, n_jobs = empty_table(n_pes, job_limit), len(table.jobs)
    for after, before in zip(found[:-1], table[:-1], strict=True):
        after[:n_jobs] = before
    found.vacant[: job_limit - n_jobs] = np.arange(n_jobs, job_limit)[::-1]
    return found


def buffers_for(n_pes: int, job_limit: int, slots_limit: int | None = None) -> Buffers:
    """Return buffers for the sets of PEs that mapping a job needs."""
    lengths = (1, 1, n_rows(job_limit, slots_limit))
    chosen, granted, scratch = (np.zeros((rows, words(n_pes)), np.uint64) for rows in lengths)
    return Buffers(chosen, chosen[0], granted, scratch)

"""The Ousterhout matrix and the table of the jobs in it, as flat arrays in typed tuples.

What packing schemes look at and change, and with them the engine of every family that packs jobs into slots.
Everything is allocated once; an engine only writes into it. What belongs to a job lies side by side, in few
and wide arrays, because an engine looks at several fields of the same job together. A family fills the fields
that it needs.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import float64, int64, types, uint64

from models.kernels.bits import words
from models.kernels.lanes import LANES
from models.kernels.types import INTS

# Numba types of what engines hand around.
SETS = uint64[:, ::1]  # sets of PEs, or of jobs, one a row
WHOLE = int64[:, ::1]  # tables of whole numbers
LISTS = uint64[:, ::1]  # lists of places in a table; no sign, so that no index is tested for being negative
REAL = float64[:, ::1]  # tables of times

Matrix = namedtuple("Matrix", ["occupied", "free", "tags", "grants"])
"""The Ousterhout matrix: rows 0 .. n_slots - 1 are the used slots in the order in which they were opened.

occupied : uint64 (slot, word), PEs taken by the jobs mapped to a slot; the row after the last is empty
free : int64 (slot,), number of PEs not taken
tags : int64 (slot,), a number that a packing scheme gave to the slot
grants : uint64 (slot, word), under `exclusive` the places of the jobs mapped elsewhere that run in the slot
    too, one bit each, and in the last words the PEs that they take; the last row is room for a set in the
    making
"""
MATRIX = types.NamedTuple([SETS, INTS, INTS, SETS], Matrix)

Table = namedtuple("Table", ["pes", "whole", "real", "order"])
"""The jobs in the system, each in a place of the table that it keeps until it ends.

pes : uint64 (job, word), PEs to which it is mapped
whole : int64 (job, field), whole numbers, see below
real : float64 (field, position), times, in the order of the list PRESENT; those of the job that left last
    follow, but FINISH, which is inf behind the last job, up to a multiple of `LANES`
order : uint64 (list, position), places of the table in several orders, see below
"""
TABLE = types.NamedTuple([SETS, WHOLE, REAL, LISTS], Table)

# Fields of Table.whole: row of the matrix; PEs; slots in which the job runs; jobs submitted before it;
# repetitions that its user will still submit; repetitions before it; bits that name the random numbers of its
# repetitions; position in the list PRESENT; sessions that arrived before its own.
SLOT, SIZE, RUN_SLOTS, NUMBER, RUNS_LEFT, RUN, KEY, POSITION, SESSION, N_WHOLE = range(10)
# Fields of Table.real: time needed on dedicated PEs; time of submission; virtual time of its end if the
# number of its slots stays as it is; the integral of the number of its slots over its stay, less what that
# would be with its present number all the time (so that only a change of that number has to be noted).
RUNTIME, ARRIVAL, FINISH, SLOT_SECONDS, N_REAL = range(5)

# Lists in Table.order: the jobs in the system, in no order; in that in which they may take free PEs of
# foreign slots; from the largest to the smallest, earlier first among equals; the unused places (a stack).
PRESENT, PRECEDENCE, DECREASING, VACANT, N_LISTS = range(5)

Room = namedtuple("Room", ["chosen", "chosen_row", "granted", "scratch"])
"""Room for intermediate sets of PEs.

chosen, granted : uint64 (1, word)
chosen_row : uint64 (word,), the row of `chosen`
scratch : uint64 (slot, word)
"""
ROOM = types.NamedTuple([SETS, uint64[::1], SETS, SETS], Room)

Books = namedtuple("Books", ["memory", "parameters"])
"""What a packing scheme has of its own.

memory : int64, zero at the start, `scheme.Scheme.memory(n_pes)` long
parameters : int64, in the order of `scheme.Scheme.parameters`
"""
BOOKS = types.NamedUniTuple(INTS, 2, Books)

# The first counters (int64) of a family, which may have more after them: used slots; jobs in the system.
N_SLOTS, N_JOBS = range(2)


def empty_matrix(n_pes: int, job_limit: int, slots_limit: int | None = None) -> Matrix:
    """Return a matrix with no used slot, with room for one slot a job and the empty one after them.

    With a limit there are no more slots than that, however many jobs.
    """
    rows = n_rows(job_limit, slots_limit)
    return Matrix(
        np.zeros((rows, words(n_pes)), np.uint64),
        np.full(rows, n_pes, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((rows, words(job_limit) + words(n_pes)), np.uint64),
    )


def n_rows(job_limit: int, slots_limit: int | None = None) -> int:
    """Return the rows of a matrix: its slots, an empty one, and one to spare."""
    return (job_limit if slots_limit is None else min(job_limit, slots_limit)) + 2


def empty_table(n_pes: int, job_limit: int) -> Table:
    """Return a table of jobs with `job_limit` vacant places."""
    order = np.zeros((N_LISTS, job_limit), np.uint64)
    order[VACANT] = np.arange(job_limit)[::-1]
    real = np.zeros((N_REAL, job_limit + -job_limit % LANES))
    real[FINISH] = np.inf
    return Table(
        np.zeros((job_limit, words(n_pes)), np.uint64),
        np.zeros((job_limit, N_WHOLE), np.int64),
        real,
        order,
    )


def enlarged_matrix(matrix: Matrix, n_pes: int, job_limit: int, slots_limit: int | None = None) -> Matrix:
    """Return a matrix with more room, the same otherwise."""
    found, before = empty_matrix(n_pes, job_limit, slots_limit), len(matrix.free)
    found.occupied[:before], found.free[:before], found.tags[:before] = matrix[:3]
    pes_words = words(n_pes)
    places_words = matrix.grants.shape[1] - pes_words
    # The last row is room for a set in the making, and would be a slot of the larger matrix.
    found.grants[: before - 1, :places_words] = matrix.grants[:-1, :places_words]
    found.grants[: before - 1, -pes_words:] = matrix.grants[:-1, places_words:]
    return found


def enlarged_table(table: Table, n_pes: int, job_limit: int) -> Table:
    """Return a table of jobs with more places, the same otherwise; in the old one none was vacant."""
    found, n_jobs = empty_table(n_pes, job_limit), len(table.pes)
    found.pes[:n_jobs], found.whole[:n_jobs] = table.pes, table.whole
    found.real[:, :n_jobs], found.order[:, :n_jobs] = table.real[:, :n_jobs], table.order
    found.order[VACANT, : job_limit - n_jobs] = np.arange(n_jobs, job_limit)[::-1]
    return found


def room_for(n_pes: int, job_limit: int, slots_limit: int | None = None) -> Room:
    """Return room for sets of PEs while a job is mapped."""
    lengths = (1, 1, n_rows(job_limit, slots_limit))
    chosen, granted, scratch = (np.zeros((rows, words(n_pes)), np.uint64) for rows in lengths)
    return Room(chosen, chosen[0], granted, scratch)

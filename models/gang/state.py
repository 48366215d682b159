"""What the gang scheduler's engine remembers between two events, as flat arrays in typed tuples.

Everything is allocated once; the engine only writes into it. Python can look at it whenever the engine has
returned, which is how drawings of the matrix are made. What belongs to a job lies side by side, in few and
wide arrays, because the engine looks at several fields of the same job together.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import boolean, float64, int64, types, uint64

from models.gang.metrics import INTEGRATED
from models.jobs.jobs import Jobs
from models.kernels.bits import words
from models.kernels.types import FLOATS, INTS

# Numba types of what the engine hands around.
SETS = uint64[:, ::1]  # sets of PEs, or of jobs, one a row
WHOLE = int64[:, ::1]  # tables of whole numbers
LISTS = uint64[:, ::1]  # lists of places in a table; no sign, so that no index is tested for being negative
REAL = float64[:, ::1]  # tables of times

Settings = namedtuple(
    "Settings",
    [
        "n_pes", "alternation", "unification", "migrating", "precedence", "instant",
        "batch_size", "first_measured", "end_measured", "n_measured",
    ],
)  # fmt: skip
"""Fixed numbers of a simulation.

n_pes : int, PEs of the machine
alternation : int, index into `policies.ALTERNATION`
unification : int, 1 if slots whose PEs have become disjoint are united
migrating : int, 1 if the scheme maps all jobs anew at each arrival and termination
precedence : int, who comes first under `exclusive`: 0 arrival, 1 largest first, -1 smallest first
instant : int, 1 if of an end and an arrival at one instant the end comes first, see `models.kernels.ties`
batch_size : int, measured terminations in a batch
first_measured, end_measured : int, sessions from the first on and before the other are measured
n_measured : int, runs of all of these; with the last of them the last batch ends, if it is short
"""
SETTINGS = types.NamedUniTuple(int64, 10, Settings)

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
    follow
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

memory : int64, zero at the start, `policies.Scheme.memory(n_pes)` long
parameters : int64, in the order of `policies.Scheme.parameters`
"""
BOOKS = types.NamedUniTuple(INTS, 2, Books)

Ended = namedtuple("Ended", ["number", "session", "submit", "end", "runtime", "size"])
"""Jobs that have ended, in order of termination: how many jobs were submitted before each, how many sessions
before its own, its times and its size."""
ENDED = types.NamedTuple([INTS, INTS, FLOATS, FLOATS, FLOATS, INTS], Ended)

Integrated = namedtuple("Integrated", INTEGRATED)  # type: ignore[misc]
"""What the engine writes down for each batch, float64 (batch,); see `models.gang.metrics`."""
BATCHES = types.NamedUniTuple(FLOATS, len(INTEGRATED), Integrated)

# Counters (int64): used slots; jobs in the system; unused places; jobs submitted and ended so far; next
# session of the chunk; sessions arrived so far; place of a job whose repetition is due, or -1; sums over the
# jobs in the system of their slots and of their slots times PEs; batches closed; measured terminations so
# far, in this batch, and in `System.ended`; all terminations and unifications in this batch; whether time is
# measured now.
(
    N_SLOTS, N_JOBS, N_VACANT, SUBMITTED, TERMINATED, CURSOR, ARRIVED, REPEATING, SUM_SLOTS, SUM_PES,
    N_BATCHES, MEASURED, IN_BATCH, N_ENDED, TERMINATIONS, UNIFICATIONS, MEASURING, N_COUNTS,
) = range(18)  # fmt: skip

# Clocks (float64): time; virtual time; begin of this batch; end of all measuring, infinite until that is
# past; integrals over this batch of used slots, of slots of all jobs, of jobs, and of work done; sum over the
# jobs that ended in this batch of the average number of slots in which each ran.
(
    NOW, VIRTUAL, BATCH_START, MEASURED_UNTIL, SLOT_TIME, JOB_SLOT_TIME, JOB_TIME, WORK, SLOTS_OF_ENDED,
    N_CLOCKS,
) = range(10)  # fmt: skip

System = namedtuple(
    "System",
    [
        "settings",
        "matrix",
        "table",
        "room",
        "books",
        "rerun_parameters",
        "counts",
        "clocks",
        "ended",
        "batches",
    ],
)
"""All of these, as the engine takes them.

rerun_parameters : float64, of the function that gives the runtimes of repetitions
counts : int64, see above
clocks : float64, see above
ended : Ended, measured jobs that have ended and were not yet taken away, `counts[N_ENDED]` of them
batches : Integrated, rows are filled as batches end
"""
SYSTEM = types.NamedTuple(
    [SETTINGS, MATRIX, TABLE, ROOM, BOOKS, FLOATS, INTS, FLOATS, ENDED, BATCHES], System
)

Arrivals = namedtuple("Arrivals", ["submit", "size", "runtime", "runs", "key"])
"""A chunk of sessions, columns of `models.jobs.jobs.Jobs`."""
ARRIVALS = types.NamedTuple([FLOATS, INTS, FLOATS, INTS, INTS], Arrivals)

Goal = namedtuple("Goal", ["n_batches", "more_arrivals", "until"])
"""When to return: after so many batches, the warm-up included; when the chunk is used up and another will
follow; before the first event later than a time."""
GOAL = types.NamedTuple([int64, boolean, float64], Goal)


def empty_matrix(n_pes: int, job_limit: int) -> Matrix:
    """Return a matrix with no used slot, with room for one slot a job and the empty one after them."""
    rows = job_limit + 2
    return Matrix(
        np.zeros((rows, words(n_pes)), np.uint64),
        np.full(rows, n_pes, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((rows, words(job_limit) + words(n_pes)), np.uint64),
    )


def empty_table(n_pes: int, job_limit: int) -> Table:
    """Return a table of jobs with `job_limit` vacant places."""
    order = np.zeros((N_LISTS, job_limit), np.uint64)
    order[VACANT] = np.arange(job_limit)[::-1]
    return Table(
        np.zeros((job_limit, words(n_pes)), np.uint64),
        np.zeros((job_limit, N_WHOLE), np.int64),
        np.zeros((N_REAL, job_limit)),
        order,
    )


def enlarged_matrix(matrix: Matrix, n_pes: int, job_limit: int) -> Matrix:
    """Return a matrix with more room, the same otherwise."""
    found, n_rows = empty_matrix(n_pes, job_limit), len(matrix.free)
    found.occupied[:n_rows], found.free[:n_rows], found.tags[:n_rows] = matrix[:3]
    pes_words = words(n_pes)
    places_words = matrix.grants.shape[1] - pes_words
    # The last row is room for a set in the making, and would be a slot of the larger matrix.
    found.grants[: n_rows - 1, :places_words] = matrix.grants[:-1, :places_words]
    found.grants[: n_rows - 1, -pes_words:] = matrix.grants[:-1, places_words:]
    return found


def enlarged_table(table: Table, n_pes: int, job_limit: int) -> Table:
    """Return a table of jobs with more places, the same otherwise; in the old one none was vacant."""
    found, n_jobs = empty_table(n_pes, job_limit), len(table.pes)
    found.pes[:n_jobs], found.whole[:n_jobs] = table.pes, table.whole
    found.real[:, :n_jobs], found.order[:, :n_jobs] = table.real, table.order
    found.order[VACANT, : job_limit - n_jobs] = np.arange(n_jobs, job_limit)[::-1]
    return found


def room_for(n_pes: int, job_limit: int) -> Room:
    """Return room for sets of PEs while a job is mapped."""
    chosen, granted, scratch = (np.zeros((rows, words(n_pes)), np.uint64) for rows in (1, 1, job_limit + 2))
    return Room(chosen, chosen[0], granted, scratch)


def nobody_ended(room: int) -> Ended:
    """Return room for so many jobs that have ended."""
    kinds = (np.int64, np.int64, float, float, float, np.int64)
    return Ended(*(np.zeros(room, kind) for kind in kinds))


def no_batches(limit: int) -> Integrated:
    """Return room for so many batches, NaN as long as they have not ended."""
    return Integrated(*(np.full(limit, np.nan) for _ in INTEGRATED))


def arrivals_of(jobs: Jobs) -> Arrivals:
    """Return a chunk of jobs as the engine takes it."""
    n = len(jobs)
    once = np.ones(n, np.int64) if jobs.runs is None else jobs.runs
    keys = np.zeros(n, np.int64) if jobs.key is None else jobs.key
    return Arrivals(jobs.submit, jobs.size, jobs.runtime, once, keys)


def no_arrivals() -> Arrivals:
    """Return an empty chunk."""
    return Arrivals(*(np.zeros(0, kind) for kind in (float, np.int64, float, np.int64, np.int64)))

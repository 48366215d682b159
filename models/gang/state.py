"""What the gang scheduler's engine remembers between two events, as flat arrays.

Everything is allocated once; the engine only writes into it. Python can look at it whenever the engine has
returned, which is how drawings of the matrix are made. Few and wide arrays, because each one costs compile
time wherever it is passed, and because what belongs to a job then lies side by side.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import float64, int64, types, uint64

from models.jobs.jobs import Jobs as Columns
from models.kernels.bits import words

# Numba types of what the engine hands around.
SETS = uint64[:, ::1]  # sets of PEs, or of jobs, one a row
WHOLE = int64[:, ::1]  # tables of whole numbers
LISTS = uint64[:, ::1]  # lists of places in a table; no sign, so that no index is tested for being negative
REAL = float64[:, ::1]  # tables of times
COUNTS = int64[::1]

Settings = namedtuple(
    "Settings", ["n_pes", "alternation", "unification", "migrating", "precedence", "batch_size", "draining"]
)
"""Fixed numbers of a simulation.

n_pes : int, PEs of the machine
alternation : int, index into `alternation.MODES`
unification : int, 1 if slots whose PEs have become disjoint are united
migrating : int, 1 if the scheme maps all jobs anew at each arrival and termination
precedence : int, who comes first under `exclusive`: 0 arrival, 1 largest first, -1 smallest first
batch_size : int, terminations in a batch
draining : int, 1 if the run goes on after the last arrival until the system is empty
"""
SETTINGS = types.NamedUniTuple(int64, 7, Settings)

Room = namedtuple("Room", ["chosen", "chosen_row", "granted", "scratch"])
"""Room for intermediate sets of PEs.

chosen, granted : uint64 (1, word)
chosen_row : uint64 (word,), the row of `chosen`
scratch : uint64 (slot, word)
"""
ROOM = types.NamedTuple([uint64[:, ::1], uint64[::1], uint64[:, ::1], uint64[:, ::1]], Room)

Matrix = namedtuple("Matrix", ["occupied", "free", "tags", "grants"])
"""The Ousterhout matrix: rows 0 .. n_slots - 1 are the used slots in the order in which they were opened.

occupied : uint64 (slot, word), PEs taken by the jobs mapped to a slot; the row after the last is empty
free : int64 (slot,), number of PEs not taken
tags : int64 (slot,), a number that a packing scheme gave to the slot
grants : uint64 (slot, word), under `exclusive` the places of the jobs mapped elsewhere that run in the slot
    too, one bit each, and in the last words the PEs that they take; the last row is room for a set in the
    making
"""
MATRIX = types.NamedTuple([uint64[:, ::1], int64[::1], int64[::1], uint64[:, ::1]], Matrix)

Jobs = namedtuple("Jobs", ["pes", "whole", "real", "order"])
"""The jobs in the system, each in a place of the table that it keeps until it ends.

pes : uint64 (job, word), PEs to which it is mapped
whole : int64 (job, field), whole numbers, see below
real : float64 (field, position), times, in the order of the list PRESENT; those of the job that left last
    follow
order : int64 (list, position), places of the table in several orders, see below
"""
JOBS = types.NamedTuple([SETS, WHOLE, REAL, LISTS], Jobs)

# Fields of Jobs.whole: row of the matrix; PEs; slots in which the job runs; jobs submitted before it;
# repetitions that its user will still submit; repetitions before it; bits that name the random numbers of its
# repetitions; position in the list PRESENT.
SLOT, SIZE, RUN_SLOTS, NUMBER, RUNS_LEFT, RUN, KEY, POSITION, N_WHOLE = range(9)
# Fields of Jobs.real: time needed on dedicated PEs; time of submission; virtual time of its end if the number
# of its slots stays as it is.
RUNTIME, ARRIVAL, FINISH, N_REAL = range(4)
# Lists in Jobs.order: the jobs in the system, in no order; in that in which they may take free PEs of foreign
# slots; from the largest to the smallest, earlier first among equals; the unused places (a stack).
PRESENT, PRECEDENCE, DECREASING, VACANT, N_LISTS = range(5)

Sessions = namedtuple("Sessions", ["submit", "size", "runtime", "runs", "key"])
"""A chunk of jobs, columns of `models.jobs.jobs.Jobs`."""
SESSIONS = types.NamedTuple([float64[::1], int64[::1], float64[::1], int64[::1], int64[::1]], Sessions)

# Counters (int64): used slots; jobs in the system; unused places; jobs submitted and ended so far; next
# session of the chunk; place of a job whose repetition is due, or -1; sums over the jobs in the system of
# their slots and of their slots times PEs; terminations and unifications in this batch.
(
    N_SLOTS, N_JOBS, N_VACANT, SUBMITTED, TERMINATED, CURSOR, REPEATING, SUM_SLOTS, SUM_PES, IN_BATCH,
    UNIFICATIONS, N_COUNTS,
) = range(12)  # fmt: skip

# Clocks (float64): time; virtual time; begin of this batch; integrals over this
# batch of used slots, of slots of all jobs, of jobs, and of work done; sum of slowdowns in this batch.
NOW, VIRTUAL, BATCH_START, SLOT_TIME, JOB_SLOT_TIME, JOB_TIME, WORK, SLOWDOWNS, N_CLOCKS = range(9)

METRICS = ("slowdown", "unifications", "slots_per_job", "utilization", "used_slots", "jobs_in_system")


def empty_matrix(n_pes: int, job_limit: int) -> Matrix:
    """Return a matrix with no used slot, with room for one slot a job and the empty one after them."""
    rows = job_limit + 2
    return Matrix(
        np.zeros((rows, words(n_pes)), np.uint64),
        np.full(rows, n_pes, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((rows, words(job_limit) + words(n_pes)), np.uint64),
    )


def no_jobs(n_pes: int, job_limit: int) -> Jobs:
    """Return a table of jobs with `job_limit` vacant places."""
    order = np.zeros((N_LISTS, job_limit), np.uint64)
    order[VACANT] = np.arange(job_limit)[::-1]
    return Jobs(
        np.zeros((job_limit, words(n_pes)), np.uint64),
        np.zeros((job_limit, N_WHOLE), np.int64),
        np.zeros((N_REAL, job_limit)),
        order,
    )


def sessions_of(jobs: Columns) -> Sessions:
    """Return a chunk of jobs as the engine takes it."""
    n = len(jobs)
    once = np.ones(n, np.int64) if jobs.runs is None else jobs.runs
    keys = np.zeros(n, np.int64) if jobs.key is None else jobs.key
    return Sessions(jobs.submit, jobs.size, jobs.runtime, once, keys)


def no_sessions() -> Sessions:
    """Return an empty chunk."""
    return Sessions(*(np.zeros(0, kind) for kind in (float, np.int64, float, np.int64, np.int64)))

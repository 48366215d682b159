"""What the gang scheduler's engine remembers between two events, as flat arrays in typed tuples.

The matrix and the table of jobs are those of `models.packing.matrix`, and the jobs that wait are in
`models.gang.waiting`; here is what the engine has beyond them. Everything is allocated once; the engine
only writes into it. Python can look at it whenever the engine has returned, which is how drawings of the
matrix are made.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import boolean, float64, int64, types

from models.gang.metrics import INTEGRATED
from models.gang.waiting import FORESIGHT, WAITING
from models.jobs.ended import ENDED
from models.jobs.jobs import Jobs
from models.jobs.machine import on_each
from models.kernels.types import FLOATS, INTS
from models.packing.matrix import BOOKS, MATRIX, ROOM, TABLE

Settings = namedtuple(
    "Settings",
    [
        "n_pes", "alternation", "unification", "migrating", "precedence", "instant",
        "batch_size", "first_measured", "end_measured", "n_measured",
        "slots_limit", "backfilling", "memory_limit", "kill", "keeps_books", "stretch",
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
slots_limit : int, used slots at most
backfilling : int, 1 if others than the first of the queue may enter
memory_limit : int, KB that the jobs on a PE may have together, or `NO_LIMIT`
kill : int, 1 if jobs end when they have run for their requested time
keeps_books : int, 1 if the scheme is told of jobs that leave
stretch : float, how many times as long everything takes where slots are switched, see `models.gang.slices`
"""
SETTINGS = types.NamedTuple([int64] * 15 + [float64], Settings)

NO_LIMIT = 1 << 59

Integrated = namedtuple("Integrated", INTEGRATED)  # type: ignore[misc]
"""What the engine writes down for each batch, float64 (batch,); see `models.gang.metrics`."""
BATCHES = types.NamedUniTuple(FLOATS, len(INTEGRATED), Integrated)

# Counters (int64), after N_SLOTS and N_JOBS of `models.packing.matrix`: unused places; jobs submitted and
# ended so far; next session of the chunk; sessions arrived so far; place of a job whose repetition is due, or
# -1; sums over the jobs in the system of their slots and of their slots times PEs; batches closed; measured
# terminations so far, in this batch, and in `System.ended`; all terminations and unifications in this batch;
# whether time is measured now; position of the first job in the list of those that wait, and the one after
# the last; whether the queue is to be looked at before time goes on; position up to which that has been done
# once the first has to wait (NOWHERE before); slot that was found for the job that may enter; whether a
# scheme that migrates was kept from it, so that the next time all jobs are to be mapped anew.
(
    N_VACANT, SUBMITTED, TERMINATED, CURSOR, ARRIVED, REPEATING, SUM_SLOTS, SUM_PES, N_BATCHES, MEASURED,
    IN_BATCH, N_ENDED, TERMINATIONS, UNIFICATIONS, MEASURING, FIRST_WAITING, END_WAITING, LOOK_DUE, LOOKED_AT,
    FOUND_SLOT, OUT_OF_ORDER, N_COUNTS,
) = range(2, 24)  # fmt: skip

# Clocks (float64): time; virtual time; begin of this batch; end of all measuring, infinite until that is
# past; integrals over this batch of used slots, of slots of all jobs, of jobs, and of work done; sum over the
# jobs that ended in this batch of the average number of slots in which each ran; integral over this batch of
# the jobs that wait; virtual time at which the first of these may expect to enter.
(
    NOW, VIRTUAL, BATCH_START, MEASURED_UNTIL, SLOT_TIME, JOB_SLOT_TIME, JOB_TIME, WORK, SLOTS_OF_ENDED,
    WAITING_TIME, SHADOW, N_CLOCKS,
) = range(12)  # fmt: skip

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
        "waiting",
        "foresight",
    ],
)
"""All of these, as the engine takes them.

rerun_parameters : float64, of the function that gives the runtimes of repetitions
counts : int64, see above
clocks : float64, see above
ended : Ended, measured jobs that have ended and were not yet taken away, `counts[N_ENDED]` of them
batches : Integrated, rows are filled as batches end
waiting : Waiting, what is known of jobs before they enter
foresight : Foresight, room for what the matrix will look like
"""
SYSTEM = types.NamedTuple(
    [SETTINGS, MATRIX, TABLE, ROOM, BOOKS, FLOATS, INTS, FLOATS, ENDED, BATCHES, WAITING, FORESIGHT], System
)

Arrivals = namedtuple("Arrivals", ["submit", "size", "runtime", "runs", "key", "requested", "memory"])
"""A chunk of sessions, columns of `models.jobs.jobs.Jobs`, but memory in KB on each PE."""
ARRIVALS = types.NamedTuple([FLOATS, INTS, FLOATS, INTS, INTS, FLOATS, INTS], Arrivals)

Goal = namedtuple("Goal", ["arrivals", "more_arrivals", "n_batches", "until"])
"""What to simulate, and when to return: the chunk of sessions at hand, until it is used up and another will
follow; until so many batches have ended, the warm-up included; until the first event later than a time."""
GOAL = types.NamedTuple([ARRIVALS, boolean, int64, float64], Goal)


def no_batches(limit: int) -> Integrated:
    """Return room for so many batches, NaN as long as they have not ended."""
    return Integrated(*(np.full(limit, np.nan) for _ in INTEGRATED))


def arrivals_of(jobs: Jobs) -> Arrivals:
    """Return a chunk of jobs as the engine takes it."""
    n = len(jobs)
    once = np.ones(n, np.int64) if jobs.runs is None else jobs.runs
    keys = np.zeros(n, np.int64) if jobs.key is None else jobs.key
    memory = on_each(jobs.size, jobs.memory)
    return Arrivals(jobs.submit, jobs.size, jobs.runtime, once, keys, jobs.requested, memory)


ARRIVING = (float, np.int64, float, np.int64, np.int64, float, np.int64)


def no_arrivals() -> Arrivals:
    """Return an empty chunk."""
    return Arrivals(*(np.zeros(0, kind) for kind in ARRIVING))

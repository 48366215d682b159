"""What the gang scheduler's engine remembers between two events, as flat arrays in typed tuples.

The matrix and the table of jobs are those of `models.packing.matrix`; here is what the engine has beyond
them. Everything is allocated once; the engine only writes into it. Python can look at it whenever the engine
has returned, which is how drawings of the matrix are made.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import boolean, float64, int64, types

from models.gang.metrics import INTEGRATED
from models.jobs.ended import ENDED
from models.jobs.jobs import Jobs
from models.kernels.types import FLOATS, INTS
from models.packing.matrix import BOOKS, MATRIX, ROOM, TABLE

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

Integrated = namedtuple("Integrated", INTEGRATED)  # type: ignore[misc]
"""What the engine writes down for each batch, float64 (batch,); see `models.gang.metrics`."""
BATCHES = types.NamedUniTuple(FLOATS, len(INTEGRATED), Integrated)

# Counters (int64), after N_SLOTS and N_JOBS of `models.packing.matrix`: unused places; jobs submitted and
# ended so far; next session of the chunk; sessions arrived so far; place of a job whose repetition is due, or
# -1; sums over the jobs in the system of their slots and of their slots times PEs; batches closed; measured
# terminations so far, in this batch, and in `System.ended`; all terminations and unifications in this batch;
# whether time is measured now.
(
    N_VACANT, SUBMITTED, TERMINATED, CURSOR, ARRIVED, REPEATING, SUM_SLOTS, SUM_PES, N_BATCHES, MEASURED,
    IN_BATCH, N_ENDED, TERMINATIONS, UNIFICATIONS, MEASURING, N_COUNTS,
) = range(2, 18)  # fmt: skip

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

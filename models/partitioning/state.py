"""What the simulation remembers between two events, as flat arrays.

Everything is allocated once; the engine only writes into it. A job's progress is kept as a plan: it works at
one rate until it has to stop, stands still while its threads move, and then works at another rate. So the
end of a job is known as soon as its partition is, and no event is needed for the moves themselves.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import float64, int64, types

from models.partitioning.workload import Arrivals

# Numba types of what the engine hands around.
REAL = float64[:, ::1]
WHOLE = int64[:, ::1]
TABLES = float64[:, :, ::1]
CELLS = int64[:, ::1]
COUNTS = int64[::1]
CLOCKS = float64[::1]

Settings = namedtuple(
    "Settings",
    [
        "limit", "table_jobs", "charged", "rotation", "rotation_per_job", "interval", "overhead",
        "batch_size", "draining",
    ],
)  # fmt: skip
"""Fixed numbers of a simulation.

limit : int, jobs that can be in memory at once; others wait
table_jobs : int, the tables serve so many running jobs
charged : int, 1 if arrivals and departures stop jobs while their threads move
rotation : float, seconds between two rotations, infinite for none
rotation_per_job : int, 1 if that time is to be multiplied by the number of running jobs
interval : float, seconds between two looks at the queue of jobs outside memory (Q); infinite for none
overhead : float, seconds for which a swapped job's processors do nothing (O)
batch_size : int, terminations in a batch
draining : int, 1 if the run goes on after the last arrival until the system is empty
"""
SETTINGS = types.NamedTuple([int64, int64, int64, float64, int64, float64, float64, int64, int64], Settings)

# Fields of the table of jobs, times in seconds. LEFT is the work left at time SINCE and WORK all of it, in
# seconds alone on the machine; rates are in such seconds a second: RATE_BEFORE until STOP, none until RESUME,
# RATE from then on.
(
    LEFT, SINCE, RATE_BEFORE, STOP, RESUME, RATE, FINISH, ARRIVAL, WORK, N_REAL,
) = range(10)  # fmt: skip
# Whole numbers of a job: jobs submitted before it, class.
NUMBER, CLASS, N_WHOLE = range(3)
# Lists of places in the table of jobs: running jobs by position; waiting jobs, a ring; unused places, a
# stack. Lists of positions: those first whose jobs have been in memory for longest; room for some. Lists that
# folding keeps: a position's cells (the second is NONE for a small partition); each cell's position; systems;
# positions, indices and sizes of a system's partitions along its walk, for a moment.
(
    RUNNING, QUEUE, VACANT, OLDEST, ROOM, FIRST, SECOND, OWNER, SYSTEMS, PART_POSITION, PART_INDEX, PART_SIZE,
    N_LISTS,
) = range(13)  # fmt: skip
NONE = -1

# Counters: running and waiting jobs; begin of the ring of the latter; unused places; jobs submitted and
# ended; next arrival of the chunk; jobs ended in this batch; under folding the level (2 ** LEVEL cells), the
# number of systems, and the position whose partition is free for the moment, or NONE.
(
    N_RUNNING, N_QUEUED, HEAD, N_VACANT, SUBMITTED, TERMINATED, CURSOR, IN_BATCH, LEVEL, N_SYSTEMS, FREE,
    N_COUNTS,
) = range(12)  # fmt: skip

# Clocks: time; last arrival; begin of this batch; integral of jobs in the system over this batch; last and
# next instant of rotation; next look at the queue.
NOW, LAST_ARRIVAL, BATCH_START, JOB_TIME, ROTATED, ROTATION_DUE, TICK, N_CLOCKS = range(8)

# Sums over the jobs of a class that ended in this batch.
ENDED, RESPONSES, BLOW_UPS, BLOW_UP_SQUARES, N_SUMS = range(5)

N_CLASSES = 2
N_COLUMNS = N_CLASSES * N_SUMS + 1
"""Columns of a batch: these sums for short and for long jobs, then the time average of jobs in the system."""

ARRIVALS = types.NamedTuple([float64[::1], int64[::1], float64[::1]], Arrivals)


def no_arrivals() -> Arrivals:
    """Return an empty chunk."""
    return Arrivals(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))

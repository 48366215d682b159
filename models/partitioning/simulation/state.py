"""What the simulation remembers between two events, as flat arrays.

Everything is allocated once; the engine only writes into it. A job's progress is kept as a plan: it works at
one rate until it has to stop, stands still while its threads move, and then works at another rate. So the
end of a job is known as soon as its partition is, and no event is needed for the moves themselves.

The jobs of a table are rows of two arrays, not an array for each field: what an event touches of a job is
then in one line of the processor's cache, and few arrays travel to the functions of a policy.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import float64, int64, types

from models.arrays import Floats, Ints
from models.kernels.types import FLOATS, INTS

REAL = float64[:, ::1]
WHOLE = int64[:, ::1]

# Fields of the table of jobs, times in seconds. LEFT is the work left at time SINCE, in seconds alone on the
# machine; rates are in such seconds a second: RATE_BEFORE until STOP, none until RESUME, RATE from then on.
# START is when the job got its first processors, ALONE its speed on the whole machine (where speed goes by
# the number of processors). HELD processors since HELD_SINCE, where pieces are recorded. The others are those
# of the arrival.
(
    LEFT, SINCE, RATE_BEFORE, STOP, RESUME, RATE, FINISH, START, ALONE, SUBMIT, WORK, RUNTIME, HELD,
    HELD_SINCE, N_REAL,
) = range(15)  # fmt: skip
# Whole numbers of a job: jobs submitted before it, processors it asks for, class, its share (see `Plan`).
NUMBER, SIZE, CLASS, SHARE, N_WHOLE = range(5)
# Lists of places in the table of jobs: running jobs by position; waiting jobs, a ring; unused places, a
# stack. Lists of positions: those first whose jobs have been in memory for longest; room for some. Lists that
# folding keeps: a position's cells (the second is NONE for a small partition); each cell's position; systems;
# positions, indices and sizes of a system's partitions along its walk, for a moment.
(
    RUNNING, QUEUE, VACANT, OLDEST, ROOM, FIRST, SECOND, OWNER, SYSTEMS, PART_POSITION, PART_INDEX, PART_SIZE,
    N_LISTS,
) = range(13)  # fmt: skip
NONE = -1
NOT_YET = -1.0

# Counters: running and waiting jobs; begin of the ring of the latter; unused places; jobs submitted and
# ended; next arrival of the chunk; jobs ended in this batch; under folding the level (2 ** LEVEL cells), the
# number of systems, and the position whose partition is free for the moment, or NONE; jobs, batches and
# pieces that are written down and not taken away.
(
    N_RUNNING, N_QUEUED, HEAD, N_VACANT, SUBMITTED, TERMINATED, CURSOR, IN_BATCH, LEVEL, N_SYSTEMS, FREE,
    N_ENDED, N_CLOSED, N_PIECES, N_COUNTS,
) = range(15)  # fmt: skip

# Clocks: time; begin of this batch; integrals of the jobs in the system and of the processors held over this
# batch; last and next instant of rotation; next look at the queue.
NOW, BATCH_START, JOB_TIME, HELD_TIME, ROTATED, ROTATION_DUE, TICK, N_CLOCKS = range(8)

State = namedtuple("State", ["real", "whole", "order", "counts", "clocks"])
"""The simulation, which the functions of a policy change.

real : float64 (place, field), the table of jobs
whole : int64 (place, field), the same
order : int64 (list, position)
counts : int64 (counter,)
clocks : float64 (clock,), seconds
"""
STATE = types.NamedTuple([REAL, WHOLE, WHOLE, INTS, FLOATS], State)

Settings = namedtuple(
    "Settings",
    [
        "limit", "table_jobs", "charged", "rotation", "rotation_per_job", "interval", "overhead",
        "batch_size", "draining", "by_shape", "recording", "n_batches", "until",
    ],
)  # fmt: skip
"""Fixed numbers of a simulation, and where this call of the engine ends.

limit : int, jobs that can be in memory at once; others wait
table_jobs : int, the shares serve so many running jobs
charged : int, 1 if arrivals and departures stop jobs while their threads move
rotation : float, seconds between two rotations, infinite for none
rotation_per_job : int, 1 if that time is to be multiplied by the number of running jobs
interval : float, seconds between two looks at the queue of jobs outside memory (Q); infinite for none
overhead : float, seconds for which a swapped job's processors do nothing (O)
batch_size : int, terminations in a batch
draining : int, 1 if the run goes on after the last arrival until the system is empty
by_shape : int, 1 if the rate of a job is that of its partition, whichever job it is
recording : int, 1 if pieces are written down
n_batches : int, the engine returns when so many batches have ended, the warm-up included
until : float, seconds; the engine returns before the first event later than this
"""
SETTINGS = types.NamedTuple(
    [
        int64, int64, int64, float64, int64, float64, float64, int64, int64, int64, int64, int64, float64,
    ],
    Settings,
)  # fmt: skip

Plan = namedtuple("Plan", ["settings", "rate", "processors", "moves", "cells", "curve"])
"""What is not changed. A *share* is the number of a kind of partition, as the policy counts them.

settings : Settings
rate : float64 (share,), seconds alone on the machine that any job works off in a second (where by_shape)
processors : float64 (share,)
moves : float64 (kind of move, share), seconds that a job stands still for a move to or from a share
cells : int64, the policy's own: where cells are
curve : float64, parameters of the speed-up
"""
PLAN = types.NamedTuple([SETTINGS, FLOATS, FLOATS, REAL, WHOLE, FLOATS], Plan)

Arrivals = namedtuple("Arrivals", ["submit", "work", "runtime", "alone", "size", "job_class", "more"])
"""A chunk of arrivals, arrays of one length.

submit : float64, seconds, ascending over all chunks
work : float64, seconds alone on the machine
runtime : float64, seconds on the processors that the job asks for; only handed on
alone : float64, speed on the whole machine, see ALONE
size : int64, processors that the job asks for
job_class : int64, only handed on
more : int, 1 if another chunk will follow
"""
ARRIVALS = types.NamedTuple([FLOATS, FLOATS, FLOATS, FLOATS, INTS, INTS, int64], Arrivals)

Ended = namedtuple("Ended", ["number", "submit", "start", "end", "runtime", "work", "size", "job_class"])
"""Jobs in the order in which they ended, arrays of shape (n_jobs,).

number : int64, jobs submitted before it
submit, start, end : float64, seconds; it got its first processors at its start
runtime, work, size, job_class : as in `Arrivals`
"""
ENDED = types.NamedTuple([INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, INTS], Ended)

Closed = namedtuple("Closed", ["job_time", "held_time", "length"])
"""Batches that ended, float64 arrays of shape (n_batches,).

job_time, held_time : integrals of the jobs in the system and of the processors that they hold
length : seconds
"""
CLOSED = types.NamedUniTuple(FLOATS, 3, Closed)

Held = namedtuple("Held", ["number", "begin", "end", "processors"])
"""Times of jobs on one number of processors, arrays of shape (n_pieces,).

number : int64, of the job
begin, end : float64, seconds
processors : float64
"""
HELD_PIECES = types.NamedTuple([INTS, FLOATS, FLOATS, FLOATS], Held)

Record = namedtuple("Record", ["ended", "closed", "pieces", "held"])
"""What is written down for those who measure, and has to be taken away when there is no room left.

ended : Ended
closed : Closed
pieces : Held
held : float64 (jobs,), processors that so many running jobs hold together; only looked up
"""
RECORD = types.NamedTuple([ENDED, CLOSED, HELD_PIECES, FLOATS], Record)


def empty_state(job_limit: int) -> State:
    """Return the state at time 0, with room for so many jobs, waiting ones included."""
    # Folding has at most twice as many cells as jobs.
    order = np.zeros((N_LISTS, 2 * job_limit), np.int64)
    order[VACANT, :job_limit] = np.arange(job_limit)[::-1]
    counts = np.zeros(N_COUNTS, np.int64)
    counts[N_VACANT] = job_limit
    counts[FREE] = NONE
    clocks = np.zeros(N_CLOCKS)
    clocks[[TICK, ROTATION_DUE]] = np.inf
    return State(
        np.zeros((job_limit, N_REAL)), np.zeros((job_limit, N_WHOLE), np.int64), order, counts, clocks
    )


def no_arrivals(more: bool) -> Arrivals:
    """Return an empty chunk."""
    real, whole = np.zeros(0), np.zeros(0, np.int64)
    return Arrivals(real, real, real, real, whole, whole, int(more))


def empty_record(n_jobs: int, n_batches: int, n_pieces: int, held: Floats) -> Record:
    """Return a record with room for so much."""

    def whole(n: int) -> Ints:
        return np.zeros(n, np.int64)

    of_jobs = [np.zeros(n_jobs) for _ in range(5)]
    ended = Ended._make([whole(n_jobs), *of_jobs, whole(n_jobs), whole(n_jobs)])
    closed = Closed(*(np.zeros(n_batches) for _ in range(3)))
    return Record(ended, closed, Held(whole(n_pieces), *(np.zeros(n_pieces) for _ in range(3))), held)

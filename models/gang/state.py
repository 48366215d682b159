"""The state of the gang scheduler's engine between two events, as flat arrays in typed tuples.

The matrix and the table of jobs come from `models.packing.matrix`, the profile for jobs that wait is in
`models.gang.profile`; the rest is here. Everything is allocated once; the engine only writes into it. Python
can read it whenever the engine has returned, as drawings of the matrix do.
"""

from collections import namedtuple
from typing import Annotated, NamedTuple

import numpy as np
from numba import boolean, float64, from_dtype, int64, types

from models.arrays import Floats, Ints
from models.gang.metrics import INTEGRATED
from models.gang.profile import PROFILE, Profile
from models.jobs.ended import ENDED, Ended
from models.jobs.jobs import Jobs
from models.jobs.machine import on_each
from models.kernels.types import FLOATS, INTS, record
from models.packing.matrix import BOOKS, BUFFERS, MATRIX, TABLE, Books, Buffers, Matrix, Table


class Settings(NamedTuple):
    """Fixed numbers of a simulation."""

    n_pes: int
    alternation: int  # as `alternation` numbers them
    unification: int  # 1 if slots whose PEs have become disjoint are united
    migrating: int  # 1 if the scheme maps all jobs again at each arrival and termination
    precedence: int  # the first job under `exclusive`: 0 by arrival, 1 the largest, -1 the smallest
    instant: int  # 1 if an end comes before an arrival at the same instant, see `models.kernels.ties`
    batch_size: int  # measured terminations in a batch
    first_measured: int  # sessions from this one up to, and without, the next one are measured
    end_measured: int
    n_measured: int  # runs of all of these; with the last of them the last batch ends, if it is short
    slots_limit: int  # used slots at most
    backfilling: int  # 1 if jobs behind the head of the queue may enter
    memory_limit: int  # KB for all jobs on a PE together, or `NO_LIMIT`
    kill: int  # 1 if jobs end when they have run for their requested time
    keeps_books: int  # 1 if the scheme's `release` is called for jobs that leave
    stretch: float  # factor by which switches lengthen everything, see `models.gang.slices`


SETTINGS = record(Settings)

NO_LIMIT = 1 << 59

Integrated = namedtuple("Integrated", INTEGRATED)  # type: ignore[misc]
"""What the engine records of each batch, float64 (batch,); see `models.gang.metrics`."""
BATCHES = types.NamedUniTuple(FLOATS, len(INTEGRATED), Integrated)

SCALARS = np.dtype(
    [
        ("n_slots", np.int64),  # used slots
        ("n_jobs", np.int64),  # jobs in the matrix
        ("n_vacant", np.int64),  # unused places of the table
        ("n_submitted", np.int64),  # jobs submitted so far
        ("n_terminated", np.int64),  # jobs ended so far
        ("cursor", np.int64),  # next session of the chunk
        ("n_arrived", np.int64),  # sessions arrived so far
        ("repeating", np.int64),  # place of a job whose repetition is due, or NOWHERE
        ("sum_slots", np.int64),  # of all jobs in the matrix, the slots in which they run
        ("sum_pes", np.int64),  # of all jobs in the matrix, these slots times their PEs
        ("n_batches", np.int64),  # batches closed
        ("n_measured", np.int64),  # measured terminations so far
        ("in_batch", np.int64),  # measured terminations in this batch
        ("n_ended", np.int64),  # jobs in `System.ended`
        ("terminations", np.int64),  # all terminations in this batch
        ("unifications", np.int64),  # in this batch
        ("measuring", np.int64),  # 1 while time is measured
        ("first_waiting", np.int64),  # position of the head of the queue
        ("end_waiting", np.int64),  # position after the last waiting job
        ("pass_due", np.int64),  # 1 if the queue has to be processed before time advances
        ("next_candidate", np.int64),  # position of the next backfill candidate, NOWHERE without a profile
        ("found_slot", np.int64),  # of the job that may enter
        ("profile_slots", np.int64),  # used slots of the profile's matrix
        ("out_of_order", np.int64),  # 1 if a migrating scheme was kept from mapping all jobs again
        ("repeated", np.int64),  # steps at this instant, see `models.kernels.standstill`
        ("now", np.float64),
        ("virtual", np.float64),  # virtual time
        ("batch_start", np.float64),
        ("measured_until", np.float64),  # end of all measuring, infinite until then
        ("slot_time", np.float64),  # integral over this batch of the used slots,
        ("job_slot_time", np.float64),  # of the slots of all jobs,
        ("job_time", np.float64),  # of the jobs in the matrix,
        ("waiting_time", np.float64),  # of the waiting jobs,
        ("work", np.float64),  # and of the work delivered
        ("slots_of_ended", np.float64),  # sum over the jobs that ended in this batch of their average slots
        ("shadow", np.float64),  # virtual time at which the head of the queue is expected to enter
    ],
    align=True,
)
"""The scalars of a system."""
STATE = from_dtype(SCALARS)


class System(NamedTuple):
    """All tables, in the form that the engine takes."""

    settings: Settings
    matrix: Annotated[Matrix, MATRIX]
    table: Annotated[Table, TABLE]
    buffers: Annotated[Buffers, BUFFERS]
    books: Annotated[Books, BOOKS]
    rerun_parameters: Floats  # of the function that returns the runtimes of repetitions
    state: Annotated[np.ndarray, SCALARS]  # (1,)
    ended: Annotated[
        Ended, ENDED
    ]  # measured jobs that have ended and are to be handed out, `n_ended` of them
    batches: Annotated[Integrated, BATCHES]  # a row is filled when a batch ends
    # Places of the waiting jobs in order of submission, from `first_waiting` on; the array is twice as long
    # as needed, so that the queue is seldom moved.
    queue: Ints
    profile: Annotated[Profile, PROFILE]


SYSTEM = record(System)

Arrivals = namedtuple("Arrivals", ["submit", "size", "runtime", "runs", "key", "requested", "memory"])
"""A chunk of sessions, columns of `models.jobs.jobs.Jobs`, except that memory is in KB on each PE."""
ARRIVALS = types.NamedTuple([FLOATS, INTS, FLOATS, INTS, INTS, FLOATS, INTS], Arrivals)

Goal = namedtuple("Goal", ["arrivals", "more_arrivals", "n_batches", "until"])
"""What to simulate, and when to return: the present chunk of sessions, until it is used up and another will
follow; until a number of batches has ended, including the warm-up; until the first event after a time."""
GOAL = types.NamedTuple([ARRIVALS, boolean, int64, float64], Goal)


def arrivals_of(jobs: Jobs) -> Arrivals:
    """Return a chunk of jobs in the form that the engine takes."""
    n = len(jobs)
    once = np.ones(n, np.int64) if jobs.runs is None else jobs.runs
    keys = np.zeros(n, np.int64) if jobs.key is None else jobs.key
    memory = on_each(jobs.size, jobs.memory)
    return Arrivals(jobs.submit, jobs.size, jobs.runtime, once, keys, jobs.requested, memory)

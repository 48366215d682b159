"""The state of the simulation between two events, in arrays that Python allocates and the engine fills.

A job's progress is kept as a plan: it works at one rate until it has to stop, stands still while its threads
move, and then works at another rate. So the end of a job is known as soon as its partition is, and no event
is needed for the moves themselves.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import float64, int64

from models.arrays import Floats, Ints
from models.kernels.types import fields, record

NONE = -1
NOT_YET = -1.0

JOB = fields(
    "left since rate_before stop resume rate finish start alone submit work runtime held held_since",
    "number size job_class share",
)
"""A job in the system; times in seconds.

Parameters
----------
left : remaining work at time `since`, in seconds alone on the machine
rate_before, stop, resume, rate : rate until `stop`, none until `resume`, `rate` from then on; in such
    seconds a second
start : when it got its first processors, or `NOT_YET`
alone : its speed on the whole machine, where speed depends on the number of processors
held, held_since : processors since then, where pieces are recorded
number : jobs submitted before it
share : see `Shares`
"""

STATE = fields(
    "now batch_start job_time held_time begun rotated rotation_due tick",
    "n_running n_queued head n_vacant submitted terminated cursor in_batch level n_systems free n_ended "
    "n_closed n_pieces repeated",
)
"""The scalars of the simulation.

Parameters
----------
job_time, held_time : integrals over this batch of the jobs in the system and of the processors held
begun : processor-seconds delivered to the jobs that were in the system as this batch began
rotated, rotation_due : last and next instant of rotation
tick : next check of the queue
head : begin of the ring of queued jobs
n_vacant : unused places in the table of jobs
cursor : next arrival of the chunk
level, n_systems, free : of folding: 2 ** level cells; systems; the position whose partition is free
    at the moment, or `NONE`
n_ended, n_closed, n_pieces : records that have not been taken
"""

ENDED = fields("submit start end runtime work", "number size job_class")
"""A job that ended; `start` is when it got its first processors, the other fields are as in `Arrivals`."""

CLOSED = fields("job_time held_time begun length")
"""A batch that ended: integrals of the jobs in the system and of the processors that they hold; how much more
has been delivered to the jobs in the system than when it began, processor-seconds; seconds."""

HELD = fields("begin end processors", "number")
"""A time of a job on one number of processors."""


class Lists(NamedTuple):
    """Places in the table of jobs, positions among the running jobs, and cells; shape (2 job_limit,).

    Parameters
    ----------
    running : places of running jobs by position
    queue, vacant : places of waiting jobs, a ring; unused places, a stack
    oldest, moved : positions, the job longest in memory first; scratch space for positions
    first, second : a position's cells, the second is `NONE` for a small partition
    owner : each cell's position
    systems : see `fold_cells`
    part_position, part_index, part_size : scratch for a system's partitions along its walk
    """

    running: Ints
    queue: Ints
    vacant: Ints
    oldest: Ints
    moved: Ints
    first: Ints
    second: Ints
    owner: Ints
    systems: Ints
    part_position: Ints
    part_index: Ints
    part_size: Ints


class Settings(NamedTuple):
    """Fixed numbers of a simulation, and the end of this call of the engine.

    Parameters
    ----------
    limit : int
        Jobs that can be in memory at once; others wait.
    charged : bool
        Whether arrivals and departures stop jobs while their threads move.
    rotation : float, seconds
        Time between two rotations, infinite without rotation.
    rotation_per_job : bool
        Whether that time is multiplied by the number of running jobs.
    interval, overhead : float, seconds
        Q and O, see `admission`; the interval is infinite without checks.
    batch_size : int
        Terminations in a batch.
    draining : bool
        Whether the run continues after the last arrival until the system is empty.
    by_shape : bool
        Whether the rate of a job depends on its partition only, the same for all jobs.
    recording : bool
        Whether pieces are recorded.
    table_jobs : int
        Maximum of running jobs that the shares serve.
    n_batches : int
        The engine returns when this number of batches has ended, the warm-up included.
    """

    limit: int
    charged: bool
    rotation: float
    rotation_per_job: bool
    interval: float
    overhead: float
    batch_size: int
    draining: bool
    by_shape: bool
    recording: bool
    table_jobs: int = 0
    n_batches: int = 0


class Arrivals(NamedTuple):
    """A chunk of arrivals, arrays of one length.

    Parameters
    ----------
    submit : seconds, ascending over all chunks
    work : seconds alone on the machine
    runtime : seconds on the processors that the job requests; only passed on
    alone : see `JOB`
    size : processors that the job requests
    job_class : only passed on
    more : whether another chunk will follow
    """

    submit: Floats
    work: Floats
    runtime: Floats
    alone: Floats
    size: Ints
    job_class: Ints
    more: bool


class Shares(NamedTuple):
    """A policy's partitions of a machine. A *share* is the number of a kind of partition.

    Parameters
    ----------
    rate : ndarray of float, shape (n_shares,)
        Seconds alone on the machine that any job completes in a second (if `by_shape`).
    processors : ndarray of float, shape (n_shares,)
    moves : ndarray of float, shape (kinds of moves, n_shares)
        Seconds that a job stands still for a move to or from a share.
    cells : ndarray of int
        The policy's own data: the positions of cells.
    held : ndarray of float, shape (n_jobs + 1,)
        Processors that 0, 1, … running jobs hold together.
    """

    rate: Floats
    processors: Floats
    moves: Annotated[np.ndarray, float64[:, ::1]]
    cells: Annotated[np.ndarray, int64[:, ::1]]
    held: Floats


class Tables(NamedTuple):
    """All tables that the functions of a policy take; `curve` are the parameters of the speed-up."""

    jobs: Annotated[np.ndarray, JOB]
    lists: Lists
    state: Annotated[np.ndarray, STATE]
    settings: Settings
    shares: Shares
    curve: Floats


class Record(NamedTuple):
    """The records, which must be taken when they are full."""

    ended: Annotated[Any, ENDED]
    closed: Annotated[Any, CLOSED]
    pieces: Annotated[Any, HELD]

    @classmethod
    def empty(cls, n_jobs: int, n_batches: int, n_pieces: int) -> Record:
        """Return a record of this capacity."""
        return cls(np.zeros(n_jobs, ENDED), np.zeros(n_batches, CLOSED), np.zeros(n_pieces, HELD))


ARRIVALS, TABLES, RECORD = map(record, (Arrivals, Tables, Record))


def empty_tables(job_limit: int, settings: Settings, shares: Shares, curve: Floats) -> Tables:
    """Return the state at time 0, for at most `job_limit` jobs, including waiting ones."""
    # Folding has at most twice as many cells as jobs.
    lists = Lists(*np.zeros((len(Lists._fields), 2 * job_limit), np.int64))
    lists.vacant[:job_limit] = np.arange(job_limit)[::-1]
    state = np.zeros(1, STATE)
    state["n_vacant"], state["free"] = job_limit, NONE
    state["tick"] = state["rotation_due"] = np.inf
    return Tables(np.zeros(job_limit, JOB), lists, state, settings, shares, curve)


def no_arrivals(more: bool) -> Arrivals:
    """Return an empty chunk."""
    real, whole = np.zeros(0), np.zeros(0, np.int64)
    return Arrivals(real, real, real, real, whole, whole, more)

"""The tables of conservative backfilling on one pool: jobs, the profile, gaps, and an index of waiting jobs.

A waiting job has a *position*, in order of submission, by which it is identified wherever jobs are placed.
The profile, the number of processors free from now on, is a step function of time as a linked list: a step
begins where a job starts or is expected to end, and exists as long as some job starts or ends there. So each
job has its two steps, and a small move traverses the list from there; no search covers the whole list. Where
processors become free that some job might use, the step is in the list of gaps until all jobs have had their
turn since, or until it is filled again: nearly all are filled at once, by the next job that moves forward.

Sets of jobs are bit sets, with one bit for a position, so that 64 jobs are examined at a time. There is a set
for each class of sizes and each class of requested times, which contains all jobs of smaller classes, and for
each stretch of time (a zone), which contains all jobs with a reservation in it or later: the backfill
candidates of a gap are the intersection of three sets. For each zone and each class of sizes the shortest
request of all jobs with a reservation in it or later shows for most gaps at once that no job fits.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import float64, int32, uint32, uint64
from numpy.typing import NDArray

from models.arrays import Floats, Ints
from models.backfill.event_loop import initial_state, state_type
from models.backfill.job_table import NO_JOB, JobTable, table_of
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.kernels.bits import WORD_BITS, words
from models.kernels.types import record

NUMBER = uint32
"""Type of the number of a step, a gap or a position. An unsigned index needs no check whether it counts from
the end of its array, which took a quarter of all time."""
FIRST: Any = np.uint32(0)
NONE: Any = np.uint32(0xFFFF_FFFF)

CLASSES = 32
"""Number of classes of sizes, and of requested times: at most twice as many."""
ZONES = 128
SHIFT, MASK = 6, WORD_BITS - 1

Numbers = Annotated[NDArray[np.uint32], uint32[::1]]
Set = Annotated[NDArray[np.uint64], uint64[::1]]
Sets = Annotated[NDArray[np.uint64], uint64[:, ::1]]

STATE = state_type(
    first=np.uint32, spare=np.uint32, n_steps=np.uint32, n_gaps=np.uint32, n_positions=np.int64,
    turn=np.int64, n_instants=np.int64,
)  # fmt: skip
"""Scalars that only this system has.

first
    The first step of the profile.
spare, n_steps
    A number that was a step's and is unused, or `NONE`; and how many numbers are in use or were.
n_gaps
    Gaps in the list.
n_positions
    Positions given so far.
turn
    How many times the waiting jobs have been placed again.
n_instants
    Instants so far.
"""

STEP = np.dtype(
    [
        ("time", "f8"), ("free", "i4"), ("before", "u4"), ("after", "u4"), ("n_jobs", "i4"),
        ("starting", "u4"), ("gap", "u4"),
    ]
)  # fmt: skip
"""A step: half a line of the cache, because a walk over it reads most of it.

time
    When it begins, in seconds; it lasts to the beginning of the next one, the last for ever.
free
    Processors that are free then.
before, after
    Its neighbours, or `NONE`. Of an unused number, `after` is the next unused number.
n_jobs
    How many jobs start there or are expected to end there.
starting
    The position of one of the waiting jobs that start there, or `NONE`; they are a list, see `RESERVATION`.
gap
    Its entry in the list of gaps, or `NONE`.
"""

GAP = np.dtype([("time", "f8"), ("turn", "i8"), ("step", "u4"), ("known", "i4"), ("most", "i4")], align=True)
"""A step in which something has become free, and that not all waiting jobs have been tried in since.

time, step
    When the step begins, and its number.
turn
    The last turn of placing all jobs again in which something became free there.
known
    Processors that were free before. With no more than these no waiting job fits there before its start.
most
    A job that needs more processors does not fit, unless more has become free since; that is recorded then.
"""

RESERVATION = np.dtype(
    [
        ("requested", "f8"), ("planned", "f8"), ("first", "u4"), ("last", "u4"),
        ("next_there", "u4"), ("last_there", "u4"),
    ]
)  # fmt: skip
"""What is read of a waiting job: half a line of the cache.

requested
    As submitted; in seconds.
planned
    Its reserved start, in seconds.
first, last
    The step that begins at that start, and the one that begins at the expected end.
next_there, last_there
    The positions of its neighbours in the list of those that start where it does, or `NONE`.
"""


class IndexedQueue(NamedTuple):
    """The waiting jobs by position; arrays have the shape (n_jobs,) unless noted.

    Parameters
    ----------
    reservation : ndarray of `RESERVATION`
    size : ndarray of int32
        Processors: read most often, so they are closest together.
    job : ndarray of int
        The job at a position, or `NO_JOB`.
    moved_to : ndarray of int
        The new position of the job that had an old one, right after compaction.
    may_advance : ndarray of uint64, shape (n_words,)
        Jobs that may fit right before their start, see `pool`.
    may_jump : ndarray of uint64, shape (n_words,)
        Jobs that may fit as a whole where something has become free, see `gaps`.
    present : ndarray of uint64, shape (n_words,)
        Waiting jobs: the sets below keep others, too, until they are rebuilt.
    of_size : ndarray of uint64, shape (n_classes + 1, n_words)
        In each row the jobs of smaller classes than this.
    of_request : ndarray of uint64, shape (n_classes, n_words)
        In each row the jobs of this class and of smaller ones.
    later : ndarray of uint64, shape (ZONES, n_words)
        In each row the jobs with a reservation in this zone or later, and some that had one.
    shortest : ndarray of float, shape (ZONES, n_classes), seconds
        No job of this class of sizes or a smaller one with a reservation in this zone or later requests less.
    grid : ndarray of float, shape (2,)
        When the first zone begins (seconds), and zones a second.
    class_of_size : ndarray of int, shape (processors + 1,)
    least_request : ndarray of float, shape (n_classes,), seconds
        The shortest request of each class, ascending; the first is 0.
    """

    reservation: Annotated[np.ndarray, RESERVATION]
    size: Annotated[NDArray[np.int32], int32[::1]]
    job: Ints
    moved_to: Numbers
    may_advance: Set
    may_jump: Set
    present: Set
    of_size: Sets
    of_request: Sets
    later: Sets
    shortest: Annotated[NDArray[np.float64], float64[:, ::1]]
    grid: Floats
    class_of_size: Ints
    least_request: Floats


class ConservativePool(NamedTuple):
    """The system, see `models.backfill.event_loop`.

    Parameters
    ----------
    state : one record of `STATE`
    jobs, queue : see there; no job is longer than requested
    until : for each running job, the step that begins at its expected end
    step : ndarray of `STEP`, by their numbers, as many as there can be at once
        They are renumbered in the order of time every now and then, so that most neighbours are adjacent in
        memory.
    gap : ndarray of `GAP`, in no order
    ordered, number : ndarray of `STEP`, of int
        Scratch for renumbering steps.
    """

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    until: Numbers
    queue: IndexedQueue
    heap: Ints
    step: Annotated[np.ndarray, STEP]
    gap: Annotated[np.ndarray, GAP]
    ordered: Annotated[np.ndarray, STEP]
    number: Numbers


QUEUE, SYSTEM = record(IndexedQueue), record(ConservativePool)


def system_of(jobs: Jobs, machine: Machine, instant: bool) -> ConservativePool:
    """Return the system before the first submission."""
    n, processors, down = len(jobs), machine.largest, machine.down
    # Two steps for each job and each downtime, and two more for a job that moves.
    places, n_steps = 2 * n + 2 * len(down) + 4, 2 * len(down) + 1
    step, gap, ordered = (np.zeros(places, kind) for kind in (STEP, GAP, STEP))
    profile = step[:n_steps]
    profile["time"] = [-np.inf, *down.ravel()]
    profile["free"] = processors
    profile["free"][1::2] = 0
    profile["before"], profile["after"] = np.arange(n_steps) - 1, np.arange(n_steps) + 1
    profile["n_jobs"][1:] = 1  # a downtime begins and ends like a job
    profile["starting"] = profile["gap"] = profile["before"][0] = profile["after"][-1] = NONE
    until, number = np.zeros(n, np.uint32), np.zeros(places, np.uint32)
    return ConservativePool(
        initial_state(STATE, instant, first=FIRST, spare=NONE, n_steps=n_steps),
        table_of(jobs), until, empty_queue(jobs.size, jobs.requested, processors),
        np.empty(n, np.int64), step, gap, ordered, number,
    )  # fmt: skip


def empty_queue(size: Ints, requested: Floats, processors: int) -> IndexedQueue:
    """Return an empty queue for jobs of these sizes and requested times (seconds)."""
    n, n_words = size.size, words(size.size) + 1
    least_size = _least_of_classes(size, size * requested)
    least_request = _least_of_classes(requested, size * requested)
    least_size[0], least_request[0] = 0, 0.0
    words_of = (1, 1, 1, least_size.size + 1, least_request.size, ZONES)
    sets: list[Any] = [np.zeros((rows, n_words), np.uint64) for rows in words_of]
    sets[:3] = [each[0] for each in sets[:3]]
    shortest = np.full((ZONES, least_size.size), np.inf)
    class_of_size = np.searchsorted(least_size, np.arange(processors + 1), side="right") - 1
    of_jobs: list[Any] = [
        np.zeros(n, RESERVATION), np.zeros(n, np.int32), np.full(n, NO_JOB), np.zeros(n, np.uint32),
    ]  # fmt: skip
    return IndexedQueue(*of_jobs, *sets, shortest, np.zeros(2), class_of_size, least_request)  # type: ignore[call-arg]


def _least_of_classes(values: NDArray[Any], area: Floats) -> NDArray[Any]:
    """Return the least value of each class: quantiles over all jobs, and over the totals that they request.

    Long queues consist mostly of the few jobs with the largest requests.
    """
    shares = np.arange(CLASSES) / CLASSES
    in_order = np.argsort(values)
    up_to = np.cumsum(area[in_order])
    heaviest = values[in_order][np.searchsorted(up_to, shares * up_to[-1])]
    return np.unique(np.concatenate([np.quantile(values, shares, method="inverted_cdf"), heaviest]))

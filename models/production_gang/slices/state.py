"""The state of both engines: records and arrays that Python allocates."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.kernels.types import fields, record

NONE = -1

SPANS = -1
"""Stands for the host of a gang that spans several."""

JOB = fields(
    "runtime think start end target left since due counted",
    "has wants runs is_chosen last slices owner charged size most first_child sibling phase stops home row "
    "memory group",
)
"""A job.

Parameters
----------
runtime, think : seconds
    Think time of its user, after the end of another job.
left, since, due, start, end : seconds
    Left of its phase on all its processors, at `since`, when it began to run; `due`: end of its phase,
    infinity while it does not run.
target : seconds
    For a job that is not gang scheduled, the reading of its host's clock at which it ends.
size, most : processors that it requests, and that it may have
owner : TC2000: its user, from 0 on; Alpha: the rank of its class's priority, 0 is the highest
first_child, sibling : the first job submitted after this one's end, and the next one of the same, or `NONE`
phase : number
has, wants : processors
runs, is_chosen : whether it runs, and whether it was chosen for the slice under decision
last, slices : the last slice in which it ran, and their number, without skipped slices that are not counted
    yet
stops : preemptions
counted : where sums are recorded instead of pieces, the time up to which its processors are counted
group : index into `Sums.used`
charged : TC2000: PEs that its user is charged for in each slice
home, row : its host, or `SPANS`; then its row in `Hosts.layout` and `Cluster.tickets`
memory : KB of each processor
"""

PIECE = fields("begin end used", "job host")
"""A job on a host from one time to another: the processors that it used."""

LEVEL = fields("time lost packing limits")
"""Processors that are lost from a time on, see `models.production_gang.systems.Levels`."""

STATE = fields(
    "now switch_ends marked next_mark level_since",
    "n_active n_waiting admitted_to n_chosen next_job n_feedback boundary decided n_pieces n_switches "
    "n_levels switching switching_uses tickets_stale n_partial n_spanning issued revoked n_others "
    "others_from others_to n_submitted mark_due repeated",
)
"""The scalars of a system.

Parameters
----------
n_active, n_waiting, n_chosen, n_feedback, n_others : lengths of the lists of these names
admitted_to : jobs of `Lists.waiting` before this one have been admitted
next_job : index into `Lists.independent`
boundary, decided : the slice at whose beginning the next decision is due, or `NONE`; the last decided one
switch_ends, switching, switching_uses : until when jobs wait for a switch, their processors, and how many of
    these they use later
tickets_stale, n_partial, n_spanning : Alpha: whether gangs have changed since tickets were issued; gangs
    without a ticket for some slice; gangs in `Cluster.spanning`
issued, revoked : tickets so far
others_from, others_to : the jobs in `Lists.others_waiting` that have no host yet
marked, next_mark, mark_due : where sums are recorded: the last time at which they were and the next one that
    is known, and whether they are to be at this instant
n_submitted : jobs so far
level_since : when the present level began
"""


class Settings(NamedTuple):
    """Seconds of a slice and of a switch; the share of its processors' time that a gang gets.

    `adapts`: whether jobs report their phases to the daemon; `gang_from`: processors from which on a job is
    gang scheduled; `sums`: whether sums are recorded instead of pieces; `first_measured`: jobs that are
    submitted before the first one that counts.
    """

    slice: float
    switch: float
    delivered: float
    adapts: bool
    gang_from: int
    sums: bool
    first_measured: int


class Phases(NamedTuple):
    """Phases of a job: shares of its work and of its processors."""

    work: Floats
    processors: Floats


class Lists(NamedTuple):
    """Lists of jobs; `feedback` is a heap of those whose submission has become known.

    `independent` are submitted after no other job; `others` are those that are not gang scheduled and have a
    host.
    """

    active: Ints
    waiting: Ints
    chosen: Ints
    independent: Ints
    feedback: Ints
    others: Ints
    others_waiting: Ints


class Hosts(NamedTuple):
    """The hosts of the machine, shape (n_hosts,); the TC2000 is a single host.

    Parameters
    ----------
    processors, gang : CPUs, and CPUs that gangs may have
    memory : KB that jobs may still have
    used : CPUs that gangs use at the moment
    layout : shape (n_rows * n_hosts,), CPUs of each gang that spans hosts
    processes : processes of jobs that are not gang scheduled; they get equal shares and have one clock
    clock, read, speed : CPU seconds of such a process, the time of that reading, and its CPU seconds per
        second
    least, next_end : the first target of such a job, and the time at which it is reached at that speed
    """

    processors: Ints
    gang: Ints
    memory: Ints
    used: Ints
    layout: Ints
    processes: Ints
    clock: Floats
    read: Floats
    speed: Floats
    least: Floats
    next_end: Floats


class Tc2000(NamedTuple):
    """PEs and users of the TC2000.

    Parameters
    ----------
    pes : ndarray of int, shape (n_jobs * words,)
        The PEs of each job, 64 to a word; the PEs at its end are kept.
    crowd : ndarray of int, shape (n_pes,)
        Jobs that are assigned to each PE.
    taken, stopped : ndarray of int, shape (words,)
        PEs of the jobs that run in the slice under decision, and of the jobs stopped at its beginning.
    had, jobs_of : ndarray of int, shape (n_users,)
        PEs times slices that each user has had; the user's jobs in the system.
    words, newcomer_slices : int
    fair, blocks : bool
        Whether the past usage of users matters; whether an admitted job gets a block of PEs.
    """

    pes: Ints
    crowd: Ints
    taken: Ints
    stopped: Ints
    had: Ints
    jobs_of: Ints
    words: int
    newcomer_slices: int
    fair: bool
    blocks: bool


class Cluster(NamedTuple):
    """Gangs on the Alpha cluster.

    Parameters
    ----------
    tickets : ndarray of int, shape (n_rows * frame,)
        Whether a gang that spans hosts has a ticket for the slice.
    full : ndarray of int, shape (frame * n_hosts,)
        CPUs with tickets.
    ranks : ndarray of int, shape (frame,)
        Order in which equal slices are taken.
    committed : ndarray of int, shape (n_priorities * n_hosts,)
        CPUs that gangs of each priority have.
    load, stopped : ndarray of int, shape (n_hosts,)
        CPUs of gangs in the slice under decision, and of gangs stopped at its beginning.
    spanning : ndarray of int, shape (n_rows,)
        Gangs that span hosts, by priority, then number.
    """

    tickets: Ints
    full: Ints
    ranks: Ints
    committed: Ints
    load: Ints
    stopped: Ints
    spanning: Ints


FROM_FIRST = 1


class Sums(NamedTuple):
    """Sums since `State.marked`, in place of pieces and levels where measures suffice, see `recording`.

    Parameters
    ----------
    used : ndarray of float, shape (2 n_classes,)
        Processor seconds that jobs of each class used: jobs that are not gang scheduled, then gangs.
    level, area : ndarray of float, shape (3,)
        Processors that are lost now to switching, packing and limits, and their seconds.
    days : ndarray of float, seconds
        Sums are recorded at each of these times, and a whole number of days later: a midnight, the first
        submission that counts (`FROM_FIRST`; users wait for answers, so that it is not known before), the
        end of the measured period.
    """

    used: Floats
    level: Floats
    area: Floats
    days: Floats


class System(NamedTuple):
    """All tables that the engine takes; `pool` is a `Tc2000` or a `Cluster`.

    `submit`, shape (n_jobs,), seconds, is filled in for a job that is submitted after another's end; pieces,
    switches and levels are what the engine records.
    """

    settings: Settings
    phases: Phases
    jobs: Annotated[np.ndarray, JOB]
    submit: Floats
    lists: Lists
    hosts: Hosts
    pieces: Annotated[np.ndarray, PIECE]
    switches: Annotated[np.ndarray, PIECE]
    levels: Annotated[np.ndarray, LEVEL]
    sums: Sums
    state: Annotated[np.ndarray, STATE]
    pool: Any


def system_with(pool: type) -> Any:
    """Return the numba type of a `System` with a pool."""
    return record(System, pool=pool)


def pool_of(system: Any) -> type:
    """Return the class of the pool in the numba type of a `System`."""
    found: type = system.types[system.fields.index("pool")].instance_class
    return found

"""What the kernel of spatial equipartitioning works on, as named tuples of arrays.

Work is accounted for where a job's processors change, and nowhere else: what a job has left is known as of
its last change, and so is its end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.eq_spatial.rules import FCFS, LAST, REQUESTED, EqSpatial
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine
from models.kernels.types import record

PLAIN, TRIAL, CATCHING, CAUGHT, LONG = range(5)
"""Standings of a job: an equal part; in its quantum; catching up; done with that but not yet repartitioned;
running for long. Those from a given one on are favoured."""

NOBODY = -1
NOWHERE = -1
UNKNOWN = -1

FIRST, BEHIND, NEXT, KEPT = range(4)
"""Places in `Waiting.at`."""

NOTES_TOGETHER = 16
ROOM_FOR_NOTES = 16 * NOTES_TOGETHER
"""For each host, see `Late`: few enough to stay in a cache, and enough for most jobs to wait out fewer."""


class JobTable(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,). Times are in seconds.

    Parameters
    ----------
    submit, runtime, size, memory, used : as in `models.jobs.jobs.Jobs`, KB
    start, end, host : filled in
    placed, begun : when it got its memory, and its first processor after that; filled in
    standing : see above
    processors : that it has now, since `since`
    left : processor-seconds of work as of then
    ends : when it ends with these processors
    turns : when its standing changes, or NaN where that is to be foreseen anew
    lack : processor-seconds that it missed for want of memory
    share : processors that it would have with its memory, since `share_since`
    ghost : the host where it would have been with its memory
    target : room for a division of processors
    late_before, next_late : its neighbours among the late jobs with the same ghost, see `Late.first`
    told : so many notes of its ghost's host count in `lack`, `share` and `share_since`, see `Late`
    """

    submit: Floats
    runtime: Floats
    size: Ints
    memory: Ints
    used: Ints
    start: Floats
    end: Floats
    host: Ints
    placed: Floats
    begun: Floats
    standing: Ints
    processors: Ints
    since: Floats
    left: Floats
    ends: Floats
    turns: Floats
    lack: Floats
    share: Ints
    share_since: Floats
    ghost: Ints
    target: Ints
    late_before: Ints
    next_late: Ints
    told: Ints


class Hosts(NamedTuple):
    """The hosts; every array but `members` and `asks` has the shape (n_hosts,).

    Parameters
    ----------
    processors : of each host
    free, free_memory : unallocated processors and KB
    members : ndarray of int, shape (n_hosts * places,)
        The jobs placed on a host, in order of submission; those of host `h` begin at ``h * places``.
    n_members : how many those are
    n_own_late : how many of those are in their quantum and late, and have this host as their ghost's
    places : as many jobs as can be on a host
    asked : processors that they ask for
    extra : processors that those catching up have beyond their share
    divided : the last repartitioning
    timer : the repartitioning that was put off, or inf
    due : when a job there ends or changes its standing
    is_dirty : 1 where something changed in this step
    level, after, before : what late jobs would have there, see `partition.place_beside`; level
        `UNKNOWN` is that they have to be told anew
    asks : ndarray of int, shape (places,)
        Room for a division, see `partition.gather`.
    enough, taken : ndarray of int, shape (places + 1,)
        Of those that were gathered, by what they ask for: the budget from which on a job has all of that, and
        what those before it ask for together, see `partition.rank`.
    """

    processors: Ints
    free: Ints
    free_memory: Ints
    members: Ints
    n_members: Ints
    n_own_late: Ints
    places: int
    asked: Ints
    extra: Ints
    divided: Floats
    timer: Floats
    due: Floats
    is_dirty: Ints
    level: Ints
    after: Ints
    before: Ints
    asks: Ints
    enough: Ints
    taken: Ints


class Late(NamedTuple):
    """Jobs that wait or are in their quantum, by the host where they would have been placed if they needed no
    memory (`JobTable.ghost`), and notes of what each of them would have there.

    Parameters
    ----------
    first : ndarray of int, shape (n_hosts,)
        One of those of each host, or `NOBODY`.
    time : ndarray of float, shape (n_hosts * room,), seconds
        From when on a note holds, until the next one. Those of host `h` begin at ``h * room``.
    level, after, before : ndarray of int, shape (n_hosts * room,)
        What a note says, see `partition.place_beside`.
    lowest : ndarray of int, shape (n_hosts * room / NOTES_TOGETHER,)
        The lowest of so many levels.
    n_notes : ndarray of int, shape (n_hosts,)
    room : int
        For the notes of a host, a multiple of `NOTES_TOGETHER`.
    """

    first: Ints
    time: Floats
    level: Ints
    after: Ints
    before: Ints
    lowest: Ints
    n_notes: Ints
    room: int


class Waiting(NamedTuple):
    """Jobs that have no memory.

    Parameters
    ----------
    queue : those that wait, in order of submission
    at : ndarray of int, shape (4,)
        Places in `queue`: the `FIRST` that is used, and the one `BEHIND` the last; while some of them get
        memory the `NEXT` to be looked at, and where the next one of those that wait on is `KEPT`.
    late : see there
    arrived : one number, of the jobs that were submitted
    """

    queue: Ints
    at: Ints
    late: Late
    arrived: Ints


class Settings(NamedTuple):
    """The rules as the kernel takes them, see `models.backfill.eq_spatial.rules.EqSpatial`.

    Parameters
    ----------
    min_interval, long_after, quantum : seconds; `long_after` inf is never, `quantum` 0 none at all
    quantum_memory : KB
    catch_up, keep_quantum : see there
    last : whether odd processors go to the last submitted
    fcfs : whether nobody gets memory before the first of those who wait
    favoured_from : standings from this one on have a claim to what they ask for
    instant : see `models.kernels.ties`
    """

    min_interval: float
    long_after: float
    quantum: float
    quantum_memory: int
    catch_up: bool
    keep_quantum: bool
    last: bool
    fcfs: bool
    favoured_from: int
    instant: bool


JOBS, HOSTS, LATE, WAITING, SETTINGS = map(record, (JobTable, Hosts, Late, Waiting, Settings))


def job_table(jobs: Jobs) -> JobTable:
    """Return the jobs before the first is submitted."""
    n = len(jobs)

    def zeros() -> Floats:
        return np.zeros(n)

    def none() -> Floats:
        return np.full(n, np.nan)

    def counts() -> Ints:
        return np.zeros(n, np.int64)

    return JobTable(
        jobs.submit, jobs.runtime, jobs.size, jobs.memory, jobs.used,
        start=none(), end=none(), host=counts(), placed=none(), begun=none(), standing=counts(),
        processors=counts(), since=zeros(), left=jobs.size * jobs.runtime, ends=zeros(), turns=zeros(),
        lack=zeros(), share=counts(), share_since=zeros(), ghost=counts(), target=counts(),
        late_before=counts(), next_late=counts(), told=counts(),
    )  # fmt: skip


def empty_hosts(machine: Machine) -> Hosts:
    """Return idle hosts. A host has at most as many jobs as processors."""
    n, places = len(machine.names), machine.largest
    n_members, n_own_late, asked, extra, is_dirty, after, before = (np.zeros(n, np.int64) for _ in range(7))
    never, timer, due = (np.full(n, when) for when in (-np.inf, np.inf, np.inf))
    return Hosts(
        machine.processors, machine.processors.copy(), machine.memory.copy(),
        np.empty(n * places, np.int64), n_members, n_own_late, places, asked, extra, never, timer, due,
        is_dirty, np.full(n, UNKNOWN), after, before, np.empty(places, np.int64),
        np.empty(places + 1, np.int64), np.empty(places + 1, np.int64),
    )  # fmt: skip


def nobody_waiting(n_jobs: int, n_hosts: int) -> Waiting:
    """Return room for all jobs."""
    places = n_hosts * ROOM_FOR_NOTES
    level, after, before = (np.empty(places, np.int64) for _ in range(3))
    late = Late(
        np.full(n_hosts, NOBODY), np.empty(places), level, after, before,
        np.empty(places // NOTES_TOGETHER, np.int64), np.zeros(n_hosts, np.int64), ROOM_FOR_NOTES,
    )  # fmt: skip
    return Waiting(np.empty(n_jobs, np.int64), np.zeros(4, np.int64), late, np.zeros(1, np.int64))


def settings_of(rules: EqSpatial) -> Settings:
    """Return the rules with numbers in the place of names."""
    return Settings(
        rules.min_interval,
        np.inf if rules.long_after is None else rules.long_after,
        0.0 if rules.quantum is None else rules.quantum,
        round(rules.quantum_memory_gb * KB_IN_GB),
        rules.catch_up,
        rules.keep_quantum,
        rules.odd_processors == LAST,
        rules.waiting == FCFS,
        TRIAL if rules.quantum_processors == REQUESTED else CATCHING,
        rules.instant,
    )

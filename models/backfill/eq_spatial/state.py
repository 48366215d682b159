"""What the kernel of spatial equipartitioning works on, as named tuples of arrays.

Work is accounted for where a job's processors change, and nowhere else: what a job has left is known as of
its last change, and so is its end. What each event asks of the jobs on a host stands side by side
(`Members`), so that eight of them are asked at a time; all else is looked up by a job's number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.eq_spatial.eight_late import Eight, nobody_late
from models.backfill.eq_spatial.rules import FCFS, LAST, REQUESTED, EqSpatial
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine
from models.kernels.lanes import LANES
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
ROOM_FOR_NOTES = 4 * NOTES_TOGETHER
"""For each host, see `Late`. To tell eight jobs of all of them takes little longer than to tell one of a few:
so few that not many are left when one has to be told alone."""


class JobTable(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,). Times are in seconds.

    Parameters
    ----------
    submit, runtime, size, memory, used : as in `models.jobs.jobs.Jobs`, KB
    start, end : filled in
    host : where it is, or was last; filled in, and `NOWHERE` before that and while it waits
    placed, begun : when it got its memory, and its first processor after that; filled in
    standing : with which it is placed, see above
    left : processor-seconds of work as of `since`, when its processors last changed
    lack : processor-seconds that it missed for want of memory
    share : processors that it would have with its memory, since `share_since`; of one that is late
    ghost : the host where it would have been with its memory
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
    since: Floats
    left: Floats
    lack: Floats
    share: Ints
    share_since: Floats
    ghost: Ints
    late_before: Ints
    next_late: Ints
    told: Ints


class Members(NamedTuple):
    """The jobs on hosts; every array has the shape (n_hosts * places,), and those of host `h` begin at
    ``h * places``, in order of submission.

    Parameters
    ----------
    job : its number
    size : processors that it asks for
    standing : see above
    processors : that it has now
    target : that it shall have
    share : that it would have if it did not catch up, of one that does
    ends : when it ends with these processors
    turns : when its standing changes, or NaN where that is to be foreseen anew
    """

    job: Ints
    size: Ints
    standing: Ints
    processors: Ints
    target: Ints
    share: Ints
    ends: Floats
    turns: Floats


class Hosts(NamedTuple):
    """The hosts; arrays have the shape (n_hosts,) unless said.

    Parameters
    ----------
    processors : of each host
    free, free_memory : unallocated processors and KB
    members : the jobs placed on hosts
    n_members : how many those are
    n_own_late : how many of those are in their quantum and late, and have this host as their ghost's
    places : as many jobs as can be on a host, and room for eight to move
    asked : processors that they ask for
    extra : processors that those catching up have beyond their share
    divided : the last repartitioning
    timer : the repartitioning that was put off, or inf; made full to eights of hosts, like the next two
    due : when a job there ends or changes its standing
    dirty : ndarray of int, shape (eights of hosts,)
        A bit for each host where something changed in this step.
    level, after, before : what late jobs would have there, see `partition.place_beside`; level
        `UNKNOWN` is that they have to be told anew
    asks, shares : ndarray of int, shape (places,)
        Room for a division, see `partition.gather`, and for what comes out.
    enough, taken : ndarray of int, shape (places,)
        Of those that were gathered, by what they ask for: the budget from which on a job has all of that, and
        what those before it ask for together, see `partition.rank`.
    """

    processors: Ints
    free: Ints
    free_memory: Ints
    members: Members
    n_members: Ints
    n_own_late: Ints
    places: int
    asked: Ints
    extra: Ints
    divided: Floats
    timer: Floats
    due: Floats
    dirty: Ints
    level: Ints
    after: Ints
    before: Ints
    asks: Ints
    shares: Ints
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
    eight : see there
    """

    first: Ints
    time: Floats
    level: Ints
    after: Ints
    before: Ints
    lowest: Ints
    n_notes: Ints
    room: int
    eight: Eight


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


JOBS, MEMBERS, HOSTS = record(JobTable), record(Members), record(Hosts)
LATE, WAITING, SETTINGS = record(Late), record(Waiting), record(Settings)


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
        start=none(), end=none(), host=np.full(n, NOWHERE), placed=none(), begun=none(), standing=counts(),
        since=zeros(), left=jobs.size * jobs.runtime, lack=zeros(), share=counts(), share_since=zeros(),
        ghost=counts(), late_before=counts(), next_late=counts(), told=counts(),
    )  # fmt: skip


def empty_hosts(machine: Machine) -> Hosts:
    """Return idle hosts. A host has at most as many jobs as processors."""
    n, places = len(machine.names), _eights(machine.largest + LANES) * LANES
    n_members, n_own_late, asked, extra, after, before = (np.zeros(n, np.int64) for _ in range(6))
    timer, due = (np.full(_eights(n) * LANES, np.inf) for _ in range(2))
    asks, shares, enough, taken = (np.empty(places, np.int64) for _ in range(4))
    return Hosts(
        machine.processors, machine.processors.copy(), machine.memory.copy(), _nobody(n * places),
        n_members, n_own_late, places, asked, extra, np.full(n, -np.inf), timer, due,
        np.zeros(_eights(n), np.int64), np.full(n, UNKNOWN), after, before, asks, shares, enough, taken,
    )  # fmt: skip


def _eights(n: int) -> int:
    return -(-n // LANES)


def _nobody(places: int) -> Members:
    """Return room for so many, and for the eight behind the last."""
    places += LANES
    job, size, standing, processors, target, share = (np.empty(places, np.int64) for _ in range(6))
    return Members(job, size, standing, processors, target, share, np.empty(places), np.empty(places))


def nobody_waiting(n_jobs: int, n_hosts: int) -> Waiting:
    """Return room for all jobs."""
    places = n_hosts * ROOM_FOR_NOTES
    level, after, before = (np.empty(places, np.int64) for _ in range(3))
    late = Late(
        np.full(n_hosts, NOBODY), np.empty(places), level, after, before,
        np.empty(places // NOTES_TOGETHER, np.int64), np.zeros(n_hosts, np.int64), ROOM_FOR_NOTES,
        nobody_late(),
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

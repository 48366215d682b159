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
    turns : when its standing changes
    lack : processor-seconds that it missed for want of memory
    share : processors that it would have with its memory, since `share_since`
    ghost : the host where it would have been with its memory
    target, as_plain : room for a division of processors, and for one in which it has no claim
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
    as_plain: Ints


class Hosts(NamedTuple):
    """The hosts; every array but `members` has the shape (n_hosts,).

    Parameters
    ----------
    processors : of each host
    free, free_memory : unallocated processors and KB
    members : ndarray of int, shape (n_hosts * places,)
        The jobs placed on a host, in order of submission; those of host `h` begin at ``h * places``.
    n_members : how many those are
    places : as many jobs as can be on a host
    asked : processors that they ask for
    extra : processors that those catching up have beyond their share
    divided : the last repartitioning
    timer : the repartitioning that was put off, or inf
    due : when a job there ends or changes its standing
    is_dirty : 1 where something changed in this step
    """

    processors: Ints
    free: Ints
    free_memory: Ints
    members: Ints
    n_members: Ints
    places: int
    asked: Ints
    extra: Ints
    divided: Floats
    timer: Floats
    due: Floats
    is_dirty: Ints


class Waiting(NamedTuple):
    """Jobs that have no memory, in order of submission.

    Parameters
    ----------
    queue, n_queue : those that wait, and how many (one number)
    late, n_late : those and the ones in their quantum
    """

    queue: Ints
    n_queue: Ints
    late: Ints
    n_late: Ints


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


JOBS, HOSTS, WAITING, SETTINGS = map(record, (JobTable, Hosts, Waiting, Settings))


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
        lack=zeros(), share=counts(), share_since=zeros(), ghost=counts(), target=counts(), as_plain=counts(),
    )  # fmt: skip


def empty_hosts(machine: Machine) -> Hosts:
    """Return idle hosts. A host has at most as many jobs as processors."""
    n, places = len(machine.names), machine.largest
    n_members, asked, extra, is_dirty = (np.zeros(n, np.int64) for _ in range(4))
    never, timer, due = (np.full(n, when) for when in (-np.inf, np.inf, np.inf))
    return Hosts(
        machine.processors, machine.processors.copy(), machine.memory.copy(),
        np.empty(n * places, np.int64), n_members, places, asked, extra, never, timer, due, is_dirty,
    )  # fmt: skip


def nobody_waiting(n_jobs: int) -> Waiting:
    """Return room for all jobs."""
    queue, late = (np.empty(n_jobs, np.int64) for _ in range(2))
    n_queue, n_late = (np.zeros(1, np.int64) for _ in range(2))
    return Waiting(queue, n_queue, late, n_late)


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

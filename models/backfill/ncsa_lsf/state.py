"""What the kernel of NCSA-LSF works on, as named tuples of arrays.

There are `n_sizes` size classes and `n_times` time classes (Table 1). The job class of size class s and time
class t is number ``s * n_times + t``, as in `models.workloads.o2k.job_classes.CLASSES`. What host h has for
each size class is at ``h * n_sizes + s``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.ncsa_lsf.rules import HostRow, NcsaLsf
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.kernels.types import record
from models.workloads.o2k.job_classes import CLASSES, SIZE_CLASSES, TIME_CLASSES, classify

NOBODY = -1
NO_LIMIT = 2**62


class JobTable(NamedTuple):
    """The jobs in order of submission, and what becomes of them.

    Parameters
    ----------
    submit, runtime : seconds
    size : processors
    memory : KB
    job_class : see above
    user : counted from 0
    start, end, host : filled in
    """

    submit: Floats
    runtime: Floats
    size: Ints
    memory: Ints
    job_class: Ints
    user: Ints
    start: Floats
    end: Floats
    host: Ints


class Hosts(NamedTuple):
    """The hosts, and what goes on there.

    Parameters
    ----------
    processors, memory : of each host, KB
    classes : size classes of each host by priority, `NOBODY` after the last
    most : executing jobs of each host and size class, at most
    free, free_memory : unallocated processors and KB
    executing : executing jobs of each host and size class
    reserved : the job with a pending special reservation, or `NOBODY`
    since : when the present piece of idleness for that reservation began
    has_ended : 1 where a job ended in this step
    looks : 1 where a waiting job might start now: something changed since the host last looked for one
    held_back_by : the size class for which a host took no smaller jobs when it last looked for some, or
        `NOBODY`
    turn : the hosts in the order in which they take waiting jobs
    """

    processors: Ints
    memory: Ints
    classes: Ints
    most: Ints
    free: Ints
    free_memory: Ints
    executing: Ints
    reserved: Ints
    since: Floats
    has_ended: Ints
    looks: Ints
    held_back_by: Ints
    turn: Ints


class Limits(NamedTuple):
    """What holds on all hosts, by time class.

    Parameters
    ----------
    reserve_wait : seconds
    level : 0 goes first
    n_levels : how many levels there are
    of_time, of_user : executing jobs of a time class and of a user, at most
    fullest_first : whether the host with the fewest free processors takes jobs first
    barred_hold_back : whether jobs that one of these limits bars hold back smaller size classes
    """

    reserve_wait: Floats
    level: Ints
    n_levels: int
    of_time: Ints
    of_user: int
    fullest_first: bool
    barred_hold_back: bool


class Queue(NamedTuple):
    """Waiting jobs: a list for each job class, in order of submission.

    Parameters
    ----------
    first, last : of each class, or `NOBODY`
    before, after : neighbours of each job in its list
    n : one number, of all waiting jobs
    seen : for each host and class the last job that was looked at, or `NOBODY`: a job that did not fit then
        does not fit until one ends on that host
    cursor : room for the time classes, the next job of each to be looked at
    """

    first: Ints
    last: Ints
    before: Ints
    after: Ints
    n: Ints
    seen: Ints
    cursor: Ints


class Running(NamedTuple):
    """Executing jobs, and those with a special reservation, which count as executing in the limits.

    Parameters
    ----------
    heap : executing jobs by their ends, see `models.kernels.ends`
    n : one number, of executing jobs
    of_time, of_user : jobs of each time class and of each user
    """

    heap: Ints
    n: Ints
    of_time: Ints
    of_user: Ints


JOBS, HOSTS, LIMITS, QUEUE, RUNNING = map(record, (JobTable, Hosts, Limits, Queue, Running))


def job_table(jobs: Jobs, by_user: bool) -> JobTable:
    """Return the jobs before anything has run; `by_user` is whether it matters whose they are."""
    n = len(jobs)
    user = np.zeros(n, np.int64)
    if by_user:
        assert jobs.user is not None
        user = np.unique(jobs.user, return_inverse=True)[1].astype(np.int64)
    return JobTable(
        jobs.submit, jobs.runtime, jobs.size, jobs.memory,
        classify(jobs.requested, jobs.size, jobs.memory), user,
        np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.int64),
    )  # fmt: skip


def empty_hosts(machine: Machine, rows: Mapping[str, HostRow]) -> Hosts:
    """Return the hosts of a machine before anything has run."""
    n = len(machine.names)
    return Hosts(
        machine.processors, machine.memory, *_by_host([rows[name] for name in machine.names]),
        machine.processors.copy(), machine.memory.copy(), np.zeros(n * len(SIZE_CLASSES), np.int64),
        _nobody(n), np.empty(n), np.zeros(n, np.int64), np.zeros(n, np.int64), _nobody(n), np.arange(n),
    )  # fmt: skip


def limits_of(rules: NcsaLsf) -> Limits:
    """Return the limits of the rules, with large numbers for none."""
    level = {name: rank for rank, group in enumerate(rules.time_order) for name in group}
    return Limits(
        np.array([rules.reserve_wait[name] for name in TIME_CLASSES]),
        np.array([level[name] for name in TIME_CLASSES]),
        len(rules.time_order),
        np.array([rules.system_limits.get(name, NO_LIMIT) for name in TIME_CLASSES]),
        NO_LIMIT if rules.user_limit is None else rules.user_limit,
        rules.host_order == "fullest",
        rules.barred_hold_back,
    )


def empty_queue(n_jobs: int, n_hosts: int) -> Queue:
    """Return the queue before anybody was submitted."""
    lists = _nobody(len(CLASSES)), _nobody(len(CLASSES)), _nobody(n_jobs), _nobody(n_jobs)
    return Queue(
        *lists, np.zeros(1, np.int64), _nobody(n_hosts * len(CLASSES)), np.empty(len(TIME_CLASSES), np.int64)
    )


def nobody_running(n_jobs: int, n_users: int) -> Running:
    """Return who runs before anybody does."""
    counts = (np.zeros(n, np.int64) for n in (1, len(TIME_CLASSES), n_users))
    return Running(np.empty(n_jobs, np.int64), *counts)


def _nobody(n: int) -> Ints:
    return np.full(n, NOBODY, np.int64)


def _by_host(rows: Sequence[HostRow]) -> tuple[Ints, Ints]:
    """Return size classes by priority and their limits, host by host."""
    number = {name: rank for rank, name in enumerate(SIZE_CLASSES)}
    classes = _nobody(len(rows) * len(number))
    most = np.full(len(rows) * len(number), NO_LIMIT, np.int64)
    for h, row in enumerate(rows):
        for rank, name in enumerate(row.sizes):
            classes[h * len(number) + rank] = number[name]
        for name, limit in row.limits.items():
            most[h * len(number) + number[name]] = limit
    return classes, most

"""The data of the kernel of NCSA-LSF, as named tuples of arrays.

There are `N_SIZES` size classes and `N_TIMES` time classes (Table 1). The job class of size class s and time
class t is number ``s * N_TIMES + t``, as in `models.workloads.o2k.job_classes.CLASSES`. Host h has its values
for each size class at ``h * N_SIZES + s``.
"""

from typing import Annotated, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.event_loop import initial_state, state_type
from models.backfill.job_table import NO_JOB, JobTable, table_of
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.backfill.pieces import PieceBuffer, buffer_for
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.kernels.types import record
from models.workloads.o2k.job_classes import CLASSES, SIZE_CLASSES, TIME_CLASSES, classify

N_SIZES, N_TIMES, N_CLASSES = len(SIZE_CLASSES), len(TIME_CLASSES), len(CLASSES)
NO_CLASS = -1
NO_LIMIT = 2**62
STATE = state_type()


class Hosts(NamedTuple):
    """The hosts and their present state.

    Parameters
    ----------
    processors, memory : of each host, KB
    classes : size classes of each host by priority, `NO_CLASS` after the last
    most : maximum of executing jobs of each host and size class
    free, free_memory : unallocated processors and KB
    executing : executing jobs of each host and size class
    reserved : the job with a pending special reservation, or `NO_JOB`
    since : when the present idle period for that reservation began
    has_ended : 1 where a job ended in this step
    may_start : 1 where a waiting job might start now: there was a change since the host last took jobs
    held_back_by : the size class for which a host took no smaller jobs when it last did, or `NO_CLASS`
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
    may_start: Ints
    held_back_by: Ints
    turn: Ints


class Limits(NamedTuple):
    """The limits on all hosts, by time class.

    Parameters
    ----------
    reserve_wait : seconds
    level : 0 is the first
    n_levels : number of levels
    of_time, of_user : maximum of executing jobs of a time class and of a user
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
    first, last : of each class, or `NO_JOB`
    before, after : neighbours of each job in its list
    examined : for each host and class the last job that was examined, or `NO_JOB`: a job that did not fit
        then does not fit until a job ends on that host
    cursor : scratch for the time classes, the next job of each to be examined
    """

    first: Ints
    last: Ints
    before: Ints
    after: Ints
    examined: Ints
    cursor: Ints


class NcsaLsfSystem(NamedTuple):
    """The system, see `models.backfill.event_loop`.

    Parameters
    ----------
    state, jobs, hosts, limits, queue : see there
    job_class, user : of each job, users counted from 0
    of_time, of_user : executing jobs of each time class and user, and those with a special reservation
    held : filled in with the pieces kept idle for special reservations; a capacity of as many pieces as jobs
        is enough, because every end of a job ends at most one piece
    """

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    job_class: Ints
    user: Ints
    hosts: Hosts
    limits: Limits
    queue: Queue
    heap: Ints
    of_time: Ints
    of_user: Ints
    held: PieceBuffer


HOSTS = record(Hosts)
SYSTEM = record(NcsaLsfSystem)


def system_of(jobs: Jobs, machine: Machine, rules: NcsaLsf) -> NcsaLsfSystem:
    """Return the system before the first submission."""
    n, n_hosts = len(jobs), len(machine.names)
    user = np.zeros(n, np.int64)
    if rules.user_limit is not None:
        assert jobs.user is not None
        user = np.unique(jobs.user, return_inverse=True)[1].astype(np.int64)
    job_class = classify(jobs.requested, jobs.size, jobs.memory)
    lengths = (N_CLASSES, N_CLASSES, n, n, n_hosts * N_CLASSES, N_TIMES)
    queue = Queue(*(np.full(length, NO_JOB) for length in lengths))
    of_time, of_user = (np.zeros(length, np.int64) for length in (N_TIMES, int(user.max(initial=0)) + 1))
    return NcsaLsfSystem(
        initial_state(STATE, rules.instant), table_of(jobs), job_class, user, _empty_hosts(machine, rules),
        _limits_of(rules), queue, np.empty(n, np.int64), of_time, of_user, buffer_for(n),
    )  # fmt: skip


def _empty_hosts(machine: Machine, rules: NcsaLsf) -> Hosts:
    """Return the hosts of a machine before anything has run."""
    n, number = len(machine.names), {name: rank for rank, name in enumerate(SIZE_CLASSES)}
    classes, most = np.full(n * N_SIZES, NO_CLASS), np.full(n * N_SIZES, NO_LIMIT, np.int64)
    for h, row in enumerate(rules.hosts[name] for name in machine.names):
        for rank, name in enumerate(row.sizes):
            classes[h * N_SIZES + rank] = number[name]
        for name, limit in row.limits.items():
            most[h * N_SIZES + number[name]] = limit
    has_ended, may_start = (np.zeros(n, np.int64) for _ in range(2))
    return Hosts(
        machine.processors, machine.memory, classes, most, machine.processors.copy(), machine.memory.copy(),
        np.zeros(n * N_SIZES, np.int64), np.full(n, NO_JOB), np.empty(n), has_ended, may_start,
        np.full(n, NO_CLASS), np.arange(n),
    )  # fmt: skip


def _limits_of(rules: NcsaLsf) -> Limits:
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

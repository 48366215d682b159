"""The data of the kernel of spatial equipartitioning, as named tuples of arrays.

Work is accounted for only where a job's processors change: its remaining work is stored as of its last
change, and so is its end. The fields of the jobs on a host that each event reads are stored side by side
(`MEMBER`); all others by a job's number.
"""

from typing import Annotated, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.eq_spatial.rules import FCFS, LAST, REQUESTED, EqSpatial
from models.backfill.event_loop import initial_state, state_type
from models.backfill.job_table import NO_HOST, NO_JOB
from models.backfill.pieces import PieceBuffer
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine
from models.kernels.types import fields, record

PLAIN, TRIAL, CATCHING, CAUGHT, LONG = range(5)
"""Standings of a job: an equal part; in its quantum; catching up; done with that but not yet repartitioned;
running for long. Those from a given one on are favoured."""

UNKNOWN = -1

STATE = state_type(queue_begin=np.int64, queue_end=np.int64, queue_next=np.int64, queue_kept=np.int64)
"""Scalars that only this system has: places in `EqSpatialSystem.queue`, the first in use and the one
behind the last; while jobs get memory, the next one to be examined, and where the next job is kept that
continues to wait."""


class JobTable(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,). Times are in seconds.

    Parameters
    ----------
    submit, runtime, size, memory, used : as in `models.jobs.jobs.Jobs`, KB
    start, end : filled in
    host : its present or last host; filled in, and `NO_HOST` before that and while it waits
    placed, begun : when it got its memory, and its first processor after that; filled in
    standing : with which it is placed, see above
    since : when its processors last changed
    left : processor-seconds of work left at that time
    lost : processor-seconds of service that it lost for want of memory, up to `share_since`
    share : processors that it would have had with its memory since `share_since`; of a deferred job
    virtual_host : the host where it would have been with its memory, or `NO_HOST`
    deferred_before, deferred_after : its neighbours among the deferred jobs of that host
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
    lost: Floats
    share: Ints
    share_since: Floats
    virtual_host: Ints
    deferred_before: Ints
    deferred_after: Ints


MEMBER = fields("ends turns", "job size standing processors target share")
"""A job on a host.

ends, turns
    When it ends with the processors that it has, and when its standing changes (NaN where that has to be
    computed), seconds.
job, size, standing
    Its number, the processors that it asks for, and see above.
processors, target
    That it has now, and is to have.
share
    Processors that it would have if it did not catch up, of one that does.
"""


class Hosts(NamedTuple):
    """The hosts; arrays have the shape (n_hosts,) unless noted.

    Parameters
    ----------
    processors : of each host
    free, free_memory : unallocated processors and KB
    members : ndarray of `MEMBER`, shape (n_hosts * places,)
        The jobs placed on hosts; a host's jobs begin at ``h * places``, in order of submission.
    n_members : number of these jobs
    n_own_deferred : how many of these are in their quantum and deferred, with this as their virtual host
    places : one more than the number of jobs that can be on a host
    asked : processors that they request
    extra : processors that catching-up jobs have beyond their share
    divided : the last repartitioning, seconds
    timer : the time of a postponed repartitioning, or inf
    due : when a job there ends or changes its standing
    changed : 1 where something changed in this step
    first_deferred : the first of the deferred jobs with this virtual host, or `NO_JOB`
    level, after, before : the place of one more job there, see `partition.place_beside`; level `UNKNOWN` has
        to be computed
    asks, shares : ndarray of int, shape (places,)
        Scratch for a division, see `partition.gather`, and for its result.
    enough, taken : ndarray of int, shape (places,)
        Of gathered jobs, sorted by request: the budget from which on a job has its full request, and the
        total request of the jobs before it, see `partition.rank`.
    """

    processors: Ints
    free: Ints
    free_memory: Ints
    members: Annotated[np.ndarray, MEMBER]
    n_members: Ints
    n_own_deferred: Ints
    places: int
    asked: Ints
    extra: Ints
    divided: Floats
    timer: Floats
    due: Floats
    changed: Ints
    first_deferred: Ints
    level: Ints
    after: Ints
    before: Ints
    asks: Ints
    shares: Ints
    enough: Ints
    taken: Ints


class Settings(NamedTuple):
    """The rules as the kernel reads them, see `models.backfill.eq_spatial.rules.EqSpatial`.

    Parameters
    ----------
    min_interval, long_after, quantum : seconds; inf disables `long_after`, 0 disables `quantum`
    quantum_memory : KB
    catch_up, keep_quantum : see there
    last : whether odd processors are given to the last submitted
    fcfs : whether no job gets memory before the first waiting one
    favoured_from : standings from this one on have a claim to what they ask for
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


class EqSpatialSystem(NamedTuple):
    """All of the above; `queue` are the jobs without memory in order of submission, `pieces` is filled in."""

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    hosts: Hosts
    settings: Settings
    queue: Ints
    pieces: PieceBuffer


HOSTS, SETTINGS = record(Hosts), record(Settings)
SYSTEM = record(EqSpatialSystem)


def system_of(jobs: Jobs, machine: Machine, rules: EqSpatial, pieces: PieceBuffer) -> EqSpatialSystem:
    """Return the system before the first submission."""
    n = len(jobs)
    start, end, placed, begun = (np.full(n, np.nan) for _ in range(4))
    standing, share, before, after = (np.zeros(n, np.int64) for _ in range(4))
    since, lost, share_since = (np.zeros(n) for _ in range(3))
    table = JobTable(
        jobs.submit, jobs.runtime, jobs.size, jobs.memory, jobs.used, start, end, np.full(n, NO_HOST),
        placed, begun, standing, since, jobs.size * jobs.runtime, lost, share, share_since,
        np.full(n, NO_HOST), before, after,
    )  # fmt: skip
    state = initial_state(STATE, rules.instant)
    queue = np.empty(n, np.int64)
    return EqSpatialSystem(state, table, _idle(machine), _settings_of(rules), queue, pieces)


def _idle(machine: Machine) -> Hosts:
    """Return idle hosts. A host has at most as many jobs as processors."""
    n, places = len(machine.names), machine.largest + 1
    n_members, n_own, asked, extra, changed, after, before = (np.zeros(n, np.int64) for _ in range(7))
    asks, shares, enough, taken = (np.empty(places, np.int64) for _ in range(4))
    members = np.empty(n * places, MEMBER)
    return Hosts(
        machine.processors, machine.processors.copy(), machine.memory.copy(), members, n_members, n_own,
        places, asked, extra, np.full(n, -np.inf), np.full(n, np.inf), np.full(n, np.inf), changed,
        np.full(n, NO_JOB), np.full(n, UNKNOWN), after, before, asks, shares, enough, taken,
    )  # fmt: skip


def _settings_of(rules: EqSpatial) -> Settings:
    """Return the rules with numbers in place of names."""
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
    )

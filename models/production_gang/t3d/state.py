"""The state of the engine between two events, in arrays that Python allocates."""

from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np
from numba import from_dtype

from models.arrays import Floats, Ints
from models.kernels.types import fields, record
from models.production_gang.t3d.commands import COMMAND
from models.production_gang.t3d.nodes import Partitions
from models.production_gang.t3d.rules import CLASS

NONE = -1


class JobState(IntEnum):
    """The state of a job, see `moment`."""

    TO_COME, QUEUED, NEW, ASSIGNED, RUNNING, LEAVING, ON_DISK, SUSPENDED, ENDED, KILLED = range(10)


class Kind(IntEnum):
    """Kinds of events, in the order in which they happen at one instant."""

    END_OF_RUN, IMAGE_HAS_LEFT, RUN_BEGINS, ANSWERED, TIMER, COMMAND = range(6)


class Idle(IntEnum):
    """Why processors are idle."""

    NO_WORK, PACKING, LIMITS = range(3)


JOB = fields(
    "submit left since run_since admitted start end think",
    "level processors job_class user queue state wire place residency position stops first_child sibling "
    "is_child is_beyond victim_of",
)
"""A job. Times in seconds: `left` is the remaining runtime, `since` when it began to wait, `run_since` when
it began to run, `think` the user's time between the end of another job and the submission of this one.
`level` is log2 of its nodes, `position` its index in `System.residents`, `stops` the number of preemptions;
`first_child` is the first job submitted after its end and `sibling` the next one after the same job;
`is_beyond`: admitted beyond the batch limit; `victim_of`: the last trial placement that would preempt it."""

EVENT = fields("time", "kind job stops")
"""An event; it is void if its job has been stopped since, so that `stops` is no longer the job's. The
`job` of a command is its index."""

USER = fields("usage recent", "active is_nice")
"""Processor seconds that count against a user, and the part since the last tick; jobs in the system."""

RESIDENCY = fields("assigned ready begins stops gone", "job corner wire")
"""Nodes assigned to a job from one time to another, see `simulation.Detail`."""

LEVEL = fields("time", "running switching reason")
"""Processors that run and that switch from this time on, and the reason why the others are idle."""

STATE = fields(
    "now next_boundary next_tick last_tick last_event lowest lowest_in_slice ready channel",
    "next_job n_submitted n_queued n_waiting n_residents n_events n_ended n_residencies n_levels period "
    "weekend_day boundary running switching n_leaving_nodes admitted admitted_batch admitted_beyond "
    "scan_from n_trials n_ticks again wire repeated",
)
"""The scalars of the system.

`last_event` is the last time of an event other than a boundary or a tick. `lowest` and `lowest_in_slice` are
the lowest priority of a running job that may be preempted, after its minimum slice or within it as well.
`weekend_day`: 1 on Saturdays, 2 on Sundays. `running`, `switching`, `admitted…`: processors.
`n_leaving_nodes`: nodes without owner that still hold an image. No queued job before
`scan_from` can be admitted. `n_trials` counts trial placements; `wire` and `ready` belong to the best one.
`channel`: when one channel for all images has moved those given to it.
`again`: another pass of placement is due at this instant."""

N_CLASSES = 6


class Settings(NamedTuple):
    """Numbers that stay: s for each processor, s of the day, s since Monday, processors, s.

    `blocking` and `location` are indices into the choices of these keys, see `rules.Rules`.
    """

    n_jobs: int
    n_nodes: int
    node_processors: int
    n_wires: int
    wires_may_meet: bool
    preemptive: bool
    largest_first: bool
    blocking: int
    location: int
    one_channel: bool
    prime_on_weekends: bool
    weekend_days: int
    n_queues: int
    swap_out: float
    swap_in: float
    prime_begin: float
    prime_end: float
    clock: float
    over_most: float
    over_from: float
    aggregate_limit: float
    drain_after: float
    nice_above: float
    nice_every: float
    half_life: float


class Torus(NamedTuple):
    """The places of partitions, and the nodes.

    Parameters
    ----------
    owner, left_by : ndarray, shape (n_nodes,)
        The owner of each node; the time at which the last image will have left it, seconds.
    free : ndarray of int, shape (2 n_nodes,)
        Nodes without owner in each half of the halvings: nodes of level k begin at
        ``2 n_nodes - (2 n_nodes >> k)``.
    """

    places: Partitions
    owner: Ints
    left_by: Floats
    free: Ints


class System(NamedTuple):
    """All tables that the engine takes.

    Parameters
    ----------
    classes : ndarray of CLASS, shape (2 n_classes,)
        Each class in prime time and at night.
    run_limit, batch_limit : ndarray of float, shape (2 n_queues,), (2,), processors
        In prime time and at night.
    opening, queue_processors : ndarray, shape (n_queues,), (n_queues + 1,)
        Index into `rules.OPEN`; processors of admitted jobs, of which the last is for jobs without a queue,
        and is not counted.
    submitted, queued, waiting, residents : ndarray of int, shape (n_jobs,)
        Jobs submitted so far, and jobs in queues, both in order of submission; jobs that wait for nodes, jobs
        that own some.
    commands : ndarray of COMMAND, shape (n_commands,)
    wires : ndarray of int, shape (n_wires,)
        Jobs with each wire, on disk as well.
    class_processors : ndarray of float, shape (n_classes,)
        Processors of the owners of nodes.
    criteria, best : ndarray of float, shape (placing.N_CRITERIA,)
        Criteria of a trial placement and of the best one so far.
    state : ndarray of STATE, shape (1,)
    """

    settings: Settings
    torus: Torus
    classes: Annotated[np.ndarray, CLASS]
    run_limit: Floats
    batch_limit: Floats
    opening: Ints
    queue_processors: Floats
    jobs: Annotated[np.ndarray, JOB]
    submitted: Ints
    queued: Ints
    waiting: Ints
    residents: Ints
    commands: Annotated[np.ndarray, COMMAND]
    events: Annotated[np.ndarray, EVENT]
    users: Annotated[np.ndarray, USER]
    residencies: Annotated[np.ndarray, RESIDENCY]
    levels: Annotated[np.ndarray, LEVEL]
    wires: Ints
    class_processors: Floats
    criteria: Floats
    best: Floats
    state: Annotated[np.ndarray, STATE]


SYSTEM = record(System)
EVENT_TYPE, CLASS_TYPE = from_dtype(EVENT), from_dtype(CLASS)

"""The state of the engine between two events, as flat arrays and records in typed tuples.

Everything is allocated by Python; the engine only writes into it.
"""

from collections import namedtuple
from typing import Annotated, NamedTuple

import numpy as np
from numba import boolean, float64, from_dtype, int64, types

from models.arrays import Floats, Ints
from models.concurrent_gang.codes import MOST_MEASURES, N_CAUSES, N_CLASSES, N_STATES
from models.jobs.ended import ENDED as ENDED_JOBS
from models.jobs.ended import Ended
from models.kernels.types import FLOATS, INTS, record
from models.packing.matrix import BOOKS, BUFFERS, MATRIX, TABLE, Books, Buffers, Matrix, Table


class Settings(NamedTuple):
    """Fixed whole numbers; the choices of `policies.Rules` and `Statements`, in the order declared there."""

    n_pes: int
    n_disks: int  # shared disks, 0: as many as there are requests, NONE: one at each PE
    first_measured: int  # jobs from this one up to, and without, the next one are measured
    end_measured: int
    n_measured: int  # number of all these
    batch_size: int  # measured jobs in a batch
    graded: int  # 1 if grades of membership are kept
    recorded: int  # 0: all activities are recorded; else computing of this number of first jobs
    window: int  # measures over which a grade is the mean
    slots_limit: int  # rows of the trace diagram at most
    coordinated: int
    local: int
    returns: int
    local_preemption: int
    cells: int
    waits: int
    first_load: int
    arrivals: int
    turns: int
    quantum_from: int
    idle_cause: int
    measured: int
    link_contention: int
    costs: int
    spacing: int
    partners: int
    alone: int


SETTINGS = record(Settings)


class Costs(NamedTuple):
    """Fixed real numbers: seconds, except for alpha, beta and the priority."""

    slice: float
    alpha: float
    beta: float
    newcomer_priority: float
    switch: float
    central: float  # for a controller to notify all PEs of a new slot
    quantum: float
    latency: float  # of a link
    transfer: float  # of a message over a link
    barrier_latency: float
    io_time: float
    statement: float  # mean of a local statement
    overhead: float  # computing of a send, a receive and a barrier


COSTS = record(Costs)

PHASE = np.dtype(
    [
        ("first_step", np.int64),
        ("n_steps", np.int64),  # in a cycle
        ("n_local", np.int64),  # local statements of a cycle
        ("share", np.float64),  # of the runtime
        ("tasks", np.float64),  # share of the tasks that take part
    ],
    align=True,
)
"""A phase of a program."""

Program = namedtuple("Program", ["phases", "locals", "kinds", "first", "upto", "classes"])
"""The tasks' programs, see `models.workloads.statements`.

phases : PHASE (phase,)
locals, kinds : int64 (step,), local statements of a step and the blocking statement after them
first : int64 (program + 1,), first phase of each program, and the end of the last one's
upto : float64 (program,), shares of the jobs with this program or one before it
classes : int64 (program,), class of its jobs
"""
PROGRAM = types.NamedTuple([from_dtype(PHASE)[::1], INTS, INTS, INTS, FLOATS, INTS], Program)

TASK = np.dtype(
    [
        ("job", np.int64),  # place of its job
        ("index", np.int64),  # number in the job
        ("pe", np.int64),
        ("state", np.int64),
        ("phase", np.int64),
        ("step", np.int64),  # steps of the phase that are done
        ("steps", np.int64),  # steps of the phase
        ("total", np.int64),  # steps of all phases that are done
        ("at_step", np.int64),  # place of the step in the program
        ("communications", np.int64),  # communication statements done
        ("awaited", np.int64),  # exchange for which it waits
        ("inbox", np.int64),  # first message sent to it and not received
        ("next", np.int64),  # neighbours in its PE's list, see `order`
        ("before", np.int64),
        ("scheduled", np.int64),  # slice in which it last ran or owned the slot
        ("timed", np.int64),  # slice to which `computed` and `waited` belong
        ("n_measures", np.int64),
        ("held", np.int64),  # the state in which it blocked if it has to wait for its next slot, else 0
        ("served", np.int64),  # 1 if it has had a turn
        ("at_boundary", np.int64),  # 1 if it waits at the boundary of a phase
        ("left", np.float64),  # local computation left of the stretch
        ("rest", np.float64),  # length of the phase's last stretch, after which no statement follows
        ("dispatched", np.float64),  # when it was dispatched last
        ("blocked", np.float64),  # when it blocked
        ("computed", np.float64),  # seconds of computing in this slice
        ("waited", np.float64, (N_CAUSES,)),  # seconds of waiting in this slice
        ("grade_io", np.float64),  # grades of membership
        ("grade_computation", np.float64),
        # Shares of its time in I/O and in computation, of slices in turn.
        ("measures", np.float64, (2 * MOST_MEASURES,)),
    ],
    align=True,
)
"""A task, in a place that it keeps until its job ends; a job's tasks are adjacent."""

JOB = np.dtype(
    [
        ("first_task", np.int64),
        ("n_tasks", np.int64),
        ("program", np.int64),
        ("end_phase", np.int64),  # the phase after its last one
        ("alive", np.int64),  # tasks that have not ended
        ("n_taking_part", np.int64),  # tasks that take part in the phase (all if several)
        ("at_barrier", np.int64),  # tasks at the barrier
        ("at_phase_end", np.int64),  # tasks at the boundary of a phase
        ("to_wake", np.int64),  # tasks that an opened barrier has yet to wake
        ("drawn", np.int64),  # the last random number of local statements, with its step and its mean
        ("drawn_step", np.int64),
        ("drawn_mean", np.int64),
    ],
    align=True,
)
"""The fields of a job that `models.packing.matrix.JOB` lacks, in the same place."""

PE = np.dtype(
    [
        ("runs", np.int64),  # running task
        ("loaded", np.int64),  # the task that it ran last
        ("owner", np.int64),  # of its slot
        ("first", np.int64),  # of its tasks, see `order`
        ("last", np.int64),
        ("row", np.int64),  # its last row of the record, NONE if that was taken
        ("marked", np.int64),  # 1 if it has to decide, 2 if because a quantum is over
        ("idle_as", np.int64),  # its activity while it runs no task
        ("as_owner", np.int64),  # 1 if the running task owns the slot
        ("spins", np.int64),  # 1 if the running task only waits
        ("begin", np.float64),  # of the running task's stretch, or of this part of it
        ("switched", np.float64),  # when the switch to the running task is over
        ("since", np.float64),  # when its time was last added to the sums
        ("quantum_end", np.float64),
        ("computed_from", np.float64),  # when computing was last added to the running task's grades
    ],
    align=True,
)

Wakes = namedtuple("Wakes", ["time", "task"])
"""A heap of blocked tasks by the time at which they wake, see `events`."""
WAKES = types.NamedTuple([FLOATS, INTS], Wakes)

Network = namedtuple("Network", ["sides", "route", "free", "next", "exchange", "arrival", "disks"])
"""Links, messages and disks.

sides : int64, of the torus
route : int64, buffer for the links of a message
free : float64 (link,), when a link has sent all messages given to it
next, exchange, arrival : (message,), in the lists of their receivers, or in the list of unused places
disks : float64 (disk,), when a disk has served all requests given to it
"""
NETWORK = types.NamedTuple([INTS, INTS, FLOATS, INTS, INTS, FLOATS, FLOATS], Network)

SCALARS = np.dtype(
    [
        ("n_slots", np.int64),  # used slots
        ("n_jobs", np.int64),  # jobs in the system
        ("n_vacant", np.int64),  # unused places for jobs
        ("n_submitted", np.int64),
        ("n_terminated", np.int64),
        ("cursor", np.int64),  # next job of the chunk
        ("n_wakes", np.int64),  # in the heap
        ("free_message", np.int64),  # first unused message
        ("n_free_messages", np.int64),
        ("top_task", np.int64),  # tasks up to the last one ever used
        ("row", np.int64),  # of the current slot
        ("void", np.int64),  # 1 if there is none in this slice
        ("slice", np.int64),  # number of the slice
        ("n_marked", np.int64),  # PEs to decide
        ("fresh", np.int64),  # 1 if this instant had a signal
        ("held_up", np.int64),  # 1 if the next job did not fit, 2 if it may fit since then
        ("mapped", np.int64),  # cells mapped
        ("n_batches", np.int64),  # batches closed
        ("in_batch", np.int64),  # measured ends in this batch
        ("n_measured", np.int64),  # measured ends
        ("n_ended", np.int64),  # jobs in `System.ended`
        ("n_recorded", np.int64),  # rows of the record
        ("n_graded", np.int64),
        ("measuring", np.int64),  # 1 while time is measured
        ("n_blocked", np.int64, (N_CAUSES,)),  # tasks that wait
        ("repeated", np.int64),  # steps at this instant, see `models.kernels.standstill`
        ("now", np.float64),
        ("batch_start", np.float64),
        ("measured_until", np.float64),  # end of all measuring, infinite until then
        ("diagram_since", np.float64),  # when slots, jobs and cells were last added to the sums
        # Sums over a batch.
        ("pe_time", np.float64, (N_STATES,)),  # time of PEs by activity
        ("busy_of", np.float64, (N_CLASSES,)),  # busy time by class of the jobs,
        ("local_of", np.float64, (N_CLASSES,)),  # and as far as it was filled locally
        ("jobs_of", np.float64, (N_CLASSES,)),  # measured ends,
        ("response_of", np.float64, (N_CLASSES,)),  # and their response times
        ("task_wait", np.float64, (N_CAUSES,)),  # waiting of tasks
        ("slot_time", np.float64),  # used slots
        ("job_time", np.float64),  # jobs in the system
        ("idling", np.float64),  # idling ratio
        ("idling_time", np.float64),  # time in which there is one
        ("switches", np.float64),  # context switches
        ("changes", np.float64),  # of the trace diagram
        ("notified", np.float64),  # PEs notified of these changes
    ],
    align=True,
)
"""The scalars of a system."""
STATE = from_dtype(SCALARS)

SLOT_USE = np.dtype(
    [
        ("pe", np.int64), ("state", np.int64), ("job", np.int64), ("task", np.int64), ("owns", np.bool_),
        ("begin", np.float64), ("end", np.float64),
    ],
    align=True,
)  # fmt: skip
"""An activity of a PE: index into `metrics.STATES`; numbers of a job, in order of submission, and of a task
in its job, NONE for an idle PE; whether the task is the owner of the slot; seconds."""

GRADE = np.dtype(
    [
        ("job", np.int64), ("task", np.int64), ("time", np.float64), ("io", np.float64),
        ("computation", np.float64),
    ],
    align=True,
)  # fmt: skip
"""Grades of membership of a task at the end of a slice: numbers as above, seconds, grades."""

Record = namedtuple("Record", ["uses", "grades"])
"""SLOT_USE (row,) and GRADE (row,); no rows where nothing is recorded."""
RECORD = types.NamedTuple([from_dtype(SLOT_USE)[::1], from_dtype(GRADE)[::1]], Record)


class System(NamedTuple):
    """All tables, in the form that the engine takes."""

    settings: Settings
    costs: Costs
    program: Annotated[Program, PROGRAM]
    matrix: Annotated[Matrix, MATRIX]
    table: Annotated[Table, TABLE]
    buffers: Annotated[Buffers, BUFFERS]
    books: Annotated[Books, BOOKS]
    tasks: Annotated[np.ndarray, TASK]  # (place,)
    jobs: Annotated[np.ndarray, JOB]  # (place,)
    pes: Annotated[np.ndarray, PE]  # (PE,)
    timers: Floats  # when the timer of each PE goes off, a tournament tree, see `events`
    wakes: Annotated[Wakes, WAKES]
    network: Annotated[Network, NETWORK]
    marked: Ints  # (PE,), PEs that have to decide
    vacant_tasks: Ints  # (class,), first of the unused blocks of 2^class tasks
    state: Annotated[np.ndarray, SCALARS]  # (1,)
    ended: Annotated[Ended, ENDED_JOBS]  # jobs in order of their ends, `n_ended` of them
    batches: Annotated[np.ndarray, SCALARS]  # (batch,), the state at the end of each batch
    record: Annotated[Record, RECORD]


SYSTEM = record(System)

Arrivals = namedtuple("Arrivals", ["submit", "size", "runtime", "key"])
"""A chunk of jobs, and the keys of their random numbers."""
ARRIVALS = types.NamedTuple([FLOATS, INTS, FLOATS, INTS], Arrivals)

Limits = namedtuple("Limits", ["n_batches", "more_arrivals", "until"])
"""When to return: after a number of batches; when the chunk is used up and another will follow; before the
first event after a time."""
LIMITS = types.NamedTuple([int64, boolean, float64], Limits)

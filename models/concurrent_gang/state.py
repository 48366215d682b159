"""What the engine remembers between two events, as flat arrays in typed tuples.

Everything is allocated by Python; the engine only writes into it. What belongs to one task or one PE lies
side by side in a row of a few wide arrays, because the engine looks at several of its fields together.
"""

from __future__ import annotations

from collections import namedtuple

from numba import boolean, float64, int64, types

from models.kernels.types import FLOATS, INTS
from models.packing.matrix import BOOKS, MATRIX, REAL, ROOM, TABLE, WHOLE

NONE = -1
GONE = -2
"""Instead of a task that has ended: what a PE runs next is another one than it ran last."""

# The local task scheduler.
NO_LOCAL, ROUND_ROBIN, PRIORITY = range(3)
# When the owner of a slot gets its PE back from a task that ran in its place.
AT_ONCE, AT_DECISION, AT_SIGNAL = range(3)
# Kinds of blocking statements, as in `models.workloads.statements.BLOCKING`, and what tasks wait for.
COMMUNICATION, IO, SYNCHRONIZATION, N_CAUSES = range(4)
# What a task does; a blocked one waits for (state - FIRST_BLOCKED).
READY, RUNNING, COMMUNICATING, IN_IO, SYNCHRONIZING, INELIGIBLE, ENDED = range(7)
FIRST_BLOCKED = COMMUNICATING
# What a PE does, as in `metrics.STATES`.
BUSY, SWITCHING, EMPTY, FIRST_WAIT, N_STATES = 0, 1, 2, 3, 6

MEASURES = 5
"""A grade of membership is an average "over the last five times a task was scheduled" (section 2.1)."""

Settings = namedtuple(
    "Settings",
    [
        "n_pes", "coordinated", "local", "returns", "preempting", "cells_of_tasks", "spinning", "contention",
        "n_disks", "first_measured", "end_measured", "n_measured", "batch_size", "graded",
    ],
)  # fmt: skip
"""Whole numbers that stay.

n_pes : PEs of the machine
coordinated : 1 if the clock signal says which slot is next, 0 if each PE goes its own way
local : the local task scheduler
returns : when an owner gets its PE back
preempting : 1 if a local task gives way to one of higher priority that wakes
cells_of_tasks : 1 if a cell of the trace diagram is freed as its task ends, 0: as its job ends
spinning : 1 if a task that waits for others keeps its PE for its quantum (uncoordinated)
contention : 1 if a link serves one message at a time
n_disks : shared disks, 0: as many as there are requests, NONE: one at each PE
first_measured, end_measured : jobs from the first on and before the other are measured
n_measured : number of all these
batch_size : measured jobs in a batch
graded : 1 if grades of membership are kept
"""
SETTINGS = types.NamedUniTuple(int64, 14, Settings)

Costs = namedtuple(
    "Costs",
    [
        "slice", "alpha", "beta", "newcomer_priority", "switch", "central", "quantum", "latency", "transfer",
        "barrier_latency", "io_time", "statement",
    ],
)  # fmt: skip
"""Real numbers that stay: seconds, but for alpha, beta and the priority.

central : that a controller takes to tell all PEs of a new slot
latency : of a link
transfer : of a message over a link
statement : mean of a local statement
"""
COSTS = types.NamedUniTuple(float64, 12, Costs)

Program = namedtuple("Program", ["phases", "shares", "locals", "kinds", "choices"])
"""What tasks do, see `models.workloads.statements`.

phases : int64 (phase, field), see below
shares : float64 (2 n_phases,), share of the runtime, then of the tasks
locals, kinds : int64 (step,), local statements of a step and the blocking statement after them
choices : int64 (3,), see below
"""
PROGRAM = types.NamedTuple([WHOLE, FLOATS, INTS, INTS, INTS], Program)
# Fields of Program.phases: first step, number of steps in a cycle, local statements of a cycle.
FIRST_STEP, N_STEPS, N_LOCAL, N_PHASE_FIELDS = range(4)
# Program.choices: whether times are exponential, whether spacing is random, who sends to whom.
EXPONENTIAL, RANDOM_SPACING, PARTNERS, N_CHOICES = range(4)
RING, NEIGHBOURS, RANDOM_PARTNERS, ALL_TO_ALL = range(4)

Tasks = namedtuple("Tasks", ["whole", "real", "measures"])
"""Tasks, each in a place that it keeps until its job ends; those of a job stand side by side.

whole, real : (task, field), see below
measures : float64 (task, 2 MEASURES), shares of its time in I/O and in computation, of slices in turn
"""
TASKS = types.NamedTuple([WHOLE, REAL, REAL], Tasks)
# Fields of Tasks.whole: place of its job; number in the job; PE; what it does; phase; steps of the phase
# that are done, steps of the phase, steps of all phases that are done, place of the step in the program;
# communication statements done; exchange for which it waits; first message sent to it and not received;
# neighbours in its PE's list; slice in which it ran or owned the slot last, slice to which its times belong,
# number of measures; whether it is held until its next slot; whether it waits at the boundary of a phase.
(
    JOB, INDEX, PE, STATE, PHASE, STEP, STEPS, TOTAL, AT_STEP, COMMUNICATIONS, AWAITED, INBOX, NEXT, BEFORE,
    SCHEDULED, TIMED, N_MEASURES, HELD, AT_BOUNDARY, N_TASK_WHOLE,
) = range(20)  # fmt: skip
# Fields of Tasks.real: local computation left of the stretch; the phase's last stretch, with nothing after
# it; when it was dispatched last; when it blocked; seconds of computing and of waiting by cause in this
# slice; grades of membership.
(
    LEFT, REST, DISPATCHED, BLOCKED, COMPUTED, WAITED_FIRST, _, WAITED_LAST, GRADE_IO, GRADE_COMPUTATION,
    N_TASK_REAL,
) = range(11)  # fmt: skip

Jobs = namedtuple("Jobs", ["whole", "real"])
"""What a job has beside `models.packing.matrix.Table`, by its place there: (job, field)."""
JOBS = types.NamedTuple([WHOLE, REAL], Jobs)
# Fields of Jobs.whole: number, first task, tasks, those that have not ended, those that take part in the
# phase (all do where its tasks are in several), those at the barrier, those at the boundary of a phase, those
# that an opened barrier has still to wake, key of its random numbers, the last random number of local
# statements, with its step and its mean; of Jobs.real: submission, start, runtime.
(
    JOB_NUMBER, FIRST_TASK, N_TASKS, ALIVE, TAKING_PART, AT_BARRIER, AT_PHASE_END, TO_WAKE, JOB_KEY, DRAWN,
    DRAWN_STEP, DRAWN_MEAN, N_JOB_WHOLE,
) = range(13)  # fmt: skip
SUBMIT, START, JOB_RUNTIME, N_JOB_REAL = range(4)

Pes = namedtuple("Pes", ["whole", "real", "timers"])
"""PEs: (PE, field), and when the timer of each goes off, a tournament, see `events`."""
PES = types.NamedTuple([WHOLE, REAL, FLOATS], Pes)
# Fields of Pes.whole: running task; the task that it ran last; owner of its slot; first and last of its
# tasks, see `order`; whether it is to decide (2: because a quantum is over); what it counts as while it is
# idle; whether the running task owns the slot, and whether it only waits there.
RUNS, LOADED, OWNER, FIRST, LAST, MARKED, IDLE_AS, AS_OWNER, SPINS, N_PE_WHOLE = range(10)
# Fields of Pes.real: when the running task began its stretch, or this part of it; when the switch to it is
# over; since when what the PE does has not been counted; end of the quantum; since when the computing of the
# running task has not been counted for its grades.
BEGIN, SWITCHED, SINCE, QUANTUM_END, COMPUTED_FROM, N_PE_REAL = range(6)

Wakes = namedtuple("Wakes", ["time", "task"])
"""A heap of blocked tasks by the time at which they wake, see `events`."""
WAKES = types.NamedTuple([FLOATS, INTS], Wakes)

Network = namedtuple("Network", ["sides", "route", "free", "next", "exchange", "arrival", "disks"])
"""Links, messages and disks.

sides : int64, of the torus
route : int64, room for the links of a message
free : float64 (link,), when a link has sent all that it was given
next, exchange, arrival : (message,), in the lists of their receivers, or in that of unused places
disks : float64 (disk,), when a disk has served all that it was given
"""
NETWORK = types.NamedTuple([INTS, INTS, FLOATS, INTS, INTS, FLOATS, FLOATS], Network)

# Counters (int64). The first two are those of `models.packing`: used slots, jobs in the system. Then: unused
# places for jobs; jobs submitted and ended; next job of the chunk; wakes in the heap; first unused message;
# unused messages; tasks beyond the last one ever used; row of the current slot; whether there is none in this
# slice; number of the slice; PEs to decide; whether this instant had a signal; cells mapped; batches closed;
# measured ends in this batch, all measured ends; jobs in `System.ended`; rows of the record; whether time is
# measured.
(
    N_SLOTS, N_JOBS, N_VACANT, SUBMITTED, TERMINATED, CURSOR, N_WAKES, FREE_MESSAGE, N_FREE_MESSAGES,
    TOP_TASK, ROW, VOID, SLICE, N_MARKED, FRESH, MAPPED, N_BATCHES, IN_BATCH, MEASURED, N_ENDED, N_RECORDED,
    N_GRADED, MEASURING, N_COUNTS,
) = range(24)  # fmt: skip
N_BLOCKED = N_COUNTS
"""From here on: tasks that wait, by cause."""

# Clocks (float64): time; begin of the batch; time at which measuring ends; since when slots, jobs and cells
# have not been counted; then what is summed over a batch:
# time of PEs by state; busy time that was filled locally; waiting of tasks by cause; used slots; jobs; idling
# ratio, and the time in which there is one; context switches; changes of the trace diagram, and PEs told.
NOW, BATCH_START, MEASURED_UNTIL, DIAGRAM_SINCE, PE_TIME = range(5)
LOCAL_TIME = PE_TIME + N_STATES
TASK_WAIT = LOCAL_TIME + 1
SLOT_TIME = TASK_WAIT + N_CAUSES
JOB_TIME, IDLING, IDLING_TIME, SWITCHES, CHANGES, TOLD, N_CLOCKS = range(SLOT_TIME + 1, SLOT_TIME + 8)

Ended = namedtuple("Ended", ["number", "submit", "start", "end", "runtime", "size"])
"""Jobs that have ended, in order of their ends, `counts[N_ENDED]` of them."""
ENDED_JOBS = types.NamedTuple([INTS, FLOATS, FLOATS, FLOATS, FLOATS, INTS], Ended)

Record = namedtuple("Record", ["whole", "real", "graded", "grades"])
"""What is drawn; no rows where nothing is recorded.

whole : int64 (row, 5), PE, state, number of the job or NONE, number of the task, whether it owns the slot
real : float64 (row, 2), begin and end
graded : int64 (row, 2), number of a job and of a task
grades : float64 (row, 3), time, grades of membership of I/O and of computation
"""
RECORD = types.NamedTuple([WHOLE, REAL, WHOLE, REAL], Record)

System = namedtuple(
    "System",
    [
        "settings", "costs", "program", "matrix", "table", "room", "books", "tasks", "jobs", "pes", "wakes",
        "network", "marked", "vacant_tasks", "counts", "clocks", "ended", "batches", "record",
    ],
)  # fmt: skip
"""All of these, as the engine takes them.

marked : int64 (PE,), those that are to decide
vacant_tasks : int64 (class,), first of the unused blocks of 2^class tasks
counts, clocks : see above
batches : float64 (batch, clock), the clocks at the end of each batch
"""
SYSTEM = types.NamedTuple(
    [
        SETTINGS, COSTS, PROGRAM, MATRIX, TABLE, ROOM, BOOKS, TASKS, JOBS, PES, WAKES, NETWORK, INTS, INTS,
        INTS, FLOATS, ENDED_JOBS, REAL, RECORD,
    ],
    System,
)  # fmt: skip

Arrivals = namedtuple("Arrivals", ["submit", "size", "runtime", "key"])
"""A chunk of jobs, and the keys of their random numbers."""
ARRIVALS = types.NamedTuple([FLOATS, INTS, FLOATS, INTS], Arrivals)

Limits = namedtuple("Limits", ["n_batches", "more_arrivals", "until"])
"""When to return: after so many batches; when the chunk is used up and another will follow; before the first
event later than a time."""
LIMITS = types.NamedTuple([int64, boolean, float64], Limits)

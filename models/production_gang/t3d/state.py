"""What the engine remembers between two events, as flat arrays in typed tuples.

Everything is allocated by Python; the engine only writes into it. Fields of a job, a class, a queue lie side
by side in a row of a wide array, because the engine looks at several of them together.
"""

from __future__ import annotations

from collections import namedtuple

from numba import float64, int64, types

from models.kernels.types import FLOATS, INTS

NONE = -1

WHOLE = int64[:, ::1]
REAL = float64[:, ::1]

# What becomes of a job, see `moment.LETTERS`.
TO_COME, QUEUED, NEW, ASSIGNED, RUNNING, LEAVING, ON_DISK, ENDED = range(8)

Settings = namedtuple(
    "Settings",
    ["n_jobs", "n_nodes", "node_processors", "n_wires", "wires_may_meet", "preemptive", "largest_first",
     "blocking", "weekends", "n_queues", "n_users"],
)  # fmt: skip
"""Whole numbers that stay; `blocking` is an index into `rules.BLOCKING`."""
SETTINGS = types.NamedUniTuple(int64, 11, Settings)

Constants = namedtuple(
    "Constants",
    ["swap_out", "swap_in", "prime_begin", "prime_end", "clock", "over_most", "over_from", "aggregate_limit",
     "drain_after", "nice_above", "nice_every", "half_life"],
)  # fmt: skip
"""Real numbers that stay: s for each processor, s of the day, s since Monday, processors, s."""
CONSTANTS = types.NamedUniTuple(float64, 12, Constants)

Torus = namedtuple(
    "Torus",
    ["first", "corner", "nodes", "node_of", "border", "border_of", "leaf", "owner", "left_by", "free"],
)
"""Nodes and partitions, see `nodes.Partitions`; of each node its owner, and by when images have left it; of
each half of the halvings, `(2 n_nodes,)`, how many of its nodes have no owner: those of level k begin at
``2 n_nodes - (2 n_nodes >> k)``."""
TORUS = types.NamedTuple([INTS] * 8 + [FLOATS, INTS], Torus)

Parameters = namedtuple("Parameters", ["numbers", "switches", "queues", "batch_limit"])
"""Of classes, `rules.Classes`, with a row for each class and period; of queues (queue, field), see below; the
limit in both periods."""
PARAMETERS = types.NamedTuple([REAL, WHOLE, REAL, FLOATS], Parameters)
PRIORITY, PROCESSOR_LIMIT, MAX_WAIT, DO_NOT_DISTURB = range(4)
PREEMPTABLE, HEEDS_SLICES, BATCH = range(3)
RUN_LIMIT, _, OPEN, N_QUEUE_FIELDS = range(4)

Work = namedtuple(
    "Work", ["whole", "real", "queued", "waiting", "residents", "heap", "heap_time", "victim_of"]
)
"""Jobs: their fields, see below; those in queues, those that wait for nodes, those that own some; events; for
each job the number of the look at a place in which it would be a victim."""
WORK = types.NamedTuple([WHOLE, REAL, INTS, INTS, INTS, WHOLE, FLOATS, INTS], Work)
# Fields of Work.whole: level of its partition; processors; class; user; queue; state; wire; place; its
# residency; position among the residents; number of times it was stopped; first job that waits for its
# answer, and the next one that waits for the same; whether somebody has to come first; whether it was
# admitted beyond the batch limit.
(
    LEVEL, PROCESSORS, CLASS, USER, QUEUE, STATE, WIRE, PLACE, RESIDENCY, POSITION, STOPS, CHILD, SIBLING,
    IS_CHILD, IS_BEYOND, N_WHOLE,
) = range(16)  # fmt: skip
# Fields of Work.real: submission; runtime left; since when it waits; when it began to run; admission; first
# run; end; time to think before its submission.
SUBMIT, LEFT, SINCE, RUN_SINCE, ADMITTED, START, END, THINK, N_REAL = range(9)

# Events (time, kind, job, number of stops then); in this order at one instant.
END_OF_RUN, IMAGE_HAS_LEFT, RUN_BEGINS, ANSWERED, TIMER = range(5)

Users = namedtuple("Users", ["usage", "recent", "active", "nice"])
"""Of each user: processor seconds that count; those since the last tick; jobs in the system; whether the nice
value is high."""
USERS = types.NamedTuple([FLOATS, FLOATS, INTS, INTS], Users)

Record = namedtuple("Record", ["residency", "times", "level_time", "level"])
"""What is written down: of each residency job, place, wire; assigned, ready, begins, stops, gone; from each
time on processors that run, those that switch, and why the others are idle."""
RECORD = types.NamedTuple([WHOLE, REAL, FLOATS, WHOLE], Record)
ASSIGNED_AT, READY_AT, BEGINS_AT, STOPS_AT, GONE_AT, N_TIMES = range(6)
NO_WORK, PACKING, LIMITS = range(3)

# Counters.
(
    NEXT, N_QUEUED, N_WAITING, N_RESIDENTS, N_HEAP, N_ENDED, N_RESIDENCIES, N_LEVELS, PERIOD, WEEKEND,
    BOUNDARY, N_RUNNING, N_SWITCHING, N_LEAVING_NODES, ADMITTED_ALL, ADMITTED_BATCH, ADMITTED_BEYOND, SCAN,
    LOOK, N_TICKS, AGAIN, N_COUNTS,
) = range(22)  # fmt: skip
# AGAIN: whether another pass is due at this instant. N_RUNNING: processors that run; N_SWITCHING: of owners
# that do not; N_LEAVING_NODES: nodes without owner whose image is still there. SCAN: queued jobs before this
# one cannot be admitted, 0 after anything that may change it.

# Clocks.
NOW, NEXT_BOUNDARY, NEXT_TICK, LAST_TICK, ACTIVE, N_CLOCKS = range(6)
# ACTIVE: the last time at which something other than a boundary or a tick was to come.

System = namedtuple(
    "System",
    ["settings", "costs", "torus", "parameters", "work", "users", "record", "counts", "clocks", "wires",
     "run_of_queue", "best", "around"],
)  # fmt: skip
"""All of these, as the engine takes them.

wires : int64 (2 n_wires,), owners with each wire, and room for those without victims
run_of_queue : float64 (queue,), processors of its admitted jobs
best : float64 (8,), what is least so far of the places looked at
around : float64 (8,), processors that each class has, and the lowest priority of a running job that may be
    preempted, after its minimum slice, or in it as well
"""
N_CLASSES = 6
LOWEST, LOWEST_IN_SLICE, N_AROUND = range(N_CLASSES, N_CLASSES + 3)

SYSTEM = types.NamedTuple(
    [SETTINGS, CONSTANTS, TORUS, PARAMETERS, WORK, USERS, RECORD, INTS, FLOATS, INTS, FLOATS, FLOATS, FLOATS],
    System,
)

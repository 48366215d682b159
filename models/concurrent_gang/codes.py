"""Numbers that stand for states, causes and rules in the kernels of Concurrent Gang.

Codes of choices are in the order in which `policies.Rules` and `models.workloads.statements` declare them.
"""

NONE = -1
GONE = -2
"""Stands for a task that has ended: the next task of the PE always differs from its last."""

# The local task scheduler.
PRIORITY, NO_LOCAL, ROUND_ROBIN = range(3)
# When the owner of a slot gets its PE back from a local task.
AT_ONCE, AT_DECISION, AT_SIGNAL = range(3)
# What the paper leaves open, see `conf/policy/concurrent_gang/_concurrent_gang.yaml`.
OF_TASKS, OF_JOBS = range(2)  # ends that free a cell
FREE, COSTS_A_SWITCH = range(2)  # the first task that a PE runs
ARRIVES_AT_ONCE, ARRIVES_AT_SIGNAL = range(2)  # when a newcomer owns its slot of the running row
BY_SERVICE, BY_LOCAL_SERVICE, BY_READINESS = range(3)  # whose turn it is in round robin: the longest ago
FROM_COMPUTING, FROM_DISPATCH = range(2)  # when a quantum begins
OF_OWNER, OF_LAST = range(2)  # the task whose cause of waiting an idle PE counts by
SCHEDULED, RAN, OWNED = range(3)  # the slices of a task that are measured
PASSES, WAITS = range(2)  # a task alone at a barrier
BLOCK, SPIN = range(2)
EXPONENTIAL, REGULAR_COSTS = range(2)
REGULAR_SPACING, SPACED_BY_JOB, SPACED_BY_TASK = range(3)
# Kinds of blocking statements, as in `models.workloads.statements.BLOCKING`, and causes of waiting.
COMMUNICATION, IO, SYNCHRONIZATION, N_CAUSES = range(4)
# States of a task; a blocked one waits for the cause (state - FIRST_BLOCKED).
READY, RUNNING, COMMUNICATING, IN_IO, SYNCHRONIZING, INELIGIBLE, ENDED = range(7)
FIRST_BLOCKED = COMMUNICATING
# Activities of a PE, as in `metrics.STATES`.
BUSY, SWITCHING, EMPTY, FIRST_WAIT, N_STATES = 0, 1, 2, 3, 6

MOST_MEASURES = 10
"""Maximum of measures that a grade of membership averages; the paper has "the last five times" (2.1)."""
N_CLASSES = 5
"""Classes of jobs: `models.workloads.statements.KINDS` in their order, and other programs."""
# Patterns of the receivers of a task's messages.
RING, NEIGHBOURS, RANDOM_PARTNERS, ALL_TO_ALL = range(4)

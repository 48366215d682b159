"""Numbers that stand for states, causes and rules in the kernels of Concurrent Gang.

Those of choices are in the order in which `policies.Rules` and `models.workloads.statements` declare them.
"""

NONE = -1
GONE = -2
"""In place of a task that has ended: the next task of the PE is another one than its last."""

# The local task scheduler.
PRIORITY, NO_LOCAL, ROUND_ROBIN = range(3)
# When the owner of a slot gets its PE back from a local task.
AT_ONCE, AT_DECISION, AT_SIGNAL = range(3)
OF_JOBS, OF_TASKS = range(2)  # ends that free a cell
BLOCK, SPIN = range(2)
EXPONENTIAL, REGULAR_COSTS = range(2)
REGULAR_SPACING, RANDOM_SPACING = range(2)
# Kinds of blocking statements, as in `models.workloads.statements.BLOCKING`, and causes of waiting.
COMMUNICATION, IO, SYNCHRONIZATION, N_CAUSES = range(4)
# States of a task; a blocked one waits for the cause (state - FIRST_BLOCKED).
READY, RUNNING, COMMUNICATING, IN_IO, SYNCHRONIZING, INELIGIBLE, ENDED = range(7)
FIRST_BLOCKED = COMMUNICATING
# Activities of a PE, as in `metrics.STATES`.
BUSY, SWITCHING, EMPTY, FIRST_WAIT, N_STATES = 0, 1, 2, 3, 6

MEASURES = 5
"""A grade of membership is an average "over the last five times a task was scheduled" (section 2.1)."""
# The receivers of a task's messages.
RING, NEIGHBOURS, RANDOM_PARTNERS, ALL_TO_ALL = range(4)

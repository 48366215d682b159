"""The metrics of Concurrent Gang beyond the common measures.

The paper's "total idle time" counts "not idle slots only, but also the time which a particular task was
waiting for I/O, synchronization and communication completion" (section 3.1). This has two readings, which
differ as soon as another task runs while one waits:

``idle_time``
    Time of PEs in which none computes or switches: the slot is empty, or its task waits and no other
    takes its place.
``idle_time_of_tasks``
    Time of empty slots, and the time that tasks wait, whether or not their PE does something else.
"""

from models.family import Metric
from models.workloads.statements import KINDS

STATES = ("busy", "switching", "empty", "communication", "io", "synchronization")
"""Activities of a PE, in the order of their numbers in the kernels; the last four are idle."""

CAUSES = STATES[3:]
"""Causes of waiting of a task."""

CLASSES = (*KINDS, "other")
"""Classes of jobs by their statements, in the order of their numbers; other programs are one class."""

METRICS = (
    Metric("throughput", "h-1", "jobs completed per hour"),
    Metric("period", "s", "time over which the machine was measured"),
    Metric("pe_time", "s", "time of the PEs", ("pe_state",)),
    Metric("idle_time", "s", "total idle time of the PEs"),
    Metric("idle_share", "1", "idle share of the PEs' time", weight="period"),
    Metric("idle_time_of_tasks", "s", "empty slots and waiting of tasks"),
    Metric("task_wait", "s", "waiting of tasks", ("cause",)),
    Metric("local_share", "1", "share of the busy time that local schedulers filled"),
    Metric("busy_of_class", "s", "computing by class of the jobs", ("statement_class",)),
    Metric("local_of_class", "s", "computing chosen by local schedulers, by class", ("statement_class",)),
    Metric("jobs_of_class", "1", "completed jobs by class", ("statement_class",)),
    Metric("response_of_class", "s", "mean response time by class", ("statement_class",)),
    Metric("idling_ratio", "1", "idling ratio: idle slots of a period", weight="period"),
    Metric("used_slots", "1", "average number of used slots"),
    Metric("switches", "1", "context switches"),
    Metric("workload_changes", "1", "changes of the trace diagram"),
    Metric("pes_notified", "1", "PEs notified of changes of the trace diagram"),
)

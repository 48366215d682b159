"""The metrics of backfilling beyond the common measures; `models.jobs.schedule_measures` computes them."""

from models.family import Metric

OF_JOBS = {"delay": ("s", "time in the system beyond the runtime")}

METRICS = (
    Metric("loss_of_capacity", "1", "loss of capacity (idle while jobs wait)", weight="period"),
    Metric("queue_length", "1", "average number of waiting jobs", weight="period"),
    Metric(
        "held_idle", "1", "share of all processor time kept idle for special reservations", weight="period"
    ),
    Metric("preempted_share", "1", "share of jobs that were preempted", weight="jobs"),
    Metric(
        "started_at_once", "1", "share of jobs whose full execution begins at their submission", weight="jobs"
    ),
    Metric("period", "s", "time over which the machine was measured"),
)

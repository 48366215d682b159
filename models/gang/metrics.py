"""What gang scheduling is measured by."""

from models.family import Metric

METRICS = (
    Metric("slowdown", "1", "average slowdown"),
    Metric("unifications", "1", "slot unifications per job termination"),
    Metric("slots_per_job", "1", "average number of slots in which a job runs"),
    Metric("utilization", "1", "utilization (delivered PE time over capacity)"),
    Metric("used_slots", "1", "average number of used slots"),
    Metric("jobs_in_system", "1", "average number of jobs in the system"),
)

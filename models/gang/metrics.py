"""What gang scheduling is measured by beyond the common measures, and what the engine integrates itself."""

from models.family import Metric

METRICS = (
    Metric("unifications", "1", "slot unifications per job termination"),
    Metric("slots_per_job", "1", "average number of slots in which a job runs"),
    Metric("used_slots", "1", "average number of used slots"),
)

INTEGRATED = (*(metric.name for metric in METRICS), "utilization", "jobs_in_system")
"""Names of what the engine writes down for each batch; measures of jobs are read off the jobs that ended."""

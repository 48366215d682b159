"""What gang scheduling is measured by beyond the common measures, and what the engine integrates itself.

In how many slots a job runs can be averaged in two ways, which may order schemes differently: jobs that stay
for long, when many others are there, run in few slots.

``slots_per_job``
    Over job-time, like jobs met at random moments: the slots of all jobs in the system, integrated over the
    time of a batch, divided by the integral of the number of jobs.
``slots_per_job_over_jobs``
    Over jobs, each counting once: the mean, over the jobs that end in a batch, of the time average of a job's
    slots from its submission to its end. What happened to it before the batch is part of that.
"""

from models.family import Metric

METRICS = (
    Metric("unifications", "1", "slot unifications per job termination"),
    Metric("slots_per_job", "1", "average number of slots in which a job runs"),
    Metric("slots_per_job_over_jobs", "1", "average over jobs of the number of slots in which each runs"),
    Metric("used_slots", "1", "average number of used slots"),
)

INTEGRATED = (*(metric.name for metric in METRICS), "utilization", "jobs_in_system")
"""Names of what the engine writes down for each batch; measures of jobs are read off the jobs that ended."""

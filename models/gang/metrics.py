"""The metrics of gang scheduling beyond the common measures, and the integrals of the engine itself.

The number of slots in which a job runs can be averaged in two ways, which may rank schemes differently: jobs
that stay for long, while many others are there, run in few slots.

``slots_per_job``
    Average over job-time, as if jobs were observed at random moments: the slots of all jobs in the system,
    integrated over the time of a batch, divided by the integral of the number of jobs.
``slots_per_job_over_jobs``
    Average over jobs, each counting once: the mean, over the jobs that end in a batch, of the time average of
    a job's slots from its submission to its end, including its time before the batch.
"""

from models.family import Metric

METRICS = (
    Metric("unifications", "1", "slot unifications per job termination"),
    Metric("slots_per_job", "1", "average number of slots in which a job runs"),
    Metric("slots_per_job_over_jobs", "1", "average over jobs of the number of slots in which each runs"),
    Metric("used_slots", "1", "average number of used slots"),
)

INTEGRATED = (*(metric.name for metric in METRICS), "utilization", "jobs_in_system")
"""Names of the values that the engine records for each batch; measures of jobs come from the ended jobs."""

"""Scheduling classes of sites: the six classes of Livermore's gang schedulers (Jette 1997)."""

EXPRESS, INTERACTIVE, DEBUG, PRODUCTION, BENCHMARK, STANDBY = range(6)
JOB_CLASSES = ("express", "interactive", "debug", "production", "benchmark", "standby")
"""In the order of the numbers in `models.jobs.jobs.Jobs.job_class`."""

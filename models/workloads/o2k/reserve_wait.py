"""Jobs that wait beyond the Reserve Wait Time of their class (Chiang and Vernon 2001, Table 1)."""

from collections.abc import Mapping

import numpy as np

from models.arrays import Floats
from models.jobs.jobs import Jobs
from models.jobs.measures import JobMeasure
from models.workloads.o2k.job_classes import CLASSES, HOUR, NO_CLASS, classify

RESERVE_WAIT = {"vst": 12 * HOUR, "st": 45 * HOUR, "mt": 180 * HOUR, "lt": 360 * HOUR}
"""Seconds after which a job may be given a special reservation, by time class."""

_OF_CLASS = np.array([RESERVE_WAIT[name.split("_")[0]] for name in CLASSES])


def is_overdue(jobs: Jobs, values: Mapping[str, Floats]) -> Floats:
    """Return 1 for jobs that wait longer than that, NaN without a class; shape (n_jobs,)."""
    found = classify(jobs.requested, jobs.size, jobs.memory)
    return np.where(found == NO_CLASS, np.nan, values["wait"] > _OF_CLASS[found])


overdue = JobMeasure("1", "wait beyond the reserve wait time", is_overdue)
"""Its mean is the share of such jobs."""

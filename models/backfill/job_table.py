"""The jobs in the form that a scheduler reads, and when and where each ran."""

from typing import Any, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels.types import record

NO_JOB = -1
NO_HOST = -1


class JobTable(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit, runtime, requested : ndarray of float, seconds
    size, need : ndarray of int
        Processors, and memory in KB.
    start, end : ndarray of float, seconds
        NaN; filled in.
    host : ndarray of int
        `NO_HOST`; filled in.
    promised : ndarray of float, seconds
        NaN; filled in with the first start that was reserved for a job, if any.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    need: Ints
    start: Floats
    end: Floats
    host: Ints
    promised: Floats


JOBS = record(JobTable)


def table_of(jobs: Jobs) -> JobTable:
    """Return the table before the first submission."""
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    return JobTable(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory, start, end, np.full(n, NO_HOST),
        promised,
    )  # fmt: skip


def schedule_of(table: JobTable, jobs: Jobs, machine: Machine, **more: Any) -> Schedule:
    """Return the schedule that a scheduler has filled in."""
    more = {"promised": table.promised, **more}
    return Schedule(jobs, machine, table.start, table.end, table.host, **more)

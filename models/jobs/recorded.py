"""What a log itself recorded: the waits of its jobs as they were, told by the measures of every schedule.

So "as it was" stands beside what policies would have done: the same jobs in the same batches and groups, by
the same definitions. A job that a policy ends at its requested time keeps here the runtime that it had.
"""

from __future__ import annotations

import numpy as np

from models.arrays import Floats
from models.jobs import schedule_measures
from models.jobs.division import Division
from models.jobs.measures import Measures, of_jobs
from models.jobs.schedule import Schedule
from models.jobs.trace import Trace
from models.point import Batches

PREFIX = "recorded_"
"""What the names of these measures begin with in a dataset."""


OF_THE_MACHINE = ("utilization", "loss_of_capacity")
"""Shares of all processor time, which mean nothing on a machine other than that which ran the jobs."""


def schedule_of(trace: Trace) -> Schedule | None:
    """Return who ran when, as a log says it; None where it does not say it of every job.

    Nobody knows on which host, so that all run on the first one: measures do not look at it.
    """
    if trace.waited is None or np.isnan(trace.waited).any():
        return None
    start = trace.jobs.submit + trace.waited
    host = np.zeros(len(trace.jobs), np.int64)
    return Schedule(
        trace.jobs, trace.machine, start, start + trace.jobs.runtime, host, waited=trace.waited, trace=trace
    )


def measure(trace: Trace, batches: Batches, measures: Measures) -> dict[str, Floats]:
    """Return the measures of `models.jobs.schedule_measures` of a log as it was.

    Parameters
    ----------
    trace : Trace
        At its own load: times between submissions that are rescaled belong to no wait that was recorded.
    batches : Batches
        Those of the study.
    measures : Measures

    Returns
    -------
    dict of str to ndarray, shape (n_batches, ...)
        Nothing where the log has no waits. Where it has those of some jobs only, the measures of jobs are
        those of these jobs, and none are of the machine. Shares of the machine's time are NaN where the
        machine cannot be the log's own: how idle another one was, no log says. Jobs that are submitted again
        when they have ended (feedback) have no wait of their own in a log, and so nothing is told of them.
    """
    if trace.waited is None or trace.jobs.repeats:
        return {}
    divided, available = trace.divided(batches)
    n_batches = divided.warmup + max(min(divided.checkpoints[-1], available), 0)
    division = Division.of(trace.jobs.submit, divided, n_batches, trace.measured)
    if (made := schedule_of(trace)) is not None:
        found = schedule_measures.measure(made, division, measures, trace.until)
        if not trace.own_machine:
            found |= {name: np.full_like(found[name], np.nan) for name in OF_THE_MACHINE}
    else:
        jobs, waited = trace.jobs.part(division.these), trace.waited[division.these]
        known = ~np.isnan(waited)
        some, wait = jobs.part(known), waited[known]
        values = {"wait": wait, "response_time": wait + some.runtime, "delay": wait}
        found = of_jobs(some, values, division.batch[known], n_batches, measures, everybody=jobs)
    return {name: values[divided.warmup :] for name, values in found.items()}

"""The recorded schedule of a log: the actual waits of its jobs, by the measures of every schedule.

So "as it was" is reported beside the policies: the same jobs in the same batches and groups, by the same
definitions. A job that a policy kills at its requested time has its recorded runtime here.
"""

import numpy as np

from models.arrays import Floats
from models.jobs import schedule_measures
from models.jobs.division import Division
from models.jobs.measures import Measures, of_jobs
from models.jobs.schedule import Schedule
from models.jobs.trace import Trace
from models.point import Batches

PREFIX = "recorded_"
"""Prefix of the names of these measures in a dataset."""


OF_THE_MACHINE = ("utilization", "loss_of_capacity")
"""Shares of all processor time, which are meaningless on a machine other than the one that ran the jobs."""


def schedule_of(trace: Trace) -> Schedule | None:
    """Return the schedule that a log recorded; None if a job has no recorded wait.

    The hosts are unknown, so that all jobs run on the first one: no measure reads it.
    """
    if trace.waited is None or np.isnan(trace.waited).any():
        return None
    start = trace.jobs.submit + trace.waited
    host = np.zeros(len(trace.jobs), np.int64)
    return Schedule(
        trace.jobs, trace.machine, start, start + trace.jobs.runtime, host, waited=trace.waited, trace=trace
    )


def measure(trace: Trace, batches: Batches, measures: Measures) -> dict[str, Floats]:
    """Return the measures of `models.jobs.schedule_measures` of a log as recorded.

    Parameters
    ----------
    trace : Trace
        At its own load: recorded waits do not belong to rescaled times between submissions.

    Returns
    -------
    dict of str to ndarray, shape (n_batches, ...)
        Empty if the log has no waits. If only some jobs have a wait, the measures of jobs cover these jobs,
        and there are no measures of the machine. Shares of the machine's time are NaN if the machine cannot
        be the log's own, whose idle time is unknown. Empty as well if jobs are submitted again when they have
        ended (feedback), since a log has no waits of repetitions.
    """
    if trace.waited is None or trace.jobs.repeats:
        return {}
    divided, available = trace.divided(batches)
    n_batches = divided.warmup + max(min(divided.checkpoints[-1], available), 0)
    division = Division.of(trace.jobs.submit, divided, n_batches, trace.measured)
    if (further := trace.jobs.further) is not None:
        division = division.without(further)
    if (made := schedule_of(trace)) is not None:
        found = schedule_measures.measure(made, division, measures, trace.until)
        if not trace.own_machine:
            found |= {name: np.full_like(found[name], np.nan) for name in OF_THE_MACHINE}
    else:
        jobs, waited = trace.jobs.part(division.these), trace.waited[division.these]
        known = ~np.isnan(waited)
        some, wait = jobs.part(known), waited[known]
        values = {"wait": wait, "response_time": wait + some.runtime, "delay": wait}
        found = of_jobs(some, values, division.batch[known], n_batches, measures, all_jobs=jobs)
    return {name: values[divided.warmup :] for name, values in found.items()}

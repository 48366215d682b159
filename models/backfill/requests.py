"""The request policy: the time by which a job is scheduled, and whether the job is killed at it."""

from dataclasses import replace

import numpy as np

from models import workloads
from models.backfill.rules import LongerThanRequestedError, Rules
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.point import Point
from models.workloads.estimates import LAST_TWO
from models.workloads.replayed import KEEP


class NoRequestsError(ValueError):
    """Some jobs have no requested time, which the policy reads."""


def under(jobs: Jobs, rules: Rules) -> Jobs:
    """Return the jobs as they run under these rules: each has a requested time, and may be killed at it.

    It raises ``ValueError`` if the rules need requested times that jobs lack.
    """
    unknown = np.isnan(jobs.requested)
    if rules.reads_requests and rules.unrequested == "error" and unknown.any():
        raise NoRequestsError(
            f"{counted(int(unknown.sum()), 'job', 'has', of=len(jobs))} no requested time, but the policy "
            "reads it; add policy.unrequested=runtime to use the actual runtime instead, or "
            "workload.estimates=tsafrir2005 to draw requests (exact: each asks for its runtime)"
        )
    requested, runtime, predicted = jobs.requested, jobs.runtime, jobs.predicted
    if unknown.any():
        requested = np.where(unknown, runtime, requested)
    if rules.kill:
        runtime = np.minimum(runtime, requested)
    if predicted is not None:
        predicted = np.fmin(predicted, requested)
    return replace(jobs, runtime=runtime, requested=requested, predicted=predicted)


def check(name: str, jobs: Jobs, machine: Machine, rules: Rules, point: Point) -> None:
    """Raise ``ValueError`` with one line if the jobs of a workload cannot run here under these rules."""
    known = [KEEP] * rules.keeps_downtimes + [LAST_TWO] * rules.takes_predictions
    workloads.refuse_feedback(point, known)
    try:
        rules.check(under(jobs, rules), machine)
    except NoRequestsError as error:
        raise NoRequestsError(f"{name}: {error}") from None
    except LongerThanRequestedError as error:
        other = ", or workload.estimates=exact workload.estimates_for=all" * ("estimates" in point.workload)
        raise LongerThanRequestedError(f"{name}: {error}{other}") from None


def notes(jobs: Jobs, rules: Rules) -> list[str]:
    """Return notes for the user on these jobs under these rules; raises the errors of `under`."""
    ran = under(jobs, rules)
    unknown = int(np.isnan(jobs.requested).sum())
    longer = int((jobs.runtime > ran.requested).sum())
    killed = int((ran.runtime < jobs.runtime).sum())
    found = []
    if unknown and rules.reads_requests:
        found.append(
            f"{counted(unknown, 'job', 'has')} no requested time: the runtime is used for scheduling"
        )
    if killed:
        found.append(
            f"{counted(killed, 'job', 'runs')} longer than requested: killed at the request "
            "(policy.kill=true)"
        )
    elif longer:
        found.append(
            f"{counted(longer, 'job', 'runs')} longer than requested, which is allowed (policy.kill=false)"
        )
    return found

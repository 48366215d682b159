"""The request policy: which time a job is scheduled by, and whether it is ended at it."""

from dataclasses import replace

import numpy as np

from models import workloads
from models.backfill.rules import LongerThanRequestedError, Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.point import Point
from models.workloads.estimates import LAST_TWO
from models.workloads.replayed import KEEP


class NoRequestsError(ValueError):
    """Jobs have no requested time, and the policy reads it."""


def under(jobs: Jobs, rules: Rules) -> Jobs:
    """Return the jobs as they run under these rules: each with a requested time, and perhaps killed at it.

    ``ValueError`` if the rules need what the jobs do not have.
    """
    unknown = np.isnan(jobs.requested)
    if rules.reads_requests and rules.unrequested == "error" and unknown.any():
        raise NoRequestsError(
            f"{int(unknown.sum()):,} of {len(jobs):,} jobs have no requested time, but the policy "
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
    """Return notes for the user on these jobs under these rules; raises what `under` does."""
    ran = under(jobs, rules)
    unknown = int(np.isnan(jobs.requested).sum())
    longer = int((jobs.runtime > ran.requested).sum())
    killed = int((ran.runtime < jobs.runtime).sum())
    found = []
    if unknown and rules.reads_requests:
        found.append(f"{unknown:,} jobs have no requested time and are scheduled by their runtimes")
    if killed:
        found.append(f"{killed:,} jobs run longer than requested and are killed then (policy.kill=true)")
    elif longer:
        found.append(f"{longer:,} jobs run longer than requested, and are allowed to (policy.kill=false)")
    return found

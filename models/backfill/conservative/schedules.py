"""Conservative backfilling: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

import numpy as np

from models.backfill import profile
from models.backfill.conservative import kernel
from models.backfill.conservative.rules import Conservative
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule


def simulate(jobs: Jobs, machine: Machine, rules: Conservative) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules, none of them longer than requested.
    machine : Machine
        With a host for each of them.
    rules : Conservative
    """
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    columns = kernel.PlannedJobs(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory,
        start, end, np.zeros(n, np.int64), promised, planned=np.empty(n),
    )  # fmt: skip
    kernel.run(
        columns,
        profile.all_free(machine, 2 * n + 2),
        machine.processors.copy(),
        rules.instant,
        *(np.empty(n, np.int64) for _ in range(2)),
    )
    return Schedule(jobs, machine, start, end, columns.host, promised=promised)

"""Conservative backfilling: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

import numpy as np

from models.backfill import profile
from models.backfill.conservative import kernel, pool
from models.backfill.conservative.held import none_held
from models.backfill.conservative.rules import Conservative
from models.backfill.conservative.steps import all_free
from models.backfill.conservative.waiting import nobody
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
    if len(machine.names) == 1 and not machine.limits_memory:
        return on_pool(jobs, machine, rules)
    return on_hosts(jobs, machine, rules)


def on_pool(jobs: Jobs, machine: Machine, rules: Conservative) -> Schedule:
    """Run jobs by the kernel for one pool of processors."""
    n = len(jobs)
    held = none_held(jobs)
    steps, waiting = all_free(machine.largest, n), nobody(jobs.size, jobs.requested, machine.largest)
    pool.run(held, steps, waiting, rules.instant, np.empty(n, np.int64))
    return Schedule(jobs, machine, held.start, held.end, np.zeros(n, np.int64), promised=held.promised)


def on_hosts(jobs: Jobs, machine: Machine, rules: Conservative) -> Schedule:
    """Run jobs by the kernel for any number of hosts."""
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

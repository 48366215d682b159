"""From jobs, a machine and rules to a schedule."""

from dataclasses import replace

import numpy as np

from models.backfill.requests import under
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule


def schedule(jobs: Jobs, machine: Machine, rules: Rules) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As submitted.
    machine : Machine
        With a host for each of them.
    rules : Rules

    Raises
    ------
    ValueError
        If a job fits on no host, or the rules need what the jobs do not have.
    """
    has_home = machine.takes(jobs.size, jobs.memory)
    if not has_home.all():
        first = int(np.argmin(has_home))
        raise ValueError(
            f"job {first + 1} asks for {jobs.size[first]} processors and {jobs.memory[first]} KB of memory, "
            f"and no host has both; the largest has {machine.largest} processors: leave out such jobs"
        )
    ready = under(jobs, rules)
    rules.check(ready, machine)
    return replace(rules.simulate(ready, machine), killed=ready.runtime < jobs.runtime)

"""From jobs, a machine and rules to a schedule."""

from dataclasses import replace

import numpy as np

from models.backfill.requests import under
from models.backfill.rules import Rules
from models.counting import counted
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
        The machine, whose hosts the jobs run on.
    rules : Rules

    Raises
    ------
    ValueError
        If a job fits on no host, or the rules need a column that the jobs lack.
    """
    has_home = machine.takes(jobs.size, jobs.memory)
    if not has_home.all():
        first = int(np.argmin(has_home))
        raise ValueError(
            f"job {first + 1} asks for {counted(jobs.size[first], 'processor')} and {jobs.memory[first]:,} "
            f"KB of memory, and no host has both; the largest has {counted(machine.largest, 'processor')}: "
            "leave out such jobs"
        )
    ready = under(jobs, rules)
    rules.check(ready, machine)
    return replace(rules.simulate(ready, machine), killed=ready.runtime < jobs.runtime)

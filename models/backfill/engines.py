"""From jobs, a machine and rules to a schedule: picks the engine and gives it its room."""

from __future__ import annotations

import numpy as np

from models.backfill.conservative import engine as conservative
from models.backfill.eq_spatial import schedules as eq_spatial
from models.backfill.immediate import schedules as immediate
from models.backfill.judging import under
from models.backfill.ncsa_lsf import schedules as ncsa_lsf
from models.backfill.priority import hosts, pool
from models.backfill.priority import passing as by_priority
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
    homeless = ~machine.takes(jobs.size, jobs.memory)
    if homeless.any():
        first = int(np.argmax(homeless))
        raise ValueError(
            f"job {first + 1} asks for {jobs.size[first]} processors and {jobs.memory[first]} KB of memory, "
            f"and no host has both; the largest has {machine.largest} processors: leave out such jobs"
        )
    ready = under(jobs, rules)
    if rules.ncsa_lsf is not None:
        return ncsa_lsf.simulate(ready, machine, rules.ncsa_lsf)
    if rules.eq_spatial is not None:
        return eq_spatial.simulate(ready, machine, rules.eq_spatial)
    if rules.immediate is not None:
        return immediate.simulate(ready, machine, rules)
    if rules.discipline == "conservative":
        return _conservative(ready, machine, rules)
    one_pool = len(machine.names) == 1 and not machine.limits_memory
    if one_pool and (rules.discipline == "fcfs" or rules.is_easy):
        return _on_pool(ready, machine, rules)
    return on_hosts(ready, machine, rules)


def _empty(jobs: Jobs, machine: Machine) -> Schedule:
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    return Schedule(jobs, machine, start, end, np.zeros(n, np.int64), promised=promised)


def _places(jobs: Jobs, machine: Machine) -> int:
    """Return how many jobs can run on a host at once, and one place more for moving."""
    return min(len(jobs), machine.largest) + 1


def _on_pool(jobs: Jobs, machine: Machine, rules: Rules) -> Schedule:
    made = _empty(jobs, machine)
    heap, queue = (np.empty(len(jobs), np.int64) for _ in range(2))
    places = _places(jobs, machine)
    pool.run(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, machine.largest,
        rules.discipline == "backfill", rules.ties == "instant",
        made.start, made.end, made.promised, heap, queue, np.empty(places), np.empty(places, np.int64),
    )  # fmt: skip
    return made


def _conservative(jobs: Jobs, machine: Machine, rules: Rules) -> Schedule:
    made = _empty(jobs, machine)
    n, n_hosts = len(jobs), len(machine.names)
    heap, queue = (np.empty(n, np.int64) for _ in range(2))
    room = 2 * n + 2
    conservative.run(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory,
        machine.processors, machine.memory, rules.ties == "instant",
        made.start, made.end, made.host, made.promised, np.empty(n), heap, queue, np.empty(n_hosts, np.int64),
        np.empty(n_hosts * room), np.empty(n_hosts * room, np.int64), np.empty(n_hosts * room, np.int64),
        np.empty(n_hosts, np.int64), room,
    )  # fmt: skip
    return made


def on_hosts(jobs: Jobs, machine: Machine, rules: Rules) -> Schedule:
    """Run jobs by the engine for any number of hosts, which knows all disciplines but ``conservative``."""
    made = _empty(jobs, machine)
    n, n_hosts = len(jobs), len(machine.names)
    heap, queue = (np.empty(n, np.int64) for _ in range(2))
    places = _places(jobs, machine)
    reservations = n if rules.reservations is None else min(rules.reservations, n)
    room = 1 + 3 * places + 2 * reservations
    hosts.run(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory,
        machine.processors, machine.memory,
        np.array(rules.weights), rules.weights.change_with_time,
        by_priority.NOBODY_PASSES if rules.discipline == "fcfs" else reservations,
        rules.keep_start, rules.ties == "instant",
        made.start, made.end, made.host, made.promised,
        np.empty(n), np.zeros(n, np.int64), np.full(n, by_priority.NOT_HELD), heap, queue,
        np.empty(n_hosts, np.int64), np.empty(n_hosts, np.int64),
        np.empty(n_hosts * places), np.empty(n_hosts * places, np.int64),
        np.empty(n_hosts * places, np.int64), np.zeros(n_hosts, np.int64), places,
        np.empty(n_hosts * room), np.empty(n_hosts * room, np.int64), np.empty(n_hosts * room, np.int64),
        np.empty(n_hosts, np.int64), np.empty(n_hosts), room,
    )  # fmt: skip
    return made

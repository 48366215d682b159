"""FCFS and backfilling by priority: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.backfill import expected_ends, profile
from models.backfill.priority import kernel, pool
from models.backfill.priority.order import compiled, in_order_of_submission
from models.backfill.priority.passing import NOBODY_PASSES, NOT_HELD, Columns, Hosts, Starts
from models.backfill.priority.rules import FCFS, Priority
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule


def simulate(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules.
    machine : Machine
        With a host for each of them.
    rules : Priority
    """
    one_pool = len(machine.names) == 1 and not machine.limits_memory
    is_easy = rules.reservations == 1 and rules.in_order_of_submission
    if one_pool and (rules.discipline == FCFS or is_easy):
        return on_pool(jobs, machine, rules)
    return on_hosts(jobs, machine, rules)


def on_pool(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run jobs under FCFS or EASY by the kernel for one pool of processors."""
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    places = places_on(machine, n)
    pool.run(
        pool.PoolJobs(jobs.submit, jobs.runtime, jobs.requested, jobs.size, start, end, promised),
        pool.Pool(machine.largest, np.empty(places), np.empty(places, np.int64)),
        rules.discipline != FCFS,
        rules.instant,
        *(np.empty(n, np.int64) for _ in range(2)),
    )
    return Schedule(jobs, machine, start, end, np.zeros(n, np.int64), promised=promised)


def on_hosts(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run jobs by the kernel for any number of hosts."""
    n = len(jobs)
    columns = columns_of(jobs)
    order, function = order_of(rules, n)
    hosts = hosts_of(machine, places_on(machine, n), order.starts.reservations)
    kernel.run(jobs.submit, columns, hosts, order, function, *(np.empty(n, np.int64) for _ in range(2)))
    return Schedule(jobs, machine, columns.start, columns.end, columns.host, promised=columns.promised)


def places_on(machine: Machine, n_jobs: int) -> int:
    """Return how many jobs can run on a host at once, and one place more for moving."""
    return min(n_jobs, machine.largest) + 1


def columns_of(jobs: Jobs) -> Columns:
    """Return what a pass knows of each job before the first is submitted."""
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    return Columns(
        jobs.runtime, jobs.requested, jobs.size, jobs.memory, start, end, np.zeros(n, np.int64), promised,
        key=np.empty(n), held=np.full(n, NOT_HELD), bypassed=np.zeros(n, np.int64),
    )  # fmt: skip


def hosts_of(machine: Machine, places: int, reservations: int) -> Hosts:
    """Return idle hosts with room for so many entries in their lists of expected ends."""
    n_hosts = len(machine.names)
    return Hosts(
        machine.processors, machine.memory, machine.processors.copy(), machine.memory.copy(),
        np.empty(n_hosts), expected_ends.empty(n_hosts, places),
        profile.empty(n_hosts, 1 + 3 * places + 2 * max(reservations, 0)),
    )  # fmt: skip


def order_of(rules: Priority, n_jobs: int) -> tuple[kernel.Order, Any]:
    """Return who goes first, as the kernels take it, and the function of a user's own order."""
    reservations = n_jobs if rules.reservations is None else min(rules.reservations, n_jobs)
    starts = Starts(NOBODY_PASSES if rules.discipline == FCFS else reservations, rules.keep_start)
    own = rules.priority is not None
    function = compiled(rules.priority) if own else in_order_of_submission
    return kernel.Order(rules.weights, own, rules.changes_with_time, rules.instant, starts), function

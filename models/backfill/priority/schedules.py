"""FCFS and backfilling by priority: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.arrays import Floats
from models.backfill import expected_ends, profile
from models.backfill.priority import instants, kernel, one_start, pool
from models.backfill.priority.crowd import nobody_waits
from models.backfill.priority.line import nobody
from models.backfill.priority.order import changes, compiled, evaluate, in_order_of_submission, weigh
from models.backfill.priority.passing import NOBODY_PASSES, NOT_HELD, Columns, Hosts, Lists, Starts
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
    at_most_one_start = rules.discipline == FCFS or rules.reservations in (0, 1)
    if one_pool and at_most_one_start and not change_with_time(rules):
        return on_pool(jobs, machine, rules)
    if at_most_one_start:
        return past_one_start(jobs, machine, rules)
    return on_hosts(jobs, machine, rules)


def change_with_time(rules: Priority) -> bool:
    """Tell whether priorities, or the backfill order, change while jobs wait."""
    given = (rules.priority, "policy.priority"), (rules.backfill_order, "policy.backfill_order")
    return rules.weights.change_with_time or any(
        order is not None and changes(compiled(order, where)) for order, where in given
    )


def on_pool(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run jobs by the kernel for one pool of processors: at most one start is given, in orders that stay."""
    n = len(jobs)
    submit = np.append(jobs.submit, np.inf)
    start, promised = np.empty(n), np.full(n, np.nan)
    given = NOBODY_PASSES if rules.discipline == FCFS else min(rules.reservations or 0, n)
    queue = line = nobody(jobs.size, machine.largest, _queue_keys(jobs, rules))
    reorders = rules.backfill_order is not None
    if reorders:
        keys = _keys(rules.backfill_order, "policy.backfill_order", jobs)
        line = nobody(jobs.size, machine.largest, keys)
    places = places_on(machine, n)
    pool.run(
        pool.PoolJobs(submit, jobs.runtime, jobs.requested, jobs.size, start, promised),
        pool.Pool(machine.largest, instants.none(places), instants.none(places)),
        pool.Passing(given, rules.keep_start and given == 1, reorders, rules.instant),
        queue,
        line,
    )
    end = start + jobs.runtime
    return Schedule(jobs, machine, start, end, np.zeros(n, np.int64), promised=promised)


def _queue_keys(jobs: Jobs, rules: Priority) -> Floats:
    """Return priorities that never change, none where all jobs are equal."""
    if rules.in_order_of_submission:
        return np.empty(0)
    if rules.priority is not None:
        return _keys(rules.priority, "policy.priority", jobs)
    key = np.empty(len(jobs))
    weigh(rules.weights, jobs.requested, jobs.size, jobs.memory, key)
    return key


def _keys(given: object, where: str, jobs: Jobs) -> Floats:
    """Return what an order that never changes says of each job."""
    key = np.empty(len(jobs))
    _asked(given, where, jobs, key)
    return key


def past_one_start(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run jobs by the kernel for any number of hosts and at most one start."""
    n, n_hosts = len(jobs), len(machine.names)
    columns = columns_of(jobs)
    order, priority, backfill_order = order_of(rules, jobs, columns)
    places = places_on(machine, n)
    hosts = one_start.OpenHosts(
        machine.processors.copy(), machine.memory.copy(), np.zeros(n_hosts, np.int64),
        expected_ends.empty(n_hosts, places),
    )  # fmt: skip
    one_start.run(
        np.append(jobs.submit, np.inf), columns, hosts, instants.none(min(n, machine.total) + 1),
        order, priority, backfill_order, nobody_waits(n),
    )  # fmt: skip
    return Schedule(jobs, machine, columns.start, columns.end, columns.host, promised=columns.promised)


def on_hosts(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run jobs by the kernel for any number of hosts."""
    n = len(jobs)
    columns = columns_of(jobs)
    order, priority, backfill_order = order_of(rules, jobs, columns)
    hosts = hosts_of(machine, places_on(machine, n), order.starts.reservations)
    rooms = (n, n if order.reorders else 0, n)
    lists = Lists(*(np.empty(room, np.int64) for room in rooms))
    kernel.run(jobs.submit, columns, hosts, order, priority, backfill_order, lists)
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
        key=np.empty(n), rank=np.empty(n), held=np.full(n, NOT_HELD), bypassed=np.zeros(n, np.int64),
    )  # fmt: skip


def hosts_of(machine: Machine, places: int, reservations: int) -> Hosts:
    """Return idle hosts with room for so many entries in their lists of expected ends."""
    n_hosts = len(machine.names)
    return Hosts(
        machine.processors, machine.memory, machine.processors.copy(), machine.memory.copy(),
        np.empty(n_hosts), expected_ends.empty(n_hosts, places),
        profile.empty(n_hosts, 1 + 3 * places + 2 * max(reservations, 0)),
    )  # fmt: skip


def order_of(rules: Priority, jobs: Jobs, columns: Columns) -> tuple[kernel.Order, Any, Any]:
    """Return who goes first, as the kernels take it, and the functions of priority and backfill order.

    Priorities that never change are filled in. O(jobs).
    """
    n = len(jobs)
    reservations = n if rules.reservations is None else min(rules.reservations, n)
    starts = Starts(NOBODY_PASSES if rules.discipline == FCFS else reservations, rules.keep_start)
    own, reorders = rules.priority is not None, rules.backfill_order is not None
    dynamic, reorders_anew = rules.weights.change_with_time, False
    priority = backfill_order = in_order_of_submission
    if own:
        priority, dynamic = _asked(rules.priority, "policy.priority", jobs, columns.key)
    elif not dynamic:
        weigh(rules.weights, jobs.requested, jobs.size, jobs.memory, columns.key)
    if reorders:
        where = "policy.backfill_order"
        backfill_order, reorders_anew = _asked(rules.backfill_order, where, jobs, columns.rank)
    order = kernel.Order(rules.weights, own, dynamic, reorders, reorders_anew, rules.instant, starts)
    return order, priority, backfill_order


def _asked(given: object, where: str, jobs: Jobs, key: Floats) -> tuple[Any, bool]:
    """Return what the kernel calls, and whether it does: else `key` is filled in; no number goes last."""
    function = compiled(given, where)
    if changes(function):
        return function, True
    evaluate(function, jobs.submit, jobs.requested, jobs.size, jobs.memory, key)
    key[np.isnan(key)] = -np.inf
    return in_order_of_submission, False

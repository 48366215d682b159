"""The tables of the schedulers with reservations: jobs, hosts, and the rules as a kernel reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill import expected_ends, profile
from models.backfill.expected_ends import ExpectedEnds
from models.backfill.priority.order import changes, compiled, evaluate, in_order_of_submission, weigh
from models.backfill.priority.rules import FCFS, Priority
from models.backfill.priority.weights import Weights
from models.backfill.profile import Profile
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.kernels.types import record

NO_JOB = -1
NO_HOST = -1
NO_RESERVATION = 2**62
NO_BACKFILL = -1
"""Instead of a number of reservations: FCFS."""


class QueuedJobs(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit, runtime, requested : ndarray of float, seconds
    size, need : ndarray of int
        Processors, and memory in KB.
    start, end : ndarray of float, seconds
        Filled in, like `host`.
    host : ndarray of int
    promised : ndarray of float, seconds
        The first start that was reserved for a job, or NaN; filled in.
    key, rank : ndarray of float
        Its priority, and that among backfilled jobs where their order is another one. Filled in beforehand
        unless they change with time.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    need: Ints
    start: Floats
    end: Floats
    host: Ints
    promised: Floats
    key: Floats
    rank: Floats


class Hosts(NamedTuple):
    """The hosts; every array has the shape (n_hosts,).

    Parameters
    ----------
    free, free_memory : ndarray of int
        Free processors, and memory in KB.
    freed : ndarray of int
        1 where a job has ended since the last pass.
    first_reserved : ndarray of float, seconds
        The earliest reservation there in this pass, or inf.
    ends : ExpectedEnds
        Of what runs there; empty where no reservation is made.
    profile : Profile
        Made anew in each pass for the hosts with a reservation; without steps a host has none.
    """

    free: Ints
    free_memory: Ints
    freed: Ints
    first_reserved: Floats
    ends: ExpectedEnds
    profile: Profile


class Order(NamedTuple):
    """The order of the queue and its reservations, see `models.backfill.priority.rules.Priority`.

    Parameters
    ----------
    weights : Weights
        Of the measures of a job's priority, see `order.added_up`.
    own : bool
        Whether a function takes their place.
    dynamic : bool
        Whether priorities change with time, and are computed anew at each pass.
    reorders : bool
        Whether the backfill order is not the queue's.
    reorders_anew : bool
        Whether it changes with time.
    counts_bypasses : bool
        Whether an order may depend on how many jobs of lower priority started before a job.
    reservations : int
        How many waiting jobs have one, or `NO_BACKFILL`.
    sticky : bool
        Whether a job with a reservation precedes all others until it runs.
    """

    weights: Weights
    own: bool
    dynamic: bool
    reorders: bool
    reorders_anew: bool
    counts_bypasses: bool
    reservations: int
    sticky: bool


JOBS, HOSTS, ORDER = record(QueuedJobs), record(Hosts), record(Order)


def queued(jobs: Jobs) -> QueuedJobs:
    """Return the table of jobs before the first is submitted."""
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    return QueuedJobs(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory, start, end, np.full(n, NO_HOST),
        promised, key=np.empty(n), rank=np.empty(n),
    )  # fmt: skip


def idle_hosts(machine: Machine, places: int, steps: int = 0) -> Hosts:
    """Return idle hosts, with so many places for expected ends and steps of a profile on each."""
    n = len(machine.names)
    return Hosts(
        machine.processors.copy(), machine.memory.copy(), np.zeros(n, np.int64), np.empty(n),
        expected_ends.empty(n, places), profile.empty(n, steps),
    )  # fmt: skip


def places_on(machine: Machine, n_jobs: int) -> int:
    """Return how many jobs can run on a host at once, and one place more for moving."""
    return min(n_jobs, machine.largest) + 1


def order_of(rules: Priority, jobs: Jobs, table: QueuedJobs) -> tuple[Order, tuple[Any, Any]]:
    """Return the order as a kernel reads it, and the functions of priority and of the backfill order.

    Priorities that never change are filled in. O(jobs).
    """
    n = len(jobs)
    reservations = n if rules.reservations is None else min(rules.reservations, n)
    own, reorders = rules.priority is not None, rules.backfill_order is not None
    dynamic, reorders_anew = rules.weights.change_with_time, False
    priority = backfill_order = in_order_of_submission
    if own:
        priority, dynamic = function_or_keys(rules.priority, "policy.priority", jobs, table.key)
    elif not dynamic:
        weigh(rules.weights, jobs.requested, jobs.size, jobs.memory, table.key)
    if reorders:
        where = "policy.backfill_order"
        backfill_order, reorders_anew = function_or_keys(rules.backfill_order, where, jobs, table.rank)
    counts = (own and dynamic) or reorders_anew or (dynamic and rules.weights.bypass != 0.0)
    order = Order(
        rules.weights, own, dynamic, reorders, reorders_anew, counts,
        NO_BACKFILL if rules.discipline == FCFS else reservations, rules.keep_start,
    )  # fmt: skip
    return order, (priority, backfill_order)


def function_or_keys(given: object, where: str, jobs: Jobs, key: Floats) -> tuple[Any, bool]:
    """Return the function that a kernel calls, and whether it does; else `key` is filled in, NaN last."""
    function = compiled(given, where)
    if changes(function):
        return function, True
    evaluate(function, jobs.submit, jobs.requested, jobs.size, jobs.memory, key)
    key[np.isnan(key)] = -np.inf
    return in_order_of_submission, False

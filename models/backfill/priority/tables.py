"""The tables of the schedulers with reservations: jobs, hosts, and the rules in a kernel's form."""

from typing import Any, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.priority.declared import Weights
from models.backfill.priority.order import (
    KB_IN_MEMORY_UNIT,
    SECONDS_IN_HOUR,
    changes,
    compiled,
    evaluate,
    in_order_of_submission,
    weighted_sum,
)
from models.backfill.priority.rules import FCFS, Priority
from models.backfill.profile import Steps, no_steps
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.kernels.types import record

NO_RESERVATION = 2**62
NO_BACKFILL = -1
"""Used instead of a number of reservations under FCFS."""


class Hosts(NamedTuple):
    """The hosts; every array has the shape (n_hosts,).

    Parameters
    ----------
    free, free_memory : ndarray of int
        Free processors, and memory in KB.
    first_reserved : ndarray of float, seconds
        The earliest reservation there in this pass, or inf.
    ends : Steps
        Expected ends (`models.backfill.expected_ends`) of running jobs; empty if no reservation is made.
    profile : Steps
        Rebuilt in each pass for the hosts with a reservation; without steps a host has none.
    """

    free: Ints
    free_memory: Ints
    first_reserved: Floats
    ends: Steps
    profile: Steps


class Order(NamedTuple):
    """The order of the queue and its reservations, see `models.backfill.priority.rules.Priority`.

    Parameters
    ----------
    weights : Weights
        Weights of the measures of a job's priority, see `order.added_up`.
    own : bool
        Whether a function replaces them.
    dynamic : bool
        Whether priorities change with time, and are recomputed at each pass.
    reorders : bool
        Whether the backfill order differs from the queue's.
    reorders_anew : bool
        Whether it changes with time.
    counts_bypasses : bool
        Whether an order may depend on how many jobs of lower priority started before a job.
    reservations : int
        How many waiting jobs have one, or `NO_BACKFILL`.
    sticky : bool
        Whether a job with a reservation precedes all others until it runs.
    sorts : bool
        Whether the queue is kept sorted: if its order never changes and every waiting job has a reservation.
    key, rank : ndarray of float, shape (n_jobs,)
        A job's priority, and its priority among backfilled jobs if their order differs. Filled in unless they
        change with time.
    """

    weights: Weights
    own: bool
    dynamic: bool
    reorders: bool
    reorders_anew: bool
    counts_bypasses: bool
    reservations: int
    sticky: bool
    sorts: bool
    key: Floats
    rank: Floats


HOSTS, ORDER = record(Hosts), record(Order)


def idle_hosts(machine: Machine, places: int, steps: int = 0) -> Hosts:
    """Return idle hosts, each with `places` places for expected ends and `steps` for a profile."""
    n = len(machine.names)
    return Hosts(
        machine.processors.copy(), machine.memory.copy(), np.empty(n),
        no_steps(n, places), no_steps(n, steps),
    )  # fmt: skip


def places_on(machine: Machine, n_jobs: int) -> int:
    """Return the number of jobs that can run on a host at once, plus one place for moving."""
    return min(n_jobs, machine.largest) + 1


def order_of(rules: Priority, jobs: Jobs) -> tuple[Order, tuple[Any, Any]]:
    """Return the order in a kernel's form, and the functions of priority and of the backfill order.

    Priorities that never change are filled in. O(jobs).
    """
    n, key, rank = len(jobs), np.empty(len(jobs)), np.empty(len(jobs))
    reservations = n if rules.reservations is None else min(rules.reservations, n)
    own, reorders = rules.priority is not None, rules.backfill_order is not None
    dynamic, reorders_anew = rules.weights.change_with_time, False
    priority = backfill_order = in_order_of_submission
    if own:
        priority, dynamic = function_or_keys(rules.priority, "policy.priority", jobs, key)
    elif not dynamic:
        hours, units = jobs.requested / SECONDS_IN_HOUR, jobs.memory / KB_IN_MEMORY_UNIT
        with np.errstate(invalid="ignore", divide="ignore"):
            shortness = rules.weights.shortness / hours
            key[:] = weighted_sum(rules.weights, 0.0, hours, jobs.size, units, shortness, 0)
    if reorders:
        where = "policy.backfill_order"
        backfill_order, reorders_anew = function_or_keys(rules.backfill_order, where, jobs, rank)
    counts = (own and dynamic) or reorders_anew or (dynamic and rules.weights.bypass != 0.0)
    sorts = rules.reservations is None and rules.immediate is None and not (dynamic or rules.keep_start)
    order = Order(
        rules.weights, own, dynamic, reorders, reorders_anew, counts,
        NO_BACKFILL if rules.discipline == FCFS else reservations, rules.keep_start, sorts, key, rank,
    )  # fmt: skip
    return order, (priority, backfill_order)


def function_or_keys(given: object, where: str, jobs: Jobs, key: Floats) -> tuple[Any, bool]:
    """Return the function that a kernel calls, and whether it calls it; if not, fill in `key`, NaN last."""
    function = compiled(given, where)
    if changes(function):
        return function, True
    evaluate(function, jobs.submit, jobs.requested, jobs.size, jobs.memory, key)
    key[np.isnan(key)] = -np.inf
    return in_order_of_submission, False

"""What every order has to keep, as a priority and as a backfill order. A new one is a line in ORDERS."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from backfill_cases import by_twin, cases, rules, tiers
from family_cases import for_all

from models.backfill.engine import schedule
from models.backfill.priority.declared import ORDERS as NAMES
from models.backfill.priority.order import changes, compiled
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine

ORDERS: list[Any] = list(NAMES)

REQUESTS = (1.0, 59.0, 3600.0, 86_400.0 * 30)
SIZES = (1, 2, 7, 128, 100_000)
TIMES = (0.0, 0.5, 1.0, 600.0, 86_400.0 * 365)
MEMORY = (0, 2**40)


def check_values(order: Any) -> None:
    """Ask an order of jobs small and large: it has an answer to each, and always the same."""
    function = compiled(order)
    bypassed: list[tuple[int, ...]] = [(0,), (1000,)] if changes(function) else [()]
    for time, requested, size, memory, more in product(TIMES, REQUESTS, SIZES, MEMORY, bypassed):
        answer = function(time, requested, size, memory, *more)
        assert np.isfinite(answer)
        assert answer == function(time, requested, size, memory, *more)


def check_schedules(order: Any, n_examples: int) -> None:
    """Compare the kernel with the plain twin, job by job, on few hosts and many ties."""
    for_all(n_examples, lambda case: check_schedule(order, *case), case=cases())


def check_schedule(order: Any, jobs: Jobs, machine: Machine) -> None:
    for keys in (
        {"priority": order},
        {"priority": order, "keep_start": True, "reservations": 2},
        {"priority": order, "discipline": "fcfs"},
        {"backfill_order": order},
        {"backfill_order": order, "weights": {"expansion": 1}, "reservations": 2},
        {"priority": order, "backfill_order": order},
    ):
        for ties, kill in product(("instant", "event"), (True, False)):
            how = rules("easy", ties=ties, kill=kill, **keys)
            made, (expected, _) = schedule(jobs, machine, how), by_twin(jobs, machine, how)
            np.testing.assert_array_equal(made.start, expected.start)
            np.testing.assert_array_equal(made.host, expected.host)


@pytest.mark.parametrize("order", ORDERS)
def test_it_has_a_number_for_every_job(order: Any) -> None:
    check_values(order)


@pytest.mark.parametrize("order", ORDERS)
@tiers(10, 40)
def test_schedules_are_those_of_the_twin(order: Any, n_examples: int) -> None:
    check_schedules(order, n_examples)

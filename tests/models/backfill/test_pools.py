"""The kernels for one pool, which examine few waiting jobs, against those for hosts, which examine all."""

from typing import Any

import numpy as np
import pytest
from backfill_cases import for_all, rules, tiers
from hypothesis import strategies as st

from models.backfill.conservative import hosts
from models.backfill.conservative import pool as conservative_pool
from models.backfill.priority import pool as priority_pool
from models.backfill.priority import single_reservation
from models.backfill.requests import under
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import pool

PROCESSORS = 64
ANOTHER = " in another order"
FIXED: dict[str, dict[str, Any]] = {
    "fcfs": {}, "easy": {}, "sjf_backfill": {}, "no reservation": {"reservations": 0}, "sizes": {},
    "sjbf": {}, "learned": {}, "no passing": {},
    "sjf_backfill" + ANOTHER: {"backfill_order": "smallest_area_first"},
    "learned" + ANOTHER: {"backfill_order": "shortest_first"}, "conservative": {},
}  # fmt: skip
"""Policies of `backfill_cases` whose orders never change, and keys of their own."""


def check_both(jobs: Jobs, name: str, ties: str, kill: bool) -> None:
    """Compare the schedules of the two kernels; conservative backfilling needs ``kill``."""
    is_conservative = name == "conservative"
    keys = {"ties": ties, "kill": kill or is_conservative, "reservations": 1, **FIXED[name]}
    how: Rules = rules(name.removesuffix(ANOTHER), **keys)
    kernels: tuple[Any, Any] = (priority_pool, single_reservation)
    if is_conservative:
        kernels = (conservative_pool, hosts)
    made, expected = (kernel.simulate(under(jobs, how), pool(PROCESSORS), how) for kernel in kernels)
    for column in ("start", "end", "promised"):
        np.testing.assert_array_equal(getattr(made, column), getattr(expected, column), column)


def overloaded(seed: int, n: int, grid: float, sizes: str, at_once: bool) -> Jobs:
    """Draw jobs that are more than the machine can do; their times are multiples of `grid` (s), 0 for any."""
    rng = np.random.default_rng(seed)
    size = {
        "narrow": rng.integers(1, 4, n),
        "powers": 2 ** rng.integers(0, 7, n),
        "any": rng.integers(1, PROCESSORS + 1, n),
    }[sizes]
    requested = np.asarray(rng.choice([60.0, 300.0, 3600.0], n) * rng.integers(1, 9, n), np.float64)
    runtime = requested * rng.choice([0.01, 0.3, 1.0, 1.5], n)
    submit = np.zeros(n) if at_once else np.sort(rng.random(n)) * (size @ runtime) / PROCESSORS / 1.5
    if grid:
        submit, runtime = np.floor(submit / grid) * grid, np.ceil(runtime / grid) * grid
    return Jobs(submit, runtime, requested, size, np.zeros(n, np.int64))


@pytest.mark.parametrize("name", FIXED)
@tiers(3, 40)
def test_queues_of_hundreds(name: str, n_examples: int) -> None:
    def check(seed: int, grid: float, sizes: str, at_once: bool, ties: str, kill: bool) -> None:
        check_both(overloaded(seed, 400, grid, sizes, at_once), name, ties, kill)

    for_all(
        n_examples if name != "conservative" else 4 * n_examples, check, seed=st.integers(0, 2**32),
        grid=st.sampled_from([0.0, 60.0, 600.0]), sizes=st.sampled_from(["narrow", "powers", "any"]),
        at_once=st.booleans(), ties=st.sampled_from(["instant", "event"]), kill=st.booleans(),
    )  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("sizes", ["narrow", "powers", "any"])
@pytest.mark.parametrize("name", FIXED)
def test_queues_of_thousands(name: str, sizes: str) -> None:
    check_both(overloaded(3, 1500, 1.0, sizes, at_once=True), name, "instant", kill=True)

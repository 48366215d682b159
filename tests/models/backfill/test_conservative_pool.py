"""Conservative backfilling on one pool examines few waiting jobs, with the starts of examining all."""

from __future__ import annotations

import numpy as np
import pytest
from backfill_cases import for_all, rules, tiers
from backfill_checker import faults
from hypothesis import strategies as st

from models.backfill.conservative.hosts import simulate as on_hosts
from models.backfill.conservative.pool import simulate as on_pool
from models.backfill.conservative.rules import Conservative
from models.backfill.requests import under
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool
from models.jobs.schedule import Schedule

PROCESSORS = 64


def both(jobs: Jobs, machine: Machine, ties: str) -> Schedule:
    """Return a pool's schedule, once the kernel for any number of hosts has made the same."""
    how = rules("conservative", ties=ties)
    assert isinstance(how, Conservative)
    ran = under(jobs, how)
    made, expected = on_pool(ran, machine, how), on_hosts(ran, machine, how)
    np.testing.assert_array_equal(made.start, expected.start)
    np.testing.assert_array_equal(made.end, expected.end)
    np.testing.assert_array_equal(made.promised, expected.promised)
    return made


def overloaded(seed: int, n: int, grid: float, early: float, sizes: str, at_once: bool) -> Jobs:
    """Draw jobs that are more than the machine can do.

    Parameters
    ----------
    seed, n : int
    grid : float, seconds
        Times are whole multiples of it, so that ends and submissions meet; 0 for any times.
    early : float
        Share of the jobs that end at some moment before their request.
    sizes : {"narrow", "powers", "any"}
    at_once : bool
        Whether all come at the beginning.
    """
    rng = np.random.default_rng(seed)
    size = {
        "narrow": rng.integers(1, 4, n),
        "powers": 2 ** rng.integers(0, 7, n),
        "any": rng.integers(1, PROCESSORS + 1, n),
    }[sizes]
    requested = rng.choice([60.0, 300.0, 900.0, 3600.0, 7200.0], n) * rng.choice([1, 1, 1, 2, 5], n)
    runtime = np.where(rng.random(n) < early, requested * rng.random(n) ** 3, requested)
    submit = np.zeros(n) if at_once else np.sort(rng.random(n)) * (size @ runtime) / PROCESSORS / 1.5
    if grid:
        submit, runtime = np.floor(submit / grid) * grid, np.ceil(runtime / grid) * grid
    return Jobs(submit, np.maximum(runtime, 1e-3), requested, size, np.zeros(n, np.int64))


@tiers(12, 150)
def test_queues_of_hundreds(n_examples: int) -> None:
    """Gaps that open and are filled in one pass, stretches that are cut in two, and a new index at times."""

    def check(seed: int, grid: float, early: float, sizes: str, at_once: bool, ties: str) -> None:
        both(overloaded(seed, 400, grid, early, sizes, at_once), pool(PROCESSORS), ties)

    for_all(
        n_examples, check, seed=st.integers(0, 2**32), grid=st.sampled_from([0.0, 1.0, 60.0]),
        early=st.sampled_from([0.1, 0.5, 1.0]), sizes=st.sampled_from(["narrow", "powers", "any"]),
        at_once=st.booleans(), ties=st.sampled_from(["instant", "event"]),
    )  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("sizes", ["narrow", "powers", "any"])
def test_queues_of_thousands(sizes: str) -> None:
    jobs = overloaded(3, 1500, 1.0, 0.8, sizes, at_once=True)
    made = both(jobs, pool(PROCESSORS), "instant")
    assert not faults(made)
    waiting = ~np.isnan(made.promised)
    assert (made.start < made.promised)[waiting].mean() > 0.5, "jobs do move"

"""The kernels of backfilling against a plain twin on random cases, tied and overrun ones among them."""

from __future__ import annotations

import numpy as np
import pytest
from backfill_cases import POLICIES, by_priority, by_twin, cases, rules
from backfill_checker import faults
from hypothesis import given, settings

from models.backfill.engine import schedule
from models.backfill.priority.single_reservation import simulate as on_hosts
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool

steady = settings(derandomize=True, deadline=None, max_examples=25)
ON_POOL = ["fcfs", "easy", "sjf_backfill", "no reservation", "sizes", "sjbf", "learned", "no passing"]
"""Policies with a kernel for one pool."""
OVERRUNNING = [name for name in POLICIES if name != "conservative"]


def assert_agreement(jobs: Jobs, machine: Machine, how: Rules) -> None:
    made, (expected, _) = schedule(jobs, machine, how), by_twin(jobs, machine, how)
    np.testing.assert_array_equal(made.start, expected.start)
    np.testing.assert_array_equal(made.host, expected.host)
    assert not faults(made)


@pytest.mark.parametrize("ties", ["instant", "event"])
@pytest.mark.parametrize("name", POLICIES)
@given(case=cases())
@steady
def test_on_hosts_with_memory(name: str, ties: str, case: tuple[Jobs, Machine]) -> None:
    assert_agreement(*case, rules(name, ties=ties))


@pytest.mark.parametrize("ties", ["instant", "event"])
@pytest.mark.parametrize("name", OVERRUNNING)
@given(case=cases())
@steady
def test_jobs_that_run_longer_than_requested(name: str, ties: str, case: tuple[Jobs, Machine]) -> None:
    assert_agreement(*case, rules(name, ties=ties, kill=False))


@pytest.mark.parametrize("ties", ["instant", "event"])
@pytest.mark.parametrize("name", ON_POOL)
@given(case=cases(hosts=1))
@steady
def test_one_pool(name: str, ties: str, case: tuple[Jobs, Machine]) -> None:
    jobs, machine = case
    one = pool(machine.largest)
    for kill in (True, False):
        assert_agreement(jobs, one, rules(name, ties=ties, kill=kill))


@pytest.mark.parametrize("ties", ["instant", "event"])
@pytest.mark.parametrize("name", ["fcfs", "easy"])
def test_both_kernels_on_long_queues(name: str, ties: str) -> None:
    """Thousands of jobs on one pool, with many at one instant and some beyond their request."""
    rng = np.random.default_rng(7)
    n = 4000
    jobs = Jobs(
        np.sort(rng.integers(0, 40_000, n)) * 10.0,
        rng.integers(1, 400, n) * 10.0,
        rng.integers(1, 800, n) * 10.0,
        rng.integers(1, 33, n),
        np.zeros(n, np.int64),
    )
    how = by_priority(name, ties=ties, kill=False)
    fast, general = schedule(jobs, pool(64), how), on_hosts(jobs, pool(64), how)
    np.testing.assert_array_equal(fast.start, general.start)
    assert not faults(fast)

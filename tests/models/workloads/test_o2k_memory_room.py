"""Room in memory for arriving jobs, by other ways: one by one, a policy on a single host, all subsets."""

import itertools

import numpy as np
import pytest
from family_cases import composed
from o2k_cases import MACHINE, SEEDS, open_month, workload

from models.backfill.eq_spatial.kernel import simulate
from models.backfill.eq_spatial.rules import EqSpatial
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.o2k_workload.memory_room import fewest_waiting, must_wait
from models.units import KB_IN_GB

CAPACITY = 336 * KB_IN_GB


def few_jobs(random: np.random.Generator, n: int, memory: np.ndarray) -> Jobs:
    submit = np.sort(random.integers(0, 30, n)).astype(float)
    runtime = random.integers(1, 20, n).astype(float)
    return Jobs(submit, runtime, runtime, np.ones(n, np.int64), memory)


def peak(jobs: Jobs, begins: tuple[int, ...]) -> int:
    """Return the most memory that some jobs hold together."""
    chosen = list(begins)
    ends = jobs.submit + jobs.runtime
    return max(
        (sum(int(jobs.memory[j]) for j in chosen if jobs.submit[j] <= now < ends[j]) for now in jobs.submit),
        default=0,
    )


@pytest.mark.parametrize("month", ["1999-11", "1999-12", "2000-03"])
def test_jobs_must_wait_on_one_host_with_all_memory_and_processors(month: str) -> None:
    """Equipartition slows no job there and places the first submitted job that fits: the same jobs wait."""
    jobs = open_month(workload(month), MACHINE, None, SEEDS[0]).jobs
    one_host = Machine(("all",), np.array([64 * 2000]), np.array([CAPACITY]))
    made = simulate(
        jobs, one_host, EqSpatial.of(composed("policy", "eq_spatial_0m", quantum=None, catch_up=False))
    )
    waits = must_wait(jobs, CAPACITY)
    assert ((made.start > jobs.submit) == waits).all()
    if month != "1999-11":
        assert waits.mean() > 0.005


def test_no_policy_lets_fewer_wait() -> None:
    """Against the largest subset that fits, of all; the same number where all ask for the same memory."""
    random = np.random.default_rng(2)
    n_above = 0
    for alike in (True, False):
        for _ in range(25):
            n = 10
            jobs = few_jobs(random, n, np.full(n, 4) if alike else random.integers(1, 9, n))
            capacity = 12
            least = next(
                away
                for away in range(n + 1)
                if any(peak(jobs, s) <= capacity for s in itertools.combinations(range(n), n - away))
            )
            bound = fewest_waiting(jobs, capacity)
            assert bound <= least + 1e-9
            n_above += bound > 0
            if alike:
                assert bound == pytest.approx(least)
    assert n_above > 25
    assert fewest_waiting(jobs, 1000) == 0

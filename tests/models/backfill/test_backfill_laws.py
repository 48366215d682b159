"""What must hold of any backfilled schedule: promises kept, requests believed, closed forms met."""

import numpy as np
import pytest
from backfill_cases import cases, make_jobs, make_machine, rules
from family_cases import composed
from hypothesis import given, settings

from models.backfill import FAMILY
from models.backfill.engine import schedule
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool
from models.point import Batches, Point

steady = settings(derandomize=True, deadline=None, max_examples=10)

WORKLOAD = {
    "name": "synthetic", "model": "synthetic", "largest_job": None, "median_runtime": 755.0,
    "runtime_spread": 1.5, "overestimate": 5.0, "memory_mb": 150.0,
}  # fmt: skip


def starts(rows, processors: int, name: str, **keys) -> list[float]:
    jobs = make_jobs([(*row, 0) for row in rows])
    return schedule(jobs, pool(processors), rules(name, **keys)).start.tolist()


# Submit, runtime, requested, size: the second has to wait for the first.
BLOCKED = [(0, 100, 100, 3), (1, 50, 50, 4)]


def test_a_candidate_counts_with_its_requested_time() -> None:
    """It would end long before the reserved start, but that is not known."""
    rows = [*BLOCKED, (2, 10, 200, 1)]
    assert starts(rows, 4, "easy") == [0, 100, 150]
    assert starts(rows, 4, "conservative") == [0, 100, 150]
    assert starts([*BLOCKED, (2, 10, 98, 1)], 4, "easy") == [0, 100, 2]


def test_a_backfilled_job_never_delays_the_reserved_one() -> None:
    """The second candidate fits beside the reserved job, the third no longer."""
    rows = [(0, 100, 100, 6), (1, 50, 50, 7), (2, 300, 300, 1), (3, 300, 300, 1)]
    assert starts(rows, 8, "easy") == [0, 100, 2, 150]
    assert starts(rows, 8, "easy", reservations=0) == [0, 302, 2, 3]
    assert starts(rows, 8, "fcfs") == [0, 100, 100, 150]


def test_rules_of_ties() -> None:
    """At 10 a job ends early and another one is submitted: the order of the two events decides."""
    rows = [(0, 10, 20, 2), (1, 10, 10, 3), (10, 10, 10, 1)]
    assert starts(rows, 3, "easy", ties="instant") == [0, 10, 20]
    assert starts(rows, 3, "easy", ties="event") == [0, 20, 10]


def test_compression_moves_waiting_jobs_forward_and_keeps_their_order() -> None:
    """The first job ends at 40 instead of 100, and both others move into its place."""
    rows = [(0, 40, 100, 4), (1, 30, 30, 2), (2, 30, 30, 3)]
    assert starts(rows, 4, "conservative") == [0, 40, 70]


def test_the_fullest_host_that_fits_is_taken() -> None:
    """Section 2.2; memory counts as much as processors do."""
    machine = make_machine([(8, 8), (6, 8), (4, 1)])
    jobs = make_jobs([(0, 9, 9, 3, 1), (1, 9, 9, 3, 2), (2, 9, 9, 3, 2), (3, 9, 9, 1, 7)])
    assert schedule(jobs, machine, rules("easy")).host.tolist() == [2, 1, 1, 0]


@given(case=cases(hosts=1))
@steady
def test_the_head_of_the_queue_starts_when_it_was_promised(case: tuple[Jobs, Machine]) -> None:
    jobs, machine = case
    for ties in ("instant", "event"):
        made = schedule(jobs, pool(machine.largest), rules("easy", ties=ties))
        assert not (made.start > made.promised).any()


def test_one_processor_is_a_queue_of_pollaczek_and_khinchine() -> None:
    """M/G/1 in order of arrival: mean wait = load E[S^2] / (2 E[S] (1 - load))."""
    spread, load = 0.5, 0.6
    workload = WORKLOAD | {"median_runtime": 1.0, "runtime_spread": spread}
    batches = Batches(5_000, 1, (20,))
    fcfs, machine = composed("policy", "fcfs"), {"processors": 1}
    outcome = FAMILY.simulate(Point(fcfs, workload, machine, load, batches, (5,)))
    means = outcome.metrics["wait"]
    expected = load * np.exp(2 * spread**2) / (2 * np.exp(spread**2 / 2) * (1 - load))
    assert abs(means.mean() - expected) < 4 * means.std(ddof=1) / np.sqrt(len(means))
    assert means.std() < 0.1 * expected
    assert outcome.metrics["utilization"].mean() == pytest.approx(load, rel=0.02)

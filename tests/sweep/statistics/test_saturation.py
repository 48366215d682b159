"""How often the verdict on saturation is wrong, on systems of which it is known whether they are stable."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from models.family import Family, Outcome, followed
from models.point import Batches, Point
from models.saturation import LONGER, Backlog
from sweep import statistics
from sweep.notebook import choices
from sweep.plan import families
from sweep.statistics.saturation import judge

SIZE, BATCHES, REPLICATIONS = 1000, 30, 5


def queues(load: float, n_queues: int, n_batches: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Run M/M/1 queues from empty, side by side.

    Returns
    -------
    level, delivered : ndarray, shape (n_queues, n_batches)
        Customers in the system, by Little's law, and the share of the time in which the server works.
    """
    random = np.random.default_rng(seed)
    response = np.zeros(n_queues)
    level, delivered = np.empty((2, n_queues, n_batches))
    for batch in range(n_batches):
        gap = random.exponential(1 / load, (SIZE, n_queues))
        service = random.exponential(1.0, (SIZE, n_queues))
        stay, begin = np.zeros(n_queues), response
        for customer in range(SIZE):
            response = np.maximum(response - gap[customer], 0.0) + service[customer]
            stay += response
        # From the end of the last customer of the batch before to that of this batch's.
        elapsed = gap.sum(axis=0) + response - begin
        level[:, batch] = stay / elapsed
        delivered[:, batch] = service.sum(axis=0) / elapsed
    return level, delivered


def backlogs(load: float, n_queues: int) -> list[Backlog]:
    """Run M/M/1 queues as a sweep does: suspicious runs are made anew for longer, and begin as before."""
    seed = int(100 * load)
    level, delivered = queues(load, n_queues, LONGER * BATCHES, seed)
    found = []
    for queue in range(n_queues):
        one = Backlog.of(level[queue, :BATCHES], delivered[queue, :BATCHES], load)
        if one.suspected and not one.is_obvious(SIZE * BATCHES):
            one = Backlog.of(level[queue], delivered[queue], load)
        found.append(one)
    return found


def share_saturated(runs: list[Backlog], replications: int) -> float:
    """Return the share of points of so many replications that are called saturated."""
    points = [runs[i : i + replications] for i in range(0, len(runs), replications)]
    return float(np.mean([judge(point).saturated for point in points]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("load", [0.8, 0.95, 0.98])
def test_stable_queues_are_not_called_saturated(load: float) -> None:
    runs = backlogs(load, 1000)
    for replications in (1, REPLICATIONS, 20):
        assert share_saturated(runs, replications) <= 0.01, replications


@pytest.mark.exhaustive
@pytest.mark.parametrize("load", [1.02, 1.1])
def test_queues_that_are_offered_too_much_are(load: float) -> None:
    runs = backlogs(load, 400)
    for replications in (REPLICATIONS, 20):
        assert share_saturated(runs, replications) >= 0.95, replications


@cache
def packing(scheme: str, alternation: str, load: float, n_batches: int) -> tuple[Family, Point]:
    policy = choices.policy({"name": scheme, "alternation": alternation}, choices.folders())
    workload = choices.workload("feitelson1996", choices.folders())
    batches = Batches(SIZE, 1, (n_batches,))
    point = Point(policy, workload, choices.machine(128, choices.folders()), load, batches)
    return families.find(policy["family"]), point


@cache
def packed(scheme: str, alternation: str, load: float, seed: int, n_batches: int) -> Backlog | None:
    """Run a point of packing once, in however many sets of replications it is judged."""
    family, point = packing(scheme, alternation, load, n_batches)
    return family.simulate(replace(point, seed=(1, seed))).backlog


def judged(scheme: str, alternation: str, load: float, seeds: range, n_batches: int = BATCHES) -> bool:
    return judge([packed(scheme, alternation, load, seed, n_batches) for seed in seeds]).saturated


BUSY = [("min_max_load", "shared", 0.9), ("first_fit", "exclusive", 0.9), ("buddy", "none", 0.7)]
"""Points that looked saturated in a quarter of their runs of 30 batches, and never in ones of 300."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("scheme", "alternation", "load"), BUSY)
def test_busy_points_of_packing_are_not_called_saturated(scheme: str, alternation: str, load: float) -> None:
    assert not any(judged(scheme, alternation, load, range(first, first + 5)) for first in range(0, 30, 5))
    assert not judged(scheme, alternation, load, range(20))
    assert not judged(scheme, alternation, load, range(5), n_batches=300)


@pytest.mark.exhaustive
def test_a_machine_that_is_offered_more_than_all_of_it_is_saturated() -> None:
    assert all(judged("best_fit", "exclusive", 1.02, range(first, first + 5)) for first in range(0, 20, 5))


def test_nothing_is_saturated_because_of_one_run() -> None:
    calm = Backlog.of(np.full(30, 5.0), np.full(30, 0.5), 0.5)
    grown = Backlog.of(np.linspace(1, 1000, 30), np.full(30, 0.8), 1.0)
    assert grown.suspected
    assert not calm.suspected
    assert not judge([grown, calm, calm, calm, calm]).saturated
    assert judge([grown, calm, calm]).suspected == (True, False, False)
    assert judge([grown] * 3 + [calm] * 2).saturated
    full = replace(calm, suspected=True, overflowed=True)
    assert not judge([full, calm, calm]).saturated
    assert judge([full, full, calm]).saturated
    assert not judge([None] * 5).saturated


def test_a_lack_of_work_is_no_saturation() -> None:
    """By chance less is offered than the load says, and less is delivered, but nothing is left undone."""
    random = np.random.default_rng(1)
    idle = [
        replace(Backlog.of(random.uniform(9, 11, 30), random.uniform(0.84, 0.88, 30), 0.9), suspected=True)
        for _ in range(5)
    ]
    assert all(run.shortfall.mean() > 0.02 for run in idle)
    assert not judge(idle).saturated


def test_without_a_known_load_the_growth_decides() -> None:
    random = np.random.default_rng(2)
    time = np.arange(1, 121)

    def runs(power: float) -> list[Backlog]:
        levels = (10 * time**power * random.lognormal(0, 0.1, 120) for _ in range(5))
        return [replace(Backlog.of(level), suspected=True) for level in levels]

    assert judge(runs(1.0)).saturated
    assert not judge(runs(0.5)).saturated
    assert not judge(runs(0.0)).saturated


def test_a_suspicious_run_goes_on_for_longer() -> None:
    _, point = packing("first_fit", "exclusive", 0.9, BATCHES)
    lengths: list[int] = []

    def simulate(given: Point) -> Outcome:
        lengths.append(given.batches.checkpoints[-1])
        level = np.linspace(1, 100, lengths[-1])
        return Outcome({"slowdown": level}, SIZE, Backlog.of(level, np.full(len(level), 0.85), 0.9))

    found = followed(point, simulate)
    assert lengths == [BATCHES, LONGER * BATCHES]
    assert len(found.metrics["slowdown"]) == BATCHES  # of the run that was asked for
    assert found.backlog is not None
    assert (found.backlog.length, found.jobs) == (LONGER, 2 * SIZE)
    assert statistics.judge([found.backlog] * 5).saturated

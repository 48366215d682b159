"""The compiled simulation of partitioned machines against its twin, by hand, and at any moment."""

from __future__ import annotations

import random
from math import inf
from typing import Any

import numpy as np
import pytest
from models.partitioning.reallocation import Transfer, fold_seconds
from models.partitioning.state import FIRST, LEVEL, N_RUNNING, NONE, OWNER, SECOND
from models.partitioning.walk import placed, splits, walk
from partitioning_cases import MACHINE, POLICIES, WORKLOAD, Case, random_case, random_jobs

from models.partitioning import engine
from models.partitioning.metrics import measure
from models.topology.mesh import Mesh, Rectangle

TIGHT = 1e-9


def assert_agreement(case: Case) -> None:
    kernel, twin = case.kernel(), case.twin()
    assert kernel.run(len(kernel.batches) + 1) == engine.NO_MORE_JOBS
    twin.run()
    responses = [twin.responses[number] for number in range(len(case.jobs))]
    np.testing.assert_allclose(kernel.responses, responses, rtol=TIGHT)
    assert kernel.n_batches == len(twin.batches)
    for ours, theirs in zip(kernel.batches[: kernel.n_batches], twin.batches, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=TIGHT)


@pytest.mark.parametrize("name", POLICIES)
def test_kernel_and_twin_agree(name: str) -> None:
    for seed in range(80):
        assert_agreement(random_case(name, seed))


@pytest.mark.parametrize("name", ["equi", "fold_never", "fold_7", "fold_2j"])
@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (4, 16)])
def test_a_crowd(name: str, rows: int, columns: int) -> None:
    """Up to a job for each processor, and a queue."""
    jobs = random_jobs(random.Random(name), 120, gap=1.0, work=3.0)
    assert_agreement(Case(name, jobs, rows, columns, interval=7.1, overhead=0.3, batch_size=50))


@pytest.mark.parametrize("name", POLICIES)
def test_cutting_the_stream_of_jobs_changes_nothing(name: str) -> None:
    case = random_case(name, 3)
    whole, cut = case.kernel(), case.kernel(chunks=[0, 1, len(case.jobs) // 2])
    for simulation in (whole, cut):
        simulation.run(len(simulation.batches) + 1)
    assert np.array_equal(whole.responses, cut.responses)


def assert_sound(simulation: Any, rows: int, columns: int) -> None:
    """Every cell has one owner, and partitions are rectangles of one cell or two."""
    n_jobs, level = int(simulation.counts[N_RUNNING]), int(simulation.counts[LEVEL])
    order = simulation.order
    axes = splits(rows, columns)[:level]
    cells = walk(axes)
    taken: list[int] = []
    for position in range(n_jobs):
        mine = [int(cell) for cell in order[[FIRST, SECOND], position] if cell != NONE]
        assert all(order[OWNER, cell] == position for cell in mine)
        rectangle = placed(rows, columns, axes, tuple(cells[cell] for cell in mine))
        assert rectangle.n_processors == len(mine) * rows * columns >> level
        taken += mine
    assert sorted(taken) == list(range(1 << level))


@pytest.mark.parametrize("name", ["fold_never", "fold_7", "fold_2j"])
def test_folding_tiles_the_mesh_at_any_moment(name: str) -> None:
    jobs = random_jobs(random.Random(name), 80, gap=2.0, work=4.0)
    simulation = Case(name, jobs, 8, 16).kernel()
    for moment in range(1, 200):
        simulation.run(len(simulation.batches) + 1, until=float(moment))
        if simulation.counts[N_RUNNING]:
            assert_sound(simulation, 8, 16)


@pytest.mark.parametrize("name", POLICIES)
def test_jobs_present_are_those_that_respond(name: str) -> None:
    """Little's law, exactly: a run that begins and ends empty, as one batch."""
    jobs = random_jobs(random.Random(name), 60, gap=8.0, work=9.0)
    interval = inf if name in ("static_4", "fcfs") else 11.3
    simulation = Case(name, jobs, limit=5, interval=interval, batch_size=60).kernel()
    simulation.run(2)
    metrics = measure(simulation.batches[:1])
    assert metrics["jobs_in_system"][0] * simulation.now == pytest.approx(simulation.responses.sum())
    assert metrics["response_time"][0, -1] == pytest.approx(simulation.responses.mean())
    work = np.array([work for *_, work in jobs])
    assert (simulation.responses >= 0.999 * work).all()  # nobody is faster than alone


@pytest.mark.parametrize("name", ["processor_sharing", "fcfs"])
def test_work_is_conserved_without_overhead(name: str) -> None:
    """The machine does a second of work a second as long as there is any: the end is Lindley's."""
    case = random_case(name, 5)
    simulation = case.kernel(limit=1 if name == "fcfs" else 256, interval=inf)
    simulation.run(len(simulation.batches) + 1)
    now = end = 0.0
    for gap, _, work in case.jobs:
        now += gap
        end = max(end, now) + work
    assert simulation.now == pytest.approx(end)


def test_seconds_to_fold_and_unfold() -> None:
    """Section 5.2.1: half of the threads, one a row at a time, at D / X and (D + C) / X."""
    mesh = Mesh.of(MACHINE)
    transfer = Transfer.of(mesh, WORKLOAD)
    for side, rounds in ((16, 8), (4, 32)):
        seconds = fold_seconds(mesh, transfer, Rectangle(0, 0, side, 16))
        assert seconds == pytest.approx((rounds * 0.02097152, rounds * 0.02359296))


def test_an_arrival_stops_the_job_that_folds_and_delays_the_newcomer() -> None:
    """By hand: the first of two jobs has half of the machine from the other's arrival to its end."""
    case = Case("fold_never", ((0.0, 0, 20.0), (10.0, 0, 2.0)))
    simulation = case.kernel()
    simulation.run(3)
    folding, unfolding = 8 * 0.02097152, 8 * 0.02359296
    second = folding + 2.0 / case.system.rate(8, 16)
    first = 10.0 + second + unfolding + (10.0 - 2.0)
    assert simulation.responses == pytest.approx([first, second])


def test_admission_by_hand() -> None:
    """One place in memory, Q = 10 s, O = 1 s: the jobs take turns, and whoever ends is followed at once."""
    case = Case("equi", ((0.0, 0, 15.0), (1.0, 0, 15.0)), limit=1, interval=10.0, overhead=1.0)
    simulation = case.kernel()
    simulation.run(3)
    # The first 0-10, the second 11-20, the first 21-26 with its last 5 s, the second 26-32 with its last 6.
    assert simulation.responses == pytest.approx([26.0, 31.0])

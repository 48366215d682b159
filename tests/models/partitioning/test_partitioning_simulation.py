"""The compiled simulation of partitioned machines against its twin, by hand, and at any moment."""

from __future__ import annotations

import random
from math import inf
from typing import Any

import numpy as np
import pytest
from partitioning_cases import (
    POLICIES,
    SPEEDUPS,
    Case,
    Outcome,
    random_case,
    random_jobs,
    run_out,
)

from models.partitioning.geometry.walk import placed, splits, walk
from models.partitioning.metrics import Sums
from models.partitioning.simulation.state import NONE

TIGHT = 1e-9


def assert_agreement(case: Case, recording: bool = False) -> None:
    twin, found = case.twin(), run_out(case.kernel(recording=recording))
    twin.run()
    numbers = range(len(case.jobs))
    np.testing.assert_allclose(found.responses, [twin.responses[number] for number in numbers], rtol=TIGHT)
    np.testing.assert_allclose(found.ended.start, [twin.starts[number] for number in numbers], rtol=TIGHT)
    ours = np.column_stack(
        [*_sums(found, case.batch_size), *(found.closed[name] for name in found.closed.dtype.names)]
    )
    assert len(ours) == len(twin.batches)
    np.testing.assert_allclose(ours, np.array(twin.batches).reshape(ours.shape), rtol=TIGHT)
    if recording:
        held = found.held
        by_job = np.bincount(held.number, held.processors * (held.end - held.begin), len(case.jobs))
        np.testing.assert_allclose(by_job, [twin.held.get(number, 0.0) for number in numbers], rtol=TIGHT)


def _sums(found: Outcome, size: int) -> list[np.ndarray]:
    """Return number, responses, blow-ups and their squares of each class, batch by batch."""
    order = np.argsort(found.ended.end, kind="stable")[: len(found.closed) * size]
    columns = (found.responses, found.ended.work, found.ended.job_class)
    batch = np.arange(len(order)) // size
    sums = Sums.over(*(values[order] for values in columns), batch, len(found.closed))
    return [values[:, job_class] for job_class in (0, 1) for values in sums]


SOME_OR_MORE = pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 60), marks=pytest.mark.exhaustive)], ids=["some", "more"]
)


@SOME_OR_MORE
@pytest.mark.parametrize("name", POLICIES)
def test_kernel_and_twin_agree(name: str, seeds: range) -> None:
    for seed in seeds:
        assert_agreement(random_case(name, seed))


@SOME_OR_MORE
@pytest.mark.parametrize("speedup", SPEEDUPS)
@pytest.mark.parametrize("name", POLICIES)
def test_kernel_and_twin_agree_on_rigid_jobs(name: str, speedup: str, seeds: range) -> None:
    for seed in seeds:
        assert_agreement(random_case(name, seed, speedup), recording=seed % 2 == 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["equi", "fold_never", "fold_7", "fold_2j"])
@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (4, 16)])
def test_a_crowd(name: str, rows: int, columns: int) -> None:
    """Up to a job for each processor, and a queue."""
    jobs = random_jobs(random.Random(name), 120, gap=1.0, work=3.0)
    assert_agreement(Case(name, jobs, rows, columns, interval=7.1, overhead=0.3, batch_size=50))


def assert_sound(simulation: Any, rows: int, columns: int) -> None:
    """Every cell has one owner, and partitions are rectangles of one cell or two."""
    state, lists = simulation.tables.state[0], simulation.tables.lists
    n_jobs, level = int(state["n_running"]), int(state["level"])
    axes = splits(rows, columns)[:level]
    cells = walk(axes)
    taken: list[int] = []
    for position in range(n_jobs):
        mine = [int(cells[position]) for cells in (lists.first, lists.second) if cells[position] != NONE]
        assert all(lists.owner[cell] == position for cell in mine)
        rectangle = placed(rows, columns, axes, tuple(cells[cell] for cell in mine))
        assert rectangle.n_processors == len(mine) * rows * columns >> level
        taken += mine
    assert sorted(taken) == list(range(1 << level))


@pytest.mark.parametrize("name", ["fold_7", "fold_2j"])
def test_folding_tiles_the_mesh_at_any_moment(name: str) -> None:
    jobs = random_jobs(random.Random(name), 80, gap=2.0, work=4.0)
    simulation = Case(name, jobs, 8, 16).kernel()
    for moment in range(1, 200):
        simulation.run(2**40, until=float(moment))
        if simulation.tables.state["n_running"][0]:
            assert_sound(simulation, 8, 16)


@pytest.mark.parametrize("name", POLICIES)
def test_jobs_present_are_those_that_respond(name: str) -> None:
    """Little's law, exactly: a run that begins and ends empty, as one batch."""
    jobs = random_jobs(random.Random(name), 60, gap=8.0, work=9.0)
    interval = inf if name in ("static_4", "one_at_a_time") else 11.3
    simulation = Case(name, jobs, limit=5, interval=interval, batch_size=60).kernel()
    found = run_out(simulation)
    assert found.closed.job_time[0] == pytest.approx(found.responses.sum())
    assert found.closed.length[0] == simulation.now
    assert (found.responses >= 0.999 * found.ended.work).all()  # no job is faster than alone


@pytest.mark.parametrize("speedup", ["", "linear"])
@pytest.mark.parametrize("name", POLICIES)
def test_the_pieces_are_the_processors_that_jobs_hold(name: str, speedup: str) -> None:
    """Never more than there are, as many as the engine counts, and from start to end of a job."""
    for seed in range(3):
        case = random_case(name, seed, speedup)
        found = run_out(case.kernel(recording=True, batch_size=len(case.jobs)))
        held = found.held
        area = float(held.processors @ (held.end - held.begin))
        assert area == pytest.approx(found.closed.held_time.sum())
        assert (held.end > held.begin).all()
        order = np.argsort(np.concatenate([held.end, held.begin]), kind="stable")  # ends come first
        level = np.cumsum(np.concatenate([-held.processors, held.processors])[order])
        assert level.max() <= case.rows * case.columns + 1e-9
        for number in range(len(case.jobs)):
            mine = np.flatnonzero(held.number == number)
            begin, end = held.begin[mine], held.end[mine]
            assert (begin[1:] >= end[:-1]).all()
            assert (begin[0], end[-1]) == (found.ended.start[number], found.ended.end[number])


@pytest.mark.parametrize("name", ["processor_sharing", "one_at_a_time"])
def test_work_is_conserved_without_overhead(name: str) -> None:
    """The machine does a second of work a second as long as there is any: the end is Lindley's."""
    case = random_case(name, 5)
    simulation = case.kernel(limit=1 if name == "one_at_a_time" else 256, interval=inf)
    run_out(simulation)
    now = end = 0.0
    for gap, _, work, _ in case.jobs:
        now += gap
        end = max(end, now) + work
    assert simulation.now == pytest.approx(end)


def test_an_arrival_stops_the_job_that_folds_and_delays_the_newcomer() -> None:
    """By hand: the first of two jobs has half of the machine from the other's arrival to its end."""
    case = Case("fold_never", ((0.0, 0, 20.0, 1), (10.0, 0, 2.0, 1)))
    found = run_out(case.kernel())
    folding, unfolding = 8 * 0.02, 8 * 0.0225
    second = folding + 2.0 / case.system.rate(8, 16)
    first = 10.0 + second + unfolding + (10.0 - 2.0)
    assert found.responses == pytest.approx([first, second])


def test_admission_by_hand() -> None:
    """One place in memory, Q = 10 s, O = 1 s: the jobs take turns, and one follows the end of another."""
    case = Case("equi", ((0.0, 0, 15.0, 1), (1.0, 0, 15.0, 1)), limit=1, interval=10.0, overhead=1.0)
    found = run_out(case.kernel())
    # The first 0-10, the second 11-20, the first 21-26 with its last 5 s, the second 26-32 with its last 6.
    assert found.responses == pytest.approx([26.0, 31.0])
    assert found.ended.start == pytest.approx([0.0, 10.0])


@pytest.mark.parametrize("name", ["equi", "equi_plus", "fold_never", "fold_7", "one_at_a_time"])
def test_a_rigid_job_alone_takes_its_runtime_and_two_share(name: str) -> None:
    """Linear to p: exactly t on p processors or more; on fewer, p t of work at one a processor."""
    alone = run_out(Case(name, ((3.0, 0, 7.1, 5),), speedup="linear").kernel())
    assert alone.ended.end[0] == 3.0 + 7.1
    small = Case(name, ((0.0, 0, 10.0, 128), (0.0, 0, 10.0, 128)), speedup="linear", charged=False)
    large = Case(name, ((0.0, 0, 10.0, 256), (0.0, 0, 10.0, 256)), speedup="linear", charged=False)
    if name == "one_at_a_time":
        assert run_out(small.kernel()).ended.end.tolist() == [10.0, 20.0]
        return
    assert run_out(small.kernel()).ended.end == pytest.approx([10.0, 10.0])
    assert run_out(large.kernel()).ended.end == pytest.approx([20.0, 20.0])

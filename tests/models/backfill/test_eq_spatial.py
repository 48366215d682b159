"""Spatial equipartitioning (Chiang and Vernon 2001, section 2.5) against its twin, and laws that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import eq_spatial_twin as twin
import numpy as np
import pytest
from eq_spatial_cases import RULES, Host, Row, by_twin, cases, make_jobs, run
from hypothesis import given, settings

from models.backfill.eq_spatial.kernel import simulate
from models.backfill.eq_spatial.rules import EqSpatial
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, pool
from models.jobs.schedule import Schedule

steady = settings(derandomize=True, deadline=None)
each_rule = pytest.mark.parametrize("name", RULES)

Case = tuple[list[Row], list[Host]]


def check_equal(made: Schedule, expected: Sequence[twin.Job], exactly: bool) -> None:
    def same(name: str, got: Any, wanted: Any) -> None:
        wanted = np.array([float(value) for value in wanted])
        if exactly:
            np.testing.assert_array_equal(got, wanted, err_msg=name)
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9, err_msg=name)

    for name in ("end", "start", "host"):
        same(name, getattr(made, name), [getattr(job, name) for job in expected])
    same("began", made.began, [job.end if job.placed is None else job.placed for job in expected])
    waits = [job.end - job.submit - job.runtime for job in expected]
    np.testing.assert_allclose(made.delay, np.array(waits, float), rtol=1e-9, atol=1e-8)
    for job in expected:
        its = made.runs.job == job.number
        for column, name in enumerate(("host", "begin", "end", "processors")):
            same(name, getattr(made.runs, name)[its], [piece[column] for piece in job.pieces])


@each_rule
@given(case=cases())
@settings(steady, max_examples=60)
def test_kernel_is_its_twin(name: str, case: Case) -> None:
    """In floats, bit for bit, with many events at one instant."""
    check_equal(run(*case, **RULES[name]), by_twin(*case, **RULES[name]), exactly=True)


@each_rule
@given(case=cases(exact=True))
@settings(steady, max_examples=25)
def test_kernel_is_its_twin_in_fractions(name: str, case: Case) -> None:
    """Against exact arithmetic, to a billionth."""
    check_equal(run(*case, **RULES[name]), by_twin(*case, **RULES[name]), exactly=False)


@each_rule
@given(case=cases())
@settings(steady, max_examples=30)
def test_nothing_is_used_twice(name: str, case: Case) -> None:
    """Processors, memory, requests; and each job gets its work, besides that of a lost quantum."""
    rows, hosts = case
    keys = RULES[name]
    made = run(rows, hosts, **keys)
    jobs, runs, began = make_jobs(rows), made.runs, made.began
    assert began is not None
    assert (made.start >= jobs.submit).all()
    assert (made.delay >= 0).all()
    assert (runs.processors >= 1).all()
    assert (runs.processors <= jobs.size[runs.job]).all()
    quantum_memory = int(keys.get("quantum_memory_gb", 1)) * KB_IN_GB
    in_quantum = runs.begin < began[runs.job]
    memory = np.where(in_quantum, np.minimum(jobs.memory[runs.job], quantum_memory), jobs.memory[runs.job])
    for h in range(len(hosts)):
        here = runs.host == h
        for instant in np.unique(runs.begin[here]):
            now = here & (runs.begin <= instant) & (instant < runs.end)
            assert runs.processors[now].sum() <= made.machine.processors[h]
            assert memory[now].sum() <= made.machine.memory[h]
    lost = in_quantum & (began[runs.job] < made.end[runs.job])
    lost &= (jobs.used[runs.job] > quantum_memory) | (not keys.get("keep_quantum", False))
    area = (runs.end - runs.begin) * runs.processors
    done = np.bincount(runs.job, np.where(lost, 0, area), len(rows))
    np.testing.assert_allclose(done, jobs.size * jobs.runtime, rtol=1e-9)


@given(case=cases())
@settings(steady, max_examples=50)
def test_no_processor_is_idle_that_somebody_asks_for(case: Case) -> None:
    """EQspatial-0m: a host's jobs have all of its processors, or all that they ask for."""
    made = run(*case)
    runs = made.runs
    for h, processors in enumerate(made.machine.processors):
        here = runs.host == h
        for instant in np.unique(runs.begin[here]):
            now = here & (runs.begin <= instant) & (instant < runs.end)
            asked = made.jobs.size[runs.job[now]].sum()
            assert runs.processors[now].sum() == min(processors, asked)


@each_rule
@given(case=cases())
@settings(steady, max_examples=20)
def test_twice_the_time_is_twice_the_wait(name: str, case: Case) -> None:
    rows, hosts = case
    times = ("min_interval", "long_after", "quantum")
    keys = {"quantum": 60} | RULES[name]
    slow = {key: 2 * value if key in times and value else value for key, value in keys.items()}
    twice = [(2 * row[0], 2 * row[1], *row[2:]) for row in rows]
    np.testing.assert_array_equal(run(twice, hosts, **slow).delay, 2 * run(rows, hosts, **keys).delay)


@given(case=cases(exact=True))
@settings(steady, max_examples=40)
def test_without_limits_it_is_plain_equipartition(case: Case) -> None:
    """One host for everybody, no memory: at each moment processors are dealt out in turns."""
    rows = [(submit, runtime, size, 0, 0) for submit, runtime, size, _, _ in case[0]]
    processors = 32
    ordered = sorted(rows)
    left = {number: row[1] * row[2] for number, row in enumerate(ordered)}
    now, ends = ordered[0][0], {}
    while left:
        present = [number for number in left if ordered[number][0] <= now]
        q = dict.fromkeys(present, 0)
        for _ in range(processors):
            wanting = [number for number in present if q[number] < ordered[number][2]]
            if wanting:
                q[min(wanting, key=lambda number: (q[number], number))] += 1
        to_come = [ordered[number][0] for number in left if ordered[number][0] > now]
        then = min([now + left[number] / q[number] for number in present] + to_come)
        for number in present:
            left[number] -= q[number] * (then - now)
            if left[number] == 0:
                ends[number] = then
                del left[number]
        now = then
    made = simulate(make_jobs(rows), pool(processors), EqSpatial())
    np.testing.assert_allclose(made.end, [float(ends[number]) for number in range(len(rows))], rtol=1e-9)


def test_processor_sharing_does_not_know_the_distribution_of_runtimes() -> None:
    """M/G/1 with processor sharing: the mean slowdown is 1 / (1 - load), here of very uneven runtimes."""
    rng = np.random.default_rng(1)
    n, load, processors = 20_000, 0.5, 100
    runtime = np.where(rng.random(n) < 0.9, 0.5, 5.5) * rng.standard_exponential(n)
    submit = np.cumsum(rng.standard_exponential(n) / load)
    size, memory = np.full(n, processors), np.zeros(n, np.int64)
    made = simulate(Jobs(submit, runtime, runtime, size, memory), pool(processors), EqSpatial())
    slowdown = (1 + made.delay / runtime).reshape(20, -1).mean(axis=1)
    assert abs(slowdown.mean() - 1 / (1 - load)) < 4 * slowdown.std(ddof=1) / np.sqrt(20)
    assert slowdown.std() < 0.5


def test_any_number_of_pieces_is_kept() -> None:
    """Some of twenty long jobs change their processors at every start and end of many short ones."""
    rows = [(0, 10_000, 10, 0, 0) for _ in range(20)] + [(10 * i, 3, 10, 0, 0) for i in range(1, 1001)]
    made = run(rows, [(100, 64)])
    assert len(made.runs.job) > 8 * 1000
    area = (made.runs.end - made.runs.begin) * made.runs.processors
    np.testing.assert_allclose(np.bincount(made.runs.job, area), make_jobs(rows).runtime * 10, rtol=1e-9)


def test_jobs_larger_than_a_host_and_memory_that_is_scarce() -> None:
    """Everybody's turn comes, and a job may run on a host with fewer processors than it asks for."""
    rows = [(600 * i, 3000 + 7 * i, 1 + i % 96, 512 * (1 + i % 30), 256) for i in range(300)]
    made = run(rows, [(128, 32 << 10), (64, 16 << 10)], min_interval=300)
    assert np.isfinite(made.end).all()
    assert (made.full_start > made.jobs.submit).any()
    assert (made.jobs.size[made.host == 1] > 64).any()

"""The kernel against its slow and obvious twin."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from gang_cases import EIGHT, POLICIES, WORKLOAD, Case, cases, run_slots
from gang_twin import Session, Twin
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from models.gang import engine, simulate
from models.gang.simulation import Simulation
from models.gang.state import METRICS
from models.point import Batches
from models.workloads import feitelson1996
from models.workloads.repetition import SessionStream

TIGHT = 1e-9


def assert_same_moment(kernel: Simulation, twin: Twin) -> None:
    assert kernel.occupancy().tolist() == twin.occupancy()
    assert run_slots(kernel) == {job.number: k for job, k in twin.run_slots().items()}


def assert_same_results(kernel: Simulation, twin: Twin) -> None:
    assert kernel.n_terminated == len(twin.responses)
    responses = [float(twin.responses[number]) for number in range(len(twin.responses))]
    np.testing.assert_allclose(kernel.responses, responses, rtol=TIGHT)
    assert kernel.n_batches == len(twin.batches)
    for metrics, batch in zip(kernel.batches[: kernel.n_batches], twin.batches, strict=True):
        told = dict(zip(METRICS, metrics, strict=True))
        assert told == pytest.approx({name: float(value) for name, value in batch.items()}, rel=TIGHT)
    assert np.isnan(kernel.batches[kernel.n_batches :]).all()


def assert_agreement(case: Case, moments: list[float]) -> None:
    end = case.finished().now
    kernel, twin = case.kernel(), case.twin()
    for moment in sorted(moments):
        kernel.run(len(kernel.batches) + 1, until=moment * end)
        twin.run(until=moment * end)
        assert_same_moment(kernel, twin)
    kernel.run(len(kernel.batches) + 1)
    twin.run()
    assert_same_moment(kernel, twin)
    assert_same_results(kernel, twin)


@pytest.mark.parametrize("name", EIGHT)
def test_kernel_and_twin_agree(name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=250)
    @given(cases(name), st.lists(st.floats(0, 0.99), max_size=4))
    def agree(case: Case, moments: list[float]) -> None:
        assert_agreement(case, moments)

    agree()


@pytest.mark.parametrize("alternation", ["shared", "exclusive"])
@pytest.mark.parametrize("name", EIGHT)
def test_a_crowd(name: str, alternation: str) -> None:
    """More jobs in the system than a word has bits."""
    times = random.Random(3)
    sessions = tuple(
        Session(times.random() / 100, times.choice([1, 1, 2, 3, 5, 8]), times.expovariate(1) + 1, 1, key)
        for key in range(75)
    )
    case = Case(name, 32, sessions, POLICIES[name], alternation, "largest")
    kernel, twin = case.kernel(), case.twin()
    kernel.run(1, until=1)
    twin.run(until=1)
    assert len(twin.jobs) == 75
    assert_same_moment(kernel, twin)
    kernel.run(1)
    twin.run()
    assert_same_results(kernel, twin)


def is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


@st.composite
def tied(draw: st.DrawFn, name: str) -> Case:
    """Draw a case in which many events coincide: all gaps and runtimes are small multiples of 1/2."""
    case = draw(cases(name, max_sessions=7))
    half = Fraction(1, 2)
    sessions = tuple(
        session._replace(gap=half * draw(st.integers(0, 3)), runtime=half * draw(st.integers(1, 4)))
        for session in case.sessions
    )
    return replace(case, sessions=sessions, batch_size=case.n_jobs)


@pytest.mark.parametrize("name", EIGHT)
def test_events_at_the_same_instant(name: str) -> None:
    """Ties: an end before an arrival, of two ends the job submitted first; a repetition at once.

    The twin computes in fractions. Where all run fractions are powers of two the kernel's floats are exact
    too, so that both see the same ties; elsewhere rounding may break a tie, and nothing is compared.
    """

    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(tied(name))
    def agree(case: Case) -> None:
        twin = case.twin()
        twin.run()
        assume(all(is_power_of_two(k) and is_power_of_two(used) for k, used in twin.run_fractions))
        kernel = case.finished()
        assert_same_results(kernel, twin)
        assert kernel.responses.tolist() == [twin.responses[number] for number in range(case.n_jobs)]

    agree()


def rows_of(stream: SessionStream) -> Iterator[Session]:
    """Yield a stream's sessions one by one."""
    for chunk in stream.chunks:
        columns = (chunk[name].tolist() for name in Session._fields)
        yield from (Session(*row) for row in zip(*columns, strict=True))


@pytest.mark.parametrize("repetition", ["feedback", "sequence"])
@pytest.mark.parametrize("rerun_runtime", ["same", "redrawn"])
@pytest.mark.parametrize("name", ["best_fit", "buddy", "migration"])
def test_the_papers_workload(name: str, rerun_runtime: str, repetition: str) -> None:
    """The whole way from plain data to metrics, with repetitions whose runtime is drawn anew."""
    workload = WORKLOAD | {"rerun_runtime": rerun_runtime, "repetition": repetition}
    policy = POLICIES[name]
    outcome = simulate(policy, workload, {"n_pes": 32}, 0.8, Batches(size=40, warmup=1, looks=(2, 4)), (1, 2))
    stream = feitelson1996.open_stream(workload, 32, 0.8, 200, (1, 2))
    twin = Twin(
        policy["scheme"],
        policy,
        32,
        rows_of(stream),
        batch_size=40,
        rerun=lambda *run: stream.rerun(*run, stream.rerun_parameters),
    )
    twin.run(n_batches=5)
    assert outcome.jobs == 200
    for metric, measured in outcome.metrics.items():
        np.testing.assert_allclose(measured, [batch[metric] for batch in twin.batches[1:]], rtol=TIGHT)


@pytest.mark.parametrize("name", EIGHT)
def test_without_draining_the_run_ends_with_the_last_arrival(name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=30)
    @given(cases(name))
    def agree(case: Case) -> None:
        kernel, twin = case.finished(draining=False), case.twin()
        twin.run(until=kernel.now)
        assert twin.coming is None
        assert_same_moment(kernel, twin)

    agree()


@pytest.mark.parametrize("name", EIGHT)
def test_a_full_table_ends_the_run(name: str) -> None:
    """It stands still before the job for which there is no place."""

    @settings(derandomize=True, deadline=None, max_examples=30)
    @given(cases(name), st.integers(1, 6))
    def agree(case: Case, job_limit: int) -> None:
        kernel, twin = case.kernel(job_limit=job_limit), case.twin()
        status = kernel.run(len(kernel.batches) + 1)
        before = twin.occupancy()
        while twin.step() and len(twin.jobs) <= job_limit:
            before = twin.occupancy()
        assert (status == engine.TABLE_FULL) == (len(twin.jobs) > job_limit)
        assert kernel.occupancy().tolist() == before

    agree()

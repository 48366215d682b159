"""The kernel against its slow and obvious twin."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from gang_cases import EIGHT, POLICIES, WORKLOAD, Case, Observed, cases, is_power_of_two, run_slots, schemes
from gang_twin import Session, Twin
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from models import dotted
from models.gang import FAMILY, engine, model
from models.jobs.stream import Stream
from models.point import Batches, Point
from models.workloads import open_workload
from models.workloads.repetition import same_runtime

TIGHT = 1e-9
ALMOST_NOTHING = 1e-12


def assert_same_moment(kernel: Observed, twin: Twin) -> None:
    assert kernel.occupancy().tolist() == twin.occupancy()
    assert run_slots(kernel) == {job.number: k for job, k in twin.run_slots().items()}


def assert_same_results(kernel: Observed, twin: Twin) -> None:
    assert kernel.n_terminated == len(twin.responses)
    jobs = [job for batch in twin.batch_jobs for job in batch]
    responses = np.full(kernel.n_submitted, np.nan)
    responses[jobs] = [float(twin.responses[number]) for number in jobs]
    np.testing.assert_allclose(kernel.responses, responses, rtol=TIGHT)
    assert kernel.n_batches == len(twin.batches)
    metrics = kernel.metrics()
    names = list(twin.batches[0]) if twin.batches else []
    expected = [[float(batch[name]) for batch in twin.batches] for name in names]
    np.testing.assert_allclose(
        [metrics[name] for name in names], expected, rtol=TIGHT, atol=ALMOST_NOTHING, err_msg=", ".join(names)
    )
    assert all(np.isnan(values[kernel.n_batches :]).all() for values in kernel.batches)


def assert_agreement(case: Case, moments: list[float]) -> None:
    end = case.finished().now
    kernel, twin = case.kernel(), case.twin()
    for moment in sorted(moments):
        kernel.run_on(until=moment * end)
        twin.run(until=moment * end)
        assert_same_moment(kernel, twin)
    kernel.run_on()
    twin.run()
    assert_same_moment(kernel, twin)
    assert_same_results(kernel, twin)


@pytest.mark.parametrize("name", schemes())
def test_kernel_and_twin_agree(name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=80)
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
    kernel.run_on(until=1)
    twin.run(until=1)
    assert len(twin.jobs) == 75
    assert_same_moment(kernel, twin)
    kernel.run_on()
    twin.run()
    assert_same_results(kernel, twin)


@st.composite
def tied(draw: st.DrawFn, name: str) -> Case:
    """Draw a case in which many events coincide: all gaps and runtimes are small multiples of 1/2."""
    case = draw(cases(name, max_sessions=7))
    half = Fraction(1, 2)
    sessions = tuple(
        session._replace(gap=half * draw(st.integers(0, 3)), runtime=half * draw(st.integers(1, 4)))
        for session in case.sessions
    )
    ties = draw(st.sampled_from(["instant", "event"]))
    return replace(case, sessions=sessions, batch_size=case.n_jobs, ties=ties)


@pytest.mark.parametrize("name", schemes("buddy"))
def test_events_at_the_same_instant(name: str) -> None:
    """Ties: an end before an arrival or after it, of two ends the job submitted first; a repetition at once.

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


@pytest.mark.parametrize(("ties", "responses"), [("instant", [2, 10, 4]), ("event", [2, 14, 8])])
def test_a_newcomer_finds_the_pes_of_a_job_that_ends_free_or_taken(ties: str, responses: list[int]) -> None:
    """Two PEs, a job on each; at 2 the one ends and a third arrives. After it, it needs a slot of its own.

    It and the second job then have half of the time each, until one ends at 10.
    """
    sessions = (Session(0, 1, 2), Session(0, 1, 10), Session(2, 1, 4))
    case = Case("first_fit", 2, sessions, alternation="none", unification=False, ties=ties, batch_size=3)
    assert case.finished().responses.tolist() == responses


def rows_of(stream: Stream) -> Iterator[Session]:
    """Yield a stream's sessions one by one."""
    last = 0.0
    for chunk in stream.chunks():
        once, no_key = np.ones(len(chunk), np.int64), np.zeros(len(chunk), np.int64)
        runs = once if chunk.runs is None else chunk.runs
        keys = no_key if chunk.key is None else chunk.key
        columns = (chunk.submit, chunk.size, chunk.runtime, runs, keys)
        for submit, *row in zip(*(column.tolist() for column in columns), strict=True):
            yield Session(submit - last, *row)
            last = submit


@pytest.mark.parametrize("repetition", ["feedback", "sequence"])
@pytest.mark.parametrize("rerun_runtime", ["same", "redrawn"])
@pytest.mark.parametrize("name", ["best_fit", "buddy", "migration"])
def test_the_papers_workload(name: str, rerun_runtime: str, repetition: str) -> None:
    """The whole way from plain data to metrics, with repetitions whose runtime is drawn anew."""
    workload = WORKLOAD | {"rerun_runtime": rerun_runtime, "repetition": repetition}
    policy = POLICIES[name]
    batches = Batches(size=40, warmup=1, checkpoints=(2, 4))
    point = Point(policy, workload, {"name": "pe32", "processors": 32}, 0.8, batches, (1, 2))
    outcome = model.simulate(point)  # the run itself, suspicious or not
    stream = open_workload(point)
    assert isinstance(stream, Stream)
    rerun = same_runtime if stream.rerun is None else dotted.imported(stream.rerun)
    twin = Twin(
        policy["scheme"],
        policy,
        32,
        rows_of(stream),
        batch_size=40,
        rerun=lambda *run: rerun(*run, stream.rerun_parameters),
    )
    twin.run(n_batches=5)
    assert outcome.jobs == 200
    for metric in twin.batches[0]:
        by_twin = [batch[metric] for batch in twin.batches[1:]]
        np.testing.assert_allclose(outcome.metrics[metric], by_twin, rtol=TIGHT)
    assert set(outcome.metrics) == {metric.name for metric in FAMILY.measured({})}


@pytest.mark.parametrize("name", schemes("first_fit"))
def test_a_full_table_ends_the_run(name: str) -> None:
    """It stands still before the job for which there is no place."""

    @settings(derandomize=True, deadline=None, max_examples=30)
    @given(cases(name), st.integers(1, 6))
    def agree(case: Case, job_limit: int) -> None:
        kernel, twin = case.kernel(job_limit=job_limit), case.twin()
        status = kernel.run_on()
        before = twin.occupancy()
        while twin.step() and len(twin.jobs) <= job_limit:
            before = twin.occupancy()
        assert (status == engine.TABLE_FULL) == (len(twin.jobs) > job_limit)
        assert kernel.occupancy().tolist() == before

    agree()


@pytest.mark.parametrize("name", schemes("best_fit"))
def test_only_some_jobs_are_measured(name: str) -> None:
    """As of a month with days before it: the others fill the machine, which has an end of its own."""

    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(cases(name), st.data())
    def agree(case: Case, data: st.DataObject) -> None:
        first = data.draw(st.integers(0, len(case.sessions)))
        end = data.draw(st.integers(first, len(case.sessions)))
        until = case.finished().now * data.draw(st.sampled_from([0.5, 0.8, 1.0, 2.0]))
        some = replace(case, measured=range(first, end), measured_until=until)
        kernel, twin = some.kernel(), some.twin()
        kernel.run_on()
        twin.run()
        assert_same_results(kernel, twin)

    agree()

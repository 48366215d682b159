"""The kernel against its slow and obvious twin, without bounds and with them."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from family_cases import for_all
from gang_cases import (
    BOOLEANS,
    POLICIES,
    SEEDS,
    WORKLOAD,
    Case,
    Observed,
    cases,
    is_power_of_two,
    run_slots,
    schemes,
)
from gang_twin import Session, Twin
from hypothesis import assume
from hypothesis import strategies as st

from models import dotted
from models.gang import FAMILY, model
from models.jobs.stream import Stream
from models.point import Batches, Point
from models.workloads import open_workload
from models.workloads.repetition import same_runtime

TIGHT = 1e-9
TINY = 1e-12
MEMORY = 100

REQUESTS = st.sampled_from(["exact", "more", "any"])
MEMORIES = st.sampled_from([0, 1, 30, 50, 51, 100])
SLICES = st.sampled_from([None, 1.0])
SLOTS = {
    remembers: st.sampled_from([1, 2, 3, 5, *([None] if remembers else [])]) for remembers in (False, True)
}
QUEUES = st.sampled_from(["fcfs", "backfill", "backfill"])
SWITCH_COSTS = st.sampled_from([0.0, 0.1, 0.4])
MOMENTS = st.lists(st.floats(0, 0.99), max_size=4)


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
        [metrics[name] for name in names], expected, rtol=TIGHT, atol=TINY, err_msg=", ".join(names)
    )
    assert all(np.isnan(values[kernel.n_batches :]).all() for values in kernel.batches)


def assert_agreement(case: Case, moments: list[float]) -> Twin:
    end = case.finished().now
    kernel, twin = case.kernel(), case.twin()
    for moment in [*sorted(moments), np.inf]:
        kernel.run_on(until=moment * end)
        twin.run(until=moment * end)
        assert kernel.occupancy().tolist() == twin.occupancy()
        assert run_slots(kernel) == twin.run_slots()
        waiting = kernel.system.table.jobs["number"][kernel.waiting_places]
        assert waiting.tolist() == [job.name for job in twin.queue]
    assert_same_results(kernel, twin)
    return twin


@pytest.mark.parametrize("name", schemes())
def test_kernel_and_twin_agree(name: str) -> None:
    def agree(case: Case, moments: list[float]) -> None:
        assert_agreement(case, moments)

    for_all(80, agree, case=cases(name), moments=MOMENTS)


@st.composite
def bounded(draw: st.DrawFn, name: str, max_sessions: int = 16) -> Case:
    """Draw a case with some of the bounds, in which jobs often have to wait."""
    case = draw(cases(name, max_sessions=max_sessions))
    times = random.Random(draw(SEEDS))
    requests = draw(REQUESTS)
    remembers = draw(BOOLEANS)
    sessions = []
    for session in case.sessions:
        factor = {"exact": 1.0, "more": times.uniform(1, 4), "any": times.uniform(0.3, 4)}[requests]
        memory = draw(MEMORIES) if remembers else 0
        gap = 0.3 * session.gap  # more of them at a time
        requested = session.runtime * factor
        sessions.append(session._replace(gap=gap, requested=requested, memory=memory))
    slice_s = draw(SLICES)
    return replace(
        case,
        sessions=tuple(sessions),
        batch_size=case.n_jobs,
        slots_limit=draw(SLOTS[remembers]),
        queue=draw(QUEUES),
        memory=MEMORY if remembers else None,
        slice=slice_s,
        switch_cost=0.0 if slice_s is None else draw(SWITCH_COSTS),
        kill=requests == "any" and draw(BOOLEANS),
    )


@pytest.mark.parametrize("name", schemes("best_fit", "migration"))
def test_they_agree_with_bounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limited slots, a queue, memory and switches; the table grows with the jobs, waiting ones included."""
    seen: Counter[str] = Counter()
    monkeypatch.setattr("models.gang.simulation.FIRST_PLACES", 2)

    def agree(case: Case, moments: list[float]) -> None:
        seen.update({key: 1 for key, count in assert_agreement(case, moments).seen.items() if count})

    for_all(250, agree, case=bounded(name), moments=MOMENTS)
    assert min(seen["passed"], seen["lacked"]) > 0, seen


@st.composite
def tied(draw: st.DrawFn, name: str) -> Case:
    """Draw a case in which many events coincide, requests and runtimes being small multiples of 1/2."""
    limited = draw(BOOLEANS)
    case = draw((bounded if limited else cases)(name, max_sessions=8))
    half = Fraction(1, 2)
    sessions = tuple(
        session._replace(
            gap=half * draw(st.integers(0, 3)),
            runtime=half * draw(st.integers(1, 4)),
            requested=half * draw(st.integers(1, 6)),
        )
        for session in case.sessions
    )
    switch = {"slice": 1.0, "switch_cost": draw(st.sampled_from([0.0, 0.5]))} if limited else {}
    ties = draw(st.sampled_from(["instant", "event"]))
    return replace(case, sessions=sessions, batch_size=case.n_jobs, ties=ties, **switch)


@pytest.mark.parametrize("name", schemes("buddy"))
def test_events_at_the_same_instant(name: str) -> None:
    """Ties: an end before an arrival or after it, of two ends the job submitted first, a repetition at once.

    The queue is processed after all events of an instant, or after each. The twin computes in fractions;
    where all run fractions are powers of two the kernel's floats are exact, and both have the same ties.
    """
    n_compared = 0

    def agree(case: Case) -> None:
        nonlocal n_compared
        twin = case.twin()
        twin.run()
        assume(all(is_power_of_two(k) and is_power_of_two(used) for k, used in twin.run_fractions))
        kernel = case.finished()
        assert_same_results(kernel, twin)
        start, end = kernel.times()
        assert start.tolist() == [twin.starts[n] for n in range(case.n_jobs)]
        assert end.tolist() == [twin.ends[n] for n in range(case.n_jobs)]
        n_compared += 1

    for_all(100, agree, case=tied(name))
    assert n_compared >= 30


@pytest.mark.parametrize("name", schemes("min_max_load"))
def test_pieces_are_those_of_the_twin(name: str) -> None:
    def agree(case: Case) -> None:
        kernel, twin = case.finished(recording=True), case.twin()
        twin.run()
        pieces = kernel.recorder.pieces(case.n_jobs)
        for number in range(case.n_jobs):
            mine = pieces.job == number
            recorded = np.array([pieces.begin[mine], pieces.end[mine], pieces.processors[mine]]).T
            expected = np.array([piece for piece in twin.pieces[number] if piece[1] - piece[0] > TINY])
            # An event that rounding puts a digit later in one of the two makes a piece of no length.
            recorded = recorded[recorded[:, 1] - recorded[:, 0] > TINY]
            np.testing.assert_allclose(merged(recorded), merged(expected), rtol=TIGHT, atol=TINY)

    for_all(40, agree, case=cases(name))


def merged(pieces: np.ndarray) -> np.ndarray:
    """Join pieces of equal processors that follow each other, up to rounding."""
    kept: list[np.ndarray] = []
    for piece in pieces:
        if kept and np.isclose(kept[-1][2], piece[2], rtol=TINY) and np.isclose(kept[-1][1], piece[0]):
            kept[-1][1] = piece[1]
        else:
            kept.append(piece.copy())
    return np.array(kept)


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
    """The whole way from plain data to metrics, with repetitions with a new runtime each."""
    workload = WORKLOAD | {"rerun_runtime": rerun_runtime, "repetition": repetition}
    policy = POLICIES[name]
    batches = Batches(size=40, warmup=1, checkpoints=(2, 4))
    point = Point(policy, workload, {"name": "pe32", "processors": 32}, 0.8, batches, (1, 2))
    outcome = model.simulate(point)  # the run itself, suspicious or not
    stream = open_workload(point)
    rerun = same_runtime if stream.rerun is None else dotted.imported(stream.rerun)
    case = Case(policy["scheme"], 32, rows_of(stream), policy, batch_size=40)
    twin = Twin(case, rerun=lambda *run: rerun(*run, stream.rerun_parameters))
    twin.run(n_batches=5)
    assert outcome.jobs == 200
    for metric in twin.batches[0]:
        by_twin = [batch[metric] for batch in twin.batches[1:]]
        np.testing.assert_allclose(outcome.metrics[metric], by_twin, rtol=TIGHT)
    assert set(outcome.metrics) == {metric.name for metric in FAMILY.measured({})}


@pytest.mark.parametrize("name", schemes("best_fit"))
def test_only_some_jobs_are_measured(name: str) -> None:
    """As of a month with days before it: the others fill the machine, which has an end of its own."""

    def agree(case: Case, data: st.DataObject) -> None:
        first = data.draw(st.integers(0, len(case.sessions)))
        end = data.draw(st.integers(first, len(case.sessions)))
        until = case.finished().now * data.draw(st.sampled_from([0.5, 0.8, 1.0, 2.0]))
        some = replace(case, measured=range(first, end), measured_until=until)
        kernel, twin = some.kernel(), some.twin()
        kernel.run_on()
        twin.run()
        assert_same_results(kernel, twin)

    for_all(60, agree, case=cases(name), data=st.data())

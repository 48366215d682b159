"""Slots that are limited, a queue, memory and switches: the kernel against a plain twin, job by job."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from bounded_twin import BoundedTwin
from gang_cases import BOOLEANS, SEEDS, Case, Observed, cases, is_power_of_two, run_slots, schemes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

TIGHT = 1e-9
MEMORY = 100


REQUESTS = st.sampled_from(["exact", "more", "any"])
MEMORIES = st.sampled_from([0, 1, 30, 50, 51, 100])
SLICES = st.sampled_from([None, 1.0])
SLOTS = {
    remembers: st.sampled_from([1, 2, 3, 5, *([None] if remembers else [])]) for remembers in (False, True)
}
QUEUES = st.sampled_from(["fcfs", "backfill", "backfill"])
SWITCH_COSTS = st.sampled_from([0.0, 0.1, 0.4])


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


def assert_agreement(case: Case, moments: list[float]) -> BoundedTwin:
    whole = case.finished()
    kernel, twin = case.kernel(), case.bounded_twin()
    for moment in sorted(moments):
        kernel.run_on(until=moment * whole.now)
        twin.run(until=moment * whole.now)
        assert kernel.occupancy().tolist() == twin.occupancy()
        assert run_slots(kernel) == twin.run_slots()
        waiting = kernel.system.table.jobs["number"][kernel.waiting_places]
        assert waiting.tolist() == [job.name for job in twin.queue]
    kernel.run_on()
    twin.run()
    assert_same(kernel, twin, case)
    return twin


def assert_same(kernel: Observed, twin: BoundedTwin, case: Case) -> None:
    start, end = kernel.times()
    numbers = range(case.n_jobs)
    np.testing.assert_allclose(start, [float(twin.starts[n]) for n in numbers], rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(end, [float(twin.ends[n]) for n in numbers], rtol=TIGHT, atol=TIGHT)
    metrics = kernel.metrics()
    expected = {
        "wait": sum(twin.waits.values()) / case.n_jobs,
        "utilization": twin.work / (case.n_pes * twin.now),
        "used_slots": twin.slot_seconds / twin.now,
        "jobs_in_system": twin.system_seconds / twin.now,
        "slots_per_job": twin.job_slot_seconds / twin.matrix_seconds,
        "slots_per_job_over_jobs": sum(twin.slot_averages.values()) / case.n_jobs,
    }
    np.testing.assert_allclose(
        [metrics[metric] for metric in expected],
        [[float(value)] for value in expected.values()],
        rtol=TIGHT, atol=TIGHT, err_msg=", ".join(expected),
    )  # fmt: skip


@pytest.mark.parametrize("name", schemes("best_fit", "migration"))
def test_kernel_and_twin_agree(name: str) -> None:
    seen: Counter[str] = Counter()

    @settings(derandomize=True, deadline=None, max_examples=250)
    @given(bounded(name), st.lists(st.floats(0, 0.99), max_size=4))
    def agree(case: Case, moments: list[float]) -> None:
        twin = assert_agreement(case, moments)
        seen["waited"] += max(twin.waits.values()) > 0
        seen["passed"] += twin.passed > 0
        seen["refused a slot"] += twin.moved_on > 0
        seen["stayed"] += twin.stayed > 0
        seen["lacked memory"] += twin.lacked > 0

    agree()
    assert min(seen["waited"], seen["passed"], seen["lacked memory"]) > 0, seen


@st.composite
def tied(draw: st.DrawFn, name: str) -> Case:
    """Draw a case in which many events coincide, requests and runtimes being small multiples of 1/2."""
    case = draw(bounded(name, max_sessions=9))
    half = Fraction(1, 2)
    sessions = tuple(
        session._replace(
            gap=half * draw(st.integers(0, 3)),
            runtime=half * draw(st.integers(1, 4)),
            requested=half * draw(st.integers(1, 6)),
        )
        for session in case.sessions
    )
    switch = {"slice": 1.0, "switch_cost": draw(st.sampled_from([0.0, 0.5]))}
    ties = draw(st.sampled_from(["instant", "event"]))
    return replace(case, sessions=sessions, batch_size=case.n_jobs, ties=ties, **switch)


@pytest.mark.parametrize("name", schemes("buddy"))
def test_events_at_the_same_instant(name: str) -> None:
    """The queue is looked at once after all events of an instant, or after each.

    The twin computes in fractions; where all shares of the time are powers of two the kernel is exact, too.
    """
    n_compared = 0

    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(tied(name))
    def agree(case: Case) -> None:
        nonlocal n_compared
        twin = case.bounded_twin()
        twin.run()
        assume(all(is_power_of_two(k) and is_power_of_two(used) for k, used in twin.run_fractions))
        kernel = case.finished()
        assert_same(kernel, twin, case)
        start, end = kernel.times()
        assert start.tolist() == [twin.starts[n] for n in range(case.n_jobs)]
        assert end.tolist() == [twin.ends[n] for n in range(case.n_jobs)]
        n_compared += 1

    agree()
    assert n_compared >= 15


@pytest.mark.parametrize("queue", ["fcfs", "backfill"])
@pytest.mark.parametrize("name", schemes("buddy"))
def test_a_bound_that_never_binds_changes_no_bit(name: str, queue: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(cases(name))
    def law(case: Case) -> None:
        free = case.finished()
        held = case.finished(slots_limit=case.n_jobs, queue=queue, slice=1.0)
        assert free.responses.tobytes() == held.responses.tobytes()
        assert all(a.tobytes() == b.tobytes() for a, b in zip(free.batches, held.batches, strict=True))

    law()


@pytest.mark.parametrize("name", schemes("migration", among=["best_fit", "buddy", "migration"]))
def test_a_table_that_has_to_grow_changes_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that wait have places of it, too."""

    @settings(derandomize=True, deadline=None, max_examples=40)
    @given(bounded(name, max_sessions=40))
    def law(case: Case) -> None:
        at_once = case.finished()
        monkeypatch.setattr("models.gang.simulation.FIRST_PLACES", 1)
        grown = case.finished()
        monkeypatch.undo()
        for one, other in zip(at_once.times(), grown.times(), strict=True):
            assert one.tobytes() == other.tobytes()

    law()

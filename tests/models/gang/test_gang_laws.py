"""Laws that any gang scheduler obeys, whatever the twin says, and where the readings of unification agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from gang_cases import EIGHT, POLICIES, WORKLOAD, Case, Observed, cases, scatter
from gang_twin import Session, running
from gang_twin_schemes import Job, Slot
from hypothesis import given, settings
from hypothesis import strategies as st

from models.gang import FAMILY
from models.point import Batches, Point

ROUNDING = 1e-9
all_eight = pytest.mark.parametrize("name", EIGHT)
steady = settings(derandomize=True, deadline=None, max_examples=30)
FRACTIONS = st.lists(st.floats(0, 0.99), min_size=1, max_size=6).map(sorted)


def at(case: Case, fractions: list[float], **changes: Any) -> Iterator[Observed]:
    """Return the simulation at fractions of its length: the same one, further on each time it is yielded."""
    end = case.finished(**changes).now
    kernel = case.kernel(**changes)
    for fraction in fractions:
        kernel.run_on(until=fraction * end)
        yield kernel


def same_bits(one: Observed, other: Observed) -> bool:
    a, b = one.metrics(), other.metrics()
    return one.responses.tobytes() == other.responses.tobytes() and all(
        a[name].tobytes() == b[name].tobytes() for name in a
    )


@all_eight
def test_delivered_work_is_the_work(name: str) -> None:
    @steady
    @given(cases(name))
    def law(case: Case) -> None:
        kernel = case.kernel(batch_size=1)
        delivered = begin = 0.0
        for batch in range(case.n_jobs):
            kernel.run(batch + 1)
            delivered += kernel.batches.utilization[batch] * case.n_pes * (kernel.now - begin)
            begin = kernel.now
        work = sum(s.size * s.runtime * s.runs for s in case.sessions)
        assert delivered == pytest.approx(work, rel=ROUNDING)
        assert kernel.occupancy().shape == (0, case.n_pes)

    law()


@all_eight
def test_littles_law(name: str) -> None:
    """Over a drained run: jobs in the system = arrival rate x mean response time."""

    @steady
    @given(cases(name))
    def law(case: Case) -> None:
        kernel = case.finished(batch_size=case.n_jobs)
        arrival_rate = case.n_jobs / kernel.now
        expected = arrival_rate * kernel.responses.mean()
        assert kernel.batches.jobs_in_system[0] == pytest.approx(expected, rel=ROUNDING)

    law()


@all_eight
@pytest.mark.parametrize("alternation", ["none", "exclusive"])
def test_utilization_is_at_most_1(name: str, alternation: str) -> None:
    @steady
    @given(cases(name))
    def law(case: Case) -> None:
        told = case.finished(alternation=alternation, batch_size=1).metrics()
        # Ends at one instant make batches that take no time.
        assert (told["utilization"][np.isfinite(told["utilization"])] <= 1 + ROUNDING).all()
        assert (told["slowdown"] >= 1 - ROUNDING).all()
        if alternation == "none":
            np.testing.assert_allclose(told["slots_per_job"], 1, rtol=ROUNDING)

    law()


@all_eight
def test_no_pe_serves_two_jobs_under_exclusive(name: str) -> None:
    """Nor is a free PE left to nobody that it could serve: grants found anew from the matrix are the same."""

    @steady
    @given(cases(name), FRACTIONS)
    def law(case: Case, fractions: list[float]) -> None:
        for kernel in at(case, fractions, alternation="exclusive"):
            matrix = kernel.occupancy()
            slots = [
                Slot(
                    [
                        Job(number, int(np.sum(row == number)), set(np.flatnonzero(row == number).tolist()))
                        for number in np.unique(row[row >= 0]).tolist()
                    ]
                )
                for row in matrix
            ]
            expected = running(slots, "exclusive", case.precedence)
            for row, grants, jobs in zip(matrix, kernel.system.matrix.grants, expected, strict=False):
                places, given = (
                    np.flatnonzero(np.unpackbits(part.view(np.uint8), bitorder="little"))
                    for part in np.split(grants, [-kernel.system.matrix.occupied.shape[1]])
                )
                served = [*np.flatnonzero(row >= 0)]
                for place in places:
                    served.extend(kernel.pes_of(place))
                assert len(served) == len(set(served))
                assert set(served) == {*np.flatnonzero(row >= 0), *given}
                guests = {job.number for job in jobs} - set(row.tolist())
                assert set(kernel.system.table.jobs["number"][places].tolist()) == guests

    law()


@all_eight
def test_runs_of_a_session_never_overlap(name: str) -> None:
    @steady
    @given(cases(name), FRACTIONS)
    def law(case: Case, fractions: list[float]) -> None:
        for kernel in at(case, fractions):
            keys = kernel.system.table.jobs["key"][kernel.places].tolist()
            assert len(keys) == len(set(keys))

    law()


@all_eight
def test_the_unit_of_time_does_not_matter(name: str) -> None:
    @steady
    @given(cases(name))
    def law(case: Case) -> None:
        slow, fast = case.scaled(2.0).finished(), case.finished()
        assert slow.metrics()["slowdown"].tobytes() == fast.metrics()["slowdown"].tobytes()
        assert all(a.tobytes() == b.tobytes() for a, b in zip(slow.batches, fast.batches, strict=True))
        assert slow.responses.tobytes() == (2 * fast.responses).tobytes()

    law()


@all_eight
def test_cutting_the_stream_into_chunks_changes_nothing(name: str) -> None:
    @steady
    @given(cases(name), st.data())
    def law(case: Case, data: st.DataObject) -> None:
        cuts = data.draw(st.lists(st.integers(0, len(case.sessions)), max_size=6))
        assert same_bits(case.finished(chunks=sorted(cuts)), case.finished())

    law()


@all_eight
def test_stopping_on_the_way_changes_nothing(name: str) -> None:
    @steady
    @given(cases(name), FRACTIONS)
    def law(case: Case, fractions: list[float]) -> None:
        *_, kernel = at(case, fractions)
        kernel.run_on()
        assert same_bits(kernel, case.finished())

    law()


@all_eight
def test_the_places_of_the_table_are_only_names(name: str) -> None:
    """Sets of jobs are words of 64 places; here few jobs spread over many words."""

    @steady
    @given(cases(name))
    def law(case: Case) -> None:
        kernel = case.kernel(job_limit=300)
        scatter(kernel)
        kernel.run_on()
        assert same_bits(kernel, case.finished())

    law()


@all_eight
@pytest.mark.parametrize("alternation", ["none", "shared", "exclusive"])
def test_a_lone_job_is_not_slowed_down(name: str, alternation: str) -> None:
    sessions = (Session(0.7, 5, 0.3, runs=3),)
    case = Case(name, 8, sessions, POLICIES[name], alternation=alternation, batch_size=1)
    assert case.finished().metrics()["slowdown"] == pytest.approx([1, 1, 1], rel=1e-12)


def are_disjoint(matrix: np.ndarray) -> bool:
    """Tell whether some two used slots take no PE in common."""
    return any(not np.any((one >= 0) & (other >= 0)) for one, other in combinations(matrix, 2))


@all_eight
def test_no_two_used_slots_are_disjoint_under_unification(name: str) -> None:
    """So it does not matter whether a termination looks at the slot that lost a job only, unites the first
    pair that there is, or goes on until there is none: before it there is no pair, after it at most one
    slot is new, and the union of two slots is disjoint from none that one of them was not disjoint from."""

    @settings(derandomize=True, deadline=None, max_examples=40)
    @given(cases(name, powers_of_two=name == "buddy"))
    def law(case: Case) -> None:
        case = replace(case, unification=True)
        twin, kernel = case.twin(), case.kernel()
        while twin.step():
            kernel.run_on(until=float(twin.now))
            assert not are_disjoint(kernel.occupancy())

    law()


def test_buddy_may_open_a_slot_disjoint_from_another() -> None:
    """The one exception: a job whose size is no power of two asks for a whole group and leaves part of it.

    The job of 3 needs all four PEs free, opens a slot, and avoids the PE that the first job loads. Here the
    readings of unification differ: these two slots are united only when one of them loses a job.
    """
    sessions = (Session(0.0, 1, 10.0), Session(1.0, 3, 10.0))
    kernel = Case("buddy", 4, sessions, POLICIES["buddy"]).kernel()
    kernel.run_on(until=1.0)
    assert kernel.occupancy().tolist() == [[0, -1, -1, -1], [-1, 1, 1, 1]]


@all_eight
def test_the_same_call_gives_the_same_bits(name: str) -> None:
    def bits() -> dict[str, bytes]:
        batches = Batches(size=100, warmup=1, checkpoints=(3,))
        machine = {"name": "pe64", "processors": 64}
        outcome = FAMILY.simulate(Point(POLICIES[name], WORKLOAD, machine, 0.7, batches, (7, 8)))
        return {metric: values.tobytes() for metric, values in outcome.metrics.items()}

    assert bits() == bits()


@all_eight
@pytest.mark.parametrize("alternation", ["exclusive", "shared"])
def test_a_table_that_grows_changes_nothing(name: str, alternation: str) -> None:
    """Of a workload that ends, whose jobs need not fit in the table at first."""

    @steady
    @given(cases(name), st.integers(1, 3))
    def law(case: Case, job_limit: int) -> None:
        case = replace(case, alternation=alternation)
        grown, plain = (case.finished(recording=True, **at_first) for at_first in
                        ({"job_limit": job_limit, "ends": True}, {}))  # fmt: skip
        assert same_bits(grown, plain)
        assert grown.recorder is not None
        assert plain.recorder is not None
        for mine, other in zip(
            vars(grown.recorder.pieces(case.n_jobs)).values(),
            vars(plain.recorder.pieces(case.n_jobs)).values(),
            strict=True,
        ):
            np.testing.assert_array_equal(mine, other)

    law()

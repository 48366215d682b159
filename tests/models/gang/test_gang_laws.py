"""What changes no result of any gang scheduler, and where the readings of unification agree."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from gang_cases import POLICIES, Case, Observed, cases, scatter, schemes
from gang_twin import Session
from hypothesis import given, settings
from hypothesis import strategies as st

FRACTIONS = st.lists(st.floats(0, 0.99), min_size=1, max_size=6).map(sorted)


def at(case: Case, fractions: list[float], **changes: Any) -> Iterator[Observed]:
    """Yield one simulation at fractions of its length."""
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


@pytest.mark.parametrize("name", schemes())
def test_changes_that_change_nothing(name: str) -> None:
    """The unit of time, chunks of the stream, pauses, the places of the table, and that it grows."""

    @settings(derandomize=True, deadline=None, max_examples=20)
    @given(cases(name), FRACTIONS, st.integers(1, 3), st.data())
    def laws(case: Case, fractions: list[float], job_limit: int, data: st.DataObject) -> None:
        plain = case.finished(recording=True)
        slow = case.scaled(2.0).finished()
        assert slow.metrics()["slowdown"].tobytes() == plain.metrics()["slowdown"].tobytes()
        assert all(a.tobytes() == b.tobytes() for a, b in zip(slow.batches, plain.batches, strict=True))
        assert slow.responses.tobytes() == (2 * plain.responses).tobytes()
        cuts = data.draw(st.lists(st.integers(0, len(case.sessions)), max_size=6))
        assert same_bits(case.finished(chunks=sorted(cuts)), plain)
        for kernel in at(case, fractions):
            keys = kernel.system.table.jobs["key"][kernel.places].tolist()
            assert len(keys) == len(set(keys)), "runs of a session overlap"
        kernel.run_on()
        assert same_bits(kernel, plain)
        # Sets of jobs are words of 64 places; here few jobs spread over many words.
        scattered = case.kernel(job_limit=300)
        scatter(scattered)
        scattered.run_on()
        assert same_bits(scattered, plain)
        grown = case.finished(recording=True, job_limit=job_limit, ends=True)
        assert same_bits(grown, plain)
        assert grown.recorder is not None
        assert plain.recorder is not None
        pieces, others = (vars(each.recorder.pieces(case.n_jobs)) for each in (grown, plain))
        for column in pieces:
            np.testing.assert_array_equal(pieces[column], others[column])

    laws()


def are_disjoint(matrix: np.ndarray) -> bool:
    """Return whether some two used slots have no PE in common."""
    return any(not np.any((one >= 0) & (other >= 0)) for one, other in combinations(matrix, 2))


@pytest.mark.parametrize("name", schemes())
def test_no_two_used_slots_are_disjoint_under_unification(name: str) -> None:
    """So it does not matter whether a termination considers the slot that lost a job only, unites the first
    pair that there is, or repeats this until there is none: before it there is no pair, after it at most one
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

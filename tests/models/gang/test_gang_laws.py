"""What changes no result of any gang scheduler."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from family_cases import for_all
from gang_cases import Case, Observed, cases, scatter, schemes
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
        pieces, others = (vars(each.recorder.pieces(case.n_jobs)) for each in (grown, plain))
        for column in pieces:
            np.testing.assert_array_equal(pieces[column], others[column])

    for_all(20, laws, case=cases(name), fractions=FRACTIONS, job_limit=st.integers(1, 3), data=st.data())

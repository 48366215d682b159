"""The packing schemes by themselves: what `place` chooses, migration's packing, the paper's Fig. 9."""

import pytest
from gang_cases import Case, Observed, run_slots
from gang_twin import Session, Twin

from models.packing.scheme import find

BEFORE_JOB_4_ENDS, AFTER_JOB_4_ENDED = 5.0, 60.0


@pytest.mark.parametrize(
    ("sizes", "unifications"),
    [
        ([3, 1, 2], 1.0),  # rows 3 1 / 2: the job of 3 ends, the others share a slot
        ([3, 2, 2], 0.0),  # rows 3 / 2 2: the job of 3 had its slot alone (footnote 4)
        ([3, 1, 4], 0.0),  # rows 4 / 3 1: the number of slots stays
    ],
)
def test_unification_under_migration_is_that_of_footnote_4(sizes: list[int], unifications: float) -> None:
    sessions = tuple(Session(0.0, size, 1.0 if size == 3 else 100.0) for size in sizes)
    kernel = Case("migration", 4, sessions, batch_size=1).kernel()
    kernel.run(1)
    assert kernel.batches.unifications[0] == unifications


def fig_9(scheme: str, until: float) -> tuple[Observed, Twin]:
    """Return kernel and twin in the paper's example; the job of size 4 has the number 1."""
    runtimes = [1000.0, 10.0, 1000.0, 1000.0, 1000.0]
    sizes = [5, 4, 6, 2, 3]
    case = Case(scheme, 8, tuple(Session(1.0, n, t) for n, t in zip(sizes, runtimes, strict=True)))
    kernel, twin = case.kernel(), case.twin()
    kernel.run_on(until=until)
    twin.run(until=until)
    assert kernel.occupancy().tolist() == twin.occupancy()
    return kernel, twin


def drawn(kernel: Observed) -> list[str]:
    return ["".join("." if job < 0 else str(job) for job in row) for row in kernel.occupancy().tolist()]


def loads(kernel: Observed) -> list[int]:
    return (kernel.occupancy() >= 0).sum(axis=0).tolist()


def test_fig_9_after_the_third_arrival() -> None:
    """Section 4.2: "no PE has a load of more than two threads, whereas under best-fit some PEs have a load of
    3 and some are completely idle"."""
    assert max(loads(fig_9("min_max_load", 3.0)[0])) == 2
    best = loads(fig_9("best_fit", 3.0)[0])
    assert (max(best), min(best)) == (3, 0)


def test_fig_9_best_fit_ends_up_with_two_fully_allocated_slots() -> None:
    assert drawn(fig_9("best_fit", BEFORE_JOB_4_ENDS)[0]) == ["00000444", "1111....", "22222233"]
    kernel, twin = fig_9("best_fit", AFTER_JOB_4_ENDED)
    assert drawn(kernel) == ["00000444", "22222233"]
    assert list(twin.responses) == [1]


def test_fig_9_minimal_maximum_load_ends_up_with_three_lightly_populated_slots() -> None:
    """Section 4.2: "and only the 2-PE job will be able to run in an additional slot"."""
    assert drawn(fig_9("min_max_load", BEFORE_JOB_4_ENDS)[0]) == ["000003.3", "1444.111", ".222222."]
    kernel, twin = fig_9("min_max_load", AFTER_JOB_4_ENDED)
    assert drawn(kernel) == ["000003.3", ".444....", ".222222."]
    assert list(twin.responses) == [1]
    assert run_slots(kernel) == {0: 1, 2: 1, 3: 2, 4: 1}


@pytest.mark.parametrize("n_pes", [3, 100, 127])
def test_buddy_needs_a_power_of_two(n_pes: int) -> None:
    with pytest.raises(ValueError, match=rf"\b{n_pes}\b.*no power of two") as refused:
        find("buddy").check(n_pes)
    assert "\n" not in str(refused.value)

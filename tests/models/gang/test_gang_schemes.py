"""The packing schemes by themselves: what `place` chooses, migration's packing, the paper's Fig. 9."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from gang_cases import Case, Observed, cases, job_sizes, machines, run_slots, scheme_parameters, schemes
from gang_twin import Session, Twin
from gang_twin_schemes import SCHEMES, Job, Slot
from hypothesis import given, settings
from hypothesis import strategies as st

from models.packing.matrix import Books, Matrix
from models.packing.scheme import find

WITHOUT_BOOKS = ["first_fit", "best_fit", "left_right_size", "min_max_load", "min_avg_load"]
BEFORE_JOB_4_ENDS, AFTER_JOB_4_ENDED = 5.0, 60.0


def as_words(pes: set[int], n_pes: int) -> np.ndarray:
    words = [
        sum(1 << (pe - first) for pe in pes if first <= pe < first + 64) for first in range(0, n_pes, 64)
    ]
    return np.array(words, np.uint64)


def as_set(words: np.ndarray) -> set[int]:
    """Return the PEs in all words; one past the machine's last would show."""
    return {64 * i + bit for i, word in enumerate(words.tolist()) for bit in range(64) if word >> bit & 1}


class Placer:
    """A compiled scheme without an engine: keeps the scheme's memory and the slots' tags."""

    def __init__(self, name: str, parameters: dict[str, Any], n_pes: int) -> None:
        scheme = find(name)
        self.compiled, self.n_pes = scheme.compiled(), n_pes
        self.books = Books(
            np.zeros(scheme.memory(n_pes), np.int64), np.array([*scheme.arguments(parameters), 0], np.int64)
        )
        self.tags: list[int] = []

    def place(self, slots: list[Slot], size: int) -> tuple[int, set[int]]:
        n_slots = len(slots)
        occupied = np.array([as_words(slot.taken, self.n_pes) for slot in [*slots, Slot()]])
        free = np.array([self.n_pes - len(slot.taken) for slot in [*slots, Slot()]], np.int64)
        tags = np.array([*self.tags, 0], np.int64)
        rubbish = np.full((n_slots + 3, occupied.shape[1]), 0xDEADBEEF, np.uint64)
        chosen = np.zeros(occupied.shape[1], np.uint64)
        matrix = Matrix(occupied, free, tags, np.zeros_like(occupied))
        slot = self.compiled.place(size, self.n_pes, n_slots, matrix, self.books, rubbish, chosen)
        self.tags = tags.tolist()[: max(n_slots, slot + 1)]
        return slot, as_set(chosen)

    def release(self, job: Job) -> None:
        pes = as_words(job.pes, self.n_pes)
        self.compiled.release(job.size, self.n_pes, pes, self.books)


@pytest.mark.parametrize("name", schemes("min_avg_load", among=WITHOUT_BOOKS))
def test_a_scheme_chooses_as_its_twin_in_any_matrix(name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=100)
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        n_pes = data.draw(machines(name))
        rows = data.draw(st.lists(st.integers(1, 2**n_pes - 1), max_size=8))
        taken = [{pe for pe in range(n_pes) if row >> pe & 1} for row in rows]
        slots = [Slot([Job(i, len(pes), pes)]) for i, pes in enumerate(taken)]
        size = data.draw(job_sizes(n_pes))
        parameters = data.draw(scheme_parameters(name, n_pes))
        expected = SCHEMES[name](n_pes, slots, size, parameters)
        assert Placer(name, parameters, n_pes).place(slots, size) == (expected.slot, expected.pes)

    agree()


@pytest.mark.parametrize("name", schemes(among=[*WITHOUT_BOOKS, "left_right_slots", "buddy"]))
def test_a_scheme_chooses_as_its_twin_after_any_history(name: str) -> None:
    """Schemes that keep books, too: jobs come and go, slots close and later ones move up."""

    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        n_pes = data.draw(machines(name))
        parameters = data.draw(scheme_parameters(name, n_pes))
        placer = Placer(name, parameters, n_pes)
        slots: list[Slot] = []
        # A number below 0 removes one of the jobs there are.
        for size in data.draw(st.lists(st.integers(-20, -1) | job_sizes(n_pes), max_size=30)):
            if size < 0:
                jobs = [(slot, job) for slot in slots for job in slot.jobs]
                if jobs:
                    slot, job = jobs[size % len(jobs)]
                    slot.jobs.remove(job)
                    placer.release(job)
                    placer.tags = [t for t, s in zip(placer.tags, slots, strict=True) if s.jobs]
                    slots = [slot for slot in slots if slot.jobs]
                continue
            expected = SCHEMES[name](n_pes, slots, size, parameters)
            assert placer.place(slots, size) == (expected.slot, expected.pes)
            if expected.slot == len(slots):
                slots.append(Slot(side=expected.side))
            slots[expected.slot].jobs.append(Job(0, size, expected.pes, expected.controller))

    agree()


def sizes_by_slot(simulation: Observed) -> list[Counter[int]]:
    """Return how many jobs of which size each used slot has."""
    pes_of_jobs = (Counter(row[row >= 0].tolist()) for row in simulation.occupancy())
    return [Counter(pes_of_job.values()) for pes_of_job in pes_of_jobs]


def first_fit_decreasing(sizes: list[int], room: int) -> list[Counter[int]]:
    bins: list[Counter[int]] = []
    for size in sorted(sizes, reverse=True):
        fitting = [content for content in bins if sum(content.elements()) + size <= room]
        if not fitting:
            fitting = [Counter()]
            bins.append(fitting[0])
        fitting[0][size] += 1
    return bins


def fit_in(sizes: list[int], rooms: list[int]) -> bool:
    """Return whether all sizes can be put into bins of these capacities, by brute force."""
    if not sizes:
        return True
    first, *others = sizes
    return any(
        room >= first and fit_in(others, [*rooms[:i], room - first, *rooms[i + 1 :]])
        for i, room in enumerate(rooms)
    )


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cases("migration"), st.lists(st.floats(0, 0.99), min_size=3, max_size=3))
def test_migration_packs_by_first_fit_decreasing(case: Case, moments: list[float]) -> None:
    end = case.finished().now
    kernel = case.kernel()
    for moment in sorted(moments):
        kernel.run_on(until=moment * end)
        packed = sizes_by_slot(kernel)
        sizes = [size for slot in packed for size in slot.elements()]
        assert packed == first_fit_decreasing(sizes, case.n_pes)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(cases("migration", max_sessions=8, powers_of_two=True), st.floats(0, 0.99))
def test_migration_is_optimal_for_powers_of_two(case: Case, moment: float) -> None:
    """Section 2.5: "this algorithm is optimal if all job sizes divide each other"."""
    kernel = case.kernel()
    kernel.run_on(until=moment * case.finished().now)
    packed = sizes_by_slot(kernel)
    sizes = [size for slot in packed for size in slot.elements()]
    assert not packed or not fit_in(sizes, [case.n_pes] * (len(packed) - 1))


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

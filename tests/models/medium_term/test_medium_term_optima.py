"""Which of the policies are optimal (McCann 1994, theorems 6.4 and 6.5), by looking at all schedules."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

import medium_term_twin as twin
import numpy as np
import pytest

from models.medium_term.engine import make_boxes, make_schedule
from models.medium_term.policies import rules_of
from models.medium_term.tilings import tilings

BUDDY = {"schedule": "buddy_schedule", "groups": "smallest_first"}
REVERSED = {"schedule": "buddy_schedule", "groups": "largest_first"}
OPTIMAL_EPOCH = {"schedule": "optimal_epoch"}
OPTIMAL_BUDDY = {"schedule": "optimal_schedule", "allocations": "powers_of_two"}

SMALL = [(processors, n_jobs) for processors in (1, 2, 4, 8, 16) for n_jobs in range(1, 9)]


def powers(processors: int) -> list[int]:
    return [1 << bit for bit in range(processors.bit_length())]


def lists(processors: int, n_jobs: int) -> Iterator[tuple[int, ...]]:
    """Every sorted list of requirements that are powers of two."""
    return combinations_with_replacement(powers(processors), n_jobs)


def drawn(seed: int, processors: int, n_jobs: int, n_lists: int) -> list[list[int]]:
    """Random lists of requirements, sorted."""
    return np.sort(np.random.default_rng(seed).integers(1, processors + 1, (n_lists, n_jobs))).tolist()


@pytest.mark.parametrize("processors", [1, 2, 8, 32, 256])
@pytest.mark.parametrize("n_jobs", [1, 2, 8, 64])
def test_buddy_is_that_of_fig_6_3(processors: int, n_jobs: int) -> None:
    for minimum in drawn(63, processors, n_jobs, 5):
        schedule = make_schedule(BUDDY, processors, minimum)
        assert [(b.x, b.y, b.width, b.height) for b in schedule.boxes] == twin.buddy(processors, minimum)


def test_groups_are_buddy_schedules_of_their_own() -> None:
    """The end of section 6.4.2: eleven jobs are groups of one, two and eight, or the other way round."""
    for minimum in drawn(642, 32, 11, 20):
        for policy, sizes in ((BUDDY, (1, 2, 8)), (REVERSED, (8, 2, 1))):
            schedule = make_schedule(policy, 32, minimum)
            left, begin = 11, 0
            for size in sizes:
                group = [schedule.boxes[job] for job in range(left - size, left)]
                expected = twin.buddy(32, minimum[left - size : left])
                found = [(b.x, (b.y * 11 - begin) / size, b.width, b.height * 11 / size) for b in group]
                assert found == expected
                left, begin = left - size, begin + size


@pytest.mark.parametrize(("processors", "n_jobs"), SMALL)
def test_the_search_finds_all_schedules_of_powers_of_two(processors: int, n_jobs: int) -> None:
    found = {tuple(row) for row in tilings(processors, n_jobs, "powers_of_two").width.tolist()}
    assert found == twin.tilings(processors, n_jobs, powers(processors))


@pytest.mark.parametrize(("processors", "n_jobs"), SMALL)
def test_an_optimum_is_the_best_that_serves_the_jobs(processors: int, n_jobs: int) -> None:
    sets = twin.tilings(processors, n_jobs, powers(processors))
    for minimum in drawn(641, processors, n_jobs, 5):
        best = min(
            sum(width for width in widths if width * n_jobs > processors)
            for widths in sets
            if all(width >= least for width, least in zip(widths, minimum, strict=True))
        )
        assert make_schedule(OPTIMAL_BUDDY, processors, minimum).reallocations == best


@pytest.mark.parametrize(
    "n_jobs", [3, 8, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (1, 2, 5, 11, 16))]
)
@pytest.mark.parametrize("processors", [1, 2, 4, 8, 16])
def test_theorem_6_4_buddy_is_optimal_among_powers_of_two(processors: int, n_jobs: int) -> None:
    """Every list of requirements, and with the groups of smallest_first for any number of jobs."""
    for minimum in lists(processors, n_jobs):
        needs = np.array(minimum, np.int64)
        boxes = make_boxes(rules_of(BUDDY), processors, needs)
        sets = tilings(processors, n_jobs, "powers_of_two").width
        best = sets[np.argmax((sets >= needs).all(axis=1))]  # the cheapest comes first
        assert boxes.width[boxes.height < boxes.unit].sum() == best[best * n_jobs > processors].sum()


@pytest.mark.parametrize(
    ("processors", "n_jobs"), [(2, 6), (8, 7), (16, 5), (12, 7), (30, 6), (64, 7), (140, 7)]
)
def test_the_fewest_epochs_are_those_of_an_exhaustive_search(processors: int, n_jobs: int) -> None:
    for minimum in drawn(65, max(1, processors // 2), n_jobs, 10):
        schedule = make_schedule(OPTIMAL_EPOCH, processors, minimum)
        assert schedule.is_epoch_schedule
        assert schedule.epochs == twin.fewest_epochs(processors, minimum)

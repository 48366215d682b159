"""The worked examples of chapter 6, checked on the policies' own schedules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from analysis.claims import Claim, Fact
from analysis.claims.tester import Tester
from analysis.mccann1994.drawings.schedules import EXAMPLES, schedule_of

if TYPE_CHECKING:
    from models.medium_term.schedule import Box, Schedule


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of chapter 6 on its examples."""
    yield from _buddy(test)
    yield from _epochs(test)
    yield from _counter_examples(test)


def _example(name: str) -> list[Schedule]:
    processors, requirements, policies = EXAMPLES[name]
    return [schedule_of(policy, processors, requirements) for policy in policies]


def _buddy(test: Tester) -> Iterator[Claim]:
    (forced,) = _example("fig6-2")
    (needs_all,) = (box for box in forced.boxes if box.minimum == 16)
    whole = [box for box in forced.boxes if box.width == 16]
    yield test.claim(
        "6.3-forced-allocation",
        "6.3: “Since one job requires all the processors, it will be scheduled on 16 processors. Since it "
        "must be allocated an equal percentage of the processing power, it must be allocated for 1/8 of the "
        "time. … Even though no other job requires 16 processors, at least one other job must run on 16 "
        "processors.”",
        "BUDDY on P = 16, min = [2, 2, 4, 8, 8, 8, 8, 16].",
        [
            Fact(f"the job that needs 16 processors has them for {needs_all.height} of T",
                 needs_all.width == 16 and needs_all.height == Fraction(1, 8)),
            Fact(f"{len(whole) - 1} other job has 16 processors", len(whole) >= 2),
        ],
    )  # fmt: skip
    (worked,) = _example("fig6-4")
    largest = sorted((box for box in worked.boxes if box.minimum == 8), key=lambda box: box.y)
    stacked = all(low.end == high.y and low.x == high.x for low, high in pairwise(largest))
    yield test.claim(
        "6.3-worked-example",
        "6.3: “The first three jobs, all with minimum processor requirements of eight, are scheduled "
        "consecutively on eight processors each.”",
        "BUDDY on P = 16, min = [2, 2, 4, 4, 4, 8, 8, 8].",
        [
            Fact(f"their allocations are {_widths(largest)} processors", _widths(largest) == [8, 8, 8]),
            Fact("each begins on the same processors when the one before ends, the first at 0",
                 stacked and largest[0].y == 0),
        ],
    )  # fmt: skip
    names = ("fig6-2", "fig6-4", "fig6-11")
    below = [
        len(_below(found, box)) for name in names for found in _example(name) for box in found.boxes if box.y
    ]
    yield test.claim(
        "6.7-rests-on-one",
        "6.7: “Any allocation of a BUDDY schedule rests on only one previous allocation … Therefore, each "
        "reallocation consists of dividing an allocation into a power of two smaller allocations”",
        "Allocations right below each one that does not begin at 0, in the chapter's BUDDY schedules.",
        [Fact(f"{len(below)} allocations rest on {min(below)} to {max(below)} each", set(below) == {1})],
    )


def _epochs(test: Tester) -> Iterator[Claim]:
    (found,) = _example("fig6-7")
    first, second, third = ([box for box in found.boxes if box.y == start] for start in found.starts[:3])
    quote = (
        "6.5.1: “The first three jobs with the lowest minimum processor requirements are assigned to the "
        "first epoch. … the fourth, fifth and sixth jobs are scheduled on four processors each in the "
        "second epoch, and the remaining two jobs are given an allocation of eight processors each in the "
        "third epoch.”"
    )
    statement = "EQUI-EPOCH on P = 12, min = [2, 3, 3, 4, 4, 4, 5, 6]"
    yield test.claim(
        "6.5.1-worked-example",
        quote,
        f"{statement}: the jobs of each epoch, and processors in the second.",
        [
            Fact(f"the first epoch has jobs that need {_needs(first)}", _needs(first) == [2, 3, 3]),
            Fact(f"the second has jobs that need {_needs(second)}, on {_widths(second)} processors",
                 _needs(second) == _widths(second) == [4, 4, 4]),
            Fact(f"the third and last has jobs that need {_needs(third)}",
                 _needs(third) == [5, 6] and found.epochs == 3),
        ],
    )  # fmt: skip
    yield test.claim(
        "6.5.1-eight-processors",
        quote,
        f"{statement}: processors in the third epoch.",
        [Fact(f"the jobs of the third epoch have {_widths(third)} processors", _widths(third) == [8, 8])],
        note="Two equal shares of 12 processors are 6 each: a slip of the text; Fig. 6.7 is right.",
    )


def _counter_examples(test: Tester) -> Iterator[Claim]:
    equi, best = _example("fig6-8")
    yield test.claim(
        "6.5.2-example-140",
        "6.5.2: “EQUI_EPOCH schedules 7 jobs with 20 processors each in the first epoch, 2 jobs with 70 "
        "processors each in the second epoch, and 1 job with 140 processors in the third epoch. … A better "
        "solution could schedule the jobs in two epochs, with 5 jobs having 28 processors in each epoch”",
        "P = 140, 10 jobs that need 20 processors each.",
        [
            Fact(f"EQUI-EPOCH's epochs have {_sizes(equi)} jobs", _sizes(equi) == [7, 2, 1]),
            Fact(f"the fewest epochs have {_sizes(best)} jobs, with {set(_widths(best.boxes))} processors",
                 _sizes(best) == [5, 5] and set(_widths(best.boxes)) == {28}),
        ],
    )  # fmt: skip
    equi, greedy = _example("fig6-9")
    yield test.claim(
        "6.5.2-example-greedy",
        "6.5.2: “EQUI_EPOCH would schedule the jobs in two epochs as shown in Figure 6.9(a), while the other "
        "greedy schedule would be forced to schedule the jobs in 3 epochs”",
        "P = 16, min = [4, 4, 4, 4, 8].",
        [
            Fact(f"EQUI-EPOCH has {equi.epochs} epochs", equi.epochs == 2),
            Fact(f"the greedy policy from the largest has {greedy.epochs}", greedy.epochs == 3),
        ],
    )
    buddy, equi = _example("fig6-10")
    small = [[box for box in found.boxes if box.minimum == 2] for found in (buddy, equi)]
    yield test.claim(
        "6.6-example",
        "6.6: “The EQUI_EPOCH policy requires three epochs to schedule the jobs. The job's with minimum "
        "requirement of 2 are forced to run on four processors. The BUDDY schedule instead is able to "
        "schedule those jobs on two processors, so that they never have to incur the overhead of "
        "reallocation. Therefore, it's total reallocation overhead is less.”",
        "P = 16, min = [2, 2, 4, 4, 4, 8, 8, 8].",
        [
            Fact(f"EQUI-EPOCH has {equi.epochs} epochs", equi.epochs == 3),
            Fact(f"there, jobs that need 2 processors have {_widths(small[1])}", _widths(small[1]) == [4, 4]),
            Fact(f"under BUDDY they have {_widths(small[0])}, for the whole of T",
                 _widths(small[0]) == [2, 2] and all(box.height == 1 for box in small[0])),
            Fact(f"reallocated processors: BUDDY {buddy.reallocations}, EQUI-EPOCH {equi.reallocations}",
                 buddy.reallocations < equi.reallocations),
        ],
    )  # fmt: skip


def _below(found: Schedule, box: Box) -> list[Box]:
    """Return the allocations on which one rests."""
    return [
        other
        for other in found.boxes
        if other.end == box.y and other.x < box.x + box.width and box.x < other.x + other.width
    ]


def _widths(boxes: Sequence[Box]) -> list[int]:
    return [box.width for box in boxes]


def _needs(boxes: Sequence[Box]) -> list[int]:
    return sorted(box.minimum for box in boxes)


def _sizes(found: Schedule) -> list[int]:
    """Return how many jobs begin at each moment."""
    return [sum(box.y == start for box in found.boxes) for start in found.starts]

"""Schedules (chapter 6): testers of random lists, theorems as facts and averages; and the worked examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.claims import Fact, Open, Part
from analysis.claims.comparisons import AxisRange, difference, listed, ratio
from analysis.claims.tester import Tester
from analysis.mccann1994.drawings.schedules import EXAMPLES, schedule_of
from analysis.mccann1994.labels import JOBS, REALLOCATIONS
from analysis.study.curve import Curve
from sweep.policy_names import label

if TYPE_CHECKING:
    from models.medium_term.schedule import Box, Schedule

MACHINE = "64"
"""Processors of the averages, a power of two; the theorems are tested on all."""


def _sizes(test: Tester, powers: bool) -> list[str]:
    """Return the numbers of processors that are powers of two, or the others."""
    every = test.study.values_of("processors")
    return [text for text in every if (int(text) & (int(text) - 1) == 0) == powers]


def _compared(
    compare: Callable[..., Part], sign: str, sizes: Sequence[str], test: Tester, metric: str, of: str,
    than: str, at: AxisRange, **limits: float,
) -> list[Part]:  # fmt: skip
    """Compare two policies on machines of some sizes, for each distribution of requirements."""
    return [
        compare(
            f"{label(of)} {sign} {label(than)}, P = {size}, {_named(workload)}",
            *(test.curve(metric, one, JOBS.name, workload=workload, processors=size) for one in (of, than)),
            at,
            **limits,
        )
        for size in sizes
        for workload in test.study.values_of("workload")
    ]


def _as_good(test: Tester, metric: str, of: str, optimum: str, at: AxisRange) -> list[Part]:
    """Ask that a policy is as good as the optimum on every list, on machines of a power of two."""
    return _compared(_same, "beside", _sizes(test, powers=True), test, metric, of, optimum, at)


def _same(name: str, a: Curve, b: Curve, points: AxisRange) -> Part:
    """Ask that two metrics agree in every batch of lists: the optimum bounds each list, so means suffice."""
    chosen, reason = points.choose([a, b])
    if reason:
        return Open(name, reason)
    inside = np.isin(a.x, chosen)
    mine, best = a.values[inside], b.values[inside]
    equal = np.isclose(mine, best, rtol=1e-12, atol=1e-12) | (np.isnan(mine) & np.isnan(best))
    n = int((~np.isnan(mine)).sum())
    if not n:
        return Open(name, "no list was measured")
    text = f"{name}: as good as the optimum in {int(equal.sum())} of {n} batches of lists"
    return Fact(f"{text} at {listed('jobs', chosen)}", bool(equal.all()))


def _more(
    test: Tester, metric: str, of: str, than: str, at: AxisRange, processors: str = MACHINE
) -> list[Part]:
    """Ask that one policy has a larger number than another on average."""
    sizes = [processors] if processors.isdecimal() else _sizes(test, powers=False)
    return _compared(difference, "−", sizes, test, metric, of, than, at, low=0.0)


def _fewer(test: Tester, metric: str, of: str, than: str, at: AxisRange) -> list[Part]:
    """Ask that one policy has a smaller number than another, by their ratio."""
    return _compared(ratio, "/", [MACHINE], test, metric, of, than, at, high=1.0)


def _with_several_groups(test: Tester, of: str, than: str, at: AxisRange) -> str:
    """Return how many reallocations the two orders of groups take."""
    parts = _fewer(test, REALLOCATIONS, of, than, at)
    costs = [part.describe(test.study.confidence).partition(", ")[2] for part in parts]
    return (
        "With several groups no job runs for all of T: each group lasts for a part of T. Reallocations, "
        f"smallest over largest groups first: {'; '.join(costs)}"
    )


def _named(workload: str) -> str:
    return workload.removeprefix("minimum_").replace("_", " ")


def _example(name: str) -> list[Schedule]:
    return EXAMPLES[name].schedules()


Facts = list[tuple[str, bool]]


def _forced_allocation() -> Facts:
    (forced,) = _example("fig6-2")
    (needs_all,) = (box for box in forced.boxes if box.minimum == 16)
    whole = [box for box in forced.boxes if box.width == 16]
    return [
        (
            f"the job that needs 16 processors has them for {needs_all.height} of T",
            needs_all.width == 16 and needs_all.height == Fraction(1, 8),
        ),
        (f"{len(whole) - 1} other job has 16 processors", len(whole) >= 2),
    ]


def _worked_example() -> Facts:
    (worked,) = _example("fig6-4")
    largest = sorted((box for box in worked.boxes if box.minimum == 8), key=lambda box: box.y)
    stacked = all(low.end == high.y and low.x == high.x for low, high in pairwise(largest))
    return [
        (f"their allocations are {_widths(largest)} processors", _widths(largest) == [8, 8, 8]),
        (
            "each begins on the same processors when the previous one ends, and the first at 0",
            stacked and largest[0].y == 0,
        ),
    ]


def _rests_on_one() -> Facts:
    found = [one for name in ("fig6-2", "fig6-4", "fig6-11") for one in _example(name)]
    below = [len(_below(one, box)) for one in found for box in one.boxes if box.y]
    return [(f"{len(below)} allocations rest on {min(below)} to {max(below)} each", set(below) == {1})]


def _epochs(found: Schedule) -> list[list[Box]]:
    return [[box for box in found.boxes if box.y == start] for start in found.starts[:3]]


def _three_epochs() -> Facts:
    example = EXAMPLES["fig6-5"]
    own = schedule_of(example.policies[0], example.processors, example.requirements)
    spans = [b - a for a, b in pairwise([*own.starts, Fraction(1)])]
    widths = {box.job: box.width for box in own.boxes}
    return [
        (
            f"{own.epochs} epochs of {_listed(sorted(spans))} of T",
            sorted(spans) == [Fraction(1, 4)] * 2 + [Fraction(1, 2)],
        ),
        (
            f"jobs 1 to 4 have {list(widths.values())} of 16 processors",
            list(widths.values()) == [16, 8, 8, 16],
        ),
    ]


def _epochs_of_example() -> Facts:
    (found,) = _example("fig6-7")
    first, second, third = _epochs(found)
    return [
        (f"the first epoch has jobs that need {_needs(first)}", _needs(first) == [2, 3, 3]),
        (
            f"the second has jobs that need {_needs(second)}, on {_widths(second)} processors",
            _needs(second) == _widths(second) == [4, 4, 4],
        ),
        (
            f"the third and last has jobs that need {_needs(third)}",
            _needs(third) == [5, 6] and found.epochs == 3,
        ),
    ]


def _eight_processors() -> Facts:
    third = _epochs(_example("fig6-7")[0])[2]
    return [(f"the jobs of the third epoch have {_widths(third)} processors", _widths(third) == [8, 8])]


def _not_optimal_on_140() -> Facts:
    equi, best = _example("fig6-8")
    widths = set(_widths(best.boxes))
    return [
        (f"EQUI-EPOCH's epochs have {_counts(equi)} jobs", _counts(equi) == [7, 2, 1]),
        (
            f"the fewest epochs have {_counts(best)} jobs, with {widths} processors",
            _counts(best) == [5, 5] and widths == {28},
        ),
    ]


def _greedy() -> Facts:
    equi, greedy = _example("fig6-9")
    return [
        (f"EQUI-EPOCH has {equi.epochs} epochs", equi.epochs == 2),
        (f"the greedy policy from the largest has {greedy.epochs}", greedy.epochs == 3),
    ]


def _buddy_and_equi_epoch() -> Facts:
    buddy, equi = _example("fig6-10")
    of_buddy, of_equi = ([box for box in found.boxes if box.minimum == 2] for found in (buddy, equi))
    return [
        (f"EQUI-EPOCH has {equi.epochs} epochs", equi.epochs == 3),
        (f"there, jobs that need 2 processors have {_widths(of_equi)}", _widths(of_equi) == [4, 4]),
        (
            f"under BUDDY they have {_widths(of_buddy)}, for the whole of T",
            _widths(of_buddy) == [2, 2] and all(box.height == 1 for box in of_buddy),
        ),
        (
            f"reallocated processors: BUDDY {buddy.reallocations}, EQUI-EPOCH {equi.reallocations}",
            buddy.reallocations < equi.reallocations,
        ),
    ]


FACTS: Mapping[str, Callable[[], Facts]] = {
    "forced_allocation": _forced_allocation,
    "worked_example": _worked_example,
    "rests_on_one": _rests_on_one,
    "three_epochs": _three_epochs,
    "epochs_of_example": _epochs_of_example,
    "eight_processors": _eight_processors,
    "not_optimal_on_140": _not_optimal_on_140,
    "greedy": _greedy,
    "buddy_and_equi_epoch": _buddy_and_equi_epoch,
}


def _below(found: Schedule, box: Box) -> list[Box]:
    """Return the allocations that an allocation rests on."""
    return [
        other
        for other in found.boxes
        if other.end == box.y and other.x < box.x + box.width and box.x < other.x + other.width
    ]


def _widths(boxes: Sequence[Box]) -> list[int]:
    return [box.width for box in boxes]


def _needs(boxes: Sequence[Box]) -> list[int]:
    return sorted(box.minimum for box in boxes)


def _listed(parts: Sequence[Fraction]) -> str:
    return ", ".join(map(str, parts))


def _counts(found: Schedule) -> list[int]:
    """Return how many jobs begin at each moment."""
    return [sum(box.y == start for box in found.boxes) for start in found.starts]


TESTERS: Mapping[str, Any] = {
    "as_good": _as_good,
    "more": _more,
    "fewer": _fewer,
    "with_several_groups": _with_several_groups,
}

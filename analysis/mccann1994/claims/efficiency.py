"""Efficiency preservation of equipartition and folding (section 5.2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from analysis.claims import Claim, Fact, Open, Part
from analysis.claims.comparisons import AxisRange
from analysis.claims.exact import average, everywhere, exact_values
from analysis.claims.tester import Tester
from analysis.figures.policies import label
from analysis.mccann1994.claims import margins
from analysis.mccann1994.claims.margins import ALL, LARGE, MANY, MODERATE, NO_POWER, OCTAVES, SLIGHT, SOME
from analysis.mccann1994.labels import EFFICIENCY, EQUIPARTITION, JOBS
from analysis.study.curve import Curve

REALISTIC = ("fold_never", "fold_200", "fold_50", "fold_20j", "fold_15j")
"""Folding but for a constant 20 s, the shortest time of the dissertation."""

SPREADS = (0.0, 5.0, 10.0, 20.0)
"""Of thread compute times, ms (Fig. 5.3)."""

SEVERAL = AxisRange("J from 2 on", 2)
ODD, EVEN = (
    AxisRange("odd J", only=margins.ODD),
    AxisRange("even J that are no power of two", only=margins.EVEN),
)

BETTER = (
    "5.2.2: “In general, though, they have much better behavior than the Equipartition policies for all but "
    "unrealistically small inter-rotation times.”"
)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of section 5.2.2, and what later ones say of efficiency preservation."""
    yield from _equipartition(test)
    yield from _folding(test)
    yield from _better(test)
    yield from _variation(test)
    yield from _later(test)


def _curve(test: Tester, policy: str, delta: float = 0.0) -> Curve:
    return test.curve(EFFICIENCY, policy, JOBS.name, workload="spmd", delta=delta)


def _equipartition(test: Tester) -> Iterator[Claim]:
    equi, equi_plus, never = (_curve(test, policy) for policy in (*EQUIPARTITION, "fold_never"))
    yield test.claim(
        "5.2.2-equi-losses",
        "5.2.2: “As expected, EQUI shows significant efficiency losses when J is not a power of two.”",
        "At every J that is no power of two EQUI's efficiency preservation is below that of balanced "
        f"partitions (FOLD∞), by more than {LARGE:.0%} on average.",
        [
            everywhere("EQUI|FOLD∞", equi, "below", never, NO_POWER),
            average("EQUI / FOLD∞", equi, never, NO_POWER, high=1 - LARGE),
        ],
    )
    yield test.claim(
        "5.2.2-equi-plus-improves",
        "5.2.2: “While EQUI+ is a noticeable improvement”",
        f"EQUI+ is never below EQUI, and more than {LARGE:.0%} above it on average over the J that are no "
        "power of two.",
        [
            everywhere("EQUI+|EQUI", equi_plus, "at least", equi, ALL),
            average("EQUI+ / EQUI", equi_plus, equi, NO_POWER, low=1 + LARGE),
        ],
    )
    yield test.claim(
        "5.2.2-equi-plus-losses",
        "5.2.2: “it still experiences large efficiency losses”",
        f"EQUI+ loses more than {LARGE:.0%} with some numbers of jobs: with 3, and on average with 5 to 7.",
        [
            average(f"EQUI+ at {points.name}", equi_plus, 1.0, points, high=1 - LARGE)
            for points in (AxisRange("J = 3", 3, 3), OCTAVES[0])
        ],
    )
    yield test.claim(
        "5.2.2-losses-decrease",
        "5.2.2: “although the magnitudes of these losses decrease with increasing J.”",
        "The average efficiency preservation of EQUI+ between two powers of two rises from one pair to the "
        "next.",
        _rises("EQUI+", equi_plus, OCTAVES),
    )


def _folding(test: Tester) -> Iterator[Claim]:
    never, shortest = _curve(test, "fold_never"), _curve(test, "fold_20")
    by_time = ("fold_never", "fold_200", "fold_50", "fold_20")
    yield test.claim(
        "5.2.2-sensitive-to-rotation",
        "5.2.2: “The efficiency preservation of the Folding policies shows some sensitivity to the choice "
        "of inter-rotation interval.”",
        "Where J is no power of two, efficiency preservation falls with the rotation time, from ∞ over 200 s "
        f"and 50 s to 20 s: at every J, and from first to last by more than {SOME:.0%} on average.",
        [
            *(
                everywhere(f"{label(a)}|{label(b)}", _curve(test, a), "above", _curve(test, b), NO_POWER)
                for a, b in pairwise(by_time)
            ),
            average("FOLD 20 s / FOLD∞", shortest, never, NO_POWER, high=1 - SOME),
        ],
    )
    yield test.claim(
        "5.2.2-fold-never-above-one",
        "5.2.2: “FOLD∞ attains values slightly greater than 1.0 as J increases. This reflects the decreased "
        "off-processor communication required as the application is folded onto smaller and smaller "
        "partitions.”",
        f"With more than one job, FOLD∞ is between 1 and {1 + SLIGHT:g}, and it rises from each power of two "
        "to the next.",
        [
            everywhere("FOLD∞", never, "above", 1.0, SEVERAL),
            everywhere("FOLD∞", never, "below", 1 + SLIGHT, ALL),
            *_rises("FOLD∞", never, [AxisRange(f"J = {j}", j, j) for j in (2, 4, 8, 16, 32)]),
        ],
    )


def _better(test: Tester) -> Iterator[Claim]:
    """Yield the sentence on folding against equipartition, where there are few jobs and many."""
    others = {label(policy): _curve(test, policy) for policy in EQUIPARTITION}

    def parts(policies: Sequence[str], points: AxisRange, low: float) -> list[Part]:
        return [
            average(f"{label(policy)} / {name}", _curve(test, policy), other, points, low=low)
            for policy in policies
            for name, other in others.items()
        ]

    shortest = [*parts(["fold_20"], MODERATE, 1.0), *parts(["fold_20"], MANY, 1.0)]
    told = "; ".join(part.describe(test.study.confidence) for part in shortest)
    note = f"The shortest time, taken for unrealistically small, decides nothing: {told}."
    yield test.claim(
        "5.2.2-folding-better",
        BETTER,
        "Folding with rotation times of 50 s and more, and with those that grow with J, is above EQUI and "
        f"EQUI+, on average over {MODERATE.name}.",
        parts(REALISTIC, MODERATE, 1.0),
        note=note,
    )
    yield test.claim(
        "5.2.2-folding-better-many",
        BETTER,
        f"The same on average over {MANY.name}.",
        parts(REALISTIC, MANY, 1.0),
        note=note,
    )
    yield test.claim(
        "5.2.2-folding-much-better",
        BETTER,
        f"The same by more than {LARGE:.0%}, on average over {MODERATE.name}.",
        parts(REALISTIC, MODERATE, 1 + LARGE),
    )


def _variation(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "5.2.2-rises-with-variation",
        "5.2.2: “the efficiency preservation measures of our disciplines increase with increasing variance "
        "in thread compute times”",
        "With more than one job, FOLD∞ and EQUI+ are higher at each wider spread of thread times: 0, 5, 10, "
        "20 ms.",
        [
            everywhere(
                f"{label(policy)}, δ = {wide:g}|at δ = {narrow:g}",
                _curve(test, policy, wide),
                "above",
                _curve(test, policy, narrow),
                SEVERAL,
            )
            for policy in ("fold_never", "equi_plus")
            for narrow, wide in pairwise(SPREADS)
        ],
    )


def _later(test: Tester) -> Iterator[Claim]:
    """Yield what sections 5.3 to 5.5 say of efficiency preservation."""
    equi, equi_plus, never = (_curve(test, policy) for policy in (*EQUIPARTITION, "fold_never"))
    quote = "5.3.2: “the efficiency losses that Equipartition induces for most values of J larger than 4.”"
    for name, points in (
        ("5.3.2-equi-losses-above-four", AxisRange("J from 5 to 16", 5, 16)),
        ("5.3.2-equi-losses-above-four-many", AxisRange("J from 17 on", 17)),
    ):
        statement = f"EQUI+ is below 1 at more than half of the {points.name}."
        yield test.claim(name, quote, statement, [_most_below_one("EQUI+", equi_plus, points)])
    yield test.claim(
        "5.4.2-inefficient-for-odd-jobs",
        "5.4.2: “it is inefficient for odd numbers of jobs in the system.”",
        "The average efficiency preservation of EQUI+ at odd J is below 1, and below that at even J that are "
        "no power of two.",
        [average("EQUI+ at odd J", equi_plus, 1.0, ODD, high=1.0), *_rises("EQUI+", equi_plus, [ODD, EVEN])],
    )
    yield test.claim(
        "5.5-folding-superior",
        "5.5: “We examined the efficiency preservation of the two disciplines, finding that Folding is "
        "superior by this measure.”",
        "FOLD∞ is at least as high as EQUI and EQUI+ at every J, and higher at each that is no power of two.",
        [
            part
            for name, other in (("EQUI", equi), ("EQUI+", equi_plus))
            for part in (
                everywhere(f"FOLD∞|{name}", never, "at least", other, ALL),
                everywhere(f"FOLD∞|{name}", never, "above", other, NO_POWER),
            )
        ],
    )


def _rises(name: str, curve: Curve, ranges: Sequence[AxisRange]) -> list[Part]:
    """Ask that the average rises from each range to the next."""
    parts: list[Part] = []
    for low, high in pairwise(ranges):
        text = f"{name}: {high.name} above {low.name}"
        (_, below, reason), (_, above, other) = (exact_values([curve], points) for points in (low, high))
        if reason or other:
            parts.append(Open(text, reason or other))
        else:
            means = above.mean(), below.mean()
            parts.append(Fact(f"{text} ({means[0]:.4f} and {means[1]:.4f})", bool(means[0] > means[1])))
    return parts


def _most_below_one(name: str, curve: Curve, points: AxisRange) -> Part:
    chosen, values, reason = exact_values([curve], points)
    if reason:
        return Open(name, reason)
    below = int(np.sum(values[0] < 1))
    return Fact(
        f"{name} below 1 at {below} of {len(chosen)} J from {chosen[0]:g} on", 2 * below > len(chosen)
    )

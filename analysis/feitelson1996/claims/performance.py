"""Which schemes perform alike, better and worse, and what they sustain (section 4.2, conclusions)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import Not, Sustains, ratio
from analysis.feitelson1996.claims.margins import (
    EACH,
    HIGHEST,
    IDENTICAL,
    MEDIUM,
    SIMILAR,
    STATIC_PARTITIONING,
)
from analysis.feitelson1996.claims.tester import Tester
from analysis.feitelson1996.labels import BEST, FIRST_FOUR, LOAD_BASED, SCHEMES, SLOWDOWN, UTILIZATION, label
from analysis.study.curve import EXCLUDED

SHOWN = ("fig8",)
"""Figures of the slowdowns."""


def slowdowns(test: Tester) -> Iterator[Claim]:
    parts = [
        ratio(
            f"{label(a)} / {label(b)}",
            test.slowdown(a),
            test.slowdown(b),
            loads,
            1 / (1 + IDENTICAL),
            1 + IDENTICAL,
        )
        for loads in EACH
        for a, b in combinations(FIRST_FOUR, 2)
    ]
    yield test.claim(
        "4.2-first-four-identical",
        "4.2: “The first four packing schemes (first fit, best fit, left-right by size, and alternating "
        "left-right) produce essentially identical performance.”",
        f"Slowdowns of each two of the four schemes are within {IDENTICAL:.0%} of each other, at medium "
        "and at the highest loads.",
        parts,
        figures=SHOWN,
    )
    yield test.claim(
        "4.2-load-based-worse",
        "4.2: “The two load-based schemes (minimal maximum load and minimal average load) are "
        "significantly worse than the previous four schemes.”",
        "Each load-based scheme has a higher slowdown than each of the first four, at medium and at the "
        "highest loads.",
        test.ratios_at(EACH, SLOWDOWN, LOAD_BASED, FIRST_FOUR, low=1.0),
        note=f"{test.turns(LOAD_BASED, FIRST_FOUR, low=1.0)} {test.saturation((*FIRST_FOUR, *LOAD_BASED))}",
        figures=SHOWN,
    )
    buddy, migration = (test.slowdown(scheme) for scheme in BEST)
    yield test.claim(
        "4.2-buddy-migration-similar",
        "4.2: “The buddy scheme and the migration scheme are similar to each other”",
        f"Their slowdowns are within {SIMILAR:.0%} of each other, at medium and at the highest loads.",
        [
            ratio("buddy / migration", buddy, migration, loads, 1 / (1 + SIMILAR), 1 + SIMILAR)
            for loads in EACH
        ],
        figures=SHOWN,
    )
    yield test.claim(
        "4.2-buddy-migration-best",
        "4.2: “The buddy scheme and the migration scheme … perform better than all other schemes.”",
        "Each of the two has a lower slowdown than each other scheme, at medium and at the highest loads.",
        test.ratios_at(EACH, SLOWDOWN, BEST, (*FIRST_FOUR, *LOAD_BASED), high=1.0),
        note=f"{test.turns(BEST, (*FIRST_FOUR, *LOAD_BASED), high=1.0)} {test.saturation(SCHEMES)}",
        figures=SHOWN,
    )
    yield test.claim(
        "4.2-migration-leads-highest",
        "4.2: “Migration has a slight advantage at the highest loads”",
        "Migration's slowdown is lower than buddy's at the two highest loads at which neither is saturated.",
        test.ratios(SLOWDOWN, ("migration",), ("buddy",), HIGHEST, high=1.0),
        figures=SHOWN,
    )
    yield test.claim(
        "4.2-buddy-leads-medium",
        "4.2: “while buddy has a slight advantage at medium loads.”",
        "Buddy's slowdown is lower than migration's at medium loads.",
        test.ratios(SLOWDOWN, ("buddy",), ("migration",), MEDIUM, high=1.0),
        figures=SHOWN,
    )


def utilization(test: Tester) -> Iterator[Claim]:
    def sustains(schemes: Sequence[str], threshold: float) -> list[Part]:
        if reason := test.beyond_capacity:
            return [Open(label(scheme), reason) for scheme in schemes]
        parts: list[Part] = []
        for scheme in schemes:
            curve = test.curve(UTILIZATION, scheme)
            absent = curve.where(EXCLUDED).all()
            parts.append(
                Open(label(scheme), "not in this grid")
                if absent
                else Sustains(label(scheme), curve, threshold)
            )
        return parts

    quote = (
        "4.2: “all schemes except the load-based ones can sustain loads leading to over 90% system "
        "utilization.”"
    )
    yield test.claim(
        "4.2-over-90-sustained",
        quote,
        "Each of the six other schemes is stable at a load at which its utilization is above 90 %.",
        sustains((*FIRST_FOUR, *BEST), 0.90),
        figures=("utilization",),
    )
    yield test.claim(
        "4.2-load-based-not-over-90",
        quote,
        "Neither load-based scheme sustains more than 90 %: where clearly more is offered, it delivers less.",
        [Not(part) for part in sustains(LOAD_BASED, 0.90)],
        figures=("utilization",),
    )
    yield test.claim(
        "4.2-over-95-sustained",
        "4.2: “The buddy and migration schemes can sustain loads leading to over 95% utilization.” 5: "
        "“In our simulations of the buddy and migration schemes, the system only saturated when the "
        "utilization was higher than 95%”",
        "Each of the two is stable at a load at which its utilization is above 95 %.",
        sustains(BEST, 0.95),
        figures=("utilization",),
    )
    yield test.claim(
        "5-above-static-partitioning",
        "5: “which is significantly higher than the 50–80% range reported for production systems using "
        "static partitioning”",
        f"Buddy and migration sustain more than {STATIC_PARTITIONING:.0%}.",
        sustains(BEST, STATIC_PARTITIONING),
        figures=("utilization",),
    )


def conclusions(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "5-significant-improvement",
        "5: “two approaches can lead to significant performance improvements over simple best-fit like "
        "algorithms”",
        "At the two highest loads that both sustain, buddy's and migration's slowdowns are below that of "
        f"best fit by more than what counts as identical ({IDENTICAL:.0%}).",
        test.ratios(SLOWDOWN, BEST, ("best_fit",), HIGHEST, high=1 / (1 + IDENTICAL)),
        figures=SHOWN,
    )
    yield test.claim(
        "5-least-loaded-counterproductive",
        "5: “Other approaches, such as mapping to the least loaded PEs, proved to be counterproductive.”",
        "Each load-based scheme has a higher slowdown than first fit, which takes nothing into account, "
        "at medium and at the highest loads.",
        test.ratios_at(EACH, SLOWDOWN, LOAD_BASED, ("first_fit",), low=1.0),
        figures=SHOWN,
    )

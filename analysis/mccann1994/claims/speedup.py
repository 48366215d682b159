"""Static partitions against an ideal (chapter 3)."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims import Claim
from analysis.claims.comparisons import AxisRange
from analysis.claims.exact import average, everywhere, monotone
from analysis.claims.tester import Tester
from analysis.figures.policies import label
from analysis.mccann1994.claims.margins import ALL, DRASTIC
from analysis.mccann1994.labels import EFFICIENCY, JOBS
from analysis.study.curve import Curve

STATIC = {4: "static_4", 8: "static_8"}
IDEAL = "ideal_dynamic"
OURS = (
    "The dissertation gives words for the speedup of Fig. 3.1 and no numbers: this is a finding about the "
    "workload's formula."
)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of chapter 3."""

    def curve(policy: str) -> Curve:
        return test.curve(EFFICIENCY, policy, JOBS.name, workload="speedup_curve", delta=0.0)

    ideal = curve(IDEAL)
    static = {n: curve(policy) for n, policy in STATIC.items()}
    yield test.claim(
        "3.1-above-one",
        "3.1: “efficiency preservation can also be greater than one, since at least some applications "
        "exhibit significantly sub-linear speedups, and thus run more efficiently on fewer processors.”",
        "With more than one job, the efficiency preservation of the ideal dynamic policy is above 1.",
        [everywhere(label(IDEAL), ideal, "above", 1.0, AxisRange("J from 2 on", 2))],
        note=OURS,
    )
    yield test.claim(
        "3.2-drastic-decrease",
        "3.2: “This figure shows the drastic decrease in efficiency preservation for the static "
        "partitioning policies when the number of jobs in the system is less than the number of partitions.”",
        "With n static partitions, efficiency preservation rises with the number of jobs up to n, and with "
        f"one job it is below {DRASTIC:.0%} of that with n.",
        [
            *(
                monotone(label(STATIC[n]), found, True, AxisRange(f"J up to {n}", 1, n))
                for n, found in static.items()
            ),
            *(
                average(f"{n} static partitions, one job over {n}", found, _at(found, n), ONE, high=DRASTIC)
                for n, found in static.items()
            ),
        ],
        note=OURS,
    )
    yield test.claim(
        "3.2-idle-processors",
        "3.2: “The dynamic allocation policy is able to utilize all the processors, whereas the static "
        "partitioning policies have significant loss of efficiency due to idle processors.”",
        "With fewer jobs than partitions, the ideal dynamic policy has a higher efficiency preservation.",
        [
            everywhere(f"Ideal|{n} static partitions", ideal, "above", found, AxisRange(f"J < {n}", 1, n - 1))
            for n, found in static.items()
        ],
        note=OURS,
    )
    yield test.claim(
        "3.2-dynamic-at-high-loads",
        "3.2: “The dynamic allocation policy also has a higher efficiency preservation at high loads. When "
        "the number of jobs in the system increases, the dynamic allocation policy allocates fewer "
        "processors to each job. Since the application exhibits sub-linear speedup …, it runs more "
        "efficiently on fewer processors.”",
        "With more jobs than partitions, the ideal dynamic policy has a higher efficiency preservation, and "
        "it rises with the number of jobs.",
        [
            *(
                everywhere(
                    f"Ideal|{n} static partitions", ideal, "above", found, AxisRange(f"J > {n}", n + 1)
                )
                for n, found in static.items()
            ),
            monotone("Ideal", ideal, True, ALL),
        ],
        note=OURS,
    )
    yield test.claim(
        "3.2-eight-above-four",
        "3.2: “the higher efficiency preservation for the eight-partitioned system over the "
        "four-partitioned system when the number of jobs in the system exceeds four.”",
        "With more than four jobs, eight static partitions have a higher efficiency preservation than four.",
        [everywhere("8 static partitions|4", static[8], "above", static[4], AxisRange("J > 4", 5))],
        note=f"{OURS} With five jobs, it needs a speedup that grows by less than a quarter from an eighth to "
        "a quarter of the machine.",
    )


ONE = AxisRange("J = 1", 1, 1)


def _at(curve: Curve, jobs: float) -> Curve | float:
    """Return the value of an exact curve at a point as a number; the curve itself where there is none."""
    found = curve.intervals().mean[curve.x == jobs]
    return float(found[0]) if found.size else curve

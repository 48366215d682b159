"""What the minimum time-slice costs in responsiveness and saves in utilization (section on the Cray T3D)."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of
from analysis.jette1997 import derived
from analysis.jette1997.claims.tester import Tester
from analysis.jette1997.labels import GANG, MULTIPLIER, NEVER, SWITCH_COST, SWITCHING, UTILIZATION
from analysis.study import Study
from analysis.study.sample import Sample

SOURCE = (
    "Cray T3D: “While the minimum time-slice mechanism does reduce responsiveness, it prevents the costly "
    "thrashing of jobs between memory and disk and is critical for maintaining a high utilization level.”"
)
USUAL_COST = "1"
"""About one second a preempted processor."""


def multipliers(study: Study) -> list[str]:
    """Return the multipliers of the grid, ascending, without the value at which nobody is preempted."""
    return sorted((value for value in study.values_of(MULTIPLIER) if value != NEVER), key=float)


def costs(study: Study) -> list[str]:
    """Return the costs of a switch, ascending, s a processor."""
    return sorted(study.values_of(SWITCH_COST), key=float)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences."""
    found = multipliers(test.study)
    least, most = found[0], found[-1]
    figures = ("tradeoff", "tradeoff-curves")
    cost = USUAL_COST if USUAL_COST in costs(test.study) else costs(test.study)[0]
    slowdowns = [_slowdown(test, value, cost) for value in (most, least)]
    yield test.claim(
        "t3d-slices-reduce-responsiveness",
        SOURCE,
        f"The slowdown of the interactive workload is higher with a multiplier of {most} than with {least}, "
        f"at {cost} s a processor.",
        [test.times(f"interactive slowdown, multiplier {most} / {least}", slowdowns, 1.0)],
        figures=figures,
    )
    yield test.claim(
        "t3d-slices-prevent-thrashing",
        SOURCE,
        f"With a multiplier of {least} more processor time goes into switching than with {most}, at {cost} s "
        "a processor.",
        [_difference(test, SWITCHING, least, most, cost)],
        figures=figures,
    )
    yield test.claim(
        "t3d-slices-critical-for-utilization",
        SOURCE,
        f"Utilization with a multiplier of {most} is higher than with {least}, at {cost} s a processor.",
        [_difference(test, UTILIZATION, most, least, cost)],
        figures=figures,
    )


def sample(test: Tester, metric: str, multiplier: str, cost: str) -> Sample:
    """Return a share of all processor time at a point of the map."""
    return test.at(metric, GANG, **{MULTIPLIER: multiplier, SWITCH_COST: cost})


def _slowdown(test: Tester, multiplier: str, cost: str) -> Sample:
    return test.get(
        derived.interactive_slowdown, GANG, test.weeks, **{MULTIPLIER: multiplier, SWITCH_COST: cost}
    )


def _difference(test: Tester, metric: str, a: str, b: str, cost: str) -> Part:
    label = f"{metric.replace('_', ' ')}, multiplier {a} minus {b}"
    first, second = (sample(test, metric, value, cost) for value in (a, b))
    if reason := first.reason or second.reason:
        return Open(label, reason)
    return difference_of(label, first.values, second.values, 0.0, scale=100.0, unit=" points")

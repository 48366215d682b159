"""How equally a fixed number of jobs is served (section 5.2.3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.claims import Claim, Fact, Open, Part
from analysis.claims.comparisons import AxisRange
from analysis.claims.exact import everywhere, exact_values
from analysis.claims.tester import Tester
from analysis.mccann1994.claims import margins
from analysis.mccann1994.claims.margins import ALL, NEAR_IDEAL, NO_POWER
from analysis.mccann1994.labels import JOBS, LEAST_LOADED, MOST_LOADED
from analysis.study.curve import Curve

BOUNDS = {"most": MOST_LOADED, "least": LEAST_LOADED}
Q = {"8/15": 8 / 15, "4/15": 4 / 15}
"""Rotation intervals in times of a job alone."""

ODD, EVEN = (
    AxisRange("odd J", only=margins.ODD),
    AxisRange("even J that are no power of two", only=margins.EVEN),
)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of section 5.2.3."""

    def curve(bound: str, q: float | None) -> Curve:
        return test.curve(BOUNDS[bound], "fold_q", JOBS.name, q=q)

    yield test.claim(
        "5.2.3-even-numbers",
        "5.2.3: “These results demonstrate the benefits of reducing N(J) for J even by dividing the system "
        "of rotations into two.”",
        "With rotation, the most and the least loaded job are nearer to 1 at even J (no power of two) than "
        "at odd J, on average.",
        [
            _nearer(f"{bound} loaded job, q = {name}", curve(bound, q))
            for name, q in Q.items()
            for bound in BOUNDS
        ],
    )
    quarter = {bound: curve(bound, Q["4/15"]) for bound in BOUNDS}
    yield test.claim(
        "5.2.3-near-ideal",
        "5.2.3: “it is clear that fairness is very near the ideal once the inter-rotation time is at least a "
        "small factor smaller than the duration of the job when run alone.”",
        f"At q = 4/15 the most and the least loaded job are less than {NEAR_IDEAL:.0%} from 1, on average "
        "over the J that are no power of two.",
        [_near(f"{bound} loaded job", found) for bound, found in quarter.items()],
        note="Farthest: " + ", ".join(_farthest(bound, found) for bound, found in quarter.items()) + ".",
    )
    yield test.claim(
        "5.2.3-rotation-as-long-as-jobs",
        "5.2.3: “For I ≥ E (q ≥ 1), the bounds are equivalent to the case I = ∞.”",
        "At q = 1 both bounds are those without rotation, at every J.",
        [
            everywhere(f"{bound} loaded job, q = 1|without rotation", curve(bound, 1.0), relation,
                       curve(bound, None), ALL)
            for bound in BOUNDS
            for relation in ("at most", "at least")
        ],
    )  # fmt: skip


def _deviation(curve: Curve, points: AxisRange) -> tuple[np.ndarray, np.ndarray, str]:
    """Return points, distances from 1, and a reason where there are none."""
    chosen, values, reason = exact_values([curve], points)
    return chosen, np.abs(values[0] - 1), reason


def _nearer(label: str, curve: Curve) -> Part:
    (_, odd, reason), (_, even, other) = (_deviation(curve, points) for points in (ODD, EVEN))
    if reason or other:
        return Open(label, reason or other)
    text = f"{label}: {even.mean():.3f} from 1 at even J, {odd.mean():.3f} at odd J"
    return Fact(text, bool(even.mean() < odd.mean()))


def _near(label: str, curve: Curve) -> Part:
    _, found, reason = _deviation(curve, NO_POWER)
    if reason:
        return Open(label, reason)
    return Fact(
        f"{label}: {found.mean():.3f} from 1 (asked: below {NEAR_IDEAL:g})", bool(found.mean() < NEAR_IDEAL)
    )


def _farthest(bound: str, curve: Curve) -> str:
    chosen, found, reason = _deviation(curve, NO_POWER)
    if reason:
        return f"{bound} loaded job unknown"
    return f"{bound} loaded job {found.max():.3f} from 1 at J = {chosen[np.argmax(found)]:g}"

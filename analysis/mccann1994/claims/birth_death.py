"""Equal jobs that come and go: the birth-death chain (section 5.3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.claims import Claim, Fact, Open, Part
from analysis.claims.comparisons import AxisRange, listed
from analysis.claims.exact import average, everywhere, exact_values, monotone
from analysis.claims.tester import Tester
from analysis.figures.policies import label
from analysis.mccann1994.claims.margins import ALL, ALL_LOADS, HIGH_LOADS, MODERATE_LOADS, PRONOUNCED, SIMILAR
from analysis.mccann1994.labels import BLOW_UP, EQUIPARTITION, FOLDING, LIMITS, LOADS
from analysis.study.curve import SATURATED, Curve

STEADY = ("fold_never", "fold_200", "fold_20j")
"""Folding but for a constant 20 s, of which the text says that it is too short."""

CHOSEN = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Of Fig. 5.7."""

UNSTABLE = (
    "5.3.1: “As the system load increases, FOLD_I becomes less efficient, for I < ∞. Thus, a value of I "
    "sufficiently large to achieve good performance at moderate loads may become unstable at high loads.”"
)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of section 5.3."""
    yield from _unlimited(test)
    yield from _limited(test)
    yield from _conclusions(test)


def _over_loads(test: Tester, policy: str) -> Curve:
    return test.curve(BLOW_UP, policy, LOADS.name, memory_limit=None)


def _unlimited(test: Tester) -> Iterator[Claim]:
    curves = {policy: _over_loads(test, policy) for policy in (*EQUIPARTITION, *STEADY, "fold_20")}
    pairs = [(fold, equi) for fold in STEADY for equi in EQUIPARTITION]
    yield test.claim(
        "5.3.1-folding-faster",
        "5.3.1: “in general, response time is smaller under the Folding than under the Equipartition "
        "policies. This reflects their better efficiency preservation properties”",
        "FOLD∞, FOLD 200 s and FOLD 20 s × J have a smaller mean blow-up factor than EQUI and EQUI+: the "
        "ratio at each load, averaged over all loads at which both are stable.",
        [
            average(f"{label(fold)} / {label(equi)}", curves[fold], curves[equi], ALL_LOADS, high=1.0)
            for fold, equi in pairs
        ],
        note=" ".join(
            everywhere(f"{label(a)}|{label(b)}", curves[a], "below", curves[b], ALL_LOADS).describe(0.95)
            + "."
            for a, b in pairs
        ),
    )
    short = curves["fold_20"]
    yield test.claim(
        "5.3.1-short-rotation-unstable",
        UNSTABLE,
        "FOLD 20 s is better than EQUI+ at moderate loads, and unstable at some high load of the grid at "
        "which FOLD∞ is stable.",
        [
            average("FOLD 20 s / EQUI+", short, curves["equi_plus"], MODERATE_LOADS, high=1.0),
            _gives_way("FOLD 20 s", short, curves["fold_never"]),
        ],
    )
    yield test.claim(
        "5.3.1-interval-times-jobs",
        "5.3.1: “There is a remedy to this drawback, which is to use an inter-rotation interval of length "
        "J * I … the performance of FOLD 20*J is stable at high loads and very similar to FOLD 200.”",
        "FOLD 20 s × J is stable at all loads of the grid, and its blow-up factor is on average within "
        f"{SIMILAR:.0%} of that of FOLD 200 s.",
        [
            _stable("FOLD 20 s × J", curves["fold_20j"], ALL_LOADS),
            average("FOLD 20 s × J / FOLD 200 s", curves["fold_20j"], curves["fold_200"], ALL_LOADS,
                    1 / (1 + SIMILAR), 1 + SIMILAR),
        ],
    )  # fmt: skip
    yield test.claim(
        "5.3.1-constant-interval-stable",
        "5.3.1: “Even in the absence of this modification, it is not difficult to find values of I that "
        "provide reasonable fairness and are stable up to very high loads.”",
        "FOLD 200 s is stable at all loads of the grid from 0.9 on. (For fairness see the experiment "
        "fairness.)",
        [_stable("FOLD 200 s", curves["fold_200"], HIGH_LOADS)],
    )


def _limited(test: Tester) -> Iterator[Claim]:
    def curve(policy: str, load: float) -> Curve:
        return test.curve(BLOW_UP, policy, LIMITS.name, load=load)

    yield test.claim(
        "5.3.2-folding-improves-with-limit",
        "5.3.2: “performance under the the Folding policy improves with an increasing multiprogramming "
        "limit.”",
        "At each load of Fig. 5.7, FOLD∞'s blow-up factor never rises as the limit is raised, and falls.",
        [monotone(f"FOLD∞, load {load:g}", curve("fold_never", load), False, ALL) for load in CHOSEN],
    )
    yield test.claim(
        "5.3.2-equi-local-minimum",
        "5.3.2: “In contrast, Equipartition shows some tendency towards a local minimum, especially for high "
        "loads.”",
        "At each load of Fig. 5.7, EQUI+ has its smallest blow-up factor at a limit between the lowest and "
        "the highest; the highest is worse than the best, and the more so the higher the load.",
        [
            *(_minimum_inside(f"EQUI+, load {load:g}", curve("equi_plus", load)) for load in CHOSEN),
            _grows([curve("equi_plus", load) for load in CHOSEN]),
        ],
    )
    yield test.claim(
        "5.3.2-not-pronounced",
        "5.3.2: “The effect is not extremely pronounced, however”",
        f"At each load of Fig. 5.7, EQUI+'s blow-up factor at every limit is less than {PRONOUNCED} times "
        "that at the best one.",
        [_above_best(f"EQUI+, load {load:g}", curve("equi_plus", load)) for load in CHOSEN],
    )


def _conclusions(test: Tester) -> Iterator[Claim]:
    policies = [policy for policy in (*EQUIPARTITION, *FOLDING) if policy in test.study.policies]
    best = _over_loads(test, "fold_never")
    yield test.claim(
        "5.5-folding-best",
        "5.5: “we evaluated mean response time under a homogeneous load, and found a member of the Folding "
        "family to perform best.”",
        "FOLD∞ has the smallest blow-up factor of all policies, at every load at which they are stable.",
        [
            everywhere(f"FOLD∞|{label(policy)}", best, "below", _over_loads(test, policy), ALL_LOADS)
            for policy in policies
            if policy != "fold_never"
        ],
    )
    equi, equi_plus = (_over_loads(test, policy) for policy in EQUIPARTITION)
    yield test.claim(
        "5.5-overhead-and-balance",
        "5.5: “while maintaining low reallocation overhead is imperative to the good performance of dynamic "
        "allocation policies, load balancing for highly parallel applications is also a dominant factor”",
        "At loads from 0.8 on, a long rotation time is better than a short one (FOLD 200 s, 20 s) where both "
        "are stable, and with the same partitions the better balance is better (EQUI+, EQUI).",
        [
            everywhere("FOLD 200 s|FOLD 20 s", _over_loads(test, "fold_200"), "below",
                       _over_loads(test, "fold_20"), AxisRange("loads from 0.8 on", 0.8)),
            everywhere("EQUI+|EQUI", equi_plus, "below", equi, AxisRange("loads from 0.8 on", 0.8)),
        ],
    )  # fmt: skip


def _gives_way(name: str, curve: Curve, other: Curve) -> Part:
    """Ask that a policy is unstable at a high load at which another is stable."""
    here = curve.where(SATURATED) & other.stable & (curve.x >= HIGH_LOADS.low)
    if not other.stable.any() or not (curve.stable | curve.where(SATURATED)).all():
        return Open(name, "points are missing")
    first = (
        "stable at all loads"
        if curve.first_saturated is None
        else f"unstable from {curve.first_saturated:g} on"
    )
    return Fact(f"{name}: {first}", bool(here.any()))


def _stable(name: str, curve: Curve, loads: AxisRange) -> Part:
    inside = (curve.x >= loads.low) & (curve.x <= loads.high)
    known = curve.stable | curve.where(SATURATED)
    if not inside.any() or not known[inside].all():
        return Open(name, f"points are missing at {loads.name}")
    n = int(curve.stable[inside].sum())
    return Fact(f"{name}: stable at {n} of {listed('load', curve.x[inside])}", n == inside.sum())


def _minimum_inside(name: str, curve: Curve) -> Part:
    chosen, values, reason = exact_values([curve], ALL)
    if reason or len(chosen) < 3:
        return Open(name, reason or "too few limits")
    at = int(np.argmin(values[0]))
    text = f"{name}: {values[0][at]:.4g} at L = {chosen[at]:g}, {values[0][-1]:.4g} at L = {chosen[-1]:g}"
    return Fact(text, 0 < at < len(chosen) - 1)


def _grows(curves: list[Curve]) -> Part:
    name = "highest limit over best"
    found = [exact_values([curve], ALL) for curve in curves]
    if reason := next((reason for _, _, reason in found if reason), ""):
        return Open(name, reason)
    ratios = [float(values[0][-1] / values[0].min()) for _, values, _ in found]
    told = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    return Fact(f"{name}, by load: {told}", bool((np.diff(ratios) > 0).all()))


def _above_best(name: str, curve: Curve) -> Part:
    """Ask that no limit is much worse than the best; one at which the policy is unstable is."""
    chosen, values, reason = exact_values([curve], ALL)
    if reason:
        return Open(name, reason)
    ratios = values[0] / values[0].min()
    worst, unstable = int(np.argmax(ratios)), curve.x[curve.where(SATURATED)]
    text = f"{name}: up to {ratios[worst]:.3f} times, at L = {chosen[worst]:g} (asked: below {PRONOUNCED})"
    text += f"; {ratios[-1]:.3f} times at L = {chosen[-1]:g}"
    beyond = chosen[ratios >= PRONOUNCED]
    if beyond.size:
        text += f"; {PRONOUNCED} times and more at {listed('limit', beyond)}"
    if unstable.size:
        text += f"; unstable at {listed('limit', unstable)}"
    return Fact(text, not beyond.size and not unstable.size)

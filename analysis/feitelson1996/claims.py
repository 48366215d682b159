"""How the sentences of sections 4.2 and 5 are tested (``claims.yaml``): comparisons of packing schemes.

A metric is averaged over the loads of a range batch by batch before its interval is made
(`analysis.study.curve.Curve.over`), so that variation common to all loads cancels.
"""

from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import (
    AxisRange,
    Chosen,
    Not,
    Sustains,
    excess,
    level,
    ratio,
    rise,
    rises_more,
    turns,
)
from analysis.claims.rows import Rows
from analysis.claims.tester import Tester as Base
from analysis.claims.testers import CURVES, differences, listed
from analysis.feitelson1996 import drawings, logs
from analysis.feitelson1996.labels import AXES, KEY, SLOTS_PER_JOB, SLOWDOWN, UTILIZATION, label
from analysis.study import Study
from analysis.study.curve import EXCLUDED, FAILED, UNFINISHED, Curve
from sweep.statistics import limits_shown

ROWS = Rows(Path(__file__).parent)

CROWDED = 0.95
"""Load from which a machine has hardly any free PE."""

ROUNDING = 1e-9

AXIS_OF_FIG8 = 10.0
"""The highest slowdown of Fig. 8, beyond which a curve counts as saturated to the eye."""

CONTROLLER_LOAD = "controller_load"


class Tester(Base):
    """Compares packing schemes under the features and the reading of one study."""

    def __init__(self, study: Study) -> None:
        reading = study.usual() | dict(study.reading)
        super().__init__(study, KEY, ", ".join(f"{key}={value}" for key, value in reading.items()))
        self.alternation = reading.get("alternation", "")
        if {"pes", "paths"} <= set(study.values_of(CONTROLLER_LOAD)):
            self.names = {CONTROLLER_LOAD: CONTROLLER_LOAD}

    def label(self, policy: str) -> str:
        """Return a scheme's name within a sentence."""
        return label(policy)

    def curve(self, metric: str, policy: str, along: str = "load", **point: object) -> Curve:
        """Return a curve; the precedence of jobs matters only where a PE serves one job."""
        if point.get("alternation", "exclusive") != "exclusive" and self.study.values_of("precedence"):
            point.setdefault("precedence", AXES.features["precedence"])
        return super().curve(metric, policy, along, **point)

    def without_alternation(self, subject: str) -> list[Part]:
        """Return the reason why sentences on alternative scheduling cannot be tested; empty if they can."""
        reason = "under this reading there is no alternative scheduling"
        return [Open(subject, reason)] if self.alternation == "none" else []

    def without_slots(self, curve: str) -> list[Part] | None:
        """Return the parts in place of slots per job, None if slots were measured.

        The parts are empty for the average over jobs.
        """
        impossible = self.without_alternation("slots per job")
        if curve != SLOTS_PER_JOB and (impossible or curve not in self.study.data):
            return []
        return impossible or None

    @property
    def beyond_capacity(self) -> str:
        """The reason why sentences on utilization cannot be tested: PEs count twice; empty if they do not."""
        curves = [self.curve(UTILIZATION, policy) for policy in self.study.policies]
        values = np.concatenate([curve.values[curve.x >= CROWDED].ravel() for curve in curves])
        known = values[np.isfinite(values)]
        share = float((known > 1 + ROUNDING).mean()) if known.size else 0.0
        if self.alternation != "shared" or not share:
            return ""
        return (
            f"two jobs may fill the same PEs under this reading, and {100 * share:.0f} % of the batches at "
            f"loads from {CROWDED:g} up deliver more PE time than the machine has"
        )


def _sustains(test: Tester, of: list[str], above: float, negated: bool = False) -> list[Part]:
    """Ask that each scheme sustains a utilization above a threshold, or that none does."""
    parts: list[Part] = []
    for scheme in of:
        curve = test.curve(UTILIZATION, scheme)
        absent = "not in this grid" if curve.where(EXCLUDED).all() else ""
        reason = test.beyond_capacity or absent
        part = Open(label(scheme), reason) if reason else Sustains(label(scheme), curve.capacity, above)
        parts.append(Not(part) if negated else part)
    return parts


def _by_curve(test: Tester, of: list[str], load: float, above: float) -> list[Part]:
    """Ask for a slowdown on the axis of Fig. 8 and a utilization above a threshold, at one load."""
    at = AxisRange(f"load {load:g}", load, load)
    return [
        part
        for scheme in of
        for part in (
            level(f"{label(scheme)}, slowdown", test.curve(SLOWDOWN, scheme), at, high=AXIS_OF_FIG8),
            level(f"{label(scheme)}, utilization", test.curve(UTILIZATION, scheme), at, above, percent=True),
        )
    ]


def _simplified(test: Tester, of: str, at: AxisRange, **limits: float) -> list[Part]:
    """Compare the two definitions of a controller's load."""
    pes, tree = (test.curve(SLOWDOWN, of, **{CONTROLLER_LOAD: one}) for one in ("pes", "paths"))
    return [ratio(f"{label(of)}, loads of PEs / tree", pes, tree, at, **limits)]


def _slots(test: Tester, curve: str = SLOTS_PER_JOB, **compared: Any) -> list[Part]:
    """Compare slots per job."""
    impossible = test.without_slots(curve)
    return differences(test, curve, **compared) if impossible is None else impossible


def _slots_rise(
    test: Tester, of: list[str], lower: AxisRange, upper: AxisRange, before: list[AxisRange],
    curve: str = SLOTS_PER_JOB,
) -> list[Part]:  # fmt: skip
    """Ask that slots per job rise to the upper loads, by more than they rise between two ranges before."""
    found = [
        part
        for scheme in of
        for one in [test.curve(curve, scheme)]
        for part in (
            rise(label(scheme), one, lower, upper),
            rises_more(label(scheme), one, (lower, upper), (before[0], before[1])),
        )
    ]
    impossible = test.without_slots(curve)
    return found if impossible is None else impossible


def _without(test: Tester, feature: str, of: Any, at: Any, **limits: float) -> list[Part]:
    """Compare the slowdown without a feature with the slowdown with it."""
    off = {"unification": "false", "alternation": "none"}[feature]
    impossible = test.without_alternation("alternative scheduling") if feature == "alternation" else []
    return impossible or [
        ratio(
            f"{label(scheme)}, without / with {feature}",
            test.curve(SLOWDOWN, scheme, **{feature: off}),
            test.curve(SLOWDOWN, scheme),
            loads,
            **limits,
        )
        for loads in listed(at)
        for scheme in listed(of)
    ]


def _excess(test: Tester, of: str, over: list[str], at: list[AxisRange]) -> list[Part]:
    """Ask that losing alternative scheduling adds more to one scheme's slowdown than to the others'."""

    def both(scheme: str) -> tuple[Curve, Curve]:
        return test.curve(SLOWDOWN, scheme, alternation="none"), test.curve(SLOWDOWN, scheme)

    return test.without_alternation("alternative scheduling") or [
        excess(f"{label(of)}'s rise − {label(other)}'s", both(of), both(other), loads)
        for loads in at
        for other in over
    ]


def _at_each_load(test: Tester, curve: str, of: str, high: float) -> list[Part]:
    """Ask for a limit at every load at which a scheme is stable."""
    found = test.curve(curve, of)
    if _incomplete(found):
        return [Open(label(of), "points are missing")]
    loads = found.x[found.stable]
    return [level(label(of), found, AxisRange(f"load {x:g}", x, x), high=high, percent=True) for x in loads]


def _at_peak(test: Tester, curve: str, of: str, low: float, high: float) -> list[Part]:
    """Ask for limits at the load with the highest mean; the data chose it, so its interval is widened."""
    found = test.curve(curve, of)
    if _incomplete(found):
        return [Open(label(of), "points are missing")]
    mean = np.where(found.stable, found.intervals().mean, -np.inf)
    load = float(found.x[int(np.argmax(mean))])
    part = level(label(of), found, AxisRange(f"load {load:g}", load, load), low, high, percent=True)
    return [Chosen(part, int(found.stable.sum()))]


def _incomplete(curve: Curve) -> bool:
    """Whether statements about every load cannot be made yet."""
    return not curve.stable.any() or bool(curve.where(UNFINISHED, FAILED).any())


def _example(test: Tester, part: str) -> list[Part]:
    """Return the engine's behaviour with the jobs of Fig. 9."""
    parts: list[Part] = list(drawings.facts(test.alternation or "exclusive")[part])
    if part == "4.2-fig9-end":
        parts[-1:] = test.without_alternation("jobs that run in an additional slot") or parts[-1:]
    return parts


def _logs(test: Tester, part: str) -> list[Part]:
    """Return facts about two logs of the archive, whatever the study."""
    return list(logs.facts()[part])


def _saturation(test: Tester, of: list[str]) -> str:
    """Return the loads up to which schemes keep up."""
    found = {scheme: limits_shown(*test.curve(SLOWDOWN, scheme).capacity) for scheme in of}
    texts = [f"{label(scheme)} {limits}" for scheme, limits in found.items() if limits]
    return f"They keep up with loads up to: {', '.join(texts)}." if texts else ""


def _turns(test: Tester, of: list[str], over: list[str], **limits: float) -> str:
    """Return the single loads at which slowdowns compare the opposite way to a sentence."""
    pairs = [(a, b) for a, b in product(of, over) if a != b]
    curves = {scheme: test.curve(SLOWDOWN, scheme) for scheme in (*of, *over)}
    upper = ROWS.names["upper"]
    found = [
        load
        for a, b in pairs
        for load in turns(f"{label(a)} / {label(b)}", curves[a], curves[b], upper, len(pairs), **limits)
    ]
    return f"The opposite holds at single loads: {'; '.join(found) or 'none'}."


TESTERS: Mapping[str, Any] = {
    **CURVES,
    "sustains": _sustains,
    "by_curve": _by_curve,
    "simplified": _simplified,
    "slots": _slots,
    "slots_rise": _slots_rise,
    "without": _without,
    "excess": _excess,
    "at_each_load": _at_each_load,
    "at_peak": _at_peak,
    "example": _example,
    "logs": _logs,
    "saturation": _saturation,
    "turns": _turns,
}


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim, tested on a study under one reading."""
    return ROWS.claims(Tester(study), TESTERS)

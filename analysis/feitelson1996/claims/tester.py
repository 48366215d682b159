"""Short ways from a study to curves, comparisons and claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from analysis.claims import Claim, Part, judge
from analysis.comparisons import AxisRange, difference, ratio
from analysis.curve import FAILED, UNFINISHED, Curve
from analysis.study import Study
from analysis.style import scheme_style


class Tester:
    """Short ways to curves and claims of one study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._curves: dict[tuple[object, ...], Curve] = {}
        self.reading = ", ".join(f"{key}={value}" for key, value in reading(study).items())

    def curve(self, metric: str, scheme: str, **features: str) -> Curve:
        """Return a curve; most of them serve several claims."""
        key = (metric, scheme, *features.items())
        if key not in self._curves:
            self._curves[key] = self.study.curve(metric, scheme, **features)
        return self._curves[key]

    def saturation(self, schemes: Sequence[str]) -> str:
        """Say from which load on schemes are saturated: comparisons stop there, so they cannot show it."""
        firsts = {scheme: self.slowdown(scheme).first_saturated for scheme in schemes}
        told = [f"{label(scheme)} {load:g}" for scheme, load in firsts.items() if load is not None]
        return f"Lowest saturated load: {', '.join(told) or 'none'}."

    def slowdown(self, scheme: str, **features: str) -> Curve:
        """Return a slowdown curve."""
        return self.curve("slowdown", scheme, **features)

    def claim(
        self,
        name: str,
        source: str,
        statement: str,
        parts: Sequence[Part],
        *,
        needed: int | None = None,
        note: str = "",
    ) -> Claim:
        """Return the verdict over some parts, with a note that bears on it but decides nothing."""
        verdict, evidence = judge(parts, self.study.confidence, needed)
        evidence = (*evidence, note) if note else evidence
        return Claim(f"feitelson1996-{name}", source, statement, verdict, evidence, self.reading)

    def ratios(
        self,
        metric: str,
        schemes: Sequence[str],
        others: Sequence[str],
        loads: AxisRange,
        low: float = -np.inf,
        high: float = np.inf,
    ) -> list[Part]:
        """Compare each of some schemes with each of others."""
        return [
            ratio(f"{label(a)} / {label(b)}", *self._both(metric, a, b), loads, low, high)
            for a, b in _pairs(schemes, others)
        ]

    def differences(
        self,
        metric: str,
        schemes: Sequence[str],
        others: Sequence[str],
        loads: AxisRange,
        low: float = -np.inf,
        high: float = np.inf,
    ) -> list[Part]:
        """The same by differences, for metrics that may be zero; shares are shown in percent."""
        compare = partial(difference, percent=metric == "unifications")
        return [
            compare(f"{label(a)} − {label(b)}", *self._both(metric, a, b), loads, low, high)
            for a, b in _pairs(schemes, others)
        ]

    def _both(self, metric: str, a: str, b: str) -> tuple[Curve, Curve]:
        return self.curve(metric, a), self.curve(metric, b)


def _pairs(schemes: Sequence[str], others: Sequence[str]) -> list[tuple[str, str]]:
    return [(a, b) for a, b in product(schemes, others) if a != b]


def reading(study: Study) -> dict[str, str]:
    """Return the reading under which a study is tested: its features and further axes."""
    return study.usual() | dict(study.reading)


def label(scheme: str) -> str:
    return scheme_style(scheme).label.lower()


def incomplete(curve: Curve) -> bool:
    """Tell whether statements about every load cannot be made yet."""
    return not curve.stable.any() or bool(curve.where(UNFINISHED, FAILED).any())

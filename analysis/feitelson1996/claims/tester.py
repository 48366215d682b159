"""Short ways from a study to comparisons of packing schemes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from analysis.claims import Part, tester
from analysis.claims.comparisons import AxisRange, difference, ratio
from analysis.feitelson1996.labels import KEY, SLOWDOWN, UNIFICATIONS, label
from analysis.study import Study
from analysis.study.curve import FAILED, UNFINISHED, Curve


class Tester(tester.Tester):
    """Compares packing schemes under the features and the reading of one study."""

    def __init__(self, study: Study) -> None:
        reading = study.usual() | dict(study.reading)
        super().__init__(study, KEY, ", ".join(f"{key}={value}" for key, value in reading.items()))

    def saturation(self, schemes: Sequence[str]) -> str:
        """Say from which load on schemes are saturated: comparisons stop there, so they cannot show it."""
        firsts = {scheme: self.slowdown(scheme).first_saturated for scheme in schemes}
        told = [f"{label(scheme)} {load:g}" for scheme, load in firsts.items() if load is not None]
        return f"Lowest saturated load: {', '.join(told) or 'none'}."

    def slowdown(self, scheme: str, **features: str) -> Curve:
        """Return a slowdown curve."""
        return self.curve(SLOWDOWN, scheme, **features)

    def ratios(
        self, metric: str, schemes: Sequence[str], others: Sequence[str], loads: AxisRange, **limits: float
    ) -> list[Part]:
        """Compare each of some schemes with each of others, see `comparisons.ratio`."""
        return [
            ratio(f"{label(a)} / {label(b)}", self.curve(metric, a), self.curve(metric, b), loads, **limits)
            for a, b in product(schemes, others)
            if a != b
        ]

    def differences(
        self, metric: str, schemes: Sequence[str], others: Sequence[str], loads: AxisRange, **limits: float
    ) -> list[Part]:
        """The same by differences, for metrics that may be zero; shares are shown in percent."""
        percent = metric == UNIFICATIONS
        return [
            difference(
                f"{label(a)} − {label(b)}", self.curve(metric, a), self.curve(metric, b), loads,
                percent=percent, **limits,
            )
            for a, b in product(schemes, others)
            if a != b
        ]  # fmt: skip


def incomplete(curve: Curve) -> bool:
    """Tell whether statements about every load cannot be made yet."""
    return not curve.stable.any() or bool(curve.where(UNFINISHED, FAILED).any())

"""Short ways from a study to comparisons of packing schemes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from analysis.claims import Claim, Open, Part, tester
from analysis.claims.comparisons import AxisRange, difference, ratio, turns
from analysis.feitelson1996.claims.margins import UPPER
from analysis.feitelson1996.labels import (
    ALTERNATION,
    AXES,
    KEY,
    PRECEDENCE,
    SLOTS_OVER_JOBS,
    SLOTS_PER_JOB,
    SLOWDOWN,
    UNIFICATIONS,
    UTILIZATION,
    label,
)
from analysis.study import Study
from analysis.study.curve import FAILED, UNFINISHED, Curve

OVER_JOBS = "Averaged over jobs, each with the mean over its own time"
"""The other reading of "average number of slots in which each job runs"; the default is over job-time."""

CROWDED = 0.95
"""Load from which a machine has hardly any PE to spare."""

ROUNDING = 1e-9


class Tester(tester.Tester):
    """Compares packing schemes under the features and the reading of one study."""

    def __init__(self, study: Study) -> None:
        reading = study.usual() | dict(study.reading)
        super().__init__(study, KEY, ", ".join(f"{key}={value}" for key, value in reading.items()))
        self.alternation = reading.get(ALTERNATION, "")

    def curve(self, metric: str, policy: str, along: str = "load", **point: object) -> Curve:
        """Return a curve; who comes first matters only where a PE serves one job."""
        if point.get(ALTERNATION, "exclusive") != "exclusive" and self.study.values_of(PRECEDENCE):
            point.setdefault(PRECEDENCE, AXES.features[PRECEDENCE])
        return super().curve(metric, policy, along, **point)

    @property
    def without_alternation(self) -> str:
        """Why sentences on alternative scheduling cannot be tested; nothing where they can."""
        return "under this reading there is no alternative scheduling" if self.alternation == "none" else ""

    @property
    def beyond_capacity(self) -> str:
        """Why sentences on utilisation cannot be tested: PEs count twice; nothing where they do not."""
        curves = [self.curve(UTILIZATION, policy) for policy in self.study.policies]
        values = np.concatenate([curve.values[curve.x >= CROWDED].ravel() for curve in curves])
        known = values[np.isfinite(values)]
        share = float((known > 1 + ROUNDING).mean()) if known.size else 0.0
        if self.alternation != "shared" or not share:
            return ""
        return (
            f"two jobs may fill the same PEs under this reading, and {share:.0%} of the batches at loads "
            f"from {CROWDED:g} up deliver more than the machine has"
        )

    def saturation(self, schemes: Sequence[str]) -> str:
        """Say from which load on schemes are saturated: comparisons stop there, so they cannot show it."""
        firsts = {scheme: self.slowdown(scheme).first_saturated for scheme in schemes}
        told = [f"{label(scheme)} {load:g}" for scheme, load in firsts.items() if load is not None]
        return f"Lowest saturated load: {', '.join(told) or 'none'}."

    def turns(self, schemes: Sequence[str], others: Sequence[str], **limits: float) -> str:
        """Say at which single loads slowdowns compare the other way round than a sentence has them."""
        pairs = [(a, b) for a, b in product(schemes, others) if a != b]
        found = [
            told
            for a, b in pairs
            for told in turns(
                f"{label(a)} / {label(b)}", self.slowdown(a), self.slowdown(b), UPPER, len(pairs), **limits
            )
        ]
        return f"The other way round at single loads: {'; '.join(found) or 'none'}."

    def over_jobs(
        self, schemes: Sequence[str], others: Sequence[str], loads: Sequence[AxisRange], **limits: float
    ) -> dict[str, list[Part]]:
        """Compare slots per job averaged over jobs and not over job-time, if that was measured."""
        if SLOTS_OVER_JOBS not in self.study.data:
            return {}
        return {OVER_JOBS: self.differences_at(loads, SLOTS_OVER_JOBS, schemes, others, **limits)}

    def slots_claim(
        self,
        name: str,
        source: str,
        statement: str,
        schemes: Sequence[str],
        others: Sequence[str],
        loads: Sequence[AxisRange],
        **limits: float,
    ) -> Claim:
        """Test a sentence on slots per job, and tell of both averages."""
        if self.without_alternation:
            return self.claim(name, source, statement, [Open("slots per job", self.without_alternation)])
        parts = self.differences_at(loads, SLOTS_PER_JOB, schemes, others, **limits)
        also = self.over_jobs(schemes, others, loads, **limits)
        return self.claim(name, source, statement, parts, also=also, figures=("fig11",))

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

    def ratios_at(
        self,
        ranges: Sequence[AxisRange],
        metric: str,
        schemes: Sequence[str],
        others: Sequence[str],
        **limits: float,
    ) -> list[Part]:
        """Compare so at each of several ranges."""
        return [part for loads in ranges for part in self.ratios(metric, schemes, others, loads, **limits)]

    def differences_at(
        self,
        ranges: Sequence[AxisRange],
        metric: str,
        schemes: Sequence[str],
        others: Sequence[str],
        **limits: float,
    ) -> list[Part]:
        """Compare by differences at each of several ranges."""
        return [
            part for loads in ranges for part in self.differences(metric, schemes, others, loads, **limits)
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

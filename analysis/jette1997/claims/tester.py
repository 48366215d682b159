"""Short ways from a study to comparisons of the three schedulers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from analysis.claims import Part, tester
from analysis.claims.comparisons import level_of, ratio_of
from analysis.jette1997.labels import KEY, benchmark, long_one, periods, reported
from analysis.study import Study
from analysis.study.sample import Sample

Measured = Callable[..., Sample]
"""(study, further arguments) -> sample, see `analysis.jette1997.derived`."""


class Tester(tester.Tester):
    """Tests sentences on one study; most samples serve several of them."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, KEY)
        self.months = long_one(study)
        self.weeks = reported(study)
        self.periods = periods(study)
        self.benchmark = benchmark(study)

    def get(self, measured: Measured, *arguments: Any, **point: object) -> Sample:
        """Return what a function of `analysis.jette1997.derived` makes of the study, computed once."""
        key = (measured.__name__, *map(repr, arguments), *sorted(point.items()))
        if key not in self._samples:
            self._samples[key] = measured(self.study, *arguments, **point)
        return self._samples[key]

    def share(self, label: str, one: Sample, low: float = 0.0, high: float = 1.0) -> Part:
        """Ask for limits on a share, in percent; 0 and 1 are no limits."""
        least, most = (low if low > 0 else -float("inf")), (high if high < 1 else float("inf"))
        return level_of(label, one, least, most, 100.0, " %")

    def slowdown(
        self, label: str, one: Sample, low: float = -float("inf"), high: float = float("inf")
    ) -> Part:
        """Ask for limits on a slowdown; 1.18 is what the paper calls 18 %."""
        return level_of(label, one, low, high)

    def times(
        self, label: str, pair: Sequence[Sample], low: float = -float("inf"), high: float = float("inf")
    ) -> Part:
        """Ask for limits on the ratio of two samples, paired by the same jobs."""
        a, b = pair
        return ratio_of(label, a, b, low, high)

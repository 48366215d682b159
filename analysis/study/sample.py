"""Values of a metric at one point of a study, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.study.curve import DONE, EXCLUDED, UNFINISHED
from sweep import statistics
from sweep.statistics import Interval


@dataclass(frozen=True)
class Sample:
    """Values of a metric.

    Parameters
    ----------
    values : ndarray, shape (replications, batches)
    status : str
        `curve.DONE` and the like.
    exact : bool
        The values are solved, not simulated.
    """

    values: np.ndarray
    status: str
    exact: bool = False

    @classmethod
    def absent(cls, status: str = EXCLUDED) -> Sample:
        """Return a sample without values."""
        return cls(np.full((1, 1), np.nan), status)

    @classmethod
    def computed(cls, how: Callable[..., np.ndarray], *samples: Sample) -> Sample:
        """Return what a function makes of the values of samples; one without values where one of them is."""
        if bad := [one.status for one in samples if one.reason]:
            return cls.absent(bad[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(how(*(one.values for one in samples)), samples[0].status)

    @property
    def reason(self) -> str:
        """Why it has no estimate; empty if it has one."""
        if self.status == EXCLUDED:
            return "not in this grid"
        if self.status != DONE:
            return self.status
        return "" if np.isfinite(self.values).any() else "no such jobs"

    def interval(self, confidence: float) -> Interval:
        """Return the mean with its interval."""
        return statistics.interval(self.values, confidence, exact=self.exact)

    @property
    def shown(self) -> bool:
        """Whether a figure draws it: finished, or unfinished with some values."""
        return self.status in (DONE, UNFINISHED) and bool(np.isfinite(self.values).any())


def together(samples: Sequence[Sample]) -> Sample:
    """Return the average of samples, value by value; samples without such jobs are excluded."""
    bad = [one.status for one in samples if one.status != DONE]
    if bad or not samples:
        return Sample.absent(bad[0] if bad else EXCLUDED)
    table = np.array([one.values for one in samples])
    known = np.isfinite(table)
    count = known.sum(axis=0)
    mean = np.where(known, table, 0.0).sum(axis=0) / np.where(count, count, np.nan)
    return Sample(mean, DONE, exact=all(one.exact for one in samples))

"""One metric of one policy in one month: a sample of independent months, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.curve import DONE, EXCLUDED, UNFINISHED
from analysis.study import Study
from sweep import statistics
from sweep.statistics import Interval


@dataclass(frozen=True)
class Sample:
    """Values of a metric.

    Parameters
    ----------
    values : ndarray, shape (replications, batches)
        One batch is one month; replications are independent months with the same demands.
    status : str
        `curve.DONE` and the like.
    """

    values: np.ndarray
    status: str

    @property
    def reason(self) -> str:
        """Why nothing can be said of it; empty if something can."""
        if self.status == EXCLUDED:
            return "not in this grid"
        if self.status != DONE:
            return self.status
        return "" if np.isfinite(self.values).any() else "no such jobs"

    def interval(self, confidence: float) -> Interval:
        """Return the mean with its interval."""
        return statistics.interval(self.values, confidence)

    @property
    def shown(self) -> bool:
        """Whether a figure draws it: finished, or under way with some months there already."""
        return self.status in (DONE, UNFINISHED) and bool(np.isfinite(self.values).any())


def sample(study: Study, metric: str, policy: str, month: str, **group: str) -> Sample:
    """Return a metric in a month.

    Parameters
    ----------
    study : Study
        Under one reading.
    metric, policy, month : str
        Names in the dataset.
    **group : str
        Values on the metric's own dimensions: ``runtime_range="under 1 min"``; all jobs by default.
    """
    curve = study.curve(metric, policy, workload=month, **group)
    if len(curve.x) != 1:
        return Sample(np.full((1, 1), np.nan), EXCLUDED)
    return Sample(curve.values[0], curve.status[0])


def together(samples: Sequence[Sample]) -> Sample:
    """Return the average over months, replication by replication; a month without such jobs is left out."""
    bad = [one.status for one in samples if one.status != DONE]
    if bad or not samples:
        return Sample(np.full((1, 1), np.nan), bad[0] if bad else EXCLUDED)
    table = np.array([one.values for one in samples])
    known = np.isfinite(table)
    count = known.sum(axis=0)
    mean = np.where(known, table, 0.0).sum(axis=0) / np.where(count, count, np.nan)
    return Sample(mean, DONE)


def table_of_month(study: Study, metric: str, month: str) -> np.ndarray:
    """Return a metric of the grid's only policy, shape (its own dimensions..., replications, batches)."""
    found = study.data[metric].isel(policy=0)
    for dim in ("load", "machine"):
        if dim in found.dims:
            found = found.isel({dim: 0})
    if "workload" in found.dims:
        found = found.isel(workload=study.values_of("workload").index(month))
    return np.asarray(found.transpose(..., "replication", "batch").values)

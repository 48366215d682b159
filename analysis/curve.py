"""One metric of one scheme over the loads: batch values, intervals, and what became of each point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sweep import statistics

DONE, SATURATED, UNFINISHED, FAILED, EXCLUDED = "done", "saturated", "unfinished", "failed", "excluded"
"""What a point is: all replications done and stable; some replication saturated; some replication not run
yet; some replication raised; no point of the grid."""


@dataclass(frozen=True)
class Curve:
    """Batch values of a metric at every load.

    Parameters
    ----------
    loads : ndarray, shape (n_loads,)
        Offered loads, ascending.
    values : ndarray, shape (n_loads, replications, batches)
        NaN where not run.
    status : tuple of str, length n_loads
        `DONE` and the like.
    confidence : float
        Of `intervals`.
    """

    loads: np.ndarray
    values: np.ndarray
    status: tuple[str, ...]
    confidence: float = 0.95

    def where(self, *status: str) -> np.ndarray:
        """Return which loads have one of the given states, shape (n_loads,)."""
        return np.array([state in status for state in self.status], dtype=bool)

    @property
    def stable(self) -> np.ndarray:
        """Loads whose values may be averaged: every replication is done and none saturated."""
        return self.where(DONE)

    @property
    def shown(self) -> np.ndarray:
        """Loads that a figure draws: stable, or under way with some batches there already."""
        begun = ~np.isnan(self.values).all(axis=(-2, -1))
        return self.stable | (self.where(UNFINISHED) & begun)

    @property
    def first_saturated(self) -> float | None:
        """The lowest saturated load."""
        saturated = self.loads[self.where(SATURATED)]
        return float(saturated[0]) if saturated.size else None

    def above(self, load: float) -> Curve:
        """Return the part from a load on."""
        kept = self.loads >= load
        status = tuple(state for state, keep in zip(self.status, kept, strict=True) if keep)
        return Curve(self.loads[kept], self.values[kept], status, self.confidence)

    def at(self, load: float) -> np.ndarray:
        """Return the batch values at a load, shape (replications, batches)."""
        found: np.ndarray = self.values[int(np.flatnonzero(self.loads == load)[0])]
        return found

    def over(self, loads: np.ndarray) -> np.ndarray:
        """Return the batch values averaged over loads, shape (replications, batches).

        The same jobs arrive at every load, so loads are correlated: they are averaged batch by batch, before
        any interval is made. A batch missing at one of the loads is missing in the average.
        """
        return self.values[np.isin(self.loads, loads)].mean(axis=0)

    def intervals(self) -> statistics.Intervals:
        """Return mean, half-width and lag-1 correlation at every load; NaN at loads not `shown`."""
        values = np.where(self.shown[:, None, None], self.values, np.nan)
        return statistics.intervals(values, self.confidence)

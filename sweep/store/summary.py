"""The summary of each point in a dataset: means, intervals, saturation, warm-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from models.family import Metric
from sweep import statistics
from sweep.config.settings import MSER
from sweep.plan.plan import Plan
from sweep.statistics.warmup import truncation
from sweep.store.blocks import Block, Results
from sweep.store.state import DONE


class Summary:
    """The summary of each point of the grid, filled in block by block.

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        Metric -> (n_batches, ...).
    coords : mapping of str to sequence
        Of the metrics' own dimensions.

    Attributes
    ----------
    intervals : dict of str to tuple of ndarray
        Metric -> mean, half-width and lag-1 correlation, shape (axes..., own...).
    saturated, shortfall : ndarray, shape (axes...)
    suspected : ndarray of bool, shape (axes..., replication)
    dropped : ndarray of int, shape (axes...), or None
        Leading batches that MSER drops, where it is asked to.
    ranked : dict of str to pair of ndarray
        Metric that has users' numbers -> the least and the largest at each rank, shape (axes..., rank).
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], plan: Plan, coords: Mapping[str, Any]) -> None:
        self._plan = plan
        of_points = {name: (*plan.shape, *own) for name, (_, *own) in shapes.items()}
        self.intervals = {
            name: tuple(np.full(shape, np.nan) for _ in range(3)) for name, shape in of_points.items()
        }
        self.saturated = np.zeros(plan.shape, dtype=bool)
        self.shortfall = np.full(plan.shape, np.nan)
        self.suspected = np.zeros((*plan.shape, plan.replications), dtype=bool)
        self.dropped = np.zeros(plan.shape, np.int32) if plan.settings.warmup == MSER else None
        self.ranked = {
            name: (np.full(shape, np.nan), np.full(shape, np.nan))
            for name, shape in of_points.items()
            if name.startswith("number_by_")
        }

    def add(self, block: Block, results: Results, state: np.ndarray) -> dict[str, np.ndarray]:
        """Judge a block, and return its metrics in the shape (axes..., replication, batch, own...).

        Parameters
        ----------
        state : ndarray of int, shape (n_cells,)
            What became of each task of the grid.
        """
        plan = self._plan
        done = state.reshape(-1, plan.replications)[block.points] == DONE
        self._judge(block, results, done)
        dropped = None if self.dropped is None else self._truncations(block, results)
        found = {}
        for name, metric in plan.metrics.items():
            values = found[name] = _of_points(results.values[name], block, plan.replications, dropped)
            weight = None
            if metric.weight in plan.metrics:
                weight = _of_points(results.values[metric.weight], block, plan.replications, None)
            self._estimate(block, metric, values, weight)
            if name in self.ranked:
                plain = _of_points(results.values[name], block, plan.replications, None)
                places = (len(plan.shape), len(plan.shape) + 1)
                lowest, highest = self.ranked[name]
                lowest[block.index] = np.fmin.reduce(plain, axis=places)
                highest[block.index] = np.fmax.reduce(plain, axis=places)
        return found

    def _judge(self, block: Block, results: Results, done: np.ndarray) -> None:
        """Find out which points are saturated, which replications suspected, and what was left undone."""
        replications = self._plan.replications
        points = len(done)
        saturated, shortfall = np.zeros(points, dtype=bool), np.full(points, np.nan)
        suspected = np.zeros((points, replications), dtype=bool)
        for point in sorted({row // replications for row in results.suspected}):
            rows = point * replications + np.flatnonzero(done[point])
            there = [results.suspected.get(row) for row in rows.tolist()]
            found = statistics.judge(there)
            saturated[point], shortfall[point] = found.saturated, found.shortfall
            suspected[point, done[point]] = found.suspected
        self.saturated[block.index] = saturated.reshape(block.shape)
        self.shortfall[block.index] = shortfall.reshape(block.shape)
        self.suspected[block.index] = suspected.reshape(*block.shape, replications)

    def _truncations(self, block: Block, results: Results) -> np.ndarray:
        """Return the leading batches that MSER drops at each point."""
        plan = self._plan
        headline = results.values[plan.headline]
        of_points = headline.reshape(-1, plan.replications, *headline.shape[1:])
        found = np.zeros(block.shape, dtype=np.int32)
        first = block.points.start
        for point in plan.points[(plan.points >= first) & (plan.points < block.points.stop)].tolist():
            found.flat[point - first] = truncation(of_points[point - first])
        assert self.dropped is not None
        self.dropped[block.index] = found
        return found

    def _estimate(self, block: Block, metric: Metric, values: np.ndarray, weight: np.ndarray | None) -> None:
        """Estimate the mean of a metric; the shape of `values` is (axes..., replication, batch, own...)."""
        plan = self._plan
        own = (1,) * len(metric.dims)
        # The statistics want replication and batch last.
        places = (len(plan.shape), len(plan.shape) + 1)
        samples = np.moveaxis(values, places, (-2, -1))
        weights = None if weight is None else np.moveaxis(weight, places, (-2, -1))
        exact = plan.exact[block.index].reshape(block.shape + own)
        found = statistics.intervals(samples, plan.settings.confidence, weight=weights, exact=exact)
        keep = ~self.saturated[block.index].reshape(block.shape + own)
        for whole, part in zip(self.intervals[metric.name], found, strict=True):
            whole[block.index] = np.where(keep, part, np.nan)


def _of_points(values: np.ndarray, block: Block, replications: int, dropped: np.ndarray | None) -> np.ndarray:
    """Return values of cells, shape (axes..., replication, batch, own...), without the batches dropped."""
    found = values.reshape(*block.shape, replications, *values.shape[1:])
    if dropped is None:
        return found
    cut = np.arange(values.shape[1]) < dropped[..., np.newaxis, np.newaxis]
    return np.where(cut.reshape(*cut.shape, *(1,) * (values.ndim - 2)), np.nan, found)

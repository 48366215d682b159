"""The summary of each point in a dataset: means, intervals, saturation, warm-up, length."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from models.family import Metric
from sweep import statistics
from sweep.config.settings import MSER
from sweep.plan.plan import Plan
from sweep.statistics.warmup import truncation
from sweep.store.blocks import Block, Results
from sweep.store.capacities import Capacities
from sweep.store.state import DONE

NOTABLE = 0.01
"""Share of the mean from which a significant rise is a reason to call a run too short."""

POOLED = ("workload", "load", "machine")
"""Axes with relaxation times of their own: those of all policies are taken together."""


class Summary:
    """The summary of each point of the grid, filled in block by block.

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        Metric -> (n_batches, ...).
    coords : mapping of str to sequence
        Of the metrics' own dimensions.
    capacities : Capacities
        Of each curve.

    Attributes
    ----------
    intervals : dict of str to tuple of ndarray
        Metric -> mean, half-width and lag-1 correlation, shape (axes..., own...).
    saturated : ndarray of bool, shape (axes...)
    too_short : ndarray of bool, shape (axes...)
    bias : ndarray, shape (axes...)
        Expected, as a share of the mean, of points that are too short.
    control : ndarray, shape (axes..., replication)
        By how much more was delivered than is offered on average; NaN where that average is not known.
    dropped : ndarray of int, shape (axes...), or None
        Leading batches that MSER drops, where it is asked to.
    ranked : dict of str to pair of ndarray
        Metric that has users' numbers -> the least and the largest at each rank, shape (axes..., rank).
    """

    def __init__(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        plan: Plan,
        coords: Mapping[str, Any],
        capacities: Capacities,
    ) -> None:
        self._plan, self._capacities = plan, capacities
        of_points = {name: (*plan.shape, *own) for name, (_, *own) in shapes.items()}
        self.intervals = {
            name: tuple(np.full(shape, np.nan) for _ in range(3)) for name, shape in of_points.items()
        }
        self.saturated, self.too_short = (np.zeros(plan.shape, dtype=bool) for _ in range(2))
        self.bias = np.full(plan.shape, np.nan)
        self.control = np.full((*plan.shape, plan.replications), np.nan)
        self._lengths = statistics.Lengths(*(np.full(plan.shape, np.nan) for _ in range(4)))
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
        broken = results.overflowed.reshape(done.shape).sum(axis=-1)
        saturated = (broken > 0) & (2 * broken >= done.sum(axis=-1))
        self.saturated[block.index] = saturated.reshape(block.shape) | self._capacities.exceeded(block.index)
        dropped = None if self.dropped is None else self._truncations(block, results)
        found = {}
        control = self._control(block, results, dropped)
        self.control[block.index] = np.nan if control is None else control
        if not plan.longest.to_the_end:
            whole = _of_points(results.values[plan.headline], block, plan.replications, None)
            of_first = whole.reshape(*whole.shape[: len(plan.shape) + 2], -1)[..., 0]
            for kept, part in zip(self._lengths, statistics.lengths(of_first, dropped), strict=True):
                kept[block.index] = part
        for name, metric in plan.metrics.items():
            values = found[name] = _of_points(results.values[name], block, plan.replications, dropped)
            weight = None
            if metric.weight in plan.metrics:
                weight = _of_points(results.values[metric.weight], block, plan.replications, None)
            self._estimate(block, metric, values, weight, None if name == plan.delivered else control)
            if name in self.ranked:
                plain = _of_points(results.values[name], block, plan.replications, None)
                places = (len(plan.shape), len(plan.shape) + 1)
                lowest, highest = self.ranked[name]
                lowest[block.index] = np.fmin.reduce(plain, axis=places)
                highest[block.index] = np.fmax.reduce(plain, axis=places)
        return found

    def judge_lengths(self) -> None:
        """Find out which points are too short, when all blocks are there."""
        plan, seen = self._plan, self._lengths
        other = tuple(place for place, axis in enumerate(plan.axes) if axis not in POOLED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of values that are all NaN
            relaxation = np.nanmedian(seen.relaxation, axis=other, keepdims=True)
        # They grow with the load: what is seen at one holds for all above, where short runs show less of it.
        order = np.argsort(np.array(plan.axes["load"], dtype=float), kind="stable")
        axis = list(plan.axes).index("load")
        grown = np.fmax.accumulate(np.take(relaxation, order, axis), axis=axis)
        relaxation = np.take(grown, np.argsort(order), axis)
        by_load = np.array([one.warmup for one in plan.measurements], dtype=np.float64)
        warmup = by_load.reshape([-1 if axis == "load" else 1 for axis in plan.axes])
        at_limit = np.zeros(plan.shape, dtype=bool)
        if self.dropped is not None:
            warmup = warmup + self.dropped
            at_limit = (self.dropped > 0) & (self.dropped >= seen.kept - 1)
        rises = (seen.rises == 1) & (seen.rise > NOTABLE) & (seen.kept < 2 * statistics.ENOUGH * relaxation)
        bias = statistics.expected_bias(relaxation, warmup, seen.kept, seen.rise * rises)
        short = (seen.kept < statistics.ENOUGH * relaxation) | at_limit | rises
        self.too_short = short & (seen.kept > 0) & ~self.saturated & ~plan.exact & np.isfinite(relaxation)
        self.bias = np.where(self.too_short, bias, np.nan)

    def _control(self, block: Block, results: Results, dropped: np.ndarray | None) -> np.ndarray | None:
        """Return by how much more was delivered in each replication than was offered on average.

        Shape (axes..., replication), NaN where that average is not known; None where it is known nowhere.
        """
        plan = self._plan
        known = plan.controlled[block.index]
        if not known.any():
            return None
        values = _of_points(results.values[plan.delivered], block, plan.replications, dropped)
        ran = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            mean = np.where(ran, values, 0.0).sum(axis=-1) / ran.sum(axis=-1)
        found: np.ndarray = np.where(known[..., None], mean - plan.loads[block.index][..., None], np.nan)
        return found

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

    def _estimate(
        self,
        block: Block,
        metric: Metric,
        values: np.ndarray,
        weight: np.ndarray | None,
        control: np.ndarray | None,
    ) -> None:
        """Estimate the mean of a metric; the shape of `values` is (axes..., replication, batch, own...)."""
        plan = self._plan
        own = (1,) * len(metric.dims)
        # The statistics want replication and batch last.
        places = (len(plan.shape), len(plan.shape) + 1)
        samples = np.moveaxis(values, places, (-2, -1))
        if weight is not None:
            samples = statistics.weighed(samples, np.moveaxis(weight, places, (-2, -1)))
        if control is not None:
            by_replication = control.reshape(*block.shape, *own, plan.replications)
            samples = statistics.controlled(samples, by_replication, plan.settings.confidence)
        exact = plan.exact[block.index].reshape(block.shape + own)
        found = statistics.intervals(samples, plan.settings.confidence, exact=exact)
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

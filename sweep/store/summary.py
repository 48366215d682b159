"""The summary of each point in a dataset: means, intervals, saturation, warm-up, length."""

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sweep import statistics
from sweep.config.settings import MSER
from sweep.plan.data import Plan
from sweep.statistics.warmup import truncation
from sweep.store.capacities import Capacities
from sweep.store.state import DONE

NOTABLE = 0.01
"""Share of the mean from which a significant rise makes a run count as too short."""

POOLED = ("workload", "load", "machine")
"""Axes with relaxation times of their own; the policies are pooled."""


class Results(NamedTuple):
    """The results of the tasks of a block.

    values : metric -> values, shape (axes..., replication, batch, own...), NaN where missing
    overflowed : runs that stopped early for lack of space for more jobs, shape (axes..., replication)
    """

    values: dict[str, np.ndarray]
    overflowed: np.ndarray


class Summary:
    """The summary of each point of the grid, filled in block by block.

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        Metric -> (n_batches, ...).

    Attributes
    ----------
    intervals : dict of str to tuple of ndarray
        Metric -> mean, half-width and lag-1 correlation, shape (axes..., own...).
    saturated : ndarray of bool, shape (axes...)
    too_short : ndarray of bool, shape (axes...)
    bias : ndarray, shape (axes...)
        Expected bias as a share of the mean, at points that are too short.
    control : ndarray, shape (axes..., replication)
        Excess of the delivered work over the average offered; NaN where that average is not known.
    dropped : ndarray of int, shape (axes...), or None
        Leading batches that MSER drops, with ``warmup=mser``.
    ranked : dict of str to pair of ndarray
        Metric of users' numbers -> the smallest and the largest number at each rank, shape (axes..., rank).
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], plan: Plan, capacities: Capacities) -> None:
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

    def add(self, at: tuple[slice, ...], results: Results, state: np.ndarray) -> dict[str, np.ndarray]:
        """Summarise a block, and return its metrics without the dropped batches.

        Parameters
        ----------
        state : ndarray of int, shape (axes..., replication)
            State of each task of the block.
        """
        plan, given = self._plan, results.values
        broken = results.overflowed.sum(axis=-1)
        saturated = (broken > 0) & (2 * broken >= (state == DONE).sum(axis=-1))
        self.saturated[at] = saturated | self._capacities.exceeded(at)
        # The statistics take replication and batch as the last axes.
        places = (len(plan.shape), len(plan.shape) + 1)
        dropped = None
        if self.dropped is not None:
            dropped = self.dropped[at]
            for point in np.ndindex(dropped.shape):
                dropped[point] = truncation(given[plan.headline][point])
        values = {name: _without(whole, dropped) for name, whole in given.items()}
        control = self._control(at, values[plan.delivered]) if plan.controlled[at].any() else None
        if control is not None:
            self.control[at] = control
        if not plan.longest.to_the_end and not plan.settings.is_program:
            whole = given[plan.headline]
            of_first = whole.reshape(*whole.shape[: places[-1] + 1], -1)[..., 0]
            for kept, part in zip(self._lengths, statistics.lengths(of_first, dropped), strict=True):
                kept[at] = part
        for name, metric in plan.metrics.items():
            own = (1,) * len(metric.dims)
            samples = np.moveaxis(values[name], places, (-2, -1))
            if metric.weight in plan.metrics:
                samples = statistics.weighed(samples, np.moveaxis(given[metric.weight], places, (-2, -1)))
            if control is not None and name != plan.delivered:
                by_replication = control.reshape(*saturated.shape, *own, plan.replications)
                samples = statistics.controlled(samples, by_replication, plan.settings.confidence)
            exact, void = (each[at].reshape(saturated.shape + own) for each in (plan.exact, self.saturated))
            found = statistics.intervals(samples, plan.settings.confidence, exact=exact)
            for interval, part in zip(self.intervals[name], found, strict=True):
                interval[at] = np.where(void, np.nan, part)
            if name in self.ranked:
                for kept, extreme in zip(self.ranked[name], (np.fmin, np.fmax), strict=True):
                    kept[at] = extreme.reduce(given[name], axis=places)
        return values

    def judge_lengths(self) -> None:
        """Determine which points are too short, after all blocks have been added."""
        plan, seen = self._plan, self._lengths
        other = tuple(place for place, axis in enumerate(plan.axes) if axis not in POOLED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns of values that are all NaN
            relaxation = np.nanmedian(seen.relaxation, axis=other, keepdims=True)
        # Relaxation times grow with the load: an estimate is a lower bound at all higher loads, where short
        # runs underestimate them more.
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
        self.too_short = short & (seen.kept > 0) & ~self.saturated & ~plan.solved & np.isfinite(relaxation)
        self.bias = np.where(self.too_short, bias, np.nan)

    def _control(self, at: tuple[slice, ...], delivered: np.ndarray) -> np.ndarray:
        """Return the excess of the work delivered in each replication over the average offered.

        Shape (axes..., replication), NaN where that average is not known.
        """
        mean = statistics.mean_of(delivered, ~np.isnan(delivered))
        known, loads = self._plan.controlled[at], self._plan.loads[at]
        return np.where(known[..., None], mean - loads[..., None], np.nan)


def _without(values: np.ndarray, dropped: np.ndarray | None) -> np.ndarray:
    """Return values, shape (axes..., replication, batch, own...), with NaN in the leading batches dropped."""
    if dropped is None:
        return values
    n_batches, n_own = values.shape[dropped.ndim + 1], values.ndim - dropped.ndim - 2
    cut = np.arange(n_batches) < dropped[..., np.newaxis, np.newaxis]
    return np.where(cut.reshape(*cut.shape, *(1,) * n_own), np.nan, values)

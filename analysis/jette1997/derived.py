"""Values computed from a dataset's weeks: months, aggregates over hours, ratios of sums.

The dataset has means and sums of each batch, a week of the 15 months (a day of three weeks). An aggregate
slowdown is a ratio of two sums over a run, of response times and of runtimes, and so is computed here from
both, not averaged.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial

import numpy as np

from analysis.jette1997 import labels
from analysis.study import Study
from analysis.study.curve import Sample
from analysis.study.study import SAMPLES, text
from sweep import statistics


def raw(study: Study, metric: str, policy: str, workload: str, **point: object) -> Sample:
    """Return a metric's values by batch, shape (replications, batches, dimensions not given)."""
    place = study.usual() | {axis: text(value) for axis, value in point.items()} | {"policy": policy}
    if workload:
        place[labels.WORKLOAD] = workload
    place.setdefault("load", next(iter(study.values_of("load")), ""))
    if metric not in study.data or any(value not in study.values_of(axis) for axis, value in place.items()):
        return Sample.absent()
    at = {axis: study.values_of(axis).index(value) for axis, value in place.items()}
    found = study.data[metric]
    found = found.isel({axis: i for axis, i in at.items() if axis in found.dims})
    status = study.status.isel({axis: i for axis, i in at.items() if axis in study.status.dims})
    return Sample(found.transpose(*SAMPLES, ...).values.astype(float), str(status.values))


def ratio(numerator: Sample, denominator: Sample) -> Sample:
    """Return the ratio of two sums over a run, from their parts in each batch."""
    return Sample.computed(
        lambda above, below: statistics.weighed(above / below, np.where(below > 0, below, 0.0)),
        numerator,
        denominator,
    )


def total(one: Sample) -> Sample:
    """Return the sum over the last dimension, NaN where nothing is known."""
    return Sample.computed(partial(_sum, axis=-1), one)


def product(a: Sample, b: Sample) -> Sample:
    """Return the product of two metrics of one run, batch by batch."""
    return Sample.computed(np.multiply, a, b)


def of_runs(one: Sample) -> Sample:
    """Return the sums over the batches of each replication, shape (replications, 1)."""
    return Sample.computed(lambda values: _sum(values, 1)[:, np.newaxis], one)


def _sum(values: np.ndarray, axis: int) -> np.ndarray:
    known = np.isfinite(values)
    return np.where(known.any(axis=axis), np.where(known, values, 0.0).sum(axis=axis), np.nan)


def largest(one: Sample) -> Sample:
    """Return the largest value of each replication, shape (replications, 1)."""

    def highest(values: np.ndarray) -> np.ndarray:
        flat = np.where(np.isfinite(values), values, -np.inf).reshape(len(values), -1)
        found = flat.max(axis=1, keepdims=True)
        return np.where(np.isfinite(found), found, np.nan)

    return Sample.computed(highest, one)


def at(study: Study, one: Sample, dim: str, values: Sequence[str]) -> Sample:
    """Return a metric at some values of its one dimension, which is the last."""
    known = study.values_of(dim)
    if one.reason or not set(values) <= set(known):
        return Sample.absent(one.status if one.reason else "excluded")
    return Sample(one.values[..., [known.index(value) for value in values]], one.status)


def grouped(
    study: Study, kind: str, dim: str, values: Sequence[str], policy: str, workload: str, **point: object
) -> Sample:
    """Return a metric of the interactive jobs of some hours or lengths together, by jobs or by runtimes.

    Parameters
    ----------
    kind : str
        ``slowdown`` (of all runtimes together), or a share of jobs: ``preempted``, ``begun_10s``, …
    dim : {"hour", "length"}
    """
    weight = "runtime" if kind == "slowdown" else "jobs"
    value, count = (
        at(study, raw(study, labels.by(name, dim), policy, workload, **point), dim, values)
        for name in (kind, weight)
    )
    # A week without such jobs has neither a mean nor a weight.
    return ratio(total(product(value, count)), total(count))


def interactive_slowdown(study: Study, policy: str, workload: str, **point: object) -> Sample:
    """Return the slowdown of all interactive jobs together: their response times over their runtimes."""
    slowdown, runtime = (
        raw(study, metric, policy, workload, **{labels.SITE_CLASS: labels.INTERACTIVE}, **point)
        for metric in (labels.CLASS_SLOWDOWN, labels.CLASS_RUNTIME)
    )
    return ratio(product(slowdown, runtime), runtime)


def share_of_terminals(study: Study, metric: str, policy: str, workload: str) -> Sample:
    """Return the share of `of_terminals` in a sum over all classes."""
    whole = raw(study, metric, policy, workload)
    return ratio(of_terminals(study, whole), total(whole))


def of_terminals(study: Study, one: Sample) -> Sample:
    """Return a sum over the jobs that users start at a terminal: interactive jobs and debugger jobs."""
    return total(at(study, one, labels.SITE_CLASS, (labels.INTERACTIVE, labels.DEBUG)))


def rate(study: Study, metric: str, policy: str, workload: str, classes: Sequence[str] = ()) -> Sample:
    """Return the jobs that end, or the time delivered, per second, for some classes or for all."""
    whole = raw(study, metric, policy, workload)
    some = total(at(study, whole, labels.SITE_CLASS, classes) if classes else whole)
    return ratio(some, raw(study, labels.PERIOD, policy, workload))


def middles(study: Study, policy: str, workload: str) -> np.ndarray:
    """Return the middle of each batch since the beginning, seconds, shape (batches,); NaN for none."""
    period = raw(study, labels.PERIOD, policy, workload)
    if period.reason:
        return np.zeros(0)
    mean = statistics.mean_of(period.values, np.isfinite(period.values), axis=0)
    there = np.isfinite(mean)
    length = np.where(there, mean, 0.0)
    return np.where(there, np.cumsum(length) - length / 2, np.nan)


def first_day(study: Study, workload: str) -> date | None:
    """Return the day on which the measured part of a workload begins, if its file gives it."""
    given = study.config.get("workload", {}).get(workload, {}).get("first_day")
    return None if given is None else date.fromisoformat(str(given))


def months(study: Study, policy: str, workload: str) -> np.ndarray:
    """Return the calendar month in which the middle of each batch lies, from 1 on, 0 where there is none."""
    found, begin = middles(study, policy, workload), first_day(study, workload)
    if begin is None:
        return np.where(np.isfinite(found), np.nan_to_num(found) // labels.MONTH + 1, 0).astype(int)
    days = [begin + timedelta(seconds=float(one)) if np.isfinite(one) else None for one in found]
    return np.array(
        [0 if one is None else 12 * (one.year - begin.year) + one.month - begin.month + 1 for one in days]
    )


def of_months(
    study: Study, metric: str, policy: str, workload: str, first: int, last: int | None = None
) -> Sample:
    """Return a metric of the machine from one month to another, both included, averaged over its time.

    That is all of its time, or its weekdays or weekends, of which a batch may have only an hour or none.
    """
    weight = study.data[metric].attrs.get("weight", labels.PERIOD) if metric in study.data else labels.PERIOD
    values, period = raw(study, metric, policy, workload), raw(study, weight, policy, workload)
    month = months(study, policy, workload)
    inside = (month >= first) & (month <= (first if last is None else last))
    if values.reason or period.reason or not inside.any():
        return Sample.absent(values.status if values.reason else "excluded")
    return Sample(statistics.weighed(values.values[:, inside], period.values[:, inside]), values.status)


def weekly(study: Study, metric: str, policy: str, workload: str) -> Sample:
    """Return the metric of each batch with equal weights; NaN for a batch that is cut short at the end."""
    pair = raw(study, metric, policy, workload), raw(study, labels.PERIOD, policy, workload)
    return Sample.computed(
        lambda values, period: np.where(period > 0.9 * np.nanmedian(period), values, np.nan), *pair
    )


def best_week(study: Study, policy: str, workload: str) -> Sample:
    """Return the highest weekly utilization of each run."""
    return largest(weekly(study, labels.UTILIZATION, policy, workload))


def in_full_weeks(study: Study, policy: str, workload: str, least: float) -> Sample:
    """Return the slowdown of the interactive workload over those weeks that are utilized above a limit."""
    used = weekly(study, labels.UTILIZATION, policy, workload)
    slowdown, runtime = (
        raw(study, metric, policy, workload, **{labels.SITE_CLASS: labels.INTERACTIVE})
        for metric in (labels.CLASS_SLOWDOWN, labels.CLASS_RUNTIME)
    )
    chosen = Sample.computed(
        lambda share, alone: np.where(np.nan_to_num(share) > least, alone, np.nan), used, runtime
    )
    beyond, below = of_runs(product(slowdown, chosen)), of_runs(chosen)
    return Sample.computed(np.divide, beyond, below)

"""The model: for each range of sizes its sizes, and the distributions of its gaps and runtimes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.workloads.jann1997.hyper_erlang import MOST_STAGES, HyperErlang


@dataclass(frozen=True, eq=False)
class Range:
    """Jobs of similar sizes: a stream of its own.

    Parameters
    ----------
    least, most : int
        Processors.
    sizes : ndarray of int, shape (n_sizes,)
        The sizes that occur.
    weights : ndarray of float, shape (n_sizes,)
        Relative frequency of each; any sum is allowed.
    gaps, runtimes : HyperErlang
        Seconds between two submissions of jobs of the range, and of their runtimes.
    """

    least: int
    most: int
    sizes: Ints
    weights: Floats
    gaps: HyperErlang
    runtimes: HyperErlang

    @property
    def label(self) -> str:
        """The range in words, ``1`` or ``3-4``: of messages and of the streams of random numbers."""
        return label_of(self.least, self.most)

    @property
    def steps(self) -> Floats:
        """Cumulated probabilities of the sizes, the last of them 1, shape (n_sizes,)."""
        steps = np.cumsum(self.weights) / self.weights.sum()
        steps[-1] = 1.0
        return steps

    @property
    def mean_size(self) -> float:
        """Mean number of processors."""
        return float(self.sizes @ self.weights / self.weights.sum())


@dataclass(frozen=True, eq=False)
class Model:
    """Ranges of sizes of one log.

    Parameters
    ----------
    log : str
        The log to which it is fitted.
    processors : int
        Processors of the log's machine.
    ranges : tuple of Range
        The ranges, by size.
    """

    log: str
    processors: int
    ranges: tuple[Range, ...]

    @property
    def largest(self) -> int:
        """Processors of the largest job."""
        return max(int(jobs.sizes.max()) for jobs in self.ranges)

    def natural_load(self, processors: int) -> float:
        """Return the load that the model's own arrivals put on a machine of this size."""
        work = (jobs.mean_size * jobs.runtimes.mean / jobs.gaps.mean for jobs in self.ranges)
        return sum(work) / processors

    def share_of_serial(self) -> float:
        """Return the share of the jobs that have one processor."""
        rates = np.array([1 / jobs.gaps.mean for jobs in self.ranges])
        serial = [jobs.weights[jobs.sizes == 1].sum() / jobs.weights.sum() for jobs in self.ranges]
        return float(rates @ serial / rates.sum())

    def with_sizes(self, change: Callable[[Range], tuple[Ints, Floats]]) -> Model:
        """Return the model with other sizes and weights in its ranges."""
        ranges = []
        for jobs in self.ranges:
            sizes, weights = change(jobs)
            ranges.append(replace(jobs, sizes=sizes, weights=weights))
        return replace(self, ranges=tuple(ranges))


def label_of(least: int, most: int) -> str:
    """Return a range of sizes in words."""
    return str(least) if least == most else f"{least}-{most}"


def table_of(model: Model) -> list[str]:
    """Return the lines of the YAML table that `of_table` reads; ten digits of each number."""
    lines = ["fit:", f"  log: {model.log}", f"  processors: {model.processors}", "  ranges:"]
    for jobs in model.ranges:
        lines.append(f"    - range: [{jobs.least}, {jobs.most}]")
        pairs = [f"[{size}, {weight:.10g}]" for size, weight in zip(jobs.sizes, jobs.weights, strict=True)]
        lines += _wrapped("      sizes: [", pairs, "]")
        for name, of in (("gaps", jobs.gaps), ("runtimes", jobs.runtimes)):
            values = f"order: {of.order}, p: {of.p:.10g}, rate_1: {of.rate_1:.10g}, rate_2: {of.rate_2:.10g}"
            lines.append(f"      {name}: {{{values}}}")
    return lines


def _wrapped(first: str, words: list[str], last: str, width: int = 110) -> list[str]:
    lines = [first]
    for number, word in enumerate(words):
        text = word + (last if number == len(words) - 1 else ", ")
        if len((lines[-1] + text).rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * len(first))
        lines[-1] += text
    return lines


def of_table(table: object) -> Model:
    """Return the model of ``workload.fit``, checked; ``ValueError`` with one line for a mistake."""
    where = "workload.fit"
    given = checks.mapping(table, where, ("log", "processors", "ranges"))
    processors = checks.whole(given, where, "processors")
    ranges = given.get("ranges")
    if not isinstance(ranges, list) or not ranges:
        checks.refuse(f"{where}.ranges", ranges, "a list of {range, sizes, gaps, runtimes}")
    found = tuple(_range(f"{where}.ranges[{i}]", one, processors) for i, one in enumerate(ranges))
    for smaller, larger in pairwise(found):
        if larger.least <= smaller.most:
            raise ValueError(
                f"{where}.ranges: {smaller.label} and {larger.label}; give them by size and without overlap"
            )
    return Model(str(given.get("log", "fit")), processors, found)


def _range(where: str, given: object, processors: int) -> Range:
    keys = checks.mapping(given, where, ("range", "sizes", "gaps", "runtimes"))
    bounds: Any = keys.get("range")
    if not _are_whole(bounds, 2) or not 1 <= bounds[0] <= bounds[1] <= processors:
        checks.refuse(f"{where}.range", bounds, f"[least, most] of 1 to {processors} processors")
    pairs: Any = keys.get("sizes")
    least, most = bounds
    allowed = f"[[processors, weight], ...], {least} to {most} processors, weights above 0"
    if not isinstance(pairs, list) or not pairs:
        checks.refuse(f"{where}.sizes", pairs, allowed)
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not _are_whole(pair[:1], 1):
            checks.refuse(f"{where}.sizes", pairs, allowed)
        weight = {"weight": pair[1]}
        checks.number(weight, f"{where}.sizes", "weight", "a number above 0", above=0)
        if not least <= pair[0] <= most:
            checks.refuse(f"{where}.sizes", pairs, allowed)
    sizes, weights = zip(*pairs, strict=True)
    return Range(
        least,
        most,
        np.array(sizes, np.int64),
        np.array(weights, float),
        _distribution(f"{where}.gaps", keys.get("gaps")),
        _distribution(f"{where}.runtimes", keys.get("runtimes")),
    )


def _are_whole(values: Any, number: int) -> bool:
    if not isinstance(values, list) or len(values) != number:
        return False
    return all(isinstance(value, int) and not isinstance(value, bool) for value in values)


def _distribution(where: str, given: object) -> HyperErlang:
    keys: Mapping[str, Any] = checks.mapping(given, where, ("order", "p", "rate_1", "rate_2"))
    order = checks.whole(keys, where, "order", f"1 to {MOST_STAGES:,} stages", most=MOST_STAGES)
    p = checks.number(keys, where, "p", "a probability, 0 to 1", least=0, most=1)
    rates = [checks.number(keys, where, key, "1/s, above 0", above=0) for key in ("rate_1", "rate_2")]
    return HyperErlang(order, float(p), float(rates[0]), float(rates[1]))

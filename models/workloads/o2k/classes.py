"""The jobs of one class before they are bent towards its demands."""

from dataclasses import dataclass

import numpy as np

from models.arrays import Floats
from models.point import Seed
from models.streams import stream
from models.units import KB_IN_MB
from models.workloads.o2k.assumptions import Assumptions
from models.workloads.o2k.job_classes import SIZE_CLASSES, TIME_CLASSES
from models.workloads.o2k.shapes import Choice, Span, choice, correlated, span, stratified, within

MINUTE = 60.0
SERIAL_BREAK_MB = 512.0
"""Section 3: half of the serial jobs request more than the memory per processor of any host."""

SIZES = tuple(SIZE_CLASSES)


@dataclass(frozen=True, eq=False)
class Draft:
    """Jobs of a class; their values depend on tilts still to be found. All arrays have the shape (n_jobs,).

    Parameters
    ----------
    requested : ndarray of float, seconds
    rank : ndarray of float
        Quantile of each job's runtime.
    runtime : Span
        Seconds.
    size : Choice
        Processors.
    narrow, wide : Span
        MB of a job with at most `narrow_size` processors, and of a job with more.
    narrow_size : int
        Serial in sj; in mj and lj the limit of the next smaller class: a job within it is in its class
        because of its memory.
    """

    requested: Floats
    rank: Floats
    runtime: Span
    size: Choice
    narrow: Span
    wide: Span
    narrow_size: int

    def memory(self, size: Floats) -> Span:
        """Return the requested MB, given the processors."""
        return self.narrow.otherwise(size <= self.narrow_size, self.wide)


def _runtime(
    time: str, rank: Floats, requested: Floats, assumed: Assumptions, random: np.random.Generator
) -> Span:
    """Return the seconds that jobs run, by Fig. 2 and section 3.

    A share ends within a minute, and another share of the lt jobs within the limit of st; both are
    independent of the tilt. The others are uniform on a log scale up to their requests, except for the tilt,
    which leaves enough of them unchanged to keep every order of magnitude occupied.
    """
    n = len(rank)
    short = rounded_share(assumed.under_a_minute[time], n)
    brief = _fixed(span(1.0, MINUTE, within(rank, 0, short)))
    if time == "lt":
        enough = max(rounded_share(assumed.short_enough, n), short)
        limit = TIME_CLASSES["st"]
        left_alone = rank < enough
        even = span(MINUTE, limit, within(rank, short, enough))
        longer = span(limit + 1, requested, within(rank, enough, 1))
    else:
        left_alone = random.random(n) < assumed.left_alone
        even = longer = span(MINUTE, requested, within(rank, short, 1))
    return brief.otherwise(rank < short, _fixed(even).otherwise(left_alone, longer))


def _fixed(numbers: Span) -> Span:
    """Return numbers that do not depend on the tilt."""
    values = numbers.at(0)
    return span(values, values, np.ones(len(values)))


def rounded_share(share: float, n: int) -> float:
    """Return the share nearest to one that is a whole number of `n` jobs."""
    return float(np.rint(share * n) / n) if n else share


def draft(name: str, n: int, assumed: Assumptions, seed: Seed, part: str) -> Draft:
    """Draw the jobs of a class.

    Notes
    -----
    Quantiles are stratified (one from each n-th part of a distribution), so that a class of 20 jobs has the
    shape of its distribution too.
    """
    time, size = name.split("_")

    def random(cause: str) -> np.random.Generator:
        return stream(seed, f"o2k {assumed.month.name} {part} {name} {cause}")

    request_rank, rank = stratified(n, random("requests")), stratified(n, random("runtimes"))
    requested = 3600 * choice(assumed.requests[time], request_rank).at(0)
    size_rank = correlated(rank, assumed.size_correlation, random("sizes"))
    memory_rank = stratified(n, random("memory"))

    runtime = _runtime(time, rank, requested, assumed, random("runtimes left alone"))
    most = SIZE_CLASSES[size][1] / KB_IN_MB
    least = assumed.least_memory_mb[size]
    wide = span(least, most, memory_rank)
    if size == SIZES[0]:
        narrow_size = 1
        share = 1 - assumed.serial_over_512mb
        above = span(SERIAL_BREAK_MB + 1, most, within(memory_rank, share, 1))
        narrow = span(least, SERIAL_BREAK_MB, within(memory_rank, 0, share))
        narrow = narrow.otherwise(memory_rank < share, above)
    else:
        narrow_size, kilobytes = SIZE_CLASSES[SIZES[SIZES.index(size) - 1]]
        narrow = span(kilobytes / KB_IN_MB + 1, most, memory_rank)
    return Draft(
        requested,
        rank,
        runtime,
        choice(assumed.sizes.get(name, assumed.sizes[size]), size_rank),
        narrow,
        wide,
        narrow_size,
    )

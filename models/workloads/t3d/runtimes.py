"""Runtimes up to a limit: truncated lognormal distributions, whose scale is solved for the work they make."""

from collections.abc import Sequence
from math import exp, log

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from models.arrays import Floats
from models.workloads.t3d.keys import Queue

SHORTEST = 1.0
"""Seconds: "a one second job delayed for about 23 minutes" (section "Cray T3D")."""

WIDEST = 30.0
"""Range around the limits, in standard deviations, within which the middle is searched."""


def log_mass(low: float, high: float) -> float:
    """Return the logarithm of a normal score's probability to be between these, exact in both tails."""
    if low > 0:
        low, high = -high, -low
    below, above = float(log_ndtr(low)), float(log_ndtr(high))
    return above + log(-np.expm1(below - above)) if above > below else -np.inf


def mean(limit: float, middle: float, spread: float) -> float:
    """Return the mean of a lognormal distribution that is truncated to `SHORTEST` and a limit, seconds.

    `middle` and `spread` are the mean and the standard deviation of the logarithm before it is truncated.
    """
    low, high = (log(SHORTEST) - middle) / spread, (log(limit) - middle) / spread
    weighted = log_mass(low - spread, high - spread)
    return exp(middle + spread**2 / 2 + weighted - log_mass(low, high))


def solved_scale(queues: Sequence[Queue], spread: float, work: float, what: str) -> float:
    """Return the scale with which jobs have this mean work.

    Parameters
    ----------
    queues : sequence of Queue
        The middle of each one's distribution is the logarithm of its limit plus the scale.
    work : float, processor seconds
        Mean of a job.
    what : str
        For the message.

    Returns
    -------
    float
        The mean work rises with it, from jobs of `SHORTEST` to jobs that reach their limit.

    Raises
    ------
    ValueError
        With one line, if no scale gives this work.
    """

    def surplus(scale: float) -> float:
        return (
            sum(
                queue.share * queue.sizes.mean * mean(queue.limit, log(queue.limit) + scale, spread)
                for queue in queues
            )
            - work
        )

    width = log(max(queue.limit for queue in queues) / SHORTEST)
    ends = -width - WIDEST * spread, WIDEST * spread
    if not surplus(ends[0]) < 0 < surplus(ends[1]):
        least, most = (surplus(end) + work for end in ends)
        raise ValueError(
            f"workload.{what}: {work:,.0f} processor seconds for each job in the mean; jobs of these sizes "
            f"and limits make {least:,.0f} to {most:,.0f}; change jobs, work, sizes or limits"
        )
    return float(brentq(surplus, *ends, xtol=1e-13, rtol=1e-14))


def drawn(limit: Floats, scale: float, spread: float, uniforms: Floats) -> Floats:
    """Return runtimes, seconds, all arrays of shape (n_jobs,).

    Each number is the quantile of its job.
    """
    low, high = (np.log(SHORTEST / limit) - scale) / spread, -scale / spread
    upper = np.where(low > 0, -1.0, 1.0)  # mirrored: upper tails keep digits
    below = ndtr(upper * low)
    score = upper * ndtri(below + uniforms * (ndtr(upper * high) - below))
    return np.clip(limit * np.exp(scale + spread * score), SHORTEST, limit)

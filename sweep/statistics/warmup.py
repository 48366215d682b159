"""How much of a run's beginning to leave out.

A run starts from an empty machine, and its first batches are better than later ones. The rule MSER finds the
end of this transient where the noise permits; so it is applied to the mean over all replications of a point,
not to each of them. Applied run by run it does harm: it cuts wherever the remainder happens to be calm, and a
calm remainder has a low mean. See docs/statistics.md for measurements.
"""

import numpy as np
from numpy.typing import ArrayLike

from sweep.statistics.correlation import MIN_BATCHES

LEAST_GROUPS = 10
"""Minimum of groups: with fewer, the rule only follows noise."""


def truncation(values: ArrayLike) -> int:
    """Return the leading batches of all replications of a point that MSER drops.

    This truncation minimises the standard error of the remaining batches. A result at the limit of half of
    the batches means that the runs are too short for their transient.

    Parameters
    ----------
    values : array_like, shape (replications, batches, ...)
        A metric's batch means, NaN where not run; for a metric with dimensions of its own, its mean over them
        counts.

    Returns
    -------
    int
        At most half of the batches that every replication has, and never more than leaves the batches that
        an interval needs; 0 where there are too few batches to judge, or one holds no data.

    References
    ----------
    K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation
    69(6), 1997, 323-334. K. Hoad, S. Robinson, R. Davies, "Automating warm-up length estimation", Journal of
    the Operational Research Society 61(9), 2010, 1389-1403 (on batch means, averaged over replications).
    """
    table = np.asarray(values, dtype=np.float64)
    of_runs = table.reshape(*table.shape[:2], -1).mean(axis=2)
    ran = ~np.isnan(of_runs)
    of_runs, ran = of_runs[ran.any(axis=1)], ran[ran.any(axis=1)]
    n = int(ran.sum(axis=1).min(initial=table.shape[1]))
    if not len(of_runs) or n < LEAST_GROUPS:
        return 0
    means = of_runs[:, :n].mean(axis=0)
    if not np.isfinite(means).all():
        return 0
    # Summed from the end and relative to the last mean, so that the tail loses no digits to a huge transient.
    tail = (means - means[-1])[::-1]
    left = np.arange(n, 0, -1)
    sums, squares = np.cumsum(tail)[::-1], np.cumsum(tail**2)[::-1]
    spread = np.maximum(squares - sums**2 / left, 0)
    return min(int(np.argmin((spread / left**2)[: n // 2 + 1])), n - MIN_BATCHES)

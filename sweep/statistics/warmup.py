"""How much of a run's beginning to leave out.

A run starts from an empty machine, and its first batches are better than later ones. The rule MSER
finds where that ends, if it can see it through the noise: so it is asked of the mean over all replications
of a point, not of each of them. Run by run it does harm: it cuts wherever what is left happens to be calm,
and a calm rest has a low mean. docs/statistics.md has what was measured.
"""

import numpy as np
from numpy.typing import ArrayLike

from sweep.statistics.correlation import MIN_BATCHES

LEAST_GROUPS = 10
"""With fewer the rule only chases noise."""


def truncation(values: ArrayLike) -> int:
    """Return the leading batches of all replications of a point that MSER drops.

    It is the truncation that minimises the standard error of what is left. A result at the limit of half of
    the batches means that the runs are too short for their transient.

    Parameters
    ----------
    values : array_like, shape (replications, batches, ...)
        A metric's batch means, NaN where not run; one with dimensions of its own is judged by its mean over
        them.

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
    # Summed from the end and relative to the last mean, so that a huge transient costs the tail no digits.
    tail = (means - means[-1])[::-1]
    left = np.arange(n, 0, -1)
    sums, squares = np.cumsum(tail)[::-1], np.cumsum(tail**2)[::-1]
    spread = np.maximum(squares - sums**2 / left, 0)
    return min(int(np.argmin((spread / left**2)[: n // 2 + 1])), n - MIN_BATCHES)

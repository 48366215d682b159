"""How much of a run's beginning to leave out.

A run starts from an empty machine, and its first batches are better than those of a long run. The rule MSER
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

    Parameters
    ----------
    values : array_like, shape (replications, batches, ...)
        A metric's batch means, NaN where not run; one with dimensions of its own is judged by its mean over
        them.

    Returns
    -------
    int
        At most half of the batches that every replication has, and not so many that fewer are left than an
        interval takes; 0 where they are too few to judge, or one holds no data.

    References
    ----------
    K. Hoad, S. Robinson, R. Davies, "Automating warm-up length estimation", Journal of the Operational
    Research Society 61(9), 2010, 1389-1403 (MSER on batch means, averaged over replications).
    """
    table = np.asarray(values, dtype=np.float64)
    of_runs = table.reshape(*table.shape[:2], -1).mean(axis=2)
    ran = ~np.isnan(of_runs)
    of_runs, lengths = of_runs[ran.any(axis=1)], ran[ran.any(axis=1)].sum(axis=1)
    if not len(of_runs):
        return 0
    n = int(lengths.min())
    try:
        return min(mser(of_runs[:, :n].mean(axis=0), group=1), max(n - MIN_BATCHES, 0))
    except ValueError:
        return 0


def mser(series: ArrayLike, group: int = 5) -> int:
    """Warm-up to cut by the MSER rule: the truncation that minimises the standard error of what is left.

    Parameters
    ----------
    series : array_like, shape (n,)
        Observations in order of time, without gaps.
    group : int
        Neighbours averaged first; 5 makes it MSER-5, 1 the original rule.

    Returns
    -------
    int
        Leading values to cut, a multiple of `group` and at most half of the series. A result at that limit
        means that the series is too short for its transient.

    Raises
    ------
    ValueError
        If fewer than 10 groups are given, where the rule only chases noise, or a value is not finite.

    References
    ----------
    K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation
    69(6), 1997, 323-334. K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation
    heuristics for simulation", Proc. Winter Simulation Conference, 2000, 755-760 (groups of 5; half).
    """
    observed = np.asarray(series, dtype=np.float64)
    if observed.ndim != 1 or not np.isfinite(observed).all():
        raise ValueError(
            f"MSER needs one series of finite values, not shape {observed.shape} with gaps: drop them"
        )
    if group < 1 or len(observed) < LEAST_GROUPS * group:
        raise ValueError(
            f"{len(observed)} values in groups of {group} are too few for MSER: give at least {LEAST_GROUPS} "
            "groups, or set the warm-up by count"
        )
    n = len(observed) // group
    means = observed[: n * group].reshape(n, group).mean(axis=1)
    # Summed from the end and relative to the last mean, so that a huge transient costs the tail no digits.
    tail = (means - means[-1])[::-1]
    left = np.arange(n, 0, -1)
    sums, squares = np.cumsum(tail)[::-1], np.cumsum(tail**2)[::-1]
    spread = np.maximum(squares - sums**2 / left, 0)
    return int(np.argmin((spread / left**2)[: n // 2 + 1])) * group

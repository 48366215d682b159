"""How much of a run's beginning to leave out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


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
        says that the series is too short for its transient.

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
    if group < 1 or len(observed) < 10 * group:
        raise ValueError(
            f"{len(observed)} values in groups of {group} are too few for MSER: give at least 10 groups, "
            "or set the warm-up by count"
        )
    n = len(observed) // group
    means = observed[: n * group].reshape(n, group).mean(axis=1)
    # Summed from the end and relative to the last mean, so that a huge transient costs the tail no digits.
    tail = (means - means[-1])[::-1]
    left = np.arange(n, 0, -1)
    sums, squares = np.cumsum(tail)[::-1], np.cumsum(tail**2)[::-1]
    spread = np.maximum(squares - sums**2 / left, 0)
    return int(np.argmin((spread / left**2)[: n // 2 + 1])) * group

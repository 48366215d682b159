"""Telling a saturated system from a busy one."""

from __future__ import annotations

import numpy as np

# A stable system near its limit wanders, so both a trend and a real growth are asked for. The limits are low
# because a saturated system need not grow for ever in jobs: users who wait for one run before they submit the
# next one slow down with it. At such points the work delivered falls short of the load offered.
TREND = 0.6
GROWTH = 2.0
LEAST_BATCHES = 6


def backlog_grows(jobs_in_system: np.ndarray) -> bool:
    """Tell whether the number of jobs in the system grows through the measured batches.

    Parameters
    ----------
    jobs_in_system : ndarray, shape (n_batches,)
        Time average of each batch.

    Notes
    -----
    True if the rank correlation (Spearman) of the batches with their order is at least 0.6 and the mean of
    the last third is at least twice that of the first. Fewer than six batches tell nothing.
    """
    n = len(jobs_in_system)
    if n < LEAST_BATCHES or np.ptp(jobs_in_system) == 0:
        return False
    third = n // 3
    grows = jobs_in_system[-third:].mean() >= GROWTH * jobs_in_system[:third].mean()
    ranks = np.argsort(np.argsort(jobs_in_system))  # time averages of a random process: no ties
    return bool(grows and np.corrcoef(np.arange(n), ranks)[0, 1] >= TREND)

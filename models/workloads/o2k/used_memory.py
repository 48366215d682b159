"""The part of the requested memory that a job uses (section 3)."""

import numpy as np

from models.arrays import Floats
from models.workloads.o2k.assumptions import Assumptions
from models.workloads.o2k.classes import MINUTE, Draft, rounded_share
from models.workloads.o2k.shapes import correlated, within

TENTH = 0.1
LEAST_PART = 0.005
"""Minimum part of the requested memory that a job uses."""

GB = 1024.0


def used_mb(
    jobs: Draft, runtime: Floats, memory: Floats, assumed: Assumptions, random: np.random.Generator
) -> Floats:
    """Return the MB that the jobs of a class use.

    Notes
    -----
    A share of the class uses less than a tenth, uniform on a log scale, the others a uniform part of the
    rest; a job that uses more tends to run longer. Nearly all jobs under a minute use less than 1 GB: jobs
    whose tenth exceeds that come first in the share, so that the share is unchanged.
    """
    n = len(runtime)
    rank = correlated(jobs.rank, assumed.used_memory_correlation, random)
    modest = (runtime < MINUTE) & (random.random(n) < assumed.under_a_minute_below_1gb)
    place = np.lexsort((rank, ~(modest & (memory * TENTH >= GB))))
    rank[place] = np.sort(rank)
    share = rounded_share(assumed.memory_under_tenth, n)
    little = LEAST_PART * ((1 - 1e-9) * TENTH / LEAST_PART) ** np.clip(within(rank, 0, share), 0, 1)
    much = TENTH + (1 - TENTH) * within(rank, share, 1)
    used = memory * np.where(rank < share, little, much)
    return np.where(modest, np.minimum(used, GB - 1), used)

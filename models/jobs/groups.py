"""Groups of jobs by which waits are told: actual runtime, class, size, and who submitted them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.workloads.o2k.job_classes import CLASSES, NO_CLASS, classify

ALL = "all"
USER_RANK = "user_rank"

RUNTIME_EDGES = (60.0, 600.0, 6000.0, 60000.0, 600000.0)
"""Seconds of actual runtime between the ranges: equal on a logarithmic axis, as in Fig. 5 of Chiang and
Vernon (2001)."""

SIZE_EDGES = (2, 5, 17, 65, 257, 1025)
"""Processors with which a range begins."""

RANKS = 20
"""Users that are told apart."""

UNKNOWN_USER = -1


class Group(NamedTuple):
    """A dimension of metrics.

    Parameters
    ----------
    suffix : str
        Of the metrics' names; those of the first dimension have none.
    labels : tuple of str
        Its coordinates; the first is everybody.
    """

    suffix: str
    labels: tuple[str, ...]


GROUPS = {
    "runtime_range": Group(
        "",
        (
            ALL, "under 1 min", "1 to 10 min", "10 to 100 min", "100 to 1,000 min", "1,000 to 10,000 min",
            "10,000 min and more",
        ),
    ),
    "job_class": Group("_by_class", (ALL, *CLASSES, "other")),
    "size_range": Group(
        "_by_size",
        (ALL, "1", "2 to 4", "5 to 16", "17 to 64", "65 to 256", "257 to 1,024", "1,025 and more"),
    ),
    USER_RANK: Group("_by_user", (ALL, *(str(rank) for rank in range(1, RANKS + 1)), "others")),
}  # fmt: skip
"""By the name of the dimension."""

RANGES = GROUPS["runtime_range"].labels


def groups_of(jobs: Jobs) -> dict[str, Ints]:
    """Return, for each dimension, the index of every job's group in `Group.labels`, never that of all."""
    kind = classify(jobs.requested, jobs.size, jobs.memory)
    return {
        "runtime_range": np.searchsorted(RUNTIME_EDGES, jobs.runtime, side="right") + 1,
        "job_class": np.where(kind == NO_CLASS, len(CLASSES), kind) + 1,
        "size_range": np.searchsorted(SIZE_EDGES, jobs.size, side="right") + 1,
        USER_RANK: _ranks(jobs)[0],
    }


def by_user(jobs: Jobs, batch: Ints, n_batches: int) -> dict[str, Floats]:
    """Return what only users have: the processor time of their jobs, and their number in the log.

    Returns
    -------
    dict of str to ndarray, shape (n_batches, user_rank)
    """
    rank, numbers = _ranks(jobs)
    n_ranks = len(GROUPS[USER_RANK].labels)
    flat = np.bincount(batch * n_ranks + rank, jobs.size * jobs.runtime, n_batches * n_ranks)
    work: Floats = flat.reshape(n_batches, n_ranks).astype(np.float64)
    work[:, 0] = work.sum(axis=1)
    return {"work_by_user": work, "user_number": np.tile(numbers, (n_batches, 1))}


def _ranks(jobs: Jobs) -> tuple[Ints, Floats]:
    """Return each job's rank and each rank's user; who has most work is first, of equals the lower number."""
    others = RANKS + 1
    numbers = np.full(others + 1, np.nan)
    if jobs.user is None:
        return np.full(len(jobs), others), numbers
    users, which = np.unique(jobs.user, return_inverse=True)
    work = np.bincount(which, jobs.size * jobs.runtime, users.size)
    work[users == UNKNOWN_USER] = -1.0
    first = np.argsort(-work, kind="stable")[:RANKS]
    first = first[users[first] != UNKNOWN_USER]
    rank = np.full(users.size, others)
    rank[first] = np.arange(first.size) + 1
    numbers[1 : first.size + 1] = users[first]
    return rank[which], numbers

"""Random lengths of statements: pure functions of job, task and step, so that every scheduler meets the same.

A step is a stretch of local statements and the blocking statement after it. Nothing here depends on earlier
draws, or on when a scheduler lets a task run.
"""

import numpy as np
from numba import float64, int64

from models.kernels.compiling import kernel
from models.workloads.redrawn import uniform

OF_JOB, OF_EXCHANGE, OF_CLASS = -1, -2, -3
"""Stands for a task if all tasks of a job share a number."""

AT_ONCE = 32
"""Factors in (0, 1) that are multiplied before a logarithm is taken: more could underflow."""


@kernel(int64(int64, int64, int64))
def key_of(job: int, task: int, step: int) -> int:
    """Return the key of the numbers of one step (the finaliser of SplitMix64, twice)."""
    z = np.uint64(step) * np.uint64(0xD1B54A32D192ED03) + np.uint64(task + 3) * np.uint64(0xAEF17502108EF2D9)
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(29))) ^ np.uint64(job)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0x94D049BB133111EB)
    return np.int64(z ^ (z >> np.uint64(31)))  # type: ignore[return-value] # compiled


@kernel(float64(int64, int64, int64, int64))
def stretch(job: int, task: int, step: int, n: int) -> float:
    """Return the sum of n exponential numbers of mean 1: the local statements of a step. O(n)."""
    key = key_of(job, task, step)
    total = 0.0
    product = 1.0
    for i in range(n):
        product *= uniform(key, i + 1)
        if i % AT_ONCE == AT_ONCE - 1:
            total -= np.log(product)
            product = 1.0
    return total - np.log(product)


@kernel(float64(int64, int64, int64))
def service(job: int, task: int, step: int) -> float:
    """Return an exponential number of mean 1: the input or output of a step."""
    return -np.log(uniform(key_of(job, task, step), 0))


@kernel(float64(int64))
def share(job: int) -> float:
    """Return the number below 1 that determines the program of a job."""
    return uniform(key_of(job, OF_CLASS, 0), 0)


@kernel(int64(int64, int64, int64, float64))
def statements(job: int, task: int, step: int, mean: float) -> int:
    """Return a number of local statements, of a task or of all (`OF_JOB`): geometric, at least 1."""
    if mean <= 1.0:
        return 1
    u = uniform(key_of(job, task, step), 0)
    return 1 + int(np.floor(np.log(u) / np.log1p(-1.0 / mean)))


@kernel(int64(int64, int64, int64))
def shift(job: int, exchange: int, n_tasks: int) -> int:
    """Return the distance in tasks of the messages of an exchange: 1 .. n_tasks - 1, equally likely."""
    u = uniform(key_of(job, OF_EXCHANGE, exchange), 0)
    return 1 + int(u * (n_tasks - 1))

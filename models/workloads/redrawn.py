"""Repetitions whose runtime is redrawn: compiled, because the engine draws them while it runs.

They are separate from the workload model, so that a plan can be made and checked without loading a kernel.
"""

import numpy as np
from numba import float64, int64

from models.kernels.compiling import kernel
from models.workloads.repetition import RERUN_SIGNATURE


@kernel(float64(int64, int64))
def uniform(key: int, counter: int) -> float:
    """Return a uniform number in (0, 1) from a key and a counter (the finaliser of SplitMix64)."""
    z = np.uint64(key) + np.uint64(counter) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (np.float64(z >> np.uint64(11)) + 0.5) * 2.0**-53


@kernel(RERUN_SIGNATURE)
def redrawn_runtime(runtime: float, size: int, key: int, run: int, parameters: np.ndarray) -> float:
    """Redraw a repetition's runtime: a function of session and run, independent of the schedule."""
    small, slope, short, long = parameters[0], parameters[1], parameters[2], parameters[3]
    mean = long if uniform(key, 2 * run) < small + slope * size else short
    return -mean * np.log(uniform(key, 2 * run + 1))


@kernel(float64[::1](int64[::1], float64[::1], int64[::1], int64[::1], float64[::1]), allocates=True)
def work_of_redrawn(
    size: np.ndarray, runtime: np.ndarray, runs: np.ndarray, key: np.ndarray, parameters: np.ndarray
) -> np.ndarray:
    """Return the PEs times time units of each session whose repetitions are redrawn; O(runs)."""
    work = np.empty(len(size))
    for i in range(len(size)):
        total = runtime[i]
        for run in range(1, runs[i]):
            total += redrawn_runtime(runtime[i], size[i], key[i], run, parameters)
        work[i] = size[i] * total
    return work

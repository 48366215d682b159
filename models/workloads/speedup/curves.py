"""Speed by number of processors, compiled, because partitions change while an engine runs.

References
----------
A. B. Downey, "A model for speedup of parallel programs", Technical Report UCB/CSD-97-933, University of
California, Berkeley, 1997.
"""

from typing import Any

from numba import float64, int64, types, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS

CURVE_SIGNATURE = float64(
    float64,  # processors that the job has
    int64,  # processors that it asks for
    FLOATS,  # parameters
)
CURVE = types.FunctionType(CURVE_SIGNATURE)


@kernel(CURVE_SIGNATURE)
def linear(processors: float, size: int, parameters: Floats) -> float:
    """As fast as the processors that it has, up to those it asks for."""
    return min(processors, float(size))


@kernel(CURVE_SIGNATURE)
def downey(processors: float, size: int, parameters: Floats) -> float:
    """Downey's speed-up on n processors, from the average parallelism A and the variance of parallelism.

    Parameters
    ----------
    processors : float
        n, at least 1.
    parameters : ndarray
        A, where 0 stands for `size`, and sigma. With sigma = 0 speed-up is linear up to A.
    """
    n = processors
    average, sigma = parameters[0], parameters[1]
    if average == 0.0:
        average = float(size)
    if sigma <= 1.0:
        if n <= average:
            return average * n / (average + sigma / 2 * (n - 1))
        if n <= 2 * average - 1:
            return average * n / (sigma * (average - 0.5) + n * (1 - sigma / 2))
        return average
    if n <= average + average * sigma - sigma:
        return n * average * (sigma + 1) / (sigma * (n + average - 1) + average)
    return average


@kernel(void(CURVE, FLOATS, INTS, FLOATS, FLOATS))
def speeds(curve: Any, processors: Floats, size: Ints, parameters: Floats, found: Floats) -> None:
    """Write the speed of each job into `found`."""
    for job in range(size.shape[0]):
        found[job] = curve(processors[job], size[job], parameters)

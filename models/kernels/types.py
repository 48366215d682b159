"""Types of the kernels' arguments."""

from numba import float64, int64

FLOATS = float64[::1]
INTS = int64[::1]

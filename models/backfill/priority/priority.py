"""A waiting job's priority: the weighted sum of Table 3 (Chiang and Vernon 2001)."""

from __future__ import annotations

from numba import float64, int64

from models.arrays import Floats
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS

SECONDS_IN_HOUR = 3600.0
KB_IN_MEMORY_UNIT = 358.4 * 1024
"""Requested memory counts in units of 358.4 MB, the average memory of a processor (footnote of Table 3)."""


@kernel(float64(FLOATS, float64, float64, int64, int64, int64), inline=True)
def priority(weights: Floats, waited: float, requested: float, size: int, need: int, bypassed: int) -> float:
    """Return a job's priority; `weights` are those of `Weights` in their order, times are in seconds."""
    waited_h = waited / SECONDS_IN_HOUR
    requested_h = requested / SECONDS_IN_HOUR
    memory = need / KB_IN_MEMORY_UNIT
    return (
        weights[0] * waited_h
        + weights[1] * ((waited_h + requested_h) / requested_h)
        + weights[2] * size
        + weights[3] * memory
        + weights[4] * max(float(size), memory)
        + weights[5] * bypassed
        + weights[6] / requested_h
    )

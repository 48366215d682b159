"""What arrives: short and long jobs in a Poisson stream (McCann 1994, section 5.4).

Both classes repeat one cycle of computing and communicating and differ in the mean number of cycles only,
which is geometric. Policies, loads and mixes contend with the same random numbers: a load stretches the gaps,
and a mix turns short jobs into long ones without touching the others.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator

import numpy as np

from models.arrays import Floats
from models.point import Parameters, Seed
from models.streams import stream

JOB_CLASSES = ("short", "long", "all")

CHUNK = 4096  # arrivals; any number gives the same jobs
SHORT, LONG = 0, 1

Arrivals = namedtuple("Arrivals", ["gap", "job_class", "work"])
"""A chunk of arrivals, arrays of one length.

gap : float64, seconds since the previous arrival
job_class : int64, index into `JOB_CLASSES`
work : float64, seconds alone on the machine
"""


def arrival_rate(workload: Parameters, load: float) -> float:
    """Return the jobs that arrive in a second: load / (p E_short + (1 - p) E_long) (section 5.4.1)."""
    p = workload["short_fraction"]
    return float(load / (p * workload["short_time"] + (1 - p) * workload["long_time"]))


def arrivals(workload: Parameters, step: float, load: float, seed: Seed) -> Iterator[Arrivals]:
    """Yield chunks of arrivals without end.

    Parameters
    ----------
    workload : mapping
        ``short_time`` and ``long_time`` (mean seconds alone on the machine) and ``short_fraction``.
    step : float
        Seconds of one cycle of a job alone on the machine.
    load : float
        Mean work arriving in a second, in seconds alone on the machine.
    seed : tuple of int
    """
    gaps, classes, cycles = (stream(seed, cause) for cause in ("arrivals", "classes", "cycles"))
    mean_cycles = np.array([workload["short_time"], workload["long_time"]]) / step
    mean_gap = 1 / arrival_rate(workload, load)
    while True:
        job_class = np.where(classes.random(CHUNK) < workload["short_fraction"], SHORT, LONG)
        n_cycles = geometric(cycles.random(CHUNK), mean_cycles[job_class])
        yield Arrivals(mean_gap * gaps.standard_exponential(CHUNK), job_class, step * n_cycles)


def geometric(uniform: Floats, mean: Floats) -> Floats:
    """Return whole numbers from 1 on, of geometric distribution, by inversion.

    Parameters
    ----------
    uniform : ndarray
        Numbers from [0, 1): the larger one gives the larger number at any mean.
    mean : ndarray
        At least 1.
    """
    with np.errstate(divide="ignore"):  # a mean of 1 divides by the logarithm of 0, and gives 1
        return np.maximum(np.ceil(np.log1p(-uniform) / np.log1p(-1 / mean)), 1.0)


def read_load(load: float | None) -> float:
    """Return the load, or refuse none with a ``ValueError`` of one line."""
    if load is None:
        raise ValueError("short and long jobs have no load of their own: give one, e.g. grid.load=[0.5]")
    return load


def check(workload: Parameters, step: float, load: float | None) -> None:
    """Raise ``ValueError`` with one line for a workload that cannot be simulated.

    Parameters
    ----------
    workload : mapping
    step : float
        Seconds of one cycle of a job alone on the machine.
    load : float or None
    """
    read_load(load)
    for key in ("short_time", "long_time"):
        value = workload.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or not step <= value < np.inf:
            raise ValueError(
                f"workload.{key}={value}; allowed: the mean seconds of a job alone on the machine, "
                f"at least one cycle of {step:.3g} s (see conf/workload/short_long.yaml)"
            )
    fraction = workload.get("short_fraction")
    if not isinstance(fraction, int | float) or isinstance(fraction, bool) or not 0 <= fraction <= 1:
        raise ValueError(f"workload.short_fraction={fraction}; allowed: a fraction of the jobs, 0 to 1")

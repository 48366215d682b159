"""A mean with its confidence interval and the size of its sample."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Method = Literal["batch means", "replications", "exact"]

MIN_REPLICATIONS = 5
"""Replications from which their means alone make the interval: 4 degrees of freedom, t = 2.8."""


@dataclass(frozen=True)
class Interval:
    """A mean and how well it is known.

    Parameters
    ----------
    mean : float
        Point estimate, given wherever there are data; NaN where there are none.
    half_width : float
        Half of the confidence interval's width; NaN where `withheld`.
    lag1 : float
        Lag-1 correlation of the batches; NaN if no replication has `MIN_BATCHES` or all values are equal.
    n : int
        Number of means in the sample: replications or batches, by `method`.
    method : {"replications", "batch means", "block bootstrap", "exact"}
        An exact value is solved, not simulated: its half-width is 0.
    withheld : bool
        There are too few batches for an interval; see `advice`.
    effective : float
        How many independent means the sample is worth, see `sweep.statistics.correlation.worth`.
    standard_error : float
        Of the mean; NaN where withheld.
    freedom : float
        Degrees of freedom of Student's t behind the half-width; NaN where withheld.
    ends : pair of float, optional
        Ends of an interval that is not symmetric.
    """

    mean: float
    half_width: float
    lag1: float
    n: int
    method: Method
    withheld: bool
    effective: float = math.nan
    standard_error: float = math.nan
    freedom: float = math.nan
    ends: tuple[float, float] | None = None

    @property
    def low(self) -> float:
        """The lower end."""
        return self.ends[0] if self.ends else self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.ends[1] if self.ends else self.mean + self.half_width


def student(freedom: ArrayLike, probability: float) -> Floats:
    """Quantile of Student's t, also for a fractional number of degrees of freedom."""
    # Imported here: scipy.special takes longer to load than everything else that `status` needs.
    from scipy.special import stdtrit

    return np.asarray(stdtrit(freedom, probability), dtype=np.float64)

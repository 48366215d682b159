"""The parameters of Lublin and Feitelson (2003), from the authors' program, and their meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincinv

from models.arrays import Floats


@dataclass(frozen=True)
class Gamma:
    """A gamma distribution, given by its shape and scale."""

    shape: float
    scale: float

    def below(self, value: ArrayLike) -> Floats:
        """Return the probability of less than `value`."""
        return np.asarray(gammainc(self.shape, np.asarray(value) / self.scale))

    def truncated(self, limit: float, uniforms: Floats) -> Floats:
        """Return the quantiles of the distribution that is cut off at `limit`."""
        return np.asarray(self.scale * gammaincinv(self.shape, uniforms * self.below(limit)))

    def mean_exponential(self, limit: float) -> float:
        """Return the mean of e^g for g cut off at `limit`; the scale must be less than 1."""
        tilted = Gamma(self.shape, self.scale / (1 - self.scale))
        return float((1 - self.scale) ** -self.shape * tilted.below(limit) / self.below(limit))


@dataclass(frozen=True)
class Kind:
    """The parameters of one kind of jobs; names as in the authors' program.

    Parameters
    ----------
    serial : float
        Probability of one processor.
    power_of_two : float
        Probability that log2 of the size is rounded.
    u_low, u_med, u_hi, u_prob : float
        log2 of the size is uniform between the first two with probability `u_prob`, otherwise between the
        second and the third.
    short, long : Gamma
        Of the logarithm of the runtime in seconds.
    pa, pb : float
        The shorter one has probability pa size + pb, as far as that is one.
    gap : Gamma
        Of the logarithm of the seconds between two arrivals at an average time of day.
    cycle : Gamma
        Of the half hours of a day.
    """

    serial: float
    power_of_two: float
    u_low: float
    u_med: float
    u_hi: float
    u_prob: float
    short: Gamma
    long: Gamma
    pa: float
    pb: float
    gap: Gamma
    cycle: Gamma

    @property
    def largest(self) -> int:
        """Processors of the largest job."""
        return int(np.floor(2**self.u_hi + 1e-9))

    def fitted(self, largest: int, u_med: float | None) -> Kind:
        """Return the kind with another largest job; a `u_med` of None is 2.5 below its log2."""
        u_hi = float(np.log2(largest))
        return replace(self, u_hi=u_hi, u_med=u_hi - 2.5 if u_med is None else float(u_med))

    def log_size(self, uniforms: Floats) -> Floats:
        """Return the quantiles of log2 of the size."""
        return np.interp(uniforms, [0.0, self.u_prob, 1.0], [self.u_low, self.u_med, self.u_hi])

    def log_size_below(self, value: ArrayLike) -> Floats:
        """Return the probability that log2 of the size is below `value`."""
        return np.interp(np.asarray(value), [self.u_low, self.u_med, self.u_hi], [0.0, self.u_prob, 1.0])


# The shape of `gap` is that at rush hours times the ratio of all hours to them ("ARAR").
KINDS = {
    "batch": Kind(
        0.2927, 0.6686, 1.2, 5.0, 7.0, 0.875,
        Gamma(6.57, 0.823), Gamma(639.1, 0.0156), -0.003, 0.6986,
        Gamma(6.0415 * 1.0519, 0.8531), Gamma(6.1271, 5.2740),
    ),
    "interactive": Kind(
        0.1541, 0.625, 1.0, 3.0, 5.5, 0.705,
        Gamma(3.8351, 0.6605), Gamma(7.073, 0.6856), -0.0118, 0.9156,
        Gamma(6.5510 * 0.9797, 0.6621), Gamma(8.9186, 3.6680),
    ),
    "no_type": Kind(
        0.244, 0.576, 0.8, 4.5, 7.0, 0.86,
        Gamma(4.2, 0.94), Gamma(312.0, 0.03), -0.0054, 0.78,
        Gamma(10.2303 * 1.0225, 0.4871), Gamma(8.1737, 3.9631),
    ),
}  # fmt: skip

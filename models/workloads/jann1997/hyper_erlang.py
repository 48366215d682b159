"""Hyper-Erlang distributions of common order, fitted to three moments in closed form."""

from dataclasses import dataclass
from math import hypot, isclose, sqrt

import numpy as np

from models.arrays import Floats

MOST_STAGES = 10_000
"""Highest order: a fit that needs more is refused, because its values hardly differ from each other."""

EXACT = 1e-10
"""Largest relative error of moments."""


@dataclass(frozen=True)
class HyperErlang:
    """The sum of `order` exponentials, all of rate `rate_1` with probability `p`, else all of rate `rate_2`.

    Parameters
    ----------
    order : int
        Stages of both branches (n).
    p : float
        Probability of the first branch.
    rate_1, rate_2 : float, 1/s
        Of each stage (lambda).
    """

    order: int
    p: float
    rate_1: float
    rate_2: float

    def moment(self, k: int) -> float:
        """Return the mean of the k-th power: n (n+1) … (n+k-1) [p / rate_1^k + (1-p) / rate_2^k]."""
        stages = float(np.prod(self.order + np.arange(k, dtype=float)))
        return stages * (self.p / self.rate_1**k + (1 - self.p) / self.rate_2**k)

    @property
    def mean(self) -> float:
        """The mean, seconds."""
        return self.moment(1)

    def sample(self, n: int, stages: np.random.Generator, branches: np.random.Generator) -> Floats:
        """Draw `n` values; the first ones of a longer draw equal a shorter draw."""
        rate = np.where(branches.random(n) < self.p, self.rate_1, self.rate_2)
        return np.asarray(stages.standard_gamma(self.order, n) / rate)


def matched(mean: float, second: float, third: float) -> HyperErlang:
    """Return the distribution of the smallest order that has three given moments.

    Divided by the moments of a sum of n exponentials of rate 1, the moments of the mixture equal the moments
    of a variable that is 1/rate_1 or 1/rate_2. There is exactly one of two positive values where a2 > a1^2
    and a1 a3 > a2^2 (with a_k = m_k / [n (n+1) … (n+k-1)]), and both hold from some n on: the first where n
    exceeds 1 / CV^2, the second where n + 1 exceeds 1 / (m1 m3 / m2^2 - 1) (Johnson and Taaffe 1989). They
    fail for every n only if all values, or all except zeros, are the same.

    Its two values are found by their distance from the mean, from the variance v and the third central moment
    w: the distances are the roots of y^2 - (w/v) y - v, which loses no digits where v is small. An order that
    is barely enough may still need a branch so rare that `p` rounds to 1; the next order is taken then.

    Raises
    ------
    ValueError
        If no order up to `MOST_STAGES` has these moments; the caller adds the name of the values.
    """
    m2, m3 = second / mean**2, third / mean**3
    excess = min(m2 - 1, m3 / m2**2 - 1)
    least = 1 / excess - 1 if excess > 0 else MOST_STAGES + 1.0
    for n in range(max(1, int(min(least, MOST_STAGES + 1.0))), MOST_STAGES + 1):
        a1, a2, a3 = 1 / n, m2 / (n * (n + 1)), m3 / (n * (n + 1) * (n + 2))
        v, w = a2 - a1**2, a3 - 3 * a1 * a2 + 2 * a1**3
        if v <= 0:
            continue
        half = w / v / 2
        far = half + hypot(half, sqrt(v)) if half > 0 else half - hypot(half, sqrt(v))
        short, long = sorted((far, -v / far))
        if a1 + short <= 0:
            continue
        found = HyperErlang(n, long / (long - short), 1 / (mean * (a1 + short)), 1 / (mean * (a1 + long)))
        if isclose(found.moment(2), second, rel_tol=EXACT) and isclose(found.moment(3), third, rel_tol=EXACT):
            return found
    raise ValueError(f"no order up to {MOST_STAGES:,}")


def fitted(values: Floats) -> HyperErlang:
    """Return the distribution that has the first three moments of `values`, see `matched`."""
    mean = float(np.mean(values))
    if not mean > 0:
        raise ValueError("a mean of 0")
    relative = values / mean
    return matched(mean, float(np.mean(relative**2)) * mean**2, float(np.mean(relative**3)) * mean**3)

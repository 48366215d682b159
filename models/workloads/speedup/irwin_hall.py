"""Distribution of a sum of independent uniform random numbers (Irwin and Hall, 1927)."""

from functools import lru_cache
from math import comb, factorial

import numpy as np

from models.arrays import Floats

LARGEST_EXACT = 12
"""Up to this many numbers the sum of powers loses no digits; beyond, the Fourier series converges fast."""


def below(x: Floats, n: int) -> Floats:
    """Return the probability that n numbers uniform on -1 to 1 have a sum of at most x.

    Parameters
    ----------
    x : ndarray, shape (m,)

    Returns
    -------
    ndarray, shape (m,)
        Absolute error below 1e-12.

    Examples
    --------
    >>> below(np.array([-1.0, 0.0, 0.5, 3.0]), 1).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    # By symmetry only the lower half is computed, where both ways are at their best.
    lower = -np.minimum(np.abs(x), n)
    half = _powers(lower, n) if n <= LARGEST_EXACT else _series(lower, n)
    half = np.clip(half, 0.0, 0.5)
    return np.where(x > 0, 1 - half, half)


def _powers(x: Floats, n: int) -> Floats:
    """Sum (-1)^k C(n, k) (u - k)^n / n! over k < u, for u = (x + n) / 2, the sum of n numbers on 0 to 1."""
    u = (x + n) / 2
    terms = ((-1) ** k * comb(n, k) * np.maximum(u - k, 0) ** n for k in range(n // 2 + 1))
    return sum(terms, np.zeros_like(u)) / factorial(n)


def _series(x: Floats, n: int) -> Floats:
    """Integrate the density's Fourier series on its support, -n to n."""
    frequencies, weights = _coefficients(n)
    return 0.5 + x / (2 * n) + np.sin(np.outer(x, frequencies)) @ weights


@lru_cache(maxsize=256)
def _coefficients(n: int) -> tuple[Floats, Floats]:
    # The characteristic function is (sin w / w)^n, close to exp(-n w^2 / 6) and at most w^-n.
    k = np.arange(1, 4 * n + 1)
    w = np.pi * k / n
    weights = np.sinc(k / n) ** n / (np.pi * k)
    kept = np.abs(weights) > 1e-17
    return w[kept], weights[kept]

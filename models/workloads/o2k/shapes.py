"""Distributions with a tilt: one number that makes all of a sample larger or smaller.

A tilt t turns a uniform number u into u^(e^-t): 0 leaves the nominal distribution, a positive one makes
everything larger, and ranks stay as they are. So a class can be bent towards its demands and yet keep its
correlations, its popular values, and the shares in section 3 of Chiang and Vernon (2001), which do not depend
on a tilt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from models.arrays import Floats

Weighted = tuple[tuple[float, float], ...]
"""(value, weight) pairs, values ascending."""

TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Choice:
    """Values chosen from a few popular ones.

    Parameters
    ----------
    values, below : ndarray of float, shape (n_values,)
        Ascending, and the probability of each value or a lower one.
    log_rank : ndarray of float, shape (n_jobs,)
        Logarithm of each job's quantile.
    """

    values: Floats
    below: Floats
    log_rank: Floats

    def at(self, tilt: float) -> Floats:
        """Return the values under a tilt; they do not decrease with it."""
        which = np.searchsorted(self.below, np.exp(self.log_rank * np.exp(-tilt)), side="right")
        return self.values[np.minimum(which, len(self.values) - 1)]


@dataclass(frozen=True, eq=False)
class Span:
    """Numbers between individual limits, uniform on a log scale; all arrays have the shape (n_jobs,).

    Parameters
    ----------
    least : ndarray of float
    log_width : ndarray of float
        Logarithm of the most over the least; 0 for numbers that no tilt moves.
    log_rank : ndarray of float
        Logarithm of each job's quantile between its limits.
    """

    least: Floats
    log_width: Floats
    log_rank: Floats

    def at(self, tilt: float) -> Floats:
        """Return the numbers under a tilt, rising with it."""
        return self.least * np.exp(self.log_width * np.exp(self.log_rank * np.exp(-tilt)))

    def otherwise(self, first: np.ndarray, other: Span) -> Span:
        """Return a span that is this one where `first` is true and the other one elsewhere."""
        return Span(
            np.where(first, self.least, other.least),
            np.where(first, self.log_width, other.log_width),
            np.where(first, self.log_rank, other.log_rank),
        )


class Stiffness(NamedTuple):
    """Weights of the three tilts, relative to each other.

    Two demands leave one of three tilts free. As with springs, the bending is the one with the least
    runtime cosh(its tilt) + processors cosh(their tilt) + memory cosh(its tilt),
    where a demand's logarithm is taken as the sum of the two tilts that determine it.
    """

    runtime: float
    processors: float
    memory: float

    def imbalance(self, runtime: float, processors: float, memory: float) -> float:
        """Return a number that is 0 at that minimum, and positive if the processors are bent up too much.

        With a Lagrange multiplier for each demand, the runtime, which affects both, is bent with the force of
        the other two together.
        """
        forces = np.multiply(self, np.sinh([runtime, processors, memory]))
        return float(forces[1] + forces[2] - forces[0])


def choice(weighted: Weighted, rank: Floats) -> Choice:
    """Return a choice among weighted values, given each job's quantile."""
    values, weights = np.array(weighted, np.float64).T
    return Choice(values, np.cumsum(weights) / weights.sum(), np.log(np.maximum(rank, TINY)))


def span(least: Floats | float, most: Floats | float, rank: Floats) -> Span:
    """Return numbers between two limits, given each job's quantile."""
    low = np.broadcast_to(np.asarray(least, np.float64), rank.shape)
    return Span(low, np.log(most / low), np.log(np.clip(rank, TINY, 1)))


def within(rank: Floats, low: float, high: float) -> Floats:
    """Return quantiles of the part of a distribution between two of its quantiles."""
    return (rank - low) / max(high - low, TINY)


def stratified(n: int, random: np.random.Generator) -> Floats:
    """Return one uniform number from each of `n` equal parts of (0, 1), in random order."""
    return (random.permutation(n) + random.random(n)) / max(n, 1)


def correlated(rank: Floats, correlation: float, random: np.random.Generator) -> Floats:
    """Return stratified uniform numbers whose normal scores are correlated with other numbers'."""
    n = len(rank)
    noise = random.standard_normal(n)
    score = correlation * ndtri(np.clip(rank, TINY, 1 - TINY)) + np.sqrt(1 - correlation**2) * noise
    return np.asarray((np.argsort(np.argsort(score)) + random.random(n)) / max(n, 1))

"""Whole numbers from 1 on with given probabilities, drawn by inversion: many at once."""

from __future__ import annotations

import numpy as np

from models.arrays import Floats, Ints

GUIDES = 4096
"""A power of two, so that which of so many equal parts of [0, 1) a number lies in is told exactly."""

SEARCHED_FOR = -1
"""Stands for the number of a part that holds several steps."""


class Inversion:
    """The inverse of a distribution function, with a table of guides.

    A search by halves takes a wrong guess at every other step. Most parts of [0, 1) hold one step of the
    function or none, so that one comparison tells; in the few others it is searched for (Chen and Asau 1974).

    Parameters
    ----------
    probabilities : ndarray of float, shape (n,)
        Of 1 to n; their sum is 1 but for rounding.

    References
    ----------
    H.-C. Chen and Y. Asau, "On generating random variates from an empirical distribution", AIIE Transactions
    6(2), 1974.
    """

    def __init__(self, probabilities: Floats) -> None:
        self._steps = np.cumsum(probabilities)
        self._steps[-1] = np.inf  # above what rounding makes of 1
        parts = np.searchsorted(self._steps, np.arange(GUIDES + 1) / GUIDES, side="right")
        several = np.diff(parts) > 1
        self._least = np.where(several, SEARCHED_FOR, 1 + parts[:-1]).astype(np.int64)
        self._step = np.where(several, np.inf, self._steps[parts[:-1]])

    def __call__(self, uniform: Floats) -> Ints:
        """Return the numbers that belong to numbers in [0, 1), shape (n,); O(1) each for most."""
        part = (uniform * GUIDES).astype(np.int64)
        found: Ints = self._least.take(part)
        found += self._step.take(part) <= uniform
        (several,) = (found == SEARCHED_FOR).nonzero()
        found[several] = 1 + self._steps.searchsorted(uniform[several], side="right")
        return found

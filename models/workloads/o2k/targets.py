"""The demands that a generated month is made to have: Table 4's before they were rounded."""

from __future__ import annotations

import numpy as np

from models.arrays import Floats

ROUNDING = 0.45
"""Percent by which a printed whole number may be off, a little less than the half that rounding allows."""

PRINTED_ZERO = 0.4
"""Percent that stands for a printed 0, which is less than 0.5 and more than nothing: the class has jobs."""


def unrounded(printed: tuple[int, ...], overall: int) -> Floats:
    """Return the demands of the classes, percent, that print as Table 4's and sum to its column "Overall".

    Parameters
    ----------
    printed : tuple of int
        Percent, class by class.
    overall : int
        Percent of all classes together.

    Returns
    -------
    ndarray of float, shape (n_classes,), percent
        Where the printed numbers do not sum to what prints as the overall one, all but the zeros are moved by
        the same amount, by no more than rounding allows.

    Examples
    --------
    >>> unrounded((10, 10, 0), 20).tolist()
    [10.0, 10.0, 0.4]
    >>> unrounded((10, 10, 0), 21).round(2).tolist()
    [10.08, 10.08, 0.4]
    """
    demands = np.array(printed, np.float64)
    zero = demands == 0
    demands[zero] = PRINTED_ZERO
    total = demands.sum()
    missing = np.clip(total, overall - ROUNDING, overall + ROUNDING) - total
    demands[~zero] += np.clip(missing / max((~zero).sum(), 1), -ROUNDING, ROUNDING)
    return demands

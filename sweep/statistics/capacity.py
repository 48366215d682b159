"""The work that a policy can deliver, estimated from runs in which it is offered more.

Below its capacity a policy delivers all that is offered, sooner or later; above, the queue grows for ever.
Near it no run shows which is the case, as a stable queue fluctuates there over longer times than any run. An
overload run does: its queue never empties, and what is delivered meanwhile hardly varies.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

BLOCKS = 5
"""Parts of the second half of a run whose means count as independent."""

FREEDOM = 2 * BLOCKS - 1
"""Degrees of freedom of the error from two runs."""

ERRORS = 2.0
"""Standard errors on both sides of a capacity within which a load is undecided."""

FURTHER = 8.0
"""Some policies use a machine better the more jobs are in the system: the rise of the delivered work from the
middle of a run to its end may continue to this multiple of itself in the long run."""


class Capacity(NamedTuple):
    """The delivered share C of a machine.

    mean, error : C and its standard error
    upper : the load above which the policy does not keep up; infinite if all offered work was delivered
    """

    mean: float
    error: float
    upper: float


UNKNOWN = Capacity(math.nan, math.nan, math.nan)


def capacity(delivered: ArrayLike, offered: float) -> Capacity:
    """Return the capacity from overload runs.

    Parameters
    ----------
    delivered : array_like, shape (runs, batches)
        Work delivered as a fraction of the machine, NaN in batches that did not end. The first half of a run,
        in which the system fills, is left out.
    offered : float
        The load of the runs.

    Returns
    -------
    Capacity
        `UNKNOWN` if no run has `BLOCKS` batches in its second half.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> found = capacity(0.9 + 0.01 * rng.standard_normal((2, 60)), offered=1.25)
    >>> f"{found.mean:.3f} ± {found.error:.3f}"
    '0.900 ± 0.001'
    """
    blocks = []
    for run in np.asarray(delivered, dtype=np.float64):
        ran = run[~np.isnan(run)]
        if len(kept := ran[len(ran) // 2 :]) >= BLOCKS:
            blocks.append([part.mean() for part in np.array_split(kept, BLOCKS)])
    if not blocks:
        return UNKNOWN
    table = np.array(blocks)
    mean, error = float(table.mean()), float(table.std(ddof=1) / math.sqrt(table.size))
    if mean + ERRORS * error >= offered:
        return Capacity(mean, error, math.inf)
    rise = float(table[:, -2:].mean() - table[:, :2].mean())
    further = FURTHER * rise if rise > error * math.sqrt(BLOCKS) else 0.0  # its own standard error
    return Capacity(mean, error, mean + ERRORS * error + further)


def undecided(loads: ArrayLike, mean: ArrayLike, error: ArrayLike, upper: ArrayLike) -> NDArray[np.bool_]:
    """Return at which loads it is undecided whether a policy with a capacity keeps up; see `Capacity`."""
    offered = np.asarray(loads, dtype=np.float64)
    found: NDArray[np.bool_] = offered >= np.asarray(mean) - ERRORS * np.asarray(error)
    return found & (offered <= np.asarray(upper))


def limits_shown(mean: float, error: float, upper: float) -> str:
    """Return the load up to which a policy keeps up as text; empty if it is unknown.

    Examples
    --------
    >>> limits_shown(0.9751, 0.001, 0.9923), limits_shown(1.0, 0.0001, 1.0002)
    ('0.973–0.992', '1.000')
    >>> limits_shown(1.2, 0.05, math.inf), limits_shown(math.nan, math.nan, math.nan)
    ('over 1.100', '')
    """
    if math.isnan(mean):
        return ""
    low, high = f"{mean - ERRORS * error:.3f}", f"{upper:.3f}"
    if math.isinf(upper):
        return f"over {low}"
    return low if low == high else f"{low}–{high}"

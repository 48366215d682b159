"""Whether a policy keeps up at a point, judged from all replications together.

A single run looks suspicious or not, and a suspicious one was continued (`models.saturation`). A point is
saturated where at least half of its replications still look so, and both of these hold of them:

- *Work is left undone.* The offered work that was not delivered, as a share, is above `TOLERATED` by a
  one-sided interval over equal parts of all runs, their first quarter left out. In a stable system that share
  vanishes with the length of the run; a policy that is offered x more than it can deliver leaves x / (1 + x).
- *The number of jobs in the system grows.* The exponent of its growth with time (0 for a stable system, 1/2
  for one that is just at its limit, 1 for one beyond) is above 0 by a one-sided interval over replications.
  That interval is a modest one (`DRIFT_CONFIDENCE`), since it only guards the first: by chance less work is
  offered than the nominal load, and less is then delivered, without any backlog.

Where the offered work is not known, or cannot be compared with what is delivered, the second alone decides,
and the exponent has to be above 1/2. What is suspicious in some replications and not saturated is doubtful:
its mean is shown, with the number of those replications.

Few runs decide less: with fewer than `FEW` replications there is no interval of the exponent, and it has to
be above the limit by `MARGIN`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.saturation import Backlog
from sweep.statistics.confidence import Floats, student

TOLERATED = 0.005
"""Share of the offered work that may be left undone at the end of a run without any sign of saturation."""

CONFIDENCE, DRIFT_CONFIDENCE = 0.95, 0.8
FEW, MARGIN = 3, 0.25
CRITICAL = 0.5
"""Exponent of a queue that is offered just what it can serve: it grows like the square root of time."""


@dataclass(frozen=True)
class Verdict:
    """What is known of a point.

    Parameters
    ----------
    shortfall : float
        Mean share of the offered work that the suspected runs left undone; NaN where there are none.
    """

    saturated: bool
    suspected: tuple[bool, ...]
    shortfall: float = math.nan


def judge(backlogs: Sequence[Backlog | None]) -> Verdict:
    """Judge a point.

    Parameters
    ----------
    backlogs : sequence of Backlog or None
        One for each replication that is done; None of one that ends by itself, as a log does.
    """
    suspected = tuple(backlog is not None and backlog.suspected for backlog in backlogs)
    runs = [backlog for backlog in backlogs if backlog is not None and backlog.suspected]
    if not runs:
        return Verdict(False, suspected)
    lacking = np.concatenate([run.shortfall for run in runs])
    shortfall = float(lacking.mean()) if len(lacking) else math.nan
    if 2 * len(runs) < len(backlogs):
        return Verdict(False, suspected, shortfall)
    if 2 * sum(run.overflowed for run in runs) >= len(backlogs):
        return Verdict(True, suspected, shortfall)
    exponents = np.array([exponent(run.level) for run in runs if len(run.level) > 1])
    if math.isnan(shortfall):
        return Verdict(_above(exponents, CRITICAL, CONFIDENCE), suspected)
    left = _lower_limit(lacking, CONFIDENCE) > TOLERATED
    return Verdict(bool(left and _above(exponents, 0.0, DRIFT_CONFIDENCE)), suspected, shortfall)


def exponent(level: Floats) -> float:
    """Return g where the number of jobs grows like t^g, from equal parts of a run after its first quarter."""
    parts = len(level)
    first, last = (0.25 + 0.75 * (part + 0.5) / parts for part in (0, parts - 1))
    if min(level[0], level[-1]) <= 0:
        return 0.0
    return math.log(level[-1] / level[0]) / math.log(last / first)


def _above(exponents: Floats, limit: float, confidence: float) -> bool:
    """Whether the mean of a few exponents is above a limit."""
    if len(exponents) < FEW:
        return bool(len(exponents) and exponents.mean() > limit + MARGIN)
    return _lower_limit(exponents, confidence) > limit


def _lower_limit(values: Floats, confidence: float) -> float:
    """Return the lower end of a one-sided interval of the mean."""
    n = len(values)
    if n < 2:
        return -math.inf
    return float(values.mean() - student(n - 1, confidence) * values.std(ddof=1) / math.sqrt(n))

"""What one run shows of whether a policy keeps up with the submitted work.

Near its limit a stable system wanders for thousands of jobs, and from an empty machine it fills for as long:
a trend through one run's batches says little. So a run only says whether it looks suspicious, and a
suspicious one goes on for `LONGER` times as long (`models.family.Family.simulate`) before anything is said of
it. The verdict is of a point, from all of its replications together: `sweep.statistics.saturation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.arrays import Floats

LONGER = 4
"""A suspicious run is made anew, so many times as long."""

PARTS = 6
"""The run after its first quarter, in which the machine fills, is divided into so many equal parts."""

LEAST_BATCHES = 4
"""Fewer tell nothing of growth."""

GROWTH = 1.2
"""Suspicious: the mean number of jobs in the second half over that in the first. Steady growth has 3."""

SHORTFALL = 0.005
"""Suspicious as well: the share of the offered work that is not delivered. What a stable system leaves undone
is what is in it at the end: a vanishing share of a long run."""

OBVIOUS_GROWTH, OBVIOUS_SHORTFALL, OBVIOUS_JOBS = 1.5, 0.1, 10_000
"""Where a tenth of the work of so many jobs is not delivered, nothing is learned by going on."""


@dataclass(frozen=True)
class Backlog:
    """How much was waiting or running, and left undone, in the course of a run.

    Parameters
    ----------
    level : ndarray, shape (n_parts,)
        Mean number of jobs in the system in equal parts of the run, its first quarter left out.
    shortfall : ndarray, shape (n_parts,)
        Offered work that was not delivered, as a share; NaN where the load is not known, or where what is
        delivered is no measure of work (processors that only wait for each other are busy as well).
    suspected : bool
        The run looks as if the policy did not keep up.
    overflowed : bool
        It broke off because there was no room for more jobs; of a point that is solved: it is saturated.
    length : int
        This run's length in multiples of what was asked for: 1, or `LONGER`.
    """

    level: Floats
    shortfall: Floats
    suspected: bool = False
    overflowed: bool = False
    length: int = 1

    @classmethod
    def of(
        cls, level: Floats, delivered: Floats | None = None, load: float | None = None,
        *, overflowed: bool = False,
    ) -> Backlog:  # fmt: skip
        """Return what the batches of a run tell.

        Parameters
        ----------
        level : ndarray, shape (n_batches,)
            Mean number of jobs in the system.
        delivered : ndarray, shape (n_batches,), optional
            Work delivered, as a fraction of capacity.
        load : float, optional
            Work offered, as a fraction of capacity.
        """
        if delivered is None or not load:
            delivered, load = np.full(len(level), np.nan), 1.0
        lacking = 1 - delivered / load
        grows = _growth(level) > GROWTH and not lacking.mean() <= SHORTFALL if len(level) else False
        return cls(_parts(level), _parts(lacking), bool(grows or overflowed), overflowed)

    @classmethod
    def solved(cls, saturated: bool) -> Backlog:
        """Return the backlog of a point that is solved, not simulated: it is known without a run."""
        return cls(np.zeros(0), np.zeros(0), saturated, saturated)

    def is_obvious(self, jobs: int) -> bool:
        """Tell whether so many jobs leave no doubt that this run did not keep up."""
        if self.overflowed:
            return True
        enough = jobs >= OBVIOUS_JOBS and len(self.level) > 1
        return bool(
            enough
            and self.level[-1] > OBVIOUS_GROWTH * self.level[0]
            and self.shortfall.mean() > OBVIOUS_SHORTFALL
        )


def _growth(level: Floats) -> float:
    """Return the mean of the second half over that of the first, 1 where too few batches tell nothing."""
    if len(level) < LEAST_BATCHES:
        return 1.0
    first, second = np.array_split(level, 2)
    return float(second.mean() / first.mean()) if first.mean() > 0 else 1.0


def _parts(values: Floats) -> Floats:
    """Return the means of equal parts, the first quarter left out."""
    rest = values[len(values) // 4 :]
    parts = np.array_split(rest, min(PARTS, len(rest)) or 1)
    return np.array([part.mean() for part in parts if part.size])

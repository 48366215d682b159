"""Calibration: the jobs of a class are bent until they meet the demands of Table 4."""

from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq

from models.units import KB_IN_MB
from models.workloads.o2k.classes import Draft
from models.workloads.o2k.shapes import Stiffness

LARGEST = 6.0
"""Maximum tilt: at it nearly all jobs are at a limit."""


@dataclass(frozen=True)
class Tilts:
    """The tilts of a class, see `shapes`; 0 leaves it unbent.

    Parameters
    ----------
    miss : float
        Relative error of both demands together: 0 except for rounding, unless the limits of the class leave
        no solution.
    """

    runtime: float
    size: float
    memory: float
    miss: float = 0.0


def calibrate(jobs: Draft, processor_hours: float, gigabyte_hours: float, stiffness: Stiffness) -> Tilts:
    """Return the tilts under which jobs meet two demands.

    Parameters
    ----------
    processor_hours, gigabyte_hours : float
        Wanted sums over the jobs of runtime times requested processors, and times requested memory.

    Returns
    -------
    Tilts
        The tilts; the nearest ones found if the limits of the class leave no solution.

    Notes
    -----
    For any tilt of the processors, the tilt of the runtime follows from the first demand, and the tilt of the
    memory then from the second: there is one tilt more than there are demands. Among all solutions, the one
    is taken in which the three share the bending by their stiffness, so that none reaches its limit while
    another could help. O(n_jobs) for each of about a hundred evaluations.
    """
    seen: list[tuple[Tilts, float]] = []

    def imbalance(size_tilt: float) -> float:
        size = jobs.size.at(size_tilt)
        runtime = rising(lambda tilt: float(size @ jobs.runtime.at(tilt)) / 3600 / processor_hours)
        hours = jobs.runtime.at(runtime) / 3600
        megabytes = jobs.memory(size)
        memory = rising(lambda tilt: float(hours @ megabytes.at(tilt)) / KB_IN_MB / gigabyte_hours)
        miss = abs(float(size @ hours) / processor_hours - 1)
        miss += abs(float(hours @ megabytes.at(memory)) / KB_IN_MB / gigabyte_hours - 1)
        forces = stiffness.imbalance(runtime, size_tilt, memory)
        seen.append((Tilts(runtime, size_tilt, memory, miss), forces))
        return forces

    root(imbalance, tolerance=0.01)
    return min(seen, key=lambda one: (round(one[0].miss, 4), abs(one[1])))[0]


def rising(ratio: Callable[[float], float]) -> float:
    """Return the tilt at which a demand over the wanted one, rising with it, is nearest to 1."""
    return root(lambda tilt: ratio(tilt) - 1, tolerance=1e-6)


def root(rises: Callable[[float], float], tolerance: float) -> float:
    """Return where a rising function is 0, or the limit nearest to that."""
    if rises(-LARGEST) >= 0:
        return -LARGEST
    if rises(LARGEST) <= 0:
        return LARGEST
    return float(brentq(rises, -LARGEST, LARGEST, xtol=tolerance))

"""Where this paper's figures and claims touch the models.

The models are imported inside the functions: a report whose figures need none does not wait for them.
"""

from __future__ import annotations

import numpy as np

from models.point import Batches, Parameters, Point


def relative_speedup(workload: Parameters, fraction: np.ndarray) -> np.ndarray:
    """Return the speedup on fractions of the machine, relative to that on all of it.

    Parameters
    ----------
    workload : dict
        Of the model ``speedup_curve``.
    fraction : ndarray
    """
    from models.partitioning.efficiency import SpeedupCurve

    curve = SpeedupCurve(float(workload["knee"]))
    return np.array([curve._speedup(float(x)) / curve._speedup(1.0) for x in fraction])


def chain_blow_up(
    policy: Parameters, workload: Parameters, machine: Parameters, load: float, isolated_time: float
) -> float:
    """Return the mean blow-up factor of equal jobs by the birth-death chain, exact; NaN if it is unstable.

    Parameters
    ----------
    policy, workload, machine : dict
        As a simulation got them.
    load : float
    isolated_time : float, seconds
        Of the jobs, alone on the machine (E).
    """
    from models.partitioning import birth_death

    jobs = {**workload, "isolated_time": isolated_time, "jobs": 1}
    found = birth_death.simulate(Point(policy, jobs, machine, load, Batches(1, 0, (1,))))
    return float("nan") if found.saturated else float(found.metrics["blow_up"][0])

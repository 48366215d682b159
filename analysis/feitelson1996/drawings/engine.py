"""Matrices from the simulator at chosen moments.

The kernels are imported inside the functions: a report whose figures need none does not wait for them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.drawings.composition import parameters
from analysis.drawings.matrix import MatrixState, alternates
from analysis.errors import AnalysisError
from models.point import Point


def states(
    scheme: str,
    n_pes: int,
    sizes: Sequence[int],
    runtimes: np.ndarray,
    moments: Sequence[float],
    alternation: str,
) -> tuple[MatrixState, ...]:
    """Return the matrix at chosen moments, ascending, when jobs arrive one a time unit, the first at 1."""
    from models.gang.policies import Rules
    from models.gang.simulation import Simulation
    from models.jobs.jobs import Jobs

    n = len(sizes)
    jobs = Jobs(
        np.arange(1.0, n + 1), np.asarray(runtimes, float), np.full(n, np.nan),
        np.array(sizes, np.int64), np.zeros(n, np.int64),
    )  # fmt: skip
    policy = parameters("policy", f"gang/{scheme}", {"alternation": alternation})
    simulation = Simulation(Rules.of(policy), n_pes, iter([jobs]))
    found = []
    for moment in moments:
        simulation.run(1, until=moment)
        found.append(_state(simulation.occupancy(), alternation, "arrival"))
    return tuple(found)


def state_of(point: Point, time: float | None = None) -> tuple[MatrixState, float]:
    """Return the matrix in a point's own run, and when that is.

    Parameters
    ----------
    time : float, optional
        In the workload's unit; by default the end of the first measured batch.

    Raises
    ------
    AnalysisError
        If the run ends before that time.
    """
    from models.gang.model import prepare
    from models.packing.driver import TIME_REACHED

    simulation = prepare(point)
    if time is None:
        simulation.run(min(point.batches.warmup + 1, point.batches.most))
    elif simulation.run(point.batches.most, until=time) != TIME_REACHED:
        raise AnalysisError(f"time={time:g}: this run ends at {simulation.now:.0f}; give a time before that")
    mapped = simulation.occupancy()
    return _state(mapped, point.policy["alternation"], point.policy["precedence"]), simulation.now


def _state(mapped: np.ndarray, alternation: str, precedence: str) -> MatrixState:
    """Return the matrix with the foreign slots in which jobs run."""
    jobs = [int(job) for job in np.unique(mapped) if job >= 0]  # numbered by arrival
    sign: Mapping[str, int] = {"arrival": 0, "largest": -1, "smallest": 1}
    size: dict[int, Any] = {job: int((mapped == job).sum()) for job in jobs}
    order = sorted(jobs, key=lambda job: (sign[precedence] * size[job], job))
    return MatrixState(mapped, alternates(mapped, alternation, order))

"""Matrices from the simulator at chosen moments.

The kernels are imported inside the functions: a report whose figures need none does not wait for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.drawings.matrix import MatrixState, alternates
from models.point import Batches, Parameters, Point
from sweep import compiling


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
    from models.packing.scheme import find

    n = len(sizes)
    jobs = Jobs(
        np.arange(1.0, n + 1), np.asarray(runtimes, float), np.full(n, np.nan),
        np.array(sizes, np.int64), np.zeros(n, np.int64),
    )  # fmt: skip
    simulation = Simulation(Rules(find(scheme), scheme, alternation=alternation), n_pes, iter([jobs]))
    found = []
    for moment in moments:
        simulation.run(1, until=moment)
        found.append(_state(simulation.occupancy(), alternation, "arrival"))
    return tuple(found)


def state_at(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float,
    time: float,
    seed: Sequence[int],
) -> MatrixState:
    """Return the matrix of a simulation at a time, in the workload's unit (or at its end before that)."""
    from models.gang.model import prepare

    # Enough batches never to end by count: the time decides.
    point = Point(policy, workload, machine, load, Batches(1000, 0, (1000,)), tuple(seed))
    compiling.ready(point)
    simulation = prepare(point)
    simulation.run(1000, until=time)
    return _state(simulation.occupancy(), policy["alternation"], policy["precedence"])


def state_of(point: Point, time: float | None = None) -> tuple[MatrixState, float]:
    """Return the matrix in a point's own run, and when that is.

    Parameters
    ----------
    time : float, optional
        In the workload's unit; by default the end of the first measured batch.
    """
    from models.gang.model import prepare

    simulation = prepare(point)
    if time is None:
        simulation.run(min(point.batches.warmup + 1, point.batches.most))
    else:
        simulation.run(point.batches.most, until=time)
    mapped = simulation.occupancy()
    return _state(mapped, point.policy["alternation"], point.policy["precedence"]), simulation.now


def _state(mapped: np.ndarray, alternation: str, precedence: str) -> MatrixState:
    """Return the matrix with the foreign slots in which jobs run."""
    jobs = [int(job) for job in np.unique(mapped) if job >= 0]  # numbered by arrival
    sign: Mapping[str, int] = {"arrival": 0, "largest": -1, "smallest": 1}
    size: dict[int, Any] = {job: int((mapped == job).sum()) for job in jobs}
    order = sorted(jobs, key=lambda job: (sign[precedence] * size[job], job))
    return MatrixState(mapped, alternates(mapped, alternation, order))

"""What the gangster display of the Alpha cluster shows: histories "updated at time-slice boundaries" (Jette
1997).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.drawings import scene
from analysis.drawings.scene import UNITS, asked, positive, unit_of, valid
from analysis.errors import AnalysisError
from models.arrays import Floats
from models.production_gang.systems import area, steps
from models.units import KB_IN_GB

if TYPE_CHECKING:
    from models.production_gang.systems import Run

SETTINGS = {
    "workload": "lublin2003",
    "path": "",
    "machine": "alpha",
    "load": "0.4",
    "memory": "64",
    "adapts": "true",
    "seed": "1",
    "replication": "0",
    "jobs": "300",
    "from": "",
    "to": "",
    "conf": "",
}
"""`memory` is MB for each processor of a job that asks for none, `adapts` whether jobs tell the daemon of
their phases.
"""

PHASES = [
    {"share": 0.2, "processors": 0.5},
    {"share": 0.6, "processors": 1.0},
    {"share": 0.2, "processors": 0.25},
]
"""Of the jobs of a workload that has none, so that there is something to see."""

LONGEST_DEFAULT = 2 * UNITS["h"]
MOST_SLICES = 20_000


@dataclass(frozen=True)
class MachineHistory:
    """Averages over slices, on each computer; arrays of shape (n_slices, n_hosts).

    Parameters
    ----------
    edges : ndarray, shape (n_slices + 1,), seconds
    gangs, others : ndarray
        CPUs that they use.
    memory : ndarray, GB
        Of the jobs that are there, whether they run or not.
    load : ndarray
        Processors of the jobs that are there, for each CPU.
    """

    edges: Floats
    gangs: Floats
    others: Floats
    memory: Floats
    load: Floats


@dataclass(frozen=True)
class JobHistory:
    """Averages over slices, on each computer; arrays of shape (n_slices, n_hosts).

    Parameters
    ----------
    edges : ndarray, shape (n_slices + 1,), seconds
    has, uses : ndarray
        CPUs.
    memory : ndarray, GB
    """

    edges: Floats
    has: Floats
    uses: Floats
    memory: Floats


def machine_history(run: Run, first: float, last: float) -> MachineHistory:
    """Return what the computers did between two times, in seconds, in slices."""
    edges, detail = _edges(run, first, last), run.detail
    noted, is_gang = detail.noted, run.jobs.size >= detail.rules.gang_from

    def there(height: np.ndarray) -> Floats:
        hosts = range(len(run.machine.names))
        return np.stack(
            [averages(detail.admitted, run.end, height[:, host], edges) for host in hosts], axis=1
        )

    memory = -(-run.jobs.memory // detail.layout.sum(axis=1))
    return MachineHistory(
        edges,
        _by_host(run, is_gang[noted.job], noted.used, edges),
        _by_host(run, ~is_gang[noted.job], noted.used, edges),
        there(detail.layout * memory[:, None] / KB_IN_GB),
        there(detail.layout / run.machine.processors),
    )


def job_history(run: Run, job: int, first: float, last: float) -> JobHistory:
    """Return what a job (by its position) had and used between two times, in seconds, in slices."""
    edges, detail = _edges(run, first, last), run.detail
    noted = detail.noted
    has, uses = (_by_host(run, noted.job == job, height, edges) for height in (noted.had, noted.used))
    layout = detail.layout[job]
    each = -(-run.jobs.memory[job] // layout.sum())
    here = averages(detail.admitted[[job]], run.end[[job]], np.ones(1), edges)
    return JobHistory(edges, has, uses, here[:, None] * layout * each / KB_IN_GB)


def _by_host(run: Run, chosen: np.ndarray, height: np.ndarray, edges: Floats) -> Floats:
    """Return the averages of some of what is noted on each computer, shape (n_slices, n_hosts)."""
    noted, hosts = run.detail.noted, range(len(run.machine.names))
    places = [chosen & (noted.host == host) for host in hosts]
    return np.stack(
        [averages(noted.begin[its], noted.end[its], height[its], edges) for its in places], axis=1
    )


def averages(begin: Floats, end: Floats, height: np.ndarray, edges: Floats) -> Floats:
    """Return the averages, between consecutive edges, of rectangles added up.

    Examples
    --------
    >>> begin, end = np.array([0.0, 5.0]), np.array([10.0, 15.0])
    >>> averages(begin, end, np.array([2.0, 4.0]), np.array([0.0, 10.0, 20.0]))
    array([4., 2.])
    """
    found: Floats = np.diff(area(*steps(begin, end, height), edges)) / np.diff(edges)
    return np.where(np.abs(found) < 1e-9, 0.0, found)


def run_of(settings: Mapping[str, str]) -> Run:
    """Make the run that settings ask for; `AnalysisError` if they cannot be understood, or the models refuse
    them.
    """
    from models.production_gang import model

    if settings["adapts"] not in ("true", "false"):
        raise AnalysisError(f"adapts={settings['adapts']}: give true or false")
    memory = positive(settings, "memory", "MB for each processor")
    chosen = {**settings, "policy": "alpha_gang"}
    point = asked(chosen, {"adapts": settings["adapts"] == "true"}, {"memory": memory})
    if point.workload.get("phases") is None:
        point = replace(point, workload={**point.workload, "phases": PHASES})
    return valid(model.schedule, point)


def window(settings: Mapping[str, str], run: Run, begin: float, until: float) -> tuple[float, float]:
    """Return the two times that are drawn, seconds, see `scene.window`."""
    return scene.window(settings, scene.Scene(run, slice(None), begin, until), LONGEST_DEFAULT)


def busiest(run: Run) -> float:
    """Return the time at which most processors are asked for by the jobs that are there."""
    time = np.concatenate([run.jobs.submit, run.end])
    order = np.argsort(time, kind="stable")
    there = np.cumsum(np.concatenate([run.jobs.size, -run.jobs.size])[order])
    return float(time[order][np.argmax(there)])


def since(edges: Floats) -> tuple[Floats, str]:
    """Return the slices' borders in a unit that suits them, from the first one on, and what the axis is
    called.
    """
    unit, length = unit_of(float(edges[-1] - edges[0]))
    return (edges - edges[0]) / length, f"Time since {edges[0] / UNITS['h']:,.1f} hours ({unit})"


def _edges(run: Run, first: float, last: float) -> Floats:
    length = run.detail.rules.slice
    slices = np.arange(np.floor(first / length), np.ceil(last / length) + 1)
    if slices.size > MOST_SLICES:
        raise AnalysisError(f"{slices.size:,} slices are too many to see: give a shorter time, from= and to=")
    return np.asarray(slices * length)

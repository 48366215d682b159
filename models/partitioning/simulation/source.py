"""The jobs of a point: short and long ones that adapt to their partition, or rigid ones with a speed-up."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from models import dotted, workloads
from models.arrays import Floats, Ints
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool
from models.jobs.stream import CHECKED
from models.jobs.trace import Trace
from models.partitioning.rules import Partitioning
from models.partitioning.simulation.system import System
from models.point import Parameters, Point
from models.topology.mesh import Mesh
from models.workloads import short_long
from models.workloads.speedup import CURVES, Speedup
from models.workloads.speedup.cycle import Cycle, best_speeds

NO_CLASS = len(short_long.JOB_CLASSES)
"""Class of jobs of other workloads: they only count among all jobs."""


class Part(NamedTuple):
    """A chunk of jobs.

    jobs : Jobs
        As rigid jobs, for measures.
    job_class : int64 array, index into `short_long.JOB_CLASSES`, or `NO_CLASS`
    work : float64 array, seconds alone on the machine
    alone : float64 array, speed on the whole machine, in the speed-up's unit
    """

    jobs: Jobs
    job_class: Ints
    work: Floats
    alone: Floats


@dataclass(frozen=True)
class Source:
    """The jobs of a point on its machine.

    Parameters
    ----------
    system : System
    machine : Machine
    parts : callable
        Returns an iterator of consecutive chunks.
    speedup : Speedup, optional
        None means the speedup of short and long jobs, by the shape of partitions.
    trace : Trace, optional
        The log or month that the jobs come from.
    notes : tuple of str
    """

    system: System
    machine: Machine
    parts: Callable[[], Iterator[Part]]
    speedup: Speedup | None = None
    trace: Trace | None = None
    notes: tuple[str, ...] = ()


def open_source(point: Point) -> Source:
    """Return the jobs of a point; ``ValueError`` with one line if they cannot be simulated.

    Loads no kernel before a chunk is taken.
    """
    policy, workload = Partitioning.of(point.policy), point.workload
    if point.machine.get("mesh") is not None:
        machines.of(point.machine)  # refuses other processors beside the mesh's
    if workload.get("model") == "short_long":
        mesh, notes = _mesh(point.machine)
        system = System.of(policy, mesh, Cycle.of(workload))
        short_long.check(workload, mesh, point.load)
        return Source(system, pool(mesh.n_processors), lambda: _short_and_long(point, mesh), notes=notes)
    opened = workloads.open_workload(point)
    mesh, notes = _mesh(point.machine, opened.machine.total)
    speedup = Speedup.of(workload)
    system = System.of(policy, mesh, speedup.cycle)
    found = (*opened.notes, *notes, f"workload.speedup={speedup.note}")
    if opened.first(CHECKED).repeats:
        raise ValueError(
            f"workload {workload.get('name', '')} submits a job again when it has ended, and policy "
            f"{point.policy.get('name', '')} takes jobs that are all submitted beforehand; add "
            "workload.repetition=sequence, which unrolls the repetitions"
        )

    def parts() -> Iterator[Part]:
        return (_part(jobs, system, speedup) for jobs in opened.chunks())

    trace = opened if isinstance(opened, Trace) else None
    return Source(system, opened.machine, parts, speedup, trace, found)


def _mesh(machine: Parameters, processors: int | None = None) -> tuple[Mesh, tuple[str, ...]]:
    """Return the mesh, and a note if only a number of processors is given (or a log's)."""
    if all(machine.get(key) is None for key in ("mesh", "hosts", "processors")):
        machine = {**machine, "processors": processors}
    mesh = Mesh.of(machine)
    if machine.get("mesh") is not None:
        return mesh, ()
    shape = f"{mesh.rows} × {mesh.columns}"
    note = f"machine {machine.get('name', '')}: {mesh.n_processors} processors as a mesh of {shape}"
    return mesh, (f"{note}, the closest to a square; machine.mesh=ROWSxCOLUMNS sets another",)


def _short_and_long(point: Point, mesh: Mesh) -> Iterator[Part]:
    load = short_long.read_load(point.load)
    for jobs, drawn in short_long.jobs_and_work(point.workload, mesh, load, point.seed):
        yield Part(jobs, drawn.job_class, drawn.work, np.ones(len(jobs)))


def _part(jobs: Jobs, system: System, speedup: Speedup) -> Part:
    """Return rigid jobs with their work, given their speeds on their processors and on the whole machine."""
    if speedup.cycle is not None:
        speed = best_speeds(system.mesh, speedup.cycle.steps)[jobs.size]
        alone = np.ones(len(jobs))
    else:
        speed = speeds_on(jobs.size.astype(np.float64), jobs.size, speedup)
        alone = speeds_on(np.full(len(jobs), float(system.mesh.n_processors)), jobs.size, speedup)
    return Part(jobs, np.full(len(jobs), NO_CLASS), jobs.runtime * (speed / alone), alone)


def speeds_on(processors: Floats, size: Ints, speedup: Speedup) -> Floats:
    """Return the speeds of jobs of some sizes on some numbers of processors.

    ``ValueError`` with one line, if a user's own function does not return a speed.
    """
    from models.workloads.speedup.curves import speeds  # compiled: a plan does not need it

    found = np.empty(len(size))
    parameters = np.array(speedup.parameters)
    try:
        speeds(dotted.imported(speedup.curve), processors, size.astype(np.int64), parameters, found)
    except TypeError:
        raise ValueError(
            f"workload.speedup={speedup.curve}; allowed: a function that is compiled for CURVE_SIGNATURE of "
            "models.workloads.speedup.curves"
        ) from None
    wrong = ~(np.isfinite(found) & (found > 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"workload.speedup={speedup.curve}: {found[at]:g} on {processors[at]:g} processors for a job of "
            f"{size[at]}; allowed: a finite speed above 0"
        )
    return found


def check_curve(source: Source) -> None:
    """Evaluate a user's own speed-up for every number of processors, of some jobs; see `speeds_on`."""
    speedup, n_processors = source.speedup, source.system.mesh.n_processors
    if speedup is None or speedup.curve.startswith(CURVES):
        return
    some = next(source.parts()).jobs.size[:CHECKED]
    for size in np.unique(some):
        numbers = np.arange(1.0, n_processors + 1)
        speeds_on(numbers, np.full(n_processors, size), speedup)

"""The simulation of section 5.4 as the sweep sees it: plain data in, batches out."""

from __future__ import annotations

from functools import partial

import numpy as np

from models.arrays import Floats
from models.family import Outcome
from models.partitioning import engine, fold, sharing
from models.partitioning.discipline import Discipline
from models.partitioning.metrics import known, measure
from models.partitioning.simulation import Simulation
from models.partitioning.system import Admission, System
from models.partitioning.tables import tables
from models.partitioning.workload import arrivals, read_load
from models.point import Point
from models.saturation import backlog_grows
from models.topology.mesh import Mesh

JOB_LIMIT = 1000
"""A system with so many jobs in it, waiting ones included, counts as saturated, and the run ends."""

QUEUE_LIMIT = 10_000
"""The same where jobs wait for fixed partitions: queues are longer there, and cost nothing."""

SHARING = Discipline(sharing.arrive, sharing.depart, sharing.rotate)
FOLDING = Discipline(fold.arrive, fold.depart, fold.rotate)


def prepare(point: Point) -> Simulation:
    """Return a simulation of a point at time 0."""
    policy, machine, batches = point.policy, point.machine, point.batches
    assert batches.size is not None  # see `policies.check`
    system, admission = System.of(point), Admission.of(policy)
    kind = system.policy.discipline
    preemptive = not system.has_fixed_partitions
    return Simulation(
        FOLDING if kind == "fold" else SHARING,
        partial(tables, system),
        arrivals(point.workload, system.step, read_load(point.load), point.seed),
        limit=system.limit(machine),
        charged=policy["reallocation_cost"],
        rotation=system.policy.rotation,
        rotation_per_job=system.policy.unit == "jobs",
        interval=admission.interval if preemptive else np.inf,
        overhead=admission.overhead,
        batch_size=batches.size,
        batch_limit=batches.most,
        job_limit=QUEUE_LIMIT if system.has_fixed_partitions else JOB_LIMIT,
    )


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`.

    Notes
    -----
    Where all jobs are of one class the other has no mean, and the stopping rule is not asked about it.
    """
    simulation, batches = prepare(point), point.batches
    rotating = simulation.settings.rotation < np.inf and point.machine.get("memory_limit") is None
    most = Mesh.of(point.machine).n_processors if rotating else np.inf
    for look in batches.looks:
        status = simulation.run(batches.warmup + look)
        metrics = measure(simulation.batches[batches.warmup : simulation.n_batches])
        jobs = metrics["jobs_in_system"]
        saturated = status == engine.TABLE_FULL or backlog_grows(jobs) or crowded(jobs, most)
        if saturated or status != engine.BATCHES_DONE:
            break
        if batches.enough is not None and batches.enough(known(metrics)):
            break
    return Outcome(metrics, bool(saturated), simulation.n_terminated)


def crowded(jobs_in_system: Floats, processors: float) -> bool:
    """Tell whether the number of processors is what keeps the number of jobs of a rotating policy down.

    With a short time between rotations folding does little else when there are many jobs (section 5.3.1), but
    with as many as processors, a power of two, it does not rotate at all. Where memory sets no limit that end
    of the model is no property of the policy, and half as many jobs on average count as saturated.
    """
    last_third = jobs_in_system[-max(1, len(jobs_in_system) // 3) :]
    return bool(len(last_third) and last_third.mean() > processors / 2)

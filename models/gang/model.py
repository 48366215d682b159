"""Gang scheduling with a packing scheme, as the sweep sees it: plain data in, batches out."""

from __future__ import annotations

from dataclasses import replace

from models import workloads
from models.family import Outcome
from models.gang import engine, schemes
from models.gang.simulation import Simulation
from models.gang.state import METRICS
from models.jobs.machine import one_pool
from models.jobs.trace import Trace
from models.point import Point
from models.saturation import backlog_grows
from models.workloads import repetition


def prepare(point: Point) -> Simulation:
    """Return a simulation of a point at time 0."""
    policy, opened = point.policy, workloads.open_workload(point)
    scheme = schemes.find(policy["scheme"])
    n_pes = one_pool(opened.machine, point.machine, policy)
    rerun = rerun_parameters = None
    if isinstance(opened, Trace):
        chunks = iter([opened.jobs])
        point = replace(point, batches=opened.divided(point.batches)[0])
    else:
        chunks, rerun, rerun_parameters = opened.chunks(), opened.rerun, opened.rerun_parameters
    assert point.batches.size is not None  # see `workloads.open_workload`
    return Simulation(
        scheme.compiled(),
        scheme.arguments(policy),
        n_pes,
        chunks,
        rerun=repetition.same_runtime if rerun is None else schemes.imported(rerun),
        rerun_parameters=rerun_parameters,
        memory=scheme.memory(n_pes),
        alternation=policy["alternation"],
        precedence=policy["precedence"],
        unification=policy["unification"],
        migrating=scheme.migrates,
        batch_size=point.batches.size,
        batch_limit=point.batches.most,
        job_limit=policy["job_limit"],
    )


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`."""
    simulation, batches = prepare(point), point.batches
    for look in batches.looks:
        status = simulation.run(batches.warmup + look)
        measured = simulation.batches[batches.warmup : simulation.n_batches]
        metrics = {name: measured[:, i].copy() for i, name in enumerate(METRICS)}
        if status != engine.BATCHES_DONE or (batches.enough is not None and batches.enough(metrics)):
            break
    saturated = status == engine.TABLE_FULL or backlog_grows(metrics["jobs_in_system"])
    return Outcome(metrics, bool(saturated), simulation.n_terminated)

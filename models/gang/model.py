"""Gang scheduling with a packing scheme, as the sweep sees it: plain data in, batches out."""

from __future__ import annotations

from models.family import Batches, Outcome, Parameters, Seed
from models.gang import engine, schemes
from models.gang.simulation import Simulation
from models.gang.state import METRICS
from models.saturation import backlog_grows
from models.workloads import open_stream


def prepare(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float | None,
    batches: Batches,
    seed: Seed,
) -> Simulation:
    """Return a simulation at time 0; the arguments are those of `models.family.Simulate`."""
    scheme = schemes.find(policy["scheme"])
    n_pes = machine["n_pes"]
    n_batches = batches.warmup + batches.looks[-1]
    return Simulation(
        scheme.compiled(),
        scheme.arguments(policy),
        n_pes,
        open_stream(workload, n_pes, load, n_batches * batches.size, seed),
        memory=scheme.memory(n_pes),
        alternation=policy["alternation"],
        precedence=policy["precedence"],
        unification=policy["unification"],
        migrating=scheme.migrates,
        batch_size=batches.size,
        batch_limit=n_batches,
        job_limit=policy["job_limit"],
    )


def simulate(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float | None,
    batches: Batches,
    seed: Seed,
) -> Outcome:
    """Simulate one point in one replication, see `models.family.Simulate`."""
    simulation = prepare(policy, workload, machine, load, batches, seed)
    for look in batches.looks:
        status = simulation.run(batches.warmup + look)
        measured = simulation.batches[batches.warmup : simulation.n_batches]
        metrics = {name: measured[:, i].copy() for i, name in enumerate(METRICS)}
        if status != engine.BATCHES_DONE or (batches.enough is not None and batches.enough(metrics)):
            break
    saturated = status == engine.TABLE_FULL or backlog_grows(metrics["jobs_in_system"])
    return Outcome(metrics, bool(saturated), simulation.n_terminated)

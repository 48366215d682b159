"""The family as the sweep sees it: a month is generated and looked at."""

from __future__ import annotations

from models.family import Batches, Outcome, Parameters, Seed
from models.o2k_workload.measures import measure
from models.workloads import o2k
from models.workloads.o2k.assumptions import Assumptions


def simulate(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float | None,
    batches: Batches,
    seed: Seed,
) -> Outcome:
    """Generate one month, see `models.family.Simulate`: it is one batch, whatever is asked for."""
    source = o2k.open_source(workload, machine, load, seed)
    metrics = measure(source.jobs.part(source.measured), Assumptions.of(workload))
    return Outcome({name: values[None] for name, values in metrics.items()}, False, len(source.jobs))

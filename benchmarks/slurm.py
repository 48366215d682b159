"""Slurm's scheduler: a month of jobs, and its growth with the queue, the nodes and the partitions.

What is timed is the CPU time of a whole schedule on one core, once compiled; the jobs are drawn beforehand.
The month has bf_interval=30 and 1,000 jobs tested in a cycle.
"""

from dataclasses import replace

import numpy as np

from benchmarks.measure import cpu_seconds, exponent
from benchmarks.points import expanded, stream
from benchmarks.record import Findings, Table, Target
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.point import Parameters
from models.slurm import FAMILY, engine
from models.slurm.policies import configuration_of, wanted

MONTH_S = 30 * 86400
NODES, JOBS, TARGET_S = 1000, 100_000, 10.0
CYCLES = ("policy.bf_interval=30", "policy.bf_max_job_test=1000")


def run(quick: bool) -> Findings:
    """Time the month, and smaller ones of which one thing grows."""
    FAMILY.warm_up()
    n_jobs = JOBS // 100 if quick else JOBS // 10
    found = Findings()
    if not quick:
        for load in (0.5, 0.7, 0.8):
            taken, waiting = month(NODES, JOBS, load)
            what = f"{JOBS:,} jobs in a month at load {load} on {NODES:,} nodes, {waiting:.0f} waiting"
            found.targets.append(Target(what, taken, TARGET_S, "s of CPU"))
    _grow(found, "load", "waiting", [(load, month(100, n_jobs, load)) for load in (0.5, 0.7, 0.8, 0.9)])
    _grow(found, "nodes", "nodes", [(n, month(n, n_jobs, 0.7)) for n in (100, 200, 400, 800)])
    _grow(found, "partitions", "partitions", [(n, month(128, n_jobs, 0.7, n)) for n in (1, 2, 4, 8)])
    return found


def month(nodes: int, n_jobs: int, load: float, partitions: int = 1) -> tuple[float, float]:
    """Return the CPU seconds of a month, and how many jobs wait on average.

    The partitions share the nodes evenly, and the jobs.
    """
    drawn = stream(pool(nodes // partitions), n_jobs, load=load * partitions)
    factor = MONTH_S / float(drawn.submit[-1])
    requested = np.maximum(np.ceil(drawn.requested * factor / 60), 1) * 60
    jobs = replace(drawn, submit=drawn.submit * factor, runtime=drawn.runtime * factor, requested=requested)
    return scheduled(jobs, *_policy(nodes, partitions))


def scheduled(jobs: Jobs, policy: Parameters, machine: Parameters) -> tuple[float, float]:
    """Return the CPU seconds of a schedule, and how many jobs wait on average."""
    configuration = configuration_of(policy, machine)
    asked = wanted(jobs, policy, configuration)
    n = len(configuration.partitions)
    asked = replace(asked, partitions=[(job % n,) for job in range(len(jobs))])
    results: list[engine.Result] = []
    taken = cpu_seconds(lambda: results.append(engine.run(asked, configuration)))
    return taken, float((results[0].start - jobs.submit).sum() / jobs.submit[-1])


def _policy(nodes: int, partitions: int) -> tuple[Parameters, Parameters]:
    each = nodes // partitions
    lines = [f"PartitionName=p{k} Nodes=n[{k * each + 1}-{(k + 1) * each}]" for k in range(partitions)]
    lines = [f"NodeName=n[1-{nodes}] CPUs=1", *lines]
    text = ",".join(f"'{line}'" for line in lines)
    plan = expanded(
        "+experiment=compare", "grid.policy=[slurm]", "grid.workload=[synthetic]", "grid.machine=[log]",
        f"policy.lines=[{text}]", *CYCLES,
    )  # fmt: skip
    return plan.variants["policy"][0].parameters, plan.variants["machine"][0].parameters


def _grow(found: Findings, what: str, by: str, taken: list[tuple[float, tuple[float, float]]]) -> None:
    x = [waiting if by == "waiting" else value for value, (_, waiting) in taken]
    seconds = [each for _, (each, _) in taken]
    rows = [[value, waiting, each] for value, (each, waiting) in taken]
    title = f"Growth: CPU time ~ {by} ** {exponent(x, seconds):.1f}"
    found.tables.append(Table(title, [what, "waiting on average", "s"], rows))

"""Slurm's scheduler: a month of jobs, and its growth with the queue, the nodes and the partitions.

What is timed is the CPU time of a whole schedule on one core, once compiled; the jobs are drawn beforehand.
Of a first study, which compiles all kernels that it needs, it is the wall time.
The month has bf_interval=30 and 1,000 jobs tested in a cycle. Deep queues are served as a busy site does:
bf_interval=60, plans for two days, all waiting jobs tested.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.measure import cpu_seconds, exponent
from benchmarks.points import expanded, stream
from benchmarks.record import Cell, Findings, Table, Target
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.requests import Requests
from models.point import Parameters
from models.slurm import FAMILY, engine
from models.slurm.policies import configuration_of, wanted

MONTH_S = 30 * 86400
NODES, JOBS = 1000, 100_000
TARGETS_S = {0.5: 2.0, 0.7: 5.0, 0.8: 10.0}
"""Offered load -> CPU time that the month is to take."""
CYCLES = ("policy.bf_interval=30", "policy.bf_max_job_test=1000")
NODE_CPUS, DEEP_LOAD = 128, 4.0
BUSY_LOAD, BUSY_TARGET_S = 1.0, 100.0
"""Offered load of a month in which about 1,000 jobs wait on average, and the CPU time that it is to take."""
FIRST_TARGET_S = 25.0
COLUMNS = "JobID|User|Account|Partition|State|AllocCPUS|AllocNodes|ReqMem|ElapsedRaw|TimelimitRaw|"
TIMES = "Submit|Eligible|Start\n"
DEEP_CYCLES = (
    "policy.bf_interval=60",
    "policy.bf_max_job_test=5000",
    "policy.bf_window=2880",
    "policy.bf_resolution=300",
)


def run(quick: bool) -> Findings:
    """Time the month, and smaller ones of which one thing grows."""
    FAMILY.warm_up()
    n_jobs = JOBS // 100 if quick else JOBS // 10
    found = Findings()
    if not quick:
        for load, target in TARGETS_S.items():
            taken, waiting = month(NODES, JOBS, load)
            what = f"{JOBS:,} jobs in a month at load {load} on {NODES:,} nodes, {waiting:.0f} waiting"
            found.targets.append(Target(what, taken, target, "s of CPU"))
        first, second = studies()
        what = f"slurm_what_if, with no kernel in the cache (once they are there {second:.1f} s)"
        found.targets.append(Target(what, first, FIRST_TARGET_S, "s"))
    _grow(found, "load", "waiting", [(load, month(100, n_jobs, load)) for load in (0.5, 0.7, 0.8, 0.9)])
    _grow(found, "nodes", "nodes", [(n, month(n, n_jobs, 0.7)) for n in (100, 200, 400, 800)])
    _grow(found, "partitions", "partitions", [(n, month(128, n_jobs, 0.7, n)) for n in (1, 2, 4, 8)])
    _deep_queues(found, NODES // 10 if quick else NODES, 200 if quick else 1500)
    if not quick:
        taken, waiting, _ = deep(NODES, JOBS, load=BUSY_LOAD, span=MONTH_S)
        what = f"{JOBS:,} jobs in a month on {NODES:,} nodes of {NODE_CPUS} CPUs, {waiting:,.0f} waiting"
        found.targets.append(Target(what, taken, BUSY_TARGET_S, "s of CPU"))
    return found


def studies() -> list[float]:
    """Return the wall seconds of a study of a short log, with an empty cache of kernels, and once more."""
    taken = []
    with tempfile.TemporaryDirectory() as name:
        folder, instants = Path(name), [f"2024-03-04T03:{minute}:00" for minute in range(10, 50)]
        (folder / "slurm.conf").write_text("NodeName=n[1-4] CPUs=8\nPartitionName=p Nodes=ALL Default=YES\n")
        rows = [f"{k}|u|a|p|COMPLETED|8|1|0|900|60|{at}|{at}|{at}\n" for k, at in enumerate(instants, 1)]
        (folder / "log.txt").write_text(COLUMNS + TIMES + "".join(rows))
        study = "+experiment=slurm_what_if policy.path=slurm.conf workload.path=log.txt executor=serial"
        new = {"NUMBA_CACHE_DIR": name, "SCHEDSWEEP_KERNELS": "", "PYTHONPATH": os.getcwd()}
        for output in ("first", "second"):
            command = [sys.executable, "-m", "sweep", *study.split(), f"output={output}"]
            start = time.perf_counter()
            subprocess.run(command, cwd=folder, env={**os.environ, **new}, check=True, capture_output=True)
            taken.append(time.perf_counter() - start)
    return taken


def month(nodes: int, n_jobs: int, load: float, partitions: int = 1) -> tuple[float, float]:
    """Return the CPU seconds of a month, and how many jobs wait on average.

    The partitions share the nodes evenly, and the jobs.
    """
    drawn = stream(pool(nodes // partitions), n_jobs, load=load * partitions)
    factor = MONTH_S / float(drawn.submit[-1])
    requested = np.maximum(np.ceil(drawn.requested * factor / 60), 1) * 60
    jobs = replace(drawn, submit=drawn.submit * factor, runtime=drawn.runtime * factor, requested=requested)
    taken, result = scheduled(jobs, *_policy(nodes, partitions))
    return taken, float((result.start - jobs.submit).sum() / jobs.submit[-1])


def deep(
    nodes: int,
    n_jobs: int,
    partitions: int = 1,
    arrays: bool = False,
    load: float = DEEP_LOAD,
    span: float | None = None,
) -> tuple[float, float, int]:
    """Return CPU seconds, jobs waiting on average until the last start, and backfill cycles.

    Of the jobs 60 % ask for up to 64 whole nodes, the others for up to 32 CPUs of a node; limits are half an
    hour to two days, of which they use 1 to 95 %, or shorter by a factor so that all jobs come within `span`
    seconds at the offered load. With arrays, half of the submissions are arrays of 500 or 2,000 jobs of up to
    128 CPUs of a node each.
    """
    rng = np.random.default_rng(1)
    lengths = rng.choice([1, 1, 500, 2000] if arrays else [1], n_jobs)
    submission = np.repeat(np.arange(n_jobs), lengths)[:n_jobs]
    n, of_array = submission[-1] + 1, lengths[submission] > 1
    whole = (rng.random(n)[submission] < 0.6) & ~of_array
    wide = np.minimum(rng.choice([1, 1, 1, 2, 2, 4, 8, 16, 32, 64], n), nodes // partitions)[submission]
    each = np.where(whole, wide, 1)
    few = rng.choice([1, 1, 2, 4, 8, 16, 32], n)[submission] * np.where(of_array, 4, 1)
    tasks = np.where(whole, wide * NODE_CPUS, few)
    limit = 60.0 * rng.choice([30, 60, 120, 240, 480, 720, 1440, 2880], n)[submission]
    used = rng.choice([0.01, 0.05, 0.1, 0.3, 0.6, 0.95], n_jobs) * rng.uniform(0.7, 1, n_jobs)
    served = (tasks * limit * used).sum() / (nodes * NODE_CPUS * load)
    if span is not None:
        limit, served = np.maximum(np.round(limit * span / served / 60), 1) * 60, span
    submit, none = np.sort(rng.uniform(0, served, n))[submission], np.zeros(n_jobs, np.int64)
    request = Requests.of(tasks, none, nodes=each, array=np.where(of_array, submission, -1))
    jobs = Jobs(submit, limit * used, limit, tasks, none, request=request)
    taken, result = scheduled(jobs, *_policy(nodes, partitions, NODE_CPUS, DEEP_CYCLES))
    return taken, float((result.start - submit).sum() / result.start.max()), result.n_cycles


def scheduled(jobs: Jobs, policy: Parameters, machine: Parameters) -> tuple[float, engine.Result]:
    """Return the CPU seconds of a schedule, and the schedule."""
    configuration = configuration_of(policy, machine)
    asked = wanted(jobs, policy, configuration)
    n = len(configuration.partitions)
    asked = replace(asked, partitions=tuple((job % n,) for job in range(len(jobs))))
    results: list[engine.Result] = []
    taken = cpu_seconds(lambda: results.append(engine.run(asked, configuration)))
    return taken, results[0]


def _policy(
    nodes: int, partitions: int, cpus: int = 1, cycles: Sequence[str] = CYCLES
) -> tuple[Parameters, Parameters]:
    each = nodes // partitions
    lines = [f"PartitionName=p{k} Nodes=n[{k * each + 1}-{(k + 1) * each}]" for k in range(partitions)]
    lines = [f"NodeName=n[1-{nodes}] CPUs={cpus}", *lines]
    text = ",".join(f"'{line}'" for line in lines)
    plan = expanded(
        "+experiment=compare", "grid.policy=[slurm]", "grid.workload=[synthetic]", "grid.machine=[log]",
        f"policy.lines=[{text}]", *cycles,
    )  # fmt: skip
    return plan.variants["policy"][0].parameters, plan.variants["machine"][0].parameters


def _deep_queues(found: Findings, nodes: int, n_jobs: int) -> None:
    """Time some days with deep queues: jobs come four times as fast as they are served."""
    cases = (
        ("1 partition", n_jobs, 1, False),
        ("twice the jobs", 2 * n_jobs, 1, False),
        ("8 partitions", 2 * n_jobs, 8, False),
        ("arrays of up to 2,000", 20 * n_jobs, 1, True),
    )
    measured = [deep(nodes, jobs, partitions, arrays) for _, jobs, partitions, arrays in cases]
    each = [taken / cycles for taken, _, cycles in measured]
    rows: list[list[Cell]] = [
        [what, jobs, waiting, taken, 1000 * cycle]
        for (what, jobs, _, _), (taken, waiting, _), cycle in zip(cases, measured, each, strict=True)
    ]
    growth = exponent([waiting for _, waiting, _ in measured[:2]], each[:2])
    title = f"Deep queues on {nodes:,} nodes of {NODE_CPUS} CPUs: time of a cycle ~ waiting ** {growth:.1f}"
    columns = ["queue", "jobs", "waiting on average", "s", "ms a cycle"]
    found.tables.append(Table(title, columns, rows))


def _grow(found: Findings, what: str, by: str, taken: list[tuple[float, tuple[float, float]]]) -> None:
    x = [waiting if by == "waiting" else value for value, (_, waiting) in taken]
    seconds = [each for _, (each, _) in taken]
    rows = [[value, waiting, each] for value, (each, waiting) in taken]
    title = f"Growth: CPU time ~ {by} ** {exponent(x, seconds):.1f}"
    found.tables.append(Table(title, [what, "waiting on average", "s"], rows))

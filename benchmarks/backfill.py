"""Backfilling: jobs a second, EASY against SimPy, and a large real log.

Jobs are drawn and logs read beforehand; what is timed is the CPU time of a whole schedule on one core, once
compiled.
"""

import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks import simpy_easy
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.points import expanded
from benchmarks.record import Findings, Table, Target
from models.backfill import FAMILY
from models.backfill.engine import schedule
from models.backfill.policies import rules_of
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, of, pool
from models.point import Point
from models.workloads import swf as log
from models.workloads import synthetic
from models.workloads.o2k.job_classes import NO_CLASS, classify

JOBS = 100_000
PROCESSORS = 128
LOAD, CROWDED_LOAD = 0.8, 0.95
SEED = (1, 0, 0)
POLICIES = (
    *(
        "easy",
        "easy_sjbf",
        "priority_backfill",
        "lxf_w_backfill",
        "lxf_backfill",
        "sjf_backfill",
        "wfp3",
        "f1",
    ),
    *("conservative", "easy_immediate", "lxf_w_immediate", "lxf_w_soon", "eq_spatial_0m", "eq_spatial_5m"),
    "ncsa_lsf",
)
ON_HOSTS_ONLY = ("ncsa_lsf",)
FIRST_JOBS = {"conservative": 20_000}
"""Policies whose cost a job grows with the queue in two ways: fewer jobs."""

POOL_TARGET, HOSTS_TARGET, CROWDED_TARGET = 7e6, 3e5, 3e5
"""Jobs a second: EASY on one pool, the slowest policy on hosts with memory, and the same at the high load."""

SIMPY_TARGET = 60.0
CURIE = Path(os.environ.get("TRACES", ""), "CEA-Curie-2011-2.1-cln.swf.gz")
CURIE_TARGET_S = 10.0


def run(quick: bool) -> Findings:
    """Time the kernels on synthetic jobs, against SimPy, and on CEA-Curie."""
    FAMILY.warm_up()
    rounds, jobs = (1, JOBS // 10) if quick else (5, JOBS)
    found = Findings()
    _synthetic(found, jobs, rounds)
    _against_simpy(found, jobs // 10, rounds)
    _curie(found)
    return found


def policies(*names: str) -> dict[str, Rules]:
    """Return policies as conf has them."""
    plan = expanded("+experiment=replay", f"grid.policy=[{','.join(names)}]", "grid.workload=[synthetic]")
    return {policy.parameters["name"]: rules_of(policy.parameters) for policy in plan.variants["policy"]}


def hosts(name: str) -> Machine:
    """Return a machine as conf has it."""
    plan = expanded("+experiment=replay", f"grid.machine=[{name}]", "grid.workload=[synthetic]")
    return of(plan.variants["machine"][0].parameters)


def stream(machine: Machine, n_jobs: int, memory_mb: float = 0.0, load: float = LOAD) -> Jobs:
    """Return jobs of the workload ``synthetic``."""
    arguments = ("+experiment=replay", "grid.workload=[synthetic]", f"workload.memory_mb={memory_mb}")
    return synthetic.draw(
        expanded(*arguments).variants["workload"][0].parameters, machine, load, n_jobs, SEED
    )


def burst(n_waiting: int) -> Jobs:
    """Return jobs that are all submitted at 0: the queue is that long, and half as long on average."""
    return replace(stream(pool(PROCESSORS), n_waiting), submit=np.zeros(n_waiting))


def _rate(jobs: Jobs, machine: Machine, rules: Rules) -> float:
    return len(jobs) / cpu_seconds(lambda: schedule(jobs, machine, rules))


def _synthetic(found: Findings, n_jobs: int, rounds: int) -> None:
    one, o2k = pool(PROCESSORS), hosts("o2k")
    places = {
        "one pool": (one, stream(one, n_jobs)),
        "hosts": (o2k, stream(o2k, n_jobs, memory_mb=150)),
        "hosts, high load": (o2k, stream(o2k, n_jobs, memory_mb=150, load=CROWDED_LOAD)),
    }
    actions = {}
    for name, rules in policies(*POLICIES).items():
        for place, (machine, jobs) in places.items():
            if machine is one and name in ON_HOSTS_ONLY:
                continue
            some = jobs.part(slice(FIRST_JOBS.get(name, n_jobs)))
            if name in ON_HOSTS_ONLY:
                some = some.part(classify(some.requested, some.size, some.memory) != NO_CLASS)
            actions[name, place] = partial(_rate, some, machine, rules)
    rates = {key: median(taken) for key, taken in in_turn(actions, rounds).items()}
    shown = [[name, *(rates.get((name, place), np.nan) / 1e3 for place in places)] for name in POLICIES]
    title = f"Thousand jobs a second, {n_jobs:,} synthetic jobs at load {LOAD}, and at {CROWDED_LOAD}"
    title += f": one pool of {PROCESSORS} processors; 8 hosts with memory"
    found.tables.append(Table(title, ["policy", *places], shown))
    for place, limit in (("hosts", HOSTS_TARGET), ("hosts, high load", CROWDED_TARGET)):
        slowest = min(rates[name, place] for name in POLICIES if name not in FIRST_JOBS)
        found.targets.append(Target(f"{place}, the slowest policy", slowest, limit, "jobs/s", at_least=True))
    easy = rates["easy", "one pool"]
    found.targets.append(Target("EASY on one pool", easy, POOL_TARGET, "jobs/s", at_least=True))


def _against_simpy(found: Findings, n_jobs: int, rounds: int) -> None:
    """Run the kernel and a SimPy script in turn; a test checks that they make the same schedule."""
    machine, rules = pool(PROCESSORS), policies("easy")["easy"]
    few, many = stream(machine, n_jobs), stream(machine, 10 * n_jobs)
    actions = {
        "kernel": partial(_rate, many, machine, rules),
        "SimPy": lambda: n_jobs / cpu_seconds(lambda: simpy_easy.starts(few, PROCESSORS)),
    }
    taken = in_turn(actions, rounds)
    times = median_ratio(taken["kernel"], taken["SimPy"])
    found.notes.append(f"EASY in SimPy: {median(taken['SimPy']):,.0f} jobs/s")
    found.targets.append(Target("EASY on one pool, times SimPy", times, SIMPY_TARGET, "times", at_least=True))


def _curie(found: Findings) -> None:
    """Time a log from the file on: reading, choosing the jobs, the schedule."""
    if not CURIE.exists():
        found.notes.append(f"no {CURIE}: set TRACES to the folder that has it")
        return
    start = time.process_time()
    opened = log.open_trace(Point({}, {"model": "swf", "path": str(CURIE)}, {}))
    read = time.process_time() - start
    taken = cpu_seconds(lambda: schedule(opened.jobs, opened.machine, policies("easy")["easy"]))
    found.notes.append(
        f"CEA-Curie, {len(opened.jobs):,} jobs: read in {read:.2f} s, scheduled in {taken:.2f} s"
    )
    found.targets.append(
        Target("CEA-Curie under EASY, with reading", read + taken, CURIE_TARGET_S, "s of CPU")
    )

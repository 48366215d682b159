"""Backfilling: jobs a second, a large real log, and cost against the length of the queue.

Jobs are drawn and logs read beforehand unless it says otherwise; what is timed is the CPU time of a whole
schedule on one core, once compiled.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks import accasim_easy, simpy_easy
from benchmarks.growth import exponent
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.record import Findings, Table, Target
from models.backfill import FAMILY
from models.backfill.engine import schedule
from models.backfill.judging import under
from models.backfill.policies import rules_of
from models.backfill.priority.rules import Priority
from models.backfill.priority.schedules import on_hosts, past_one_start
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, of, pool
from models.point import Point
from models.workloads import swf as log
from models.workloads import synthetic
from models.workloads.o2k.job_classes import NO_CLASS, classify
from sweep.config import compose, locate
from sweep.plan.plan import expand

JOBS = 100_000
PROCESSORS = 128
LOAD = 0.8
POOL_TARGET = 1e7
SIMPY_TARGET = 120.0
HOSTS_TARGET = 3e5
ON_HOSTS_TARGET = 3e6
TIMES_GENERAL = 1.2
CROWDED_TIMES_GENERAL = 1.2
LSF_TARGET = 3e6
CROWDED_LOAD = 0.95
CROWDED_TARGET = 5e5
CURIE_TARGET_S = 10.0
SEED = (1, 0, 0)

POLICIES = (
    "easy", "easy_sjbf", "priority_backfill", "lxf_w_backfill", "lxf_backfill", "sjf_backfill", "wfp3", "f1",
    "conservative",
)  # fmt: skip
FIRST_JOBS = {"conservative": 20_000}
"""Policies whose cost a job grows with the queue in two ways: fewer jobs."""

CROWDED = {
    "immediate service": ("easy_immediate", "lxf_w_immediate", "lxf_w_soon"),
    "EQspatial": ("eq_spatial_0m", "eq_spatial_5m"),
    "EQspatial, memory first come first served,": ("eq_spatial_0m, fcfs", "eq_spatial_5m, fcfs"),
}
"""Targets under high load, and their policies."""

CURIE = Path(os.environ.get("TRACES", "../shared/traces")) / "CEA-Curie-2011-2.1-cln.swf.gz"
QUEUES = (30, 100, 300, 1_000, 3_000, 10_000, 100_000)
FIXED_ORDERS = ("easy", "easy_sjbf", "sjf_backfill", "f1")
"""Policies whose orders do not change while jobs wait, so that an index tells who fits."""
LONGEST_QUEUES = {"lxf_w_backfill": 10_000, "conservative": 3_000}
QUEUE_OF_TARGET = 10_000
QUEUE_TARGET_US = 10.0
GROWTH_TARGET = 0.3


def run(quick: bool) -> Findings:
    """Time the kernels on synthetic jobs, on the CEA-Curie log, and with longer and longer queues."""
    FAMILY.warm_up()
    rounds = 1 if quick else 5
    jobs = JOBS // 10 if quick else JOBS
    found = Findings()
    _synthetic(found, jobs, rounds)
    _others(found, jobs, rounds)
    _against_simpy(found, jobs // 10, rounds)
    _against_accasim(found, jobs // 100, rounds)
    _curie(found)
    _queues(found, rounds)
    return found


def policies(*names: str) -> dict[str, Rules]:
    """Return policies as conf has them."""
    listed = ",".join(names)
    arguments = ["+experiment=replay", f"grid.policy=[{listed}]", "grid.workload=[synthetic]"]
    plan = expand(compose.load(arguments, locate.conf_folder()))
    return {policy.parameters["name"]: rules_of(policy.parameters) for policy in plan.variants["policy"]}


def hosts(name: str) -> Machine:
    """Return a machine as conf has it."""
    arguments = ["+experiment=replay", f"grid.machine=[{name}]", "grid.workload=[synthetic]"]
    return of(expand(compose.load(arguments, locate.conf_folder())).variants["machine"][0].parameters)


def stream(machine: Machine, n_jobs: int, memory_mb: float = 0.0, load: float = LOAD) -> Jobs:
    """Return jobs of conf/workload/published/synthetic.yaml at the load of the targets, or another one."""
    arguments = ["+experiment=replay", "grid.workload=[synthetic]", f"workload.memory_mb={memory_mb}"]
    workload = expand(compose.load(arguments, locate.conf_folder())).variants["workload"][0].parameters
    return synthetic.draw(workload, machine, load, n_jobs, SEED)


def _synthetic(found: Findings, n_jobs: int, rounds: int) -> None:
    one, o2k = pool(PROCESSORS), hosts("o2k")
    on_one, on_o2k = stream(one, n_jobs), stream(o2k, n_jobs, memory_mb=150)
    general = "any number of hosts"
    actions: dict[tuple[str, str], Callable[[], float]] = {}
    for name, rules in policies(*POLICIES).items():
        first = slice(FIRST_JOBS.get(name, n_jobs))
        few, some = on_one.part(first), on_o2k.part(first)
        actions[name, "one pool"] = partial(_rate, schedule, few, one, rules)
        actions[name, "o2k"] = partial(_rate, schedule, some, o2k, rules)
        if isinstance(rules, Priority):
            actions[name, general] = partial(_rate, on_hosts, under(few, rules), one, rules)
    rates = {key: median(taken) for key, taken in in_turn(actions, rounds).items()}
    columns = ("one pool", general, "o2k")
    found.tables.append(
        Table(
            f"Thousand jobs a second, {n_jobs:,} synthetic jobs at load {LOAD}: one pool of {PROCESSORS} "
            "processors by the policy's kernel and by the one for any number of hosts; 8 hosts with memory",
            ["policy", *columns],
            [
                [name, *(rates[name, c] / 1e3 if (name, c) in rates else None for c in columns)]
                for name in POLICIES
            ],
        )
    )
    slowest = min(rates[name, c] for name, c in rates if c != "one pool" and name != "conservative")
    quickest = max(rates[name, "o2k"] for name in POLICIES)
    found.targets += [
        Target("EASY on one pool", rates["easy", "one pool"], POOL_TARGET, "jobs/s", at_least=True),
        Target("hosts with memory, the slowest policy", slowest, HOSTS_TARGET, "jobs/s", at_least=True),
        Target("hosts with memory, the quickest policy", quickest, ON_HOSTS_TARGET, "jobs/s", at_least=True),
    ]
    _one_start(found, n_jobs, rounds)


def _one_start(found: Findings, n_jobs: int, rounds: int) -> None:
    """Run the kernel for at most one start and the one for any number of them in turn, on hosts."""
    o2k = hosts("o2k")
    chosen = {name: rules for name, rules in policies(*POLICIES).items() if isinstance(rules, Priority)}
    for load, target in ((LOAD, TIMES_GENERAL), (CROWDED_LOAD, CROWDED_TIMES_GENERAL)):
        jobs = stream(o2k, n_jobs, memory_mb=150, load=load)
        ratios = {}
        for name, rules in chosen.items():
            ran = under(jobs, rules)
            taken = in_turn(
                {
                    "one start": partial(_rate, past_one_start, ran, o2k, rules),
                    "any number": partial(_rate, on_hosts, ran, o2k, rules),
                },
                min(rounds, 3),
            )
            ratios[name] = median_ratio(taken["one start"], taken["any number"])
        told = ", ".join(f"{name} {ratio:.2g}" for name, ratio in ratios.items())
        what = f"hosts with memory at load {load}, at most one start, times the kernel for any number"
        found.notes.append(f"{what}: {told}")
        found.targets.append(Target(f"{what}, the least", min(ratios.values()), target, "times", True))


def _others(found: Findings, n_jobs: int, rounds: int) -> None:
    """Time policies with kernels of their own, beside plain backfilling of the same jobs."""
    one, o2k = pool(PROCESSORS), hosts("o2k")
    places = {
        "o2k, load .8": (o2k, stream(o2k, n_jobs, memory_mb=150)),
        "o2k, load .95": (o2k, stream(o2k, n_jobs, memory_mb=150, load=CROWDED_LOAD)),
        "one pool, load .95": (one, stream(one, n_jobs, load=CROWDED_LOAD)),
    }
    plain, lsf = "lxf_w_backfill", "ncsa_lsf"
    served = ("easy_immediate", "lxf_w_immediate", "lxf_w_soon")
    chosen = policies(plain, lsf, *served, "eq_spatial_0m", "eq_spatial_5m")
    for name in ("eq_spatial_0m", "eq_spatial_5m"):
        chosen[f"{name}, fcfs"] = replace(chosen[name], waiting="fcfs")
    actions: dict[tuple[str, str], Callable[[], float]] = {}
    for where, (machine, jobs) in places.items():
        for name, rules in chosen.items():
            if name == lsf and machine is one:
                continue
            classed = classify(jobs.requested, jobs.size, jobs.memory) != NO_CLASS
            those = jobs.part(classed) if name == lsf else jobs
            actions[name, where] = partial(_rate, schedule, those, machine, rules)
    taken = in_turn(actions, min(rounds, 3))
    rates = {key: median(values) for key, values in taken.items()}
    found.tables.append(
        Table(
            f"Thousand jobs a second, {n_jobs:,} synthetic jobs (NCSA-LSF: those in a class): 8 hosts with "
            f"memory, and one pool of {PROCESSORS} processors",
            ["policy", *places],
            [
                [name, *(rates[name, place] / 1e3 if (name, place) in rates else None for place in places)]
                for name in chosen
            ],
        )
    )
    for name in chosen:
        ratios = {
            place: median_ratio(taken[name, place], taken[plain, place])
            for place in places
            if name != plain and (name, place) in taken
        }
        if ratios:
            told = ", ".join(f"{ratio:.2g} on {place}" for place, ratio in ratios.items())
            found.notes.append(f"{name} against {plain} of the same jobs, jobs a second: {told}")
    crowded = f"at load {CROWDED_LOAD}, where it is slower"
    found.targets.append(Target("NCSA-LSF on hosts", rates[lsf, "o2k, load .8"], LSF_TARGET, "jobs/s", True))
    for what, names in CROWDED.items():
        slowest = min(rates[name, place] for name, place in rates if name in names and place.endswith(".95"))
        found.targets.append(Target(f"{what} {crowded}", slowest, CROWDED_TARGET, "jobs/s", at_least=True))


def _rate(simulate: Callable[..., object], jobs: Jobs, machine: Machine, rules: Rules) -> float:
    return len(jobs) / cpu_seconds(lambda: simulate(jobs, machine, rules))


def _against_simpy(found: Findings, n_jobs: int, rounds: int) -> None:
    """Run the kernel and a SimPy script in turn; a test holds that they make the same schedule."""
    machine, rules = pool(PROCESSORS), policies("easy")["easy"]
    jobs = stream(machine, n_jobs)
    many = stream(machine, 10 * n_jobs)
    taken = in_turn(
        {
            "kernel": partial(_rate, schedule, many, machine, rules),
            "SimPy": partial(_rate, lambda *_: simpy_easy.starts(jobs, PROCESSORS), jobs, machine, rules),
        },
        rounds,
    )
    times = median_ratio(taken["kernel"], taken["SimPy"])
    found.notes.append(f"EASY in SimPy: {median(taken['SimPy']):,.0f} jobs/s")
    found.targets.append(Target("EASY on one pool, times SimPy", times, SIMPY_TARGET, "times", at_least=True))


def _against_accasim(found: Findings, n_jobs: int, rounds: int) -> None:
    """Run the kernel and AccaSim in turn, on jobs with times in whole seconds as AccaSim needs them."""
    machine, rules = pool(PROCESSORS), policies("easy")["easy"]
    many = stream(machine, 100 * n_jobs)
    drawn = stream(machine, n_jobs)
    jobs = replace(
        drawn,
        submit=np.rint(drawn.submit),
        runtime=np.ceil(drawn.runtime),
        requested=np.ceil(drawn.requested),
    )
    actions: dict[str, Callable[[], float]] = {
        "kernel": partial(_rate, schedule, many, machine, rules),
        "AccaSim": lambda: n_jobs / accasim_easy.cpu_seconds(jobs, PROCESSORS),
    }
    taken = in_turn(actions, min(rounds, 3))
    ratio = median_ratio(taken["kernel"], taken["AccaSim"])
    found.notes.append(
        f"EASY in AccaSim: {median(taken['AccaSim']):,.0f} jobs/s of {n_jobs:,} jobs (its cost a job grows "
        f"with their number); the kernel is {ratio:,.0f} times as fast"
    )


def _curie(found: Findings) -> None:
    """Time the log from the file on: reading, choosing the jobs, the schedule."""
    if not CURIE.exists():
        found.notes.append(f"no {CURIE}: set TRACES to the folder that holds it")
        return
    start = time.process_time()
    opened = log.open_trace(Point({}, {"model": "swf", "path": str(CURIE)}, {}))
    read = time.process_time() - start
    rules = policies("easy")["easy"]
    taken = cpu_seconds(lambda: schedule(opened.jobs, opened.machine, rules))
    found.notes.append(
        f"CEA-Curie, {len(opened.jobs):,} jobs on {opened.machine.total:,} processors under EASY: "
        f"read in {read:.2f} s, scheduled in {taken:.2f} s"
    )
    found.targets.append(
        Target("CEA-Curie under EASY, with reading", read + taken, CURIE_TARGET_S, "s of CPU time")
    )


def burst(n_waiting: int) -> Jobs:
    """Return jobs that all come at the beginning: the queue is that long, and half as long on average."""
    drawn = stream(pool(PROCESSORS), n_waiting)
    return Jobs(np.zeros(n_waiting), drawn.runtime, drawn.requested, drawn.size, drawn.memory)


def _queues(found: Findings, rounds: int) -> None:
    """Time all with longer and longer queues; with fixed orders beside the kernel that looks at every job."""
    machine = pool(PROCESSORS)
    rows = []
    costs_at, ratios, growths = [], [], []
    for name, rules in policies(*FIXED_ORDERS, *LONGEST_QUEUES).items():
        longest = {name: LONGEST_QUEUES.get(name, QUEUES[-1])}
        every = f"{name}, a look at every job"
        if isinstance(rules, Priority) and name in FIXED_ORDERS:
            longest[every] = QUEUE_OF_TARGET
        actions = {
            (label, n): partial(_rate, schedule if label == name else on_hosts, burst(n), machine, rules)
            for label, most in longest.items()
            for n in QUEUES
            if n <= most
        }
        rates = in_turn(actions, rounds)
        us = {key: 1e6 / median(taken) for key, taken in rates.items()}
        for label, most in longest.items():
            fitted = [n for n in QUEUES[1:] if n <= most]
            growth = exponent(fitted, [us[label, n] for n in fitted])
            rows.append([label, *(us.get((label, n)) for n in QUEUES), growth])
            if label == name and name in FIXED_ORDERS:
                growths.append(growth)
                costs_at.append(us[name, QUEUE_OF_TARGET])
                ratios.append(median_ratio(rates[name, QUEUE_OF_TARGET], rates[every, QUEUE_OF_TARGET]))
    found.tables.append(
        Table(
            f"CPU time a job when so many are submitted at once on {PROCESSORS} processors, microseconds; "
            "fitted exponent from 100 on",
            ["policy", *(f"{n:,}" for n in QUEUES), "exponent"],
            rows,
        )
    )
    at_once = f"fixed orders, {QUEUE_OF_TARGET:,} at once"
    found.targets += [
        Target(f"{at_once}, the slowest", max(costs_at), QUEUE_TARGET_US, "µs a job"),
        Target("fixed orders, growth of that with the queue", max(growths), GROWTH_TARGET, "exponent"),
    ]
    found.notes.append(
        f"{at_once}: {min(ratios):.0f} to {max(ratios):.0f} times as fast as a look at every waiting job"
    )

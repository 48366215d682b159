"""Conservative backfilling on one pool against the kernel that looks at every waiting job at every end.

Both make the same schedule, which is checked in passing. What is timed is the CPU time of a whole schedule on
one core, once compiled; jobs are drawn and logs read beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import numpy as np

from benchmarks.backfill import CURIE, PROCESSORS, burst, policies
from benchmarks.growth import exponent
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.points import expanded
from benchmarks.record import Cell, Findings, Table, Target
from models import workloads
from models.backfill.conservative.rules import Conservative
from models.backfill.conservative.schedules import on_hosts, on_pool
from models.backfill.judging import under
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool
from models.jobs.schedule import Schedule
from models.jobs.stream import Stream
from models.point import Batches, Point
from models.workloads import swf as log

QUEUES = (100, 300, 1_000, 3_000, 10_000)
STREAMS = (10_000, 20_000, 50_000, 100_000, 450_000)
"""The longest is as long as RICC's log, and its queue too."""
OVERLOAD = 1.05
QUEUE_OF_TARGET = 1_000
RATIO_TARGET = 20.0
CPU_TARGET_S = 30.0
AT_ONCE, COMING = 0, 1
LONGEST = {"all are looked at": (1_000, 10_000), "few are": (10_000, 450_000)}
"""The longest queue and the longest overloaded stream that each kernel is given."""

KERNELS: dict[str, Callable[[Jobs, Machine, Conservative], Schedule]] = {
    "all are looked at": on_hosts,
    "few are": on_pool,
}


def run(quick: bool) -> Findings:
    """Time both kernels with ever longer queues, the fast one with longer ones, and both on CEA-Curie."""
    found = Findings()
    machine = pool(PROCESSORS)
    few = slice(0, 3 if quick else None)
    at_once = {n: burst(n) for n in QUEUES[few]}
    us = _growth(found, "so many at once", at_once, AT_ONCE, machine)
    ratio = median_ratio(*(us[kernel, QUEUE_OF_TARGET] for kernel in KERNELS))
    what = f"times the kernel that looks at all, {QUEUE_OF_TARGET:,} jobs at once"
    found.targets.append(Target(what, ratio, RATIO_TARGET, "times", at_least=True))

    streams = {n: overloaded(n) for n in STREAMS[few]}
    us = _growth(found, f"so many of lublin2003 at a load of {OVERLOAD}", streams, COMING, machine)
    most = max(streams)
    what = f"{most:,} jobs of lublin2003 at a load of {OVERLOAD}"
    taken = median(us["few are", most]) * most / 1e6
    found.targets.append(Target(what, taken, CPU_TARGET_S, "s of CPU time"))
    _curie(found)
    return found


def overloaded(n_jobs: int) -> Jobs:
    """Return jobs of workload lublin2003 that come faster than the machine can do them."""
    plan = expanded("+experiment=replay", "grid.workload=[lublin2003]", f"grid.load=[{OVERLOAD}]")
    workload = plan.variants["workload"][0].parameters
    batches = Batches(n_jobs, 0, (1,))
    opened = workloads.open_workload(Point({}, workload, {"processors": PROCESSORS}, OVERLOAD, batches, (1,)))
    assert isinstance(opened, Stream)
    return opened.first(n_jobs)


def _growth(
    found: Findings, what: str, jobs: dict[int, Jobs], which: int, machine: Machine
) -> dict[tuple[str, int], list[float]]:
    """Add a table of microseconds a job, and return them by kernel and number of jobs."""
    rules = _rules()
    ready = {n: under(some, rules) for n, some in jobs.items()}
    made: dict[int, Schedule] = {}
    actions = {
        (kernel, n): partial(_us_a_job, kernel, some, machine, made)
        for kernel in KERNELS
        for n, some in ready.items()
        if n <= LONGEST[kernel][which]
    }
    us = in_turn(actions, 1)
    waiting = {n: float(n) for n in ready}
    rows: list[Sequence[Cell]] = []
    if which != AT_ONCE:
        waiting = {n: _mean_queue(made[n]) for n in ready}
        rows.append(["mean queue", *waiting.values(), None])
    for kernel in KERNELS:
        known = [n for n in ready if (kernel, n) in us]
        costs = {n: median(us[kernel, n]) for n in known}
        long = known[1:] if which == AT_ONCE else known
        growth = exponent([waiting[n] for n in long], [costs[n] for n in long]) if len(long) > 1 else None
        rows.append([kernel, *(costs.get(n) for n in ready), growth])
    found.tables.append(
        Table(
            f"Conservative, CPU time a job, {what}, on {machine.total} processors, microseconds; fitted "
            f"exponent against the {'jobs, from the second on' if which == AT_ONCE else 'mean queue'}",
            ["kernel", *(f"{n:,}" for n in ready), "exponent"],
            rows,
        )
    )
    return us


def _rules() -> Conservative:
    rules = policies("conservative")["conservative"]
    assert isinstance(rules, Conservative)
    return rules


def _us_a_job(kernel: str, jobs: Jobs, machine: Machine, made: dict[int, Schedule]) -> float:
    """Return microseconds of CPU time a job; what was made is kept, by the number of jobs."""
    rules = _rules()

    def make() -> None:
        made[len(jobs)] = KERNELS[kernel](jobs, machine, rules)

    return cpu_seconds(make) / len(jobs) * 1e6


def _mean_queue(made: Schedule) -> float:
    return float(made.wait.sum() / (made.start.max() - made.jobs.submit[0]))


def _curie(found: Findings) -> None:
    """Time both kernels on the log, its partitions as one, and see that they agree job by job."""
    if not CURIE.exists():
        found.notes.append(f"no {CURIE}: set TRACES to the folder that holds it")
        return
    opened = log.open_trace(Point({}, {"model": "swf", "path": str(CURIE)}, {}))
    rules = _rules()
    jobs = under(opened.jobs, rules)
    made: dict[str, Schedule] = {}

    def make(kernel: str) -> None:
        made[kernel] = KERNELS[kernel](jobs, opened.machine, rules)

    taken = {kernel: cpu_seconds(partial(make, kernel)) for kernel in KERNELS}
    slow, fast = taken.values()
    one, other = (schedule.start for schedule in made.values())
    differing = np.count_nonzero(one != other)
    found.notes.append(
        f"CEA-Curie, {len(jobs):,} jobs on {opened.machine.total:,} processors, conservative: {slow:.1f} s "
        f"where all are looked at, {fast:.1f} s where few are ({slow / fast:.1f} times as fast); "
        f"{differing} starts differ"
    )
    found.targets.append(Target("CEA-Curie, conservative", fast, CPU_TARGET_S, "s of CPU time"))

"""EASY against the same scheduler in SimPy, on identical jobs; a test compares the starts of all of them.

Jobs are drawn beforehand; what is timed is the CPU time of a whole schedule on one core, once compiled. The
kernel has more jobs to do, or the clock would hardly tick. `benchmarks.concurrent_gang` compares tasks that
block.
"""

from statistics import median

from benchmarks import simpy_easy
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.points import PROCESSORS, policies, stream
from benchmarks.record import Cell, Findings, Table, Target
from models.backfill.engine import schedule
from models.jobs.machine import pool

LOADS = (0.8, 0.95)
TARGET = 50.0
SIMPY_JOBS = 10_000


def run(quick: bool) -> Findings:
    """Time both at several loads."""
    n_jobs = SIMPY_JOBS // 10 if quick else SIMPY_JOBS
    machine, rules = pool(PROCESSORS), policies("easy")["easy"]
    rows: list[list[Cell]] = []
    ratios: list[float] = []
    for load in LOADS:
        few, many = (stream(machine, n, load=load) for n in (n_jobs, 10 * n_jobs))
        schedule(few, machine, rules)  # compiled beforehand
        actions = {
            "SimPy": lambda few=few: cpu_seconds(lambda: simpy_easy.starts(few, PROCESSORS)) / len(few),
            "kernel": lambda many=many: cpu_seconds(lambda: schedule(many, machine, rules)) / len(many),
        }
        taken = in_turn(actions, 1 if quick else 5)
        ratios.append(median_ratio(taken["SimPy"], taken["kernel"]))
        rows.append([str(load), *(1e6 * median(each) for each in taken.values()), ratios[-1]])
    title = f"EASY on {PROCESSORS} processors: CPU time a job, microseconds"
    return Findings(
        [Table(title, ["load", "SimPy", "kernel", "times faster"], rows)],
        [Target("faster than SimPy, least of the loads", min(ratios), TARGET, "times", at_least=True)],
    )

"""The packing study on one core: CPU time of Fig. 8 and of each of its points, once compiled.

Every scheme at every load simulates 31,000 jobs under `shared` alternation; then the same under `none` and
`exclusive`, in turn, so that the ratios hold whatever else the machine does.
"""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import zip_longest
from statistics import mean, median

from benchmarks import points
from benchmarks.measure import median_ratio
from benchmarks.record import Findings, Table, Target
from models import gang
from sweep.plan.task import Task

ALTERNATIONS = ("shared", "none", "exclusive")
TOTAL_TARGET_S = 12.0
JOB_TARGET_US = 4.0
SMALL = ("batches=6", "grid.load=[0.3,0.5,0.7,0.8,0.9,0.95]")


def run(quick: bool) -> Findings:
    """Time every point of the study, one after the other, and all of them once more."""
    gang.FAMILY.warm_up()
    tasks = {
        # Other kinds of alternation leave some loads out: here all have all.
        mode: points.tasks(
            *points.FIG_8, f"grid.alternation=[{mode}]", "exclude=[]", *(SMALL if quick else ())
        )
        for mode in ALTERNATIONS
    }
    points.simulate(tasks["shared"][0])  # what the first call loads is no part of it
    seconds: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    jobs: dict[tuple[str, str, float], int] = {}
    for _ in range(1 if quick else 3):
        for same_point in zip_longest(*tasks.values()):
            for mode, task in zip(ALTERNATIONS, same_point, strict=True):
                if task is None:
                    continue
                key = (mode, *_place(task))
                start = time.process_time()
                jobs[key] = points.simulate(task).jobs
                seconds[key].append(time.process_time() - start)
    cost = {key: median(taken) / jobs[key] * 1e6 for key, taken in seconds.items()}
    policies = list(dict.fromkeys(_place(task)[0] for task in tasks["shared"]))
    loads = list(dict.fromkeys(_place(task)[1] for task in tasks["shared"]))

    findings = Findings()
    for mode in ALTERNATIONS:
        by_policy = {policy: [cost[mode, policy, load] for load in loads] for policy in policies}
        shown = [[policy, *costs, mean(costs)] for policy, costs in by_policy.items()]
        title = f"CPU time a job under {mode}, microseconds"
        findings.tables.append(Table(title, ["scheme", *map(str, loads), "mean"], shown))
    rows = []
    for mode in ALTERNATIONS:
        mine = [key for key in cost if key[0] == mode]
        total = sum(median(seconds[key]) for key in mine)
        # Ratios of pairs that ran one right after the other.
        ratios = [median_ratio(seconds[key], seconds["shared", *key[1:]]) for key in mine]
        all_jobs = sum(jobs[key] for key in mine)
        rows.append([mode, total, all_jobs, total / all_jobs * 1e6, median(ratios), max(ratios)])
    columns = ["alternation", "CPU s", "jobs", "µs/job", "x shared, median", "x shared, most"]
    findings.tables.append(Table("Whole figure", columns, rows))
    total, us = float(rows[0][1]), float(rows[0][3])
    if not quick:
        findings.targets.append(Target("Fig. 8 under shared, CPU time", total, TOTAL_TARGET_S, "s"))
    findings.targets.append(Target("average job of Fig. 8", us, JOB_TARGET_US, "µs"))
    return findings


def _place(task: Task) -> tuple[str, float]:
    return str(task.point.policy["name"]), float(task.point.load or 0)

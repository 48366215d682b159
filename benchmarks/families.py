"""Every family: CPU time a job under its policies.

A case is one command line of the sweep; its tasks are simulated as a worker simulates them, once compiled;
jobs are drawn and measured in that time. Cases run in turn, and the last column is the ratio to the first
case of the same table, the median over rounds.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks import points
from benchmarks.measure import in_turn, median_ratio
from benchmarks.record import Cell, Findings, Table, Target

FIG_8 = (*points.FIG_8, "batches=10", "grid.alternation=[exclusive]", "workload.estimates=exact")
BLOCKING = ("+experiment=concurrent_gang", "grid.machine=[torus4x4]", "grid.horizon=[8000]", "replications=1")
T3D = ("+experiment=llnl_t3d", "grid.workload=[t3d]", "workload.months=2", "replications=1")
SLICES = ("grid.workload=[lublin2003]", "grid.load=[0.5]", "replications=1")
JOBS = ("+experiment=replay", "grid.workload=[synthetic]", "batches=1", "batch_size=20000", "replications=1")
BACKFILLING = (
    *("easy", "easy_sjbf", "priority_backfill", "lxf_w_backfill", "lxf_backfill", "sjf_backfill", "wfp3"),
    *("f1", "conservative", "easy_immediate", "lxf_w_immediate", "lxf_w_soon", "eq_spatial_0m"),
)
ON_HOSTS = ("grid.machine=[o2k]", "workload.memory_mb=150")
MESH = ("+experiment=partitioning", "grid.short_fraction=[0.5]", "replications=1")


@dataclass(frozen=True)
class Group:
    """Cases (name -> overrides of the command line) in one table; the first is the yardstick of the others.

    No case should exceed `most_us` microseconds a job.
    """

    title: str
    cases: dict[str, Sequence[str]]
    most_us: float


GROUPS = (
    *(
        Group(
            f"Backfilling, synthetic jobs: {title}",
            {name: (*JOBS, f"grid.policy=[{name}]", *more) for name in BACKFILLING},
            most_us,
        )
        for title, more, most_us in (
            ("one pool, load 0.8", ("grid.machine=[pe128]", "grid.load=[0.8]"), 5.0),
            ("hosts with memory, load 0.95", (*ON_HOSTS, "grid.load=[0.95]"), 30.0),
        )
    ),
    Group(
        "Fig. 8 of the packing study, every scheme at every load: kinds of alternation",
        {
            mode: (*points.FIG_8, f"grid.alternation=[{mode}]", "exclude=[]")
            for mode in ("shared", "none", "exclusive")
        },
        4.0,
    ),
    Group(
        "Gang scheduling, load 0.8: schemes, and levels with a queue",
        {
            **{
                name: (*FIG_8, "grid.load=[0.8]", f"policy={name}")
                for name in ("best_fit", "first_fit", "buddy", "migration")
            },
            **{
                f"best_fit, {queue}, level {level}": (
                    *(*FIG_8, "grid.load=[0.8]", "policy=best_fit"),
                    *(f"+policy.slots_limit={level}", f"+policy.queue={queue}"),
                )
                for queue in ("fcfs", "backfill")
                for level in (5000, 5, 1)
            },
        },
        12.0,
    ),
    Group(
        "Tasks that block, 8,000 s on a torus of 16",
        {
            f"{policy}, {workload}": (*BLOCKING, f"grid.policy=[{policy}]", f"grid.workload=[{workload}]")
            for policy in ("concurrent_gang/gang", "concurrent_gang")
            for workload in ("io_intensive", "communication_intensive")
        },
        200.0,
    ),
    Group(
        "Production gang scheduling: two months of the T3D, and fixed slices on two systems",
        {
            **{
                name: (*T3D, f"grid.policy=[production_gang/{name}]")
                for name in ("llnl_gang", "djm", "unicos_max")
            },
            "tc2000_gang": (
                *("+experiment=llnl_tc2000", "grid.policy=[tc2000_gang]", "grid.placement=[blocks]"),
                *SLICES,
            ),
            "alpha_gang": (
                *("+experiment=llnl_alpha", "grid.policy=[alpha_gang]", "grid.reserved=[1]"),
                *SLICES,
            ),
        },
        1_000.0,
    ),
    Group(
        "Partitions of a mesh, to an interval of 5 %",
        {name: (*MESH, f"grid.policy=[{name}]") for name in ("equi", "equi_plus", "fold_20")},
        5.0,
    ),
)


def run(quick: bool) -> Findings:
    """Time all cases of a group in turn, group after group."""
    found = Findings()
    for group in GROUPS:
        cases = dict(list(group.cases.items())[:2]) if quick else group.cases
        actions = {name: partial(_us_a_job, overrides) for name, overrides in cases.items()}
        for action in actions.values():  # compiled and loaded beforehand
            action()
        taken = in_turn(actions, 1 if quick else 3)
        first = next(iter(taken.values()))
        rows: list[list[Cell]] = [[name, median(us), median_ratio(us, first)] for name, us in taken.items()]
        found.tables.append(Table(group.title, ["case", "µs a job", "x the first"], rows))
        slowest = max(median(us) for us in taken.values())
        found.targets.append(Target(f"{group.title}: the slowest", slowest, group.most_us, "µs a job"))
    return found


def _us_a_job(overrides: Sequence[str]) -> float:
    tasks = points.tasks(*overrides)
    start = time.process_time()
    jobs = sum(points.simulate(task).jobs for task in tasks)
    return (time.process_time() - start) / max(jobs, math.ulp(1.0)) * 1e6

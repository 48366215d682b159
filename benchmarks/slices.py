"""Fixed slices: jobs a second on the TC2000 and the Alpha cluster, and growth with slices and processors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import median

import numpy as np

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_turn
from benchmarks.record import Cell, Findings, Table, Target
from models import production_gang
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from models.point import Point
from models.production_gang.slices import simulation
from models.workloads import open_workload
from sweep.executors.work import point

SYSTEMS = {"tc2000_gang": "llnl_tc2000", "alpha_gang": "llnl_alpha"}
JOBS = 2000
LENGTHS = (30.0, 10.0, 3.0, 1.0)
"""Seconds of a slice."""

TIMES = (1, 8, 64)
"""As many PEs, and as much work, or as many computers."""

LEAST = 1000.0
"""Jobs a second, of runtimes of 1.3 hours in the mean: some million slices of jobs."""


def run(quick: bool) -> Findings:
    """Time engines alone."""
    production_gang.FAMILY.warm_up()
    rounds, n_jobs = (1, JOBS // 4) if quick else (3, JOBS)
    given = {policy: at(policy) for policy in SYSTEMS}
    taken = in_turn(
        {policy: partial(seconds, its, drawn(its, n_jobs)) for policy, its in given.items()}, rounds
    )
    rates = {policy: n_jobs / median(its) for policy, its in taken.items()}
    rows: list[list[Cell]] = [[policy, rate] for policy, rate in rates.items()]
    return Findings(
        [
            Table("lublin2003 at load 0.5: simulated jobs a CPU second", ["policy", "jobs/s"], rows),
            _growth_in_slices(rounds, n_jobs),
            _growth_in_processors(rounds, n_jobs, TIMES[:2] if quick else TIMES),
        ],
        [Target("slowest of both systems", min(rates.values()), LEAST, "jobs/s", at_least=True)],
    )


def at(policy: str) -> Point:
    """Return a point of a system's experiment."""
    (task,) = points.tasks(
        f"+experiment={SYSTEMS[policy]}",
        f"grid.policy=[{policy}]",
        "grid.workload=[lublin2003]",
        "grid.load=[0.5]",
        "grid.reserved=[1]" if policy == "alpha_gang" else "grid.placement=[blocks]",
        "replications=1",
    )
    return point(task, production_gang.FAMILY)


def drawn(given: Point, n_jobs: int, times: int = 1) -> Jobs:
    """Return so many jobs, of so many replications together."""
    parts = []
    for copy in range(times):
        opened = open_workload(replace(given, seed=(*given.seed, copy)))
        assert not isinstance(opened, Trace)
        parts.append(opened.first(n_jobs))
    jobs = Jobs.concatenated(parts)
    return jobs.part(np.argsort(jobs.submit, kind="stable"))


def seconds(given: Point, jobs: Jobs) -> float:
    """Return the CPU seconds of an engine."""
    machine = machines.of(given.machine)
    return cpu_seconds(lambda: simulation.run(given, Trace("", jobs, machine), jobs, machine))


def _growth_in_slices(rounds: int, n_jobs: int) -> Table:
    rows: list[list[Cell]] = []
    for policy in SYSTEMS:
        given = at(policy)
        jobs = drawn(given, n_jobs)
        for length in LENGTHS:
            its = replace(given, policy={**given.policy, "slice": length})
            slices = (jobs.submit[-1] - jobs.submit[0]) / length
            took = median(seconds(its, jobs) for _ in range(rounds))
            rows.append([policy, length, slices, 1e6 * took / slices])
    return Table("growth with slices", ["policy", "s a slice", "slices", "µs a slice"], rows)


def _growth_in_processors(rounds: int, n_jobs: int, times: tuple[int, ...]) -> Table:
    rows: list[list[Cell]] = []
    for policy in SYSTEMS:
        given = at(policy)
        for n in times:
            machine = dict(given.machine)
            if machine["hosts"] is None:
                machine["processors"] *= n
            else:
                machine["hosts"] = [
                    {**host, "name": f"{host['name']}-{copy}"}
                    for copy in range(n)
                    for host in machine["hosts"]
                ]
            jobs = drawn(given, n_jobs // 8, n)
            its = replace(given, machine=machine)
            took = median(seconds(its, jobs) for _ in range(rounds))
            rows.append([policy, machines.of(machine).total, len(jobs), 1e6 * took / len(jobs)])
    return Table("growth with processors", ["policy", "processors", "jobs", "µs a job"], rows)

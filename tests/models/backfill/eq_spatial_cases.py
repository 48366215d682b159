"""Jobs, hosts and rules for the tests of spatial equipartitioning, and the same for kernel and twin."""

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import backfill_cases
import eq_spatial_twin as twin
from family_cases import composed
from hypothesis import strategies as st

from models.backfill.eq_spatial.kernel import simulate
from models.backfill.eq_spatial.rules import EqSpatial
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine
from models.jobs.schedule import Schedule

KB_IN_MB = KB_IN_GB // 1024

Row = tuple[Any, Any, int, int, int]
"""Submit, runtime, size, memory and used memory (MB)."""
Host = tuple[int, int]
"""Processors and memory (MB)."""

RULES: dict[str, dict[str, Any]] = {
    "0m": {},
    "5m": {"min_interval": 300},
    "event": {"min_interval": 120, "ties": "event"},
    "long": {"min_interval": 60, "long_after": 600},
    "last, fcfs": {"odd_processors": "last", "waiting": "fcfs", "min_interval": 60},
    "requested": {"quantum_processors": "requested", "keep_quantum": True},
    "all": {
        "quantum_processors": "requested", "min_interval": 180, "long_after": 900, "odd_processors": "last",
        "ties": "event", "quantum": 120, "quantum_memory_gb": 2,
    },
    "no quantum, no catching up": {"quantum": None, "catch_up": False},
}  # fmt: skip


def make_jobs(rows: Sequence[Row]) -> Jobs:
    return backfill_cases.make_jobs(
        [(submit, runtime, runtime, size, memory * KB_IN_MB, used * KB_IN_MB)
         for submit, runtime, size, memory, used in rows]
    )  # fmt: skip


def make_machine(hosts: Sequence[Host]) -> Machine:
    return backfill_cases.make_machine([(processors, memory * KB_IN_MB) for processors, memory in hosts])


def run(rows: Sequence[Row], hosts: Sequence[Host], **keys: Any) -> Schedule:
    return simulate(make_jobs(rows), make_machine(hosts), rules(**keys))


def rules(**keys: Any) -> EqSpatial:
    return EqSpatial.of(composed("policy", "eq_spatial_0m", **keys))


def by_twin(rows: Sequence[Row], hosts: Sequence[Host], **keys: Any) -> list[twin.Job]:
    ordered = sorted(rows, key=lambda row: row[0])
    jobs = [twin.Job(number, *row) for number, row in enumerate(ordered)]
    quantum_memory = 1024 * keys.pop("quantum_memory_gb", 1)
    policy = twin.Policy(quantum_memory=quantum_memory, **{key: value or 0 for key, value in keys.items()})
    twin.EqSpatial(jobs, [twin.Host(*host) for host in hosts], policy).run()
    return jobs


@st.composite
def cases(draw: st.DrawFn, exact: bool = False) -> tuple[list[Row], list[Host]]:
    """Draw jobs that contend for memory: on a grid of minutes, or at irregular times that hardly ever tie."""
    number = draw(st.integers(2, 30))
    rng = random.Random(draw(st.integers(0, 10**6)))
    hosts = [(rng.randint(2, 9), rng.randint(4, 16)) for _ in range(rng.randint(1, 3))]
    rows: list[Row] = []
    for job in range(number):
        p, m = rng.choice(hosts)
        memory = rng.choice([rng.randint(0, 2), rng.randint(0, m), rng.randint(m // 3, m)])
        used = rng.choice([0, memory])
        submit, runtime = 60.0 * rng.randint(0, 60), 30.0 * rng.choice([1, 2, rng.randint(1, 60)])
        if exact:
            submit = Fraction(submit) + Fraction(rng.randint(0, 59_000) + job, 1009)
            runtime = Fraction(runtime) + Fraction(rng.randint(0, 29_000) + job, 1013)
        rows.append((submit, runtime, rng.randint(1, p), 512 * memory, 512 * used))
    return rows, [(p, 512 * m) for p, m in hosts]

"""Jobs, machines and policies with immediate service, and the same for the kernel and its twin."""

from typing import Any

import numpy as np
from backfill_cases import MORE, TABLE_3, UNIT_KB, make_jobs, make_machine, table_3
from backfill_twin import Host
from family_cases import composed
from hypothesis import strategies as st
from immediate_twin import Backfill, Job

from models.backfill.priority.rules import Priority
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, UNLIMITED_KB, Machine
from models.jobs.schedule import Schedule

TICK = 300.0
BACKFILLS = TABLE_3 | MORE


def rules(name: str, immediate: dict[str, Any], **keys: Any) -> Priority:
    given = {"name": name, **BACKFILLS[name], "immediate": immediate, **keys}
    return Priority.of(composed("policy", "easy_immediate", **given))


def ticks(seconds: np.ndarray) -> list[int]:
    return [round(value / TICK) for value in seconds]


def twin_of(jobs: Jobs, machine: Machine, how: Priority) -> Backfill:
    """Return the twin before its run; `jobs` as they run under the rules."""
    served = how.immediate

    def priority(job: Job, now: int) -> float:
        waited = now - job.submit - (job.counted if job.phase == "waiting" else 0)
        return table_3(how.weights, waited * TICK / 3600, job.requested * TICK / 3600, job)

    times = (ticks(column) for column in (jobs.submit, jobs.runtime, jobs.requested))
    counts = (column.tolist() for column in (jobs.size, jobs.memory, jobs.used))
    return Backfill(
        [Host(*pair) for pair in zip(machine.processors.tolist(), machine.memory.tolist(), strict=True)],
        np.inf if how.reservations is None else how.reservations,
        priority,
        how.keep_start,
        jobs=[Job(number, *row) for number, row in enumerate(zip(*times, *counts, strict=True))],
        served=served,
        quantum=round(served.quantum / TICK),
        ten_minutes=round(served.uninterrupted / TICK),
    )


def pieces_of(made: Schedule) -> list[tuple[int, int, float, float]]:
    runs = made.runs
    return sorted(
        zip(runs.job.tolist(), runs.host.tolist(), runs.begin.tolist(), runs.end.tolist(), strict=True)
    )


@st.composite
def policies(draw: st.DrawFn, kind: str) -> Priority:
    """Draw a backfill with immediate service and all that the paper leaves open."""
    immediate = {
        "kind": kind,
        "quantum": draw(st.integers(1, 4)) * TICK,
        "memory_gb": draw(st.sampled_from([*(units * UNIT_KB / KB_IN_GB for units in (1, 2, 3)), None])),
        "uninterrupted": draw(st.integers(1, 5)) * TICK,
        "keep_promises": draw(st.booleans()),
        "beyond_memory": draw(st.sampled_from(["stays", "leaves"])),
        "keep_quantum": draw(st.booleans()),
    }
    ties = draw(st.sampled_from(["instant", "event"]))
    return rules(draw(st.sampled_from(list(BACKFILLS))), immediate, ties=ties, kill=draw(st.booleans()))


@st.composite
def cases(draw: st.DrawFn, hosts: int = 3) -> tuple[Jobs, Machine]:
    """Draw a few jobs on a coarse grid of times, long ones and such as end in a quantum."""
    number = draw(st.integers(1, hosts))
    limited = draw(st.booleans())
    memory = st.integers(3, 9).map(lambda n: n * UNIT_KB) if limited else st.just(UNLIMITED_KB)
    machine = make_machine([(draw(st.integers(2, 8)), draw(memory)) for _ in range(number)])
    rows = []
    for _ in range(draw(st.integers(2, 14))):
        h = draw(st.integers(0, number - 1))
        size = draw(st.integers(1, int(machine.processors[h])))
        need = draw(st.integers(0, int(machine.memory[h]) // UNIT_KB if limited else 5))
        submit, requested = (draw(st.integers(least, 30)) for least in (0, 1))
        runtime = draw(st.integers(1, 3) | st.integers(1, 30))
        used = draw(st.integers(0, 5))
        rows.append((submit * TICK, runtime * TICK, requested * TICK, size, UNIT_KB * need, UNIT_KB * used))
    return make_jobs(rows), machine

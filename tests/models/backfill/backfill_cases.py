"""Jobs, machines and policies for the tests of backfilling, and the same for kernels and twin."""

from collections.abc import Callable, Sequence
from functools import cache
from math import inf
from typing import Any

import numpy as np
import pytest
from backfill_twin import Backfill as TwinBackfill
from backfill_twin import Conservative as TwinConservative
from backfill_twin import Host, Job, simulate
from family_cases import composed
from hypothesis import strategies as st

from models.backfill.conservative.rules import Conservative
from models.backfill.policies import rules_of
from models.backfill.priority.declared import Weights
from models.backfill.priority.order import KB_IN_MEMORY_UNIT, changes, compiled
from models.backfill.priority.rules import Priority
from models.backfill.requests import under
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine
from models.jobs.schedule import Schedule

TABLE_3: dict[str, dict[str, Any]] = {
    "easy": {},
    "priority_backfill": {"weights": {"wait": 1, "expansion": 5, "processors": 0.2}},
    "lxf_w_backfill": {"weights": {"wait": 0.0167, "expansion": 1}},
    "lxf_backfill": {"weights": {"expansion": 1}},
    "sjf_backfill": {"weights": {"shortness": 1}, "keep_start": True},
}
"""The policies of section 2.3, as conf/policy has them."""

MORE: dict[str, dict[str, Any]] = {
    "no reservation": {"reservations": 0},
    "three starts": {"reservations": 3},
    "all starts": {"reservations": "all"},
    "two kept starts": {"weights": {"shortness": 1}, "keep_start": True, "reservations": 2},
    "sizes": {"weights": {"processors": 0.1, "memory": -0.25, "larger": 1}},
    "bypass": {"weights": {"processors": 1, "bypass": 3}, "reservations": 2},
}

ORDERED: dict[str, dict[str, Any]] = {
    "sjbf": {"backfill_order": "shortest_first"},
    "learned": {"priority": "f1"},
    "no passing": {"discipline": "fcfs", "priority": "f4"},
    "changing, and another for two": {"priority": "wfp3", "backfill_order": "f3", "reservations": 2},
    "bypass, kept, and a changing one": {
        "weights": {"processors": 1, "bypass": 3}, "keep_start": True, "backfill_order": "unicef",
    },
}  # fmt: skip
"""With functions as priority and backfill order."""

UNIT_KB = 367_002
"""About the unit of requested memory, so that it weighs about as much as processors do."""

POLICIES = {
    "fcfs": {"discipline": "fcfs"},
    "conservative": {"discipline": "conservative"},
    **{name: {"discipline": "backfill", **keys} for name, keys in (TABLE_3 | MORE | ORDERED).items()},
}


def rules(name: str, **keys: Any) -> Rules:
    given = {"name": name, **POLICIES[name], **keys}
    base = {"backfill": "easy"}.get(given["discipline"], given["discipline"])
    return rules_of(composed("policy", base, **given))


def make_jobs(rows: Sequence[tuple[Any, ...]], user: Sequence[int] | None = None) -> Jobs:
    """Return jobs from rows of submit, runtime, requested, size, memory, and perhaps used memory."""
    columns = list(zip(*sorted(rows, key=lambda row: row[0]), strict=True))
    times, counts = (np.array(columns[:3], float), np.array(columns[3:], np.int64))
    return Jobs(*times, *counts, user=None if user is None else np.array(user))


def make_machine(hosts: Sequence[tuple[int, int]]) -> Machine:
    processors, memory = (np.array(column, np.int64) for column in zip(*hosts, strict=True))
    return Machine(tuple(map(str, range(len(hosts)))), processors, memory)


def asked(order: Any, where: str, first: float) -> Callable[[Job, float], float]:
    """Return an order, by its name or a user's own, as the twin asks it; `first` is the first submission."""
    function = compiled(order, where)

    def ask(job: Job, now: float) -> float:
        if changes(function):
            return float(function(now - job.submit, job.requested, job.size, int(job.memory), job.bypassed))
        return float(function(job.submit - first, job.requested, job.size, int(job.memory)))

    return ask


def table_3(weights: Weights, j_w: float, hours: float, job: Any) -> float:
    """Return the sum of Table 3, term by term as it is printed; of hours that a job waited and requests."""
    j_x = (j_w + hours) / hours
    j_m = job.memory / KB_IN_MEMORY_UNIT
    total = weights.wait * j_w + weights.expansion * j_x + weights.processors * job.size
    total = total + weights.memory * j_m + weights.larger * max(job.size, j_m)
    return float(total + weights.bypass * job.bypassed + weights.shortness / hours)


def twin_scheduler(
    machine: Machine, how: Priority | Conservative, first: float = 0.0
) -> TwinBackfill | TwinConservative:
    pairs = zip(machine.processors.tolist(), machine.memory.tolist(), strict=True)
    hosts = [Host(processors, memory) for processors, memory in pairs]
    down = machine.down.tolist()
    if isinstance(how, Conservative):
        return TwinConservative(hosts, down=down)

    def priority(job: Job, now: float) -> float:
        return table_3(how.weights, (now - job.submit) / 3600, job.requested / 3600, job)

    reservations = inf if how.reservations is None else how.reservations
    backfilled = None
    if how.backfill_order is not None:
        backfilled = asked(how.backfill_order, "policy.backfill_order", first)
    return TwinBackfill(
        hosts,
        -1 if how.discipline == "fcfs" else reservations,
        priority if how.priority is None else asked(how.priority, "policy.priority", first),
        how.keep_start,
        backfilled,
        down=down,
    )


def by_twin(jobs: Jobs, machine: Machine, how: Rules) -> tuple[Schedule, TwinBackfill | TwinConservative]:
    """Return the twin's schedule, and the scheduler with all that it promised."""
    ran = under(jobs, how)
    columns = (getattr(ran, name).tolist() for name in ("submit", "runtime", "requested", "size", "memory"))
    plain = [Job(number, *row) for number, row in enumerate(zip(*columns, strict=True))]
    if ran.predicted is not None:
        for job, predicted in zip(plain, ran.predicted.tolist(), strict=True):
            job.limit, job.requested = job.requested, predicted
    scheduler = twin_scheduler(machine, how, float(ran.submit[0]))
    simulate(plain, scheduler, how.ties)
    start, end = (np.array([getattr(job, name) for job in plain], float) for name in ("start", "end"))
    return Schedule(ran, machine, start, end, np.array([job.host for job in plain])), scheduler


def tiers(first: int, more: int) -> Any:
    """Parametrise `n_examples`: a few in the first tier, many in the second."""
    second = pytest.param(more, marks=pytest.mark.exhaustive)
    return pytest.mark.parametrize("n_examples", [first, second])


# To make a strategy takes longer than to draw from it: each is made once.
integers, BOOLEANS = cache(st.integers), st.booleans()


@st.composite
def cases(draw: st.DrawFn, hosts: int = 3, overruns: bool = True) -> tuple[Jobs, Machine]:
    """Draw a few jobs on a coarse grid of times, so that much happens at one instant."""
    number = draw(integers(1, hosts))
    limited = draw(BOOLEANS)
    memory = integers(3, 9).map(lambda n: n * UNIT_KB) if limited else st.just(UNLIMITED_KB)
    machine = make_machine([(draw(integers(2, 6)), draw(memory)) for _ in range(number)])
    rows = []
    for _ in range(draw(integers(1, 14))):
        h = draw(integers(0, number - 1))
        size = draw(integers(1, int(machine.processors[h])))
        need = UNIT_KB * draw(integers(0, int(machine.memory[h]) // UNIT_KB if limited else 0))
        runtime = draw(integers(1, 12))
        least = 1 if overruns else runtime
        requested = draw(integers(least, max(least, 12)))
        rows.append((draw(integers(0, 20)) * 1800.0, runtime * 1800.0, requested * 1800.0, size, need))
    return make_jobs(rows), machine

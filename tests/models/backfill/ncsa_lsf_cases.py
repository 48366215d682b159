"""Jobs, machines and configurations for the tests of NCSA-LSF, and the same for kernel and twin."""

from collections.abc import Sequence
from math import inf
from typing import Any

import backfill_cases
import ncsa_lsf_twin as twin
import numpy as np
from backfill_twin import simulate as simulate_by_twin
from family_cases import composed
from hypothesis import strategies as st

from models.backfill.ncsa_lsf.kernel import simulate
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine
from models.jobs.schedule import Schedule
from models.workloads.o2k.job_classes import CLASSES, classify

HOUR = 3600.0
GB = 1024 * 1024

SIZES = ("sj", "mj", "lj")
TIMES = ("vst", "st", "mt", "lt")

Row = tuple[float, float, float, int, float]


def of_paper(**keys: Any) -> dict[str, Any]:
    """Return the policy's YAML file as plain data, with some keys of ``ncsa_lsf`` replaced."""
    return composed("policy", "ncsa_lsf", ncsa_lsf=keys)


def make_jobs(rows: Sequence[Row], user: Sequence[int] | None = None) -> Jobs:
    """Return jobs from rows of submit, runtime, requested (hours), processors and memory (GB)."""
    return backfill_cases.make_jobs(
        [(HOUR * submit, HOUR * runtime, HOUR * requested, size, round(memory * GB))
         for submit, runtime, requested, size, memory in rows],
        user,
    )  # fmt: skip


def make_machine(hosts: dict[str, tuple[int, float]]) -> Machine:
    """Return a machine from processors and GB by host, inf where memory does not matter."""
    memory = [UNLIMITED_KB if gb == inf else round(gb * GB) for _, gb in hosts.values()]
    processors = [number for number, _ in hosts.values()]
    return Machine(tuple(hosts), np.array(processors, np.int64), np.array(memory, np.int64))


O2K = machines.of(composed("machine", "o2k"))
NEVER: dict[str, Any] = {"reserve_wait_hours": dict.fromkeys(TIMES)}
SOON: dict[str, Any] = {"reserve_wait_hours": {"vst": 1, "st": 2, "mt": 5, "lt": 8}}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "paper": {},
    "soon": SOON,
    "never": NEVER,
    "users": SOON | {"user_limit": 5, "barred_hold_back": True},
    "tight": SOON | {"user_limit": 4, "system_limits": {"mt": 3, "lt": 2, "vst": 9}, "host_order": "listed"},
    "barred": SOON | {"system_limits": {"mt": 3, "lt": 2, "vst": 9}, "barred_hold_back": True},
}


def months(n: int, gap: float, seed: int) -> Jobs:
    """Return jobs of all classes on a grid of hours, one every `gap` hours on average, of five users."""
    rng = np.random.default_rng(seed)
    columns = (
        np.sort(rng.integers(0, int(n * gap), n)),
        rng.integers(1, 60, n),
        rng.choice([4, 5, 40, 150, 300], n),
        rng.choice([1, 2, 4, 8, 9, 16, 32, 64], n),
        rng.choice([0, 0.5, 1, 2, 3, 4, 8, 16], n),
    )
    return make_jobs(list(zip(*columns, strict=True)), rng.integers(0, 5, n).tolist())


def rules(**keys: Any) -> NcsaLsf:
    return NcsaLsf.of({**of_paper(**keys), "ties": "instant"})


def by_twin(jobs: Jobs, machine: Machine, rules: NcsaLsf) -> tuple[Schedule, twin.Lsf]:
    """Return the twin's schedule, and the scheduler with what it did."""
    names = [CLASSES[c].split("_") for c in classify(jobs.requested, jobs.size, jobs.memory)]
    columns = [getattr(jobs, name).tolist() for name in ("submit", "runtime", "size", "memory")]
    user = np.zeros(len(jobs), int) if jobs.user is None else jobs.user
    plain = [
        twin.Job(number, *row, size_class, time_class, int(user[number]))
        for number, (row, (time_class, size_class)) in enumerate(
            zip(zip(*columns, strict=True), names, strict=True)
        )
    ]
    hosts = [
        twin.Host(processors, memory, rules.hosts[name].sizes, rules.hosts[name].limits)
        for name, processors, memory in zip(
            machine.names, machine.processors.tolist(), machine.memory.tolist(), strict=True
        )
    ]
    scheduler = twin.Lsf(hosts, rules)
    simulate_by_twin(plain, scheduler, rules.ties)
    start, end = (np.array([getattr(job, name) for job in plain], float) for name in ("start", "end"))
    return Schedule(jobs, machine, start, end, np.array([job.host for job in plain])), scheduler


def assert_agreement(jobs: Jobs, machine: Machine, rules: NcsaLsf) -> twin.Lsf:
    """See that kernel and twin run every job at the same time on the same host, and hold the same idle."""
    made = simulate(jobs, machine, rules)
    expected, scheduler = by_twin(jobs, machine, rules)
    np.testing.assert_array_equal(made.start, expected.start)
    np.testing.assert_array_equal(made.host, expected.host)
    columns = (getattr(made.held, name).tolist() for name in made.held.__dataclass_fields__)
    job, host, begin, end, processors = columns
    assert sorted(zip(job, host, begin, end, processors, strict=True)) == twin.held_idle(scheduler)
    return scheduler


def some_limits(names: Sequence[str], least: int, most: int) -> st.SearchStrategy[dict[str, int]]:
    return st.dictionaries(st.sampled_from(names), st.integers(least, most), max_size=len(names))


@st.composite
def configurations(draw: st.DrawFn) -> tuple[Machine, dict[str, Any]]:
    """Draw a machine of one to three hosts and a policy for it, with bounds that are often reached."""
    number = draw(st.integers(1, 3))
    memory = st.sampled_from([2, 4, 16, 20, inf])
    machine = make_machine(
        {f"h{h}": (draw(st.sampled_from([6, 16, 40, 70])), draw(memory)) for h in range(number)}
    )
    hosts = []
    for name in machine.names:
        sizes = draw(st.permutations(SIZES))[: draw(st.integers(1, 3))]
        limits = draw(some_limits(sizes, 0, 2))
        hosts.append({"host": name, "sizes": list(sizes), "limits": limits})
    waits = st.sampled_from([0, 1, 3, 10, None])
    groups = [[["vst"], ["st", "mt", "lt"]], [["lt", "vst"], ["mt"], ["st"]], [["vst", "st", "mt", "lt"]]]
    keys = {
        "reserve_wait_hours": {name: draw(waits) for name in TIMES},
        "time_order": draw(st.sampled_from(groups)),
        "system_limits": draw(some_limits(TIMES, 0, 3)),
        "user_limit": draw(st.sampled_from([None, None, 1, 2])),
        "hosts": hosts,
        "host_order": draw(st.sampled_from(["fullest", "listed"])),
        "barred_hold_back": draw(st.booleans()),
    }
    return machine, composed(
        "policy", "ncsa_lsf", ties=draw(st.sampled_from(["instant", "event"])), ncsa_lsf=keys
    )


def can_run(row: Row, machine: Machine, keys: dict[str, Any]) -> bool:
    """Return whether any host takes a job, limits of 0 included."""
    job = make_jobs([row])
    time_class, size_class = CLASSES[classify(job.requested, job.size, job.memory)[0]].split("_")
    if keys["system_limits"].get(time_class) == 0:
        return False
    return any(
        size_class in host["sizes"]
        and host["limits"].get(size_class) != 0
        and row[3] <= machine.processors[h]
        and row[4] * GB <= machine.memory[h]
        for h, host in enumerate(keys["hosts"])
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[Jobs, Machine, NcsaLsf]:
    """Draw a few jobs on a coarse grid of hours, so that much happens at one instant."""
    machine, policy = draw(configurations())
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 12),
                st.integers(1, 12),
                st.sampled_from([1, 5, 6, 50, 60, 200, 300, 400]),
                st.sampled_from([1, 2, 4, 6, 8, 9, 12, 16, 17, 24, 40, 64]),
                st.sampled_from([0, 0.5, 1, 2, 3, 4, 6, 16]),
            ).filter(lambda row: can_run(row, machine, policy["ncsa_lsf"])),
            min_size=1,
            max_size=16,
        )
    )
    users = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    return make_jobs(sorted(rows, key=lambda row: row[0]), users), machine, NcsaLsf.of(policy)

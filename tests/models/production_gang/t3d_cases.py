"""Small cases for the T3D's schedulers, and how the engine and the twin are asked the same."""

import random
from copy import deepcopy
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import t3d_twin
from family_cases import composed, jobs_of

from models.jobs import machine as machines
from models.jobs.job_classes import JOB_CLASSES
from models.jobs.trace import Origin, Trace
from models.point import Point
from models.production_gang.systems import Run
from models.production_gang.t3d import simulation

TORUSES = ["2x1x1", "2x2x1", "4x1x2", "4x2x2", "8x2x1", "4x4x2", "8x2x4", "16x1x1", "4x4", "8x2", "2x2x2"]
MONDAY = 345_600.0
"""Unix seconds of Monday, 5 January 1970, 0:00 UTC."""

POLICIES = ("llnl_gang", "djm", "unicos_max")


@dataclass(frozen=True)
class Case:
    """Jobs of the twin, machine, policy, and the seconds since Monday, 0:00, at time 0."""

    jobs: tuple[t3d_twin.Job, ...]
    machine: dict[str, Any]
    policy: dict[str, Any]
    clock: float = 0.0

    def fresh(self) -> list[t3d_twin.Job]:
        return deepcopy(list(self.jobs))


def policy(name: str = "llnl_gang", **keys: Any) -> dict[str, Any]:
    return composed("policy/production_gang", name) | keys


def machine(torus: str = "16x4x4", node_processors: int = 2, **keys: Any) -> dict[str, Any]:
    return composed("machine", "t3d") | {"torus": torus, "node_processors": node_processors} | keys


def of_random(seed: int) -> Case:
    """Return a random case: whole numbers of seconds, so that times meet and nothing is rounded."""
    chance = random.Random(seed)
    torus = chance.choice(TORUSES)
    asked = machine(
        torus,
        chance.choice([1, 2]) if int(torus.split("x")[0]) > 1 else 1,
        places=chance.choice(["aligned", "half", "any"]),
        barrier_wires=chance.choice([1, 2, 3, 4, 4]),
        wire_neighbours=chance.choice(["forbidden", "forbidden", "allowed"]),
        memory_gb_per_processor=None,
    )
    total = prod(int(side) for side in torus.split("x"))
    span = chance.choice([30, 300, 3000, 3000, 20_000, 600_000])
    rules = _policy(chance, total, span)
    with_classes = chance.random() < 0.8
    jobs: list[t3d_twin.Job] = []
    submits = sorted(chance.randrange(span + 1) for _ in range(chance.choice([3, 10, 20, 20])))
    longest = chance.choice([10, 100, 1000, 1000, 5000])
    taken: set[int] = set()
    for number, submit in enumerate(submits):
        runtime = float(chance.randint(1, longest))
        processors = chance.choice([1, 2, 3, 4, 8, total, total // 2 or 1, chance.randint(1, total)])
        before = [job.number for job in jobs if job.number not in taken]
        after, think = -1, 0.0
        if before and chance.random() < 0.3:
            after, think = chance.choice(before), float(chance.choice([0, 0, 5, 100]))
            taken.add(after)
        jobs.append(
            t3d_twin.Job(
                number,
                float(submit - submits[0]),
                runtime,
                min(processors, total),
                chance.choice([float("nan"), runtime, 2 * runtime, 20_000.0, 100_000.0]),
                chance.randrange(4),
                chance.choice(JOB_CLASSES) if with_classes else None,
                after,
                think,
            )
        )
    clock = float(chance.choice([0, 0, 25_000, 86_400 * 4 + 70_000, 86_400 * 6 + 80_000]))
    return Case(tuple(jobs), asked, rules, clock)


def _policy(chance: random.Random, total: int, span: int) -> dict[str, Any]:
    rules = policy(chance.choice(POLICIES))

    def by_hours(*values: float | None) -> Any:
        if chance.random() < 0.6:
            return chance.choice(values)
        return {"prime": chance.choice(values), "night": chance.choice(values)}

    rules["classes"] = {
        name: {
            "priority": by_hours(1, 2, 2) if name in ("production", "standby") else by_hours(2, 3, 4),
            "processor_limit": by_hours(None, None, None, total),
            "max_wait": by_hours(None, 20, 60, 300),
            "do_not_disturb": by_hours(0, 1, 3, 10),
            "preemptable": name not in ("debug", "benchmark")
            and (chance.random() < 0.85 or name == "standby"),
            "heeds_slices": name != "express" and chance.random() < 0.85,
            "batch": name in ("production", "standby", "benchmark"),
        }
        for name in JOB_CLASSES
    }
    rules["classes"]["express"]["priority"] = chance.choice([4, 6])
    for keys in rules["classes"].values():  # without what would go round for ever, and is refused
        if keys["preemptable"] and not keys["heeds_slices"]:
            keys["max_wait"] = None
        if keys["preemptable"] and keys["max_wait"] is not None and chance.random() < 0.3:
            keys["max_wait"] = None
        elif keys["preemptable"] and keys["max_wait"] is not None:
            keys["do_not_disturb"] = by_hours(1, 3, 10)
    rules["prime_time"] = {
        "from": chance.choice([0.0, 7.5, 0.0625]),
        "until": chance.choice([22, 12, 8, 24]),
        "weekends": chance.random() < 0.3,
    }
    rules["unclassified"] = chance.choice(["by_limits", "production", "interactive"])
    rules["interactive_limits"] = {
        "processors": chance.choice([2, 8, 64]),
        "hours": chance.choice([0.0625, 2]),
    }
    rules["preemptive"] = chance.random() < 0.8
    rules["swap_out"] = chance.choice([1.0, 0.5, 0.0, 2.0])
    rules["swap_in"] = chance.choice([1.0, 0.5, 0.0, 3.0])
    rules["order"] = chance.choice(["largest", "arrival"])
    rules["blocking"] = chance.choice(["always", "never", "urgent"])
    above = chance.choice([None, None, 1, 0.5, 1.5])
    rules["nice"] = {
        "above": above,
        "every": 3600 if span > 5000 else 64,
        "half_life": chance.choice([604_800, 3600]),
    }
    by_day = {"prime": total, "night": 2 * total}
    three = [
        queue("small", max(total // 4, 1), 1, total, "always"),
        queue("night", total, 5.5, None, "night"),
        queue("long", total, None, by_day, chance.choice(["always", "weekend", "night"])),
    ]
    rules["queues"] = chance.choice([rules["queues"], three, [queue("all", total, None, None, "always")]])
    rules["batch_limit"] = by_hours(None, total, 2 * total)
    rules["oversubscribe"] = chance.choice(
        [None, None, {"processors": 2 * total, "from": max(total // 2, 1)}]
    )
    rules["aggregate_limit"] = chance.choice([None, None, total, 2 * total])
    rules["drain_after"] = chance.choice([None, 0, 100, 1000])
    rules["location"] = chance.choice(["ignored", "disk_last", "disk_first"])
    rules["weekend_days"] = chance.choice([1, 2])
    rules["channel"] = chance.choice(["own", "shared"])
    return rules


def queue(name: str, processors: int, hours: float | None, run_limit: Any, opens: str) -> dict[str, Any]:
    limits = {"processors": processors, "hours": hours, "run_limit": run_limit}
    return {"name": name, **limits, "open": opens}


def with_commands(case: Case, seed: int) -> Case:
    """Return a case in which operators interfere, mostly with jobs in the system; all are resumed."""
    chance = random.Random(seed)
    commands, last = [], 0
    for _ in range(chance.choice([2, 10, 40])):
        job = chance.choice(case.jobs)
        time = int(job.submit + chance.randrange(1, 3 * int(job.runtime) + 30))
        last = max(last, time + 5000)
        what = chance.choice(["suspend", "kill", "class", "class", "class"])
        if what == "suspend" and case.policy["preemptive"]:
            later = time + chance.choice([0, 1, 60, 5000])
            commands += [(time, "suspend", job, ""), (later, "resume", job, "")]
        elif what == "kill":
            commands.append((time, "kill", job, ""))
        else:
            commands.append((time, "class", job, chance.choice(JOB_CLASSES)))
    commands += [(last, "resume", job, "") for _, _, job, _ in commands]
    texts = [f"{time}s {what} {job.number + 1} {extra}" for time, what, job, extra in commands]
    return replace(case, policy=case.policy | {"commands": texts})


def by_twin(case: Case) -> t3d_twin.Twin:
    return t3d_twin.Twin(case.fresh(), case.machine, case.policy, case.clock).run()


def by_engine(case: Case) -> Run:
    """Return the engine's run; its jobs are in order of their submission as it happened."""
    hosts = machines.of(case.machine)
    jobs = case.jobs
    names = ("submit", "runtime", "processors", "requested", "user", "after", "think")
    submit, runtime, size, requested, *more = ([getattr(job, name) for job in jobs] for name in names)
    columns = jobs_of(submit, runtime, size, requested, **dict(zip(names[4:], more, strict=True)))
    if all(job.job_class is not None for job in jobs):
        classes = np.array([JOB_CLASSES.index(str(job.job_class)) for job in jobs])
        columns = replace(columns, job_class=classes)
    origin = Origin("case", "random", "", zero=MONDAY + case.clock)
    opened = Trace("case", columns, hosts, origin=origin)
    point = Point(case.policy, {"name": "case"}, case.machine)
    return simulation.run(point, opened, columns, hosts)


ACCOUNT = ("submit", "size", "class", "admitted", "start", "end", "preemptions", "ran", "stays", "pieces")
"""What is compared, jobs in order of their submission."""


def story(outcome: t3d_twin.Twin, case: Case) -> dict[str, Any]:
    """Return what the twin did, in a form in which it can be compared."""
    box = t3d_twin.Box(case.machine)
    order = sorted(outcome.jobs, key=lambda job: (job.submit, job.number))
    place = {job.number: position for position, job in enumerate(order)}
    jobs = [
        (
            job.submit, job.size, job.job_class, job.admitted, job.end if job.start is None else job.start,
            job.end, job.preempted, sum(end - begin for begin, end in job.pieces),
        )
        for job in order
    ]  # fmt: skip
    stays = sorted(
        (
            stay.assigned, place[stay.job.number], box.number(stay.corner), stay.wire,
            stay.ready, stay.begins, stay.stops, stay.gone,
        )
        for stay in outcome.stays
    )  # fmt: skip
    pieces = sorted((place[job.number], *piece, job.size) for job in order for piece in job.pieces)
    return dict(zip(ACCOUNT, (*map(list, zip(*jobs, strict=True)), stays, pieces), strict=True))


def story_of_engine(run: Run) -> dict[str, Any]:
    def rows(table: Any, names: str) -> list[tuple[Any, ...]]:
        return sorted(zip(*(getattr(table, name).tolist() for name in names.split()), strict=True))

    columns = (run.detail.admitted, run.start, run.end, run.preemptions, run.jobs.runtime)
    classes = [JOB_CLASSES[number] for number in run.jobs.job_class]
    stays = rows(run.detail.residencies, "assigned job corner wire ready begins stops gone")
    pieces = rows(run.pieces, "job begin end processors")
    of_jobs = (column.tolist() for column in columns)
    found = (run.jobs.submit.tolist(), run.jobs.size.tolist(), classes, *of_jobs, stays, pieces)
    return dict(zip(ACCOUNT, found, strict=True))

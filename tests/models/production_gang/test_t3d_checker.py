"""The checker finds every law broken in residencies that were changed by hand, and nothing in true ones."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import t3d_cases
import t3d_checker
import t3d_twin

from models.jobs.job_classes import DEBUG, JOB_CLASSES, STANDBY

HOUR = 3600.0


@cache
def day() -> t3d_cases.Case:
    """A morning on 64 processors: a large production job, and others that take its nodes."""
    rules = t3d_cases.policy()
    rules["queues"] = [{"name": "all", "processors": 64, "hours": None, "run_limit": 128, "open": "always"}]
    rules["batch_limit"], rules["oversubscribe"] = 128, None

    def job(number: int, submit: float, runtime: float, size: int, name: str) -> t3d_twin.Job:
        return t3d_twin.Job(number, submit, runtime, size, job_class=name)

    jobs = (
        job(0, 0.0, 1000.0, 64, "production"),
        job(1, 300.0, 200.0, 16, "interactive"),
        job(2, 302.0, 400.0, 16, "interactive"),
        job(3, 500.0, 50.0, 32, "express"),
        job(4, 510.0, 300.0, 8, "debug"),
        job(5, 520.0, 2000.0, 16, "production"),
        job(6, 530.0, 500.0, 4, "standby"),
        job(7, 1500.0, 20.0, 64, "express"),
    )
    return t3d_cases.Case(jobs, t3d_cases.machine("8x4x2"), rules, 8 * HOUR)


@cache
def outcome() -> t3d_twin.Outcome:
    return t3d_cases.by_twin(day())


def made() -> SimpleNamespace:
    """Return all that the checker is told, to be changed."""
    case, ran = day(), outcome()
    jobs = t3d_cases.jobs_of(ran)
    order = sorted(ran.jobs, key=lambda job: (job.submit, job.number))
    return SimpleNamespace(
        stays=deepcopy(t3d_cases.stays_of(ran, case)),
        jobs=SimpleNamespace(**{name: getattr(jobs, name) for name in jobs.__dataclass_fields__}),
        machine=deepcopy(case.machine),
        policy=deepcopy(case.policy),
        admitted=np.array([job.admitted for job in order]),
    )


def laws(of: SimpleNamespace) -> set[str]:
    found = t3d_checker.violations(of.stays, of.jobs, of.machine, of.policy, of.admitted, 8 * HOUR)
    return {each.split(":")[0] for each in found}


def preempted(of: SimpleNamespace) -> int:
    """Return the first residency of the large production job, which is preempted."""
    (own,) = np.nonzero(of.stays.job == 0)
    assert own.size > 1
    return int(own[0])


def of_job(of: SimpleNamespace, job: int) -> int:
    return int(np.flatnonzero(of.stays.job == job)[0])


def taker(of: SimpleNamespace) -> int:
    """Return the residency that takes the nodes of the production job."""
    (stay,) = np.nonzero(of.stays.assigned == of.stays.stops[preempted(of)])
    return int(stay[0])


def at_once(of: SimpleNamespace) -> tuple[int, int]:
    """Return two residencies of 16 processors at one time."""
    return of_job(of, 1), of_job(of, 2)


def moved(of: SimpleNamespace, stay: int, by: float) -> None:
    for name in ("assigned", "ready", "begins", "stops", "gone"):
        getattr(of.stays, name)[stay] += by


def with_shape(of: SimpleNamespace) -> None:
    of.jobs.size[1] = 12


def with_place(of: SimpleNamespace) -> None:
    of.stays.corner[of_job(of, 0)] = 1


def with_memory(of: SimpleNamespace) -> None:
    of.jobs.memory[1] = of.jobs.size[1] * 65 * 1024


def with_work(of: SimpleNamespace) -> None:
    of.stays.stops[of_job(of, 3)] -= 1
    of.stays.gone[of_job(of, 3)] -= 1


def with_two_owners(of: SimpleNamespace) -> None:
    first, second = at_once(of)
    of.stays.corner[second] = of.stays.corner[first]


def with_one_wire(of: SimpleNamespace) -> None:
    first, second = at_once(of)
    of.stays.wire[second] = of.stays.wire[first]


def with_wire_that_is_not_there(of: SimpleNamespace) -> None:
    of.machine["barrier_wires"] = 1


def with_new_wire(of: SimpleNamespace) -> None:
    of.stays.wire[preempted(of)] += 1


def with_image_overwritten(of: SimpleNamespace) -> None:
    stay = taker(of)
    early = of.stays.ready[stay] - of.stays.assigned[stay]
    for name in ("ready", "begins", "stops", "gone"):
        getattr(of.stays, name)[stay] -= early


def with_no_image_written(of: SimpleNamespace) -> None:
    of.stays.gone[preempted(of)] = of.stays.stops[preempted(of)]


def with_no_image_read(of: SimpleNamespace) -> None:
    stay = int(np.flatnonzero(of.stays.job == 0)[1])
    for name in ("begins", "stops", "gone"):
        getattr(of.stays, name)[stay] -= 64


def with_time_turned(of: SimpleNamespace) -> None:
    stay = of_job(of, 4)
    of.stays.ready[stay] = of.stays.assigned[stay] - 1


def with_class(number: int) -> Callable[[SimpleNamespace], None]:
    def change(of: SimpleNamespace) -> None:
        of.jobs.job_class[0] = number

    return change


def with_nobody(of: SimpleNamespace) -> None:
    moved(of, taker(of), 0.5)


def with_lower_taker(of: SimpleNamespace) -> None:
    of.jobs.job_class[of.stays.job[taker(of)]] = STANDBY


def with_express_that_waits(of: SimpleNamespace) -> None:
    moved(of, of_job(of, 7), 5.0)


def with_late_express(of: SimpleNamespace) -> None:
    of.admitted[7] += 5
    moved(of, of_job(of, 7), 5.0)


def with_early_admission(of: SimpleNamespace) -> None:
    of.admitted[5] -= 1


def with_rules(*path: str, to: Any) -> Callable[[SimpleNamespace], None]:
    def change(of: SimpleNamespace) -> None:
        inner = of.policy
        for key in path[:-1]:
            inner = inner[int(key) if key.isdecimal() else key]
        inner[path[-1]] = to

    return change


DOCTORED: dict[str, tuple[str, Callable[[SimpleNamespace], None]]] = {
    "a size that is no power of two": ("shape", with_shape),
    "a place that is none": ("place", with_place),
    "more memory than a node has": ("memory", with_memory),
    "work that is lost": ("work", with_work),
    "two owners of a node": ("owned twice", with_two_owners),
    "two neighbours on a wire": ("wires", with_one_wire),
    "a wire that is not there": ("wires", with_wire_that_is_not_there),
    "another wire after a relocation": ("wire moved", with_new_wire),
    "an image overwritten": ("image", with_image_overwritten),
    "an image not written": ("switch", with_no_image_written),
    "an image not read": ("switch", with_no_image_read),
    "times in another order": ("times", with_time_turned),
    "a class that cannot be preempted": ("not preemptable", with_class(DEBUG)),
    "a scheduler that does not preempt": ("not preemptable", with_rules("preemptive", to=False)),
    "a preemption for nobody": ("for nobody", with_nobody),
    "a preemption for a job of lower priority": ("priority", with_lower_taker),
    "a slice that is too short": ("slice", with_rules("classes", "production", "do_not_disturb", to=500)),
    "an express job that waits": ("express", with_express_that_waits),
    "an express job that is told of late": ("express", with_late_express),
    "too many processors of a class": (
        "processor limit", with_rules("classes", "interactive", "processor_limit", to=16),
    ),
    "a job before it is submitted": ("admission", with_early_admission),
    "a closed queue": ("queue closed", with_rules("queues", "0", "open", to="night")),
    "too many processors of a queue": ("run limit", with_rules("queues", "0", "run_limit", to=64)),
    "too many processors of batch jobs": (
        "batch limit", with_rules("batch_limit", to={"prime": 70, "night": None}),
    ),
    "too many processors in all": ("aggregate limit", with_rules("aggregate_limit", to=64)),
}  # fmt: skip


def test_a_true_story_breaks_no_law() -> None:
    told = made()
    assert laws(told) == set()
    assert np.bincount(told.stays.job).max() > 1
    assert {JOB_CLASSES[number] for number in told.jobs.job_class} >= {"express", "debug", "standby"}


@pytest.mark.parametrize("name", DOCTORED)
def test_what_was_changed_is_found(name: str) -> None:
    law, change = DOCTORED[name]
    told = made()
    change(told)
    assert law in laws(told)


@pytest.mark.parametrize("seed", range(30))
def test_the_twin_keeps_the_laws(seed: int) -> None:
    case = t3d_cases.of_random(seed, small=True)
    ran = t3d_cases.by_twin(case)
    order = sorted(ran.jobs, key=lambda job: (job.submit, job.number))
    admitted = np.array([job.admitted for job in order])
    found = t3d_checker.violations(
        t3d_cases.stays_of(ran, case), t3d_cases.jobs_of(ran), case.machine, case.policy, admitted, case.clock
    )
    assert found == []

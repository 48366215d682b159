"""What has to be so on the T3D whatever the engine does inside, and what another family says."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import CONF, read

from models import backfill
from models.jobs.job_classes import DEBUG, EXPRESS, INTERACTIVE, PRODUCTION
from models.jobs.jobs import Jobs
from models.point import Batches, Point
from models.production_gang import FAMILY, model
from models.production_gang.systems import Run
from models.production_gang.t3d import moment
from models.production_gang.t3d.nodes import partitions, shapes_of

SCHEDULERS = ("llnl_gang", "djm", "unicos_max")
HOUR, DAY = 3600.0, 86_400.0

FIRST = (0.0, 1.0, 2, INTERACTIVE)
"""Submitted on Monday, 0:00, so that time counts from there."""


@cache
def file(group: str, name: str) -> dict[str, Any]:
    return read(next((CONF / group).rglob(f"{Path(name).name}.yaml")))


def changed(given: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """Return a file with some of its keys, also of its mappings, set to something else."""
    nested = {
        key: changed(given[key], value)
        for key, value in keys.items()
        if isinstance(given.get(key), dict) and isinstance(value, dict)
    }
    return {**given, **keys, **nested}


def point(jobs: Jobs | None = None, policy: str = "llnl_gang", machine: Any = None, **keys: Any) -> Point:
    """Return a point with some jobs, or three weeks; keys of the policy."""
    workload = file("workload", "t3d_three_weeks")
    if jobs is not None:
        workload = file("workload", "arrays") | {"jobs": jobs}
    given = changed(file("policy", f"production_gang/{policy}"), keys)
    hardware = file("machine", "t3d") | (machine or {})
    return Point(given, workload, hardware, None, Batches(None, 0, (1,)), (1, 2, 0))


def jobs_of(*rows: tuple[float, float, int, int], **columns: Any) -> Jobs:
    """Return jobs of (submission, runtime, processors, class)."""
    submit, runtime, size, job_class = (np.array(column) for column in zip(*rows, strict=True))
    n = len(rows)
    return Jobs(
        submit.astype(float), runtime.astype(float), np.full(n, np.nan), size, np.zeros(n, np.int64),
        job_class=job_class, **columns,
    )  # fmt: skip


@cache
def weeks(policy: str) -> Run:
    return model.run(point(policy=policy))


@pytest.mark.parametrize("policy", SCHEDULERS)
def test_every_second_of_every_processor_is_accounted_for(policy: str) -> None:
    metrics = FAMILY.simulate(
        replace(point(policy=policy), batches=Batches(None, 0, (50,), weeks=True))
    ).metrics
    shares = [metrics[name] for name in ("utilization", "switching_share", "packing_loss", "limits_loss")]
    assert np.allclose(sum(shares) + metrics["no_work_share"], 1)
    assert all((share >= -1e-12).all() for share in (*shares, metrics["no_work_share"]))
    assert metrics["class_delivered"].sum(axis=1) / (256 * metrics["period"]) == pytest.approx(shares[0])


@pytest.mark.parametrize("policy", SCHEDULERS)
def test_all_work_is_done(policy: str) -> None:
    made = weeks(policy).schedule
    assert made.pieces is not None
    ran = np.bincount(made.pieces.job, made.pieces.end - made.pieces.begin, len(made.jobs))
    assert ran == pytest.approx(made.jobs.runtime)
    assert (made.start >= made.jobs.submit).all()
    assert (np.diff(made.jobs.submit) >= 0).all()


@pytest.mark.exhaustive
def test_one_class_without_preemption_is_first_come_first_served() -> None:
    """Half machines and whole ones leave no hole that order does not: another family starts them alike."""
    rng = np.random.default_rng(7)
    n = 400
    rows = zip(
        np.cumsum(rng.exponential(1500, n)), rng.exponential(1500, n) + 1, rng.choice([128, 256], n),
        np.full(n, PRODUCTION), strict=True,
    )  # fmt: skip
    jobs = jobs_of(*rows)
    one = point(
        jobs,
        order="arrival",
        blocking="always",
        preemptive=False,
        queues=[],
        batch_limit=None,
        oversubscribe=None,
    )
    pool = file("machine", "pe128") | {"processors": 256}
    other = replace(one, policy=file("policy", "backfill/fcfs"), machine=pool)
    here, there = FAMILY.schedule(one), backfill.FAMILY.schedule(other)
    assert here.start.tolist() == there.start.tolist()
    assert (here.start > here.jobs.submit).mean() > 0.3


def test_express_preempts_at_once_and_pays_the_switch() -> None:
    jobs = jobs_of((0, 5000, 256, PRODUCTION), (100, 50, 64, EXPRESS))
    run = model.run(point(jobs, machine={"places": "aligned"}))
    made, its = run.schedule, run.detail.residencies
    assert made.start.tolist() == [0, 100 + 256]
    assert its.assigned.tolist() == [0, 100, 100 + 256 + 50]
    # Back from disk when the express job has ended: 256 s to load.
    assert its.begins[2] == 100 + 256 + 50 + 256
    assert made.end[0] == pytest.approx(its.begins[2] + 4900)
    assert run.preemptions.tolist() == [1, 0]
    letters = [moment.at(run, time).state.tolist() for time in (50, 101, 100 + 256, 407, 700)]
    assert letters == [["R"], ["o", "W"], ["O", "R"], ["i"], ["R"]]


def test_debug_jobs_are_not_preempted_and_minimum_slices_are_kept() -> None:
    nine = 9 * HOUR
    jobs = jobs_of(
        FIRST, (nine, 900, 128, DEBUG), (nine, 9000, 128, PRODUCTION), (nine + 1, 10, 64, INTERACTIVE)
    )
    made = FAMILY.schedule(point(jobs, classes={"production": {"do_not_disturb": 3}}))
    assert made.start[1:3].tolist() == [nine, nine]
    assert made.start[3] == nine + 3 * 128 + 128, "the slice of the job that may be preempted, and its image"
    assert made.end[1] == nine + 900


def test_at_night_interactive_jobs_wait_before_they_preempt() -> None:
    jobs = jobs_of((0, 9000, 256, PRODUCTION), (10, 10, 64, INTERACTIVE))
    made = FAMILY.schedule(point(jobs, classes={"production": {"do_not_disturb": 0.1}}))
    assert made.start[1] == 10 + 1200 + 256
    by_day = jobs_of(FIRST, (9 * HOUR, 9000, 256, PRODUCTION), (9 * HOUR + 100, 10, 64, INTERACTIVE))
    made = FAMILY.schedule(
        point(by_day, classes={"production": {"do_not_disturb": 0.1}}, queues=[], prime_time={"from": 8})
    )
    assert made.start[2] == by_day.submit[2] + 256


def test_a_user_waits_for_the_answer_and_thinks() -> None:
    after, think = np.array([-1, 0, 1]), np.array([0.0, 30.0, 0.0])
    rows = [(0, 100, 8, INTERACTIVE), (130, 50, 8, INTERACTIVE), (180, 1, 8, INTERACTIVE)]
    jobs = jobs_of(*rows, after=after, think=think)
    made = FAMILY.schedule(point(jobs))
    assert made.jobs.submit.tolist() == [0, 130, 180]
    jobs = replace(jobs, submit=np.zeros(3))  # what the workload expected does not matter
    made = FAMILY.schedule(point(jobs))
    assert made.jobs.submit.tolist() == [0, 130, 180]
    with pytest.raises(
        ValueError, match=r"takes jobs that are all submitted beforehand; add workload\.repetition"
    ):
        backfill.FAMILY.check(replace(point(jobs), policy=file("policy", "backfill/easy") | {"name": "easy"}))


def test_users_who_had_much_count_as_standby() -> None:
    """Of two users one has had all: its next job gives way to the other's, of the same class."""
    jobs = jobs_of(
        (0, 4000, 256, PRODUCTION), (1, 9000, 256, PRODUCTION), (4500, 100, 256, PRODUCTION),
        user=np.array([1, 1, 2]),
    )  # fmt: skip
    keys: dict[str, Any] = {
        "queues": [],
        "batch_limit": None,
        "classes": {"production": {"do_not_disturb": 0.001, "max_wait": 1e7}},
    }
    plain = FAMILY.schedule(point(jobs, **keys))
    assert plain.start[2] >= plain.end[1]
    nice = FAMILY.schedule(point(jobs, nice={"above": 1, "every": 3600, "half_life": 604800}, **keys))
    assert nice.start[2] == 2 * 3600 + 256, "when its user's nice value is high, and the image has left"


def test_partitions_are_the_papers() -> None:
    assert shapes_of((8, 4, 4)) == (
        (1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (4, 2, 2), (4, 4, 2), (4, 4, 4), (8, 4, 4),
    )  # fmt: skip
    at = partitions((8, 4, 4), "aligned")
    assert np.diff(at.first).tolist() == [128, 64, 32, 16, 8, 4, 2, 1]
    for level in range(at.n_levels):
        its = at.nodes[at.node_of[level] :][:128].reshape(-1, 1 << level)
        assert sorted(its.ravel().tolist()) == list(range(128)), "places of a size divide the machine"
        halves = {frozenset(nodes) for nodes in its.tolist()}
        leaves = np.argsort(at.leaf).reshape(-1, 1 << level)
        assert {frozenset(nodes) for nodes in leaves.tolist()} == halves
    assert np.diff(partitions((8, 4, 4), "any").first).tolist() == [128, 128, 128, 128, 128, 32, 8, 1]


def test_a_queue_that_never_opens_is_told() -> None:
    queues = [{"name": "never", "processors": 256, "hours": None, "run_limit": None, "open": "night"}]
    jobs = jobs_of((0, 10, 4, PRODUCTION))
    always = {"from": 0, "until": 24, "weekends": True}
    with pytest.raises(ValueError, match="1 of 1 jobs wait for ever, since their queue never opens"):
        FAMILY.schedule(point(jobs, queues=queues, prime_time=always))


SMALL = (0, 1, 2, INTERACTIVE)
BLOCKED = "policy.classes.interactive: its jobs become urgent (max_wait), and no minimum slice protects"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"classes": {"debug": None}}, "policy.classes.debug has no parameters; give priority"),
        ({"prime_time": {"from": 22, "until": 7}}, "from=22 is not before until=7"),
        ({"swap_out": -1}, "policy.swap_out=-1; allowed: a number of seconds for each processor"),
        ({"queues": [{"name": "q", "processors": 0}]}, "policy.queues[0].processors=0"),
        ({"classes": {"interactive": {"do_not_disturb": 0, "max_wait": 20}}}, BLOCKED),
        ({"classes": {"interactive": {"heeds_slices": False}}}, BLOCKED),
        ({"machine": {"torus": "12x4x4"}}, "machine.torus=12x4x4 in nodes of 2"),
        ({"machine": {"places": "somewhere"}}, "machine.places=somewhere; allowed: aligned, half, any"),
        (
            {"batch_limit": 32, "jobs": jobs_of((0, 1, 40, PRODUCTION))},
            "job 1 gets 64 processors, and policy.batch_limit=32: it could never run",
        ),
        (
            {"classes": {"interactive": {"processor_limit": 64}}, "jobs": jobs_of((0, 1, 65, INTERACTIVE))},
            "job 1 gets 128 processors, and policy.classes.interactive.processor_limit=64: it could",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        FAMILY.check(point(**{"jobs": jobs_of(SMALL)} | keys))
    assert "\n" not in str(refused.value)

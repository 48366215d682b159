"""What has to be so on the T3D whatever the engine does inside, and what another family says."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from t3d_cases import POLICIES, file

from models import backfill
from models.jobs import swf
from models.jobs.job_classes import EXPRESS, INTERACTIVE, PRODUCTION, STANDBY
from models.jobs.jobs import Jobs
from models.point import Batches, Point
from models.production_gang import FAMILY, model
from models.production_gang.daytime import of_day
from models.production_gang.t3d import moment
from models.production_gang.t3d.nodes import partitions, shapes_of

HOUR, DAY = 3600.0, 86_400.0


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
    given = changed(file("policy/production_gang", policy), keys)
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


@pytest.mark.parametrize("policy", POLICIES)
def test_every_second_of_every_processor_is_accounted_for(policy: str) -> None:
    metrics = FAMILY.simulate(
        replace(point(policy=policy), batches=Batches(None, 0, (50,), weeks=True))
    ).metrics
    shares = [metrics[name] for name in ("utilization", "switching_share", "packing_loss", "limits_loss")]
    assert np.allclose(sum(shares) + metrics["no_work_share"], 1)
    assert all((share >= -1e-12).all() for share in (*shares, metrics["no_work_share"]))
    assert metrics["class_delivered"].sum(axis=1) / (256 * metrics["period"]) == pytest.approx(shares[0])


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
    other = replace(one, policy=file("policy/backfill", "fcfs"), machine=pool)
    here, there = FAMILY.schedule(one), backfill.FAMILY.schedule(other)
    assert here.start.tolist() == there.start.tolist()
    assert (here.start > here.jobs.submit).mean() > 0.3


def test_express_preempts_at_once_and_pays_the_switch() -> None:
    jobs = jobs_of((0, 5000, 256, PRODUCTION), (100, 50, 64, EXPRESS))
    run = model.schedule(point(jobs, machine={"places": "aligned"}))
    its = run.detail.residencies
    assert run.start.tolist() == [0, 100 + 256]
    assert its.assigned.tolist() == [0, 100, 100 + 256 + 50]
    # Back from disk when the express job has ended: 256 s to load.
    assert its.begins[2] == 100 + 256 + 50 + 256
    assert run.end[0] == pytest.approx(its.begins[2] + 4900)
    assert run.preemptions.tolist() == [1, 0]
    letters = [moment.at(run, time).state.tolist() for time in (50, 101, 100 + 256, 407, 700)]
    assert letters == [["R"], ["o", "W"], ["O", "R"], ["i"], ["R"]]


@pytest.mark.parametrize(("channel", "seconds"), [("own", 128), ("shared", 256)])
def test_images_share_one_channel_or_are_moved_at_full_rate(channel: str, seconds: int) -> None:
    """Two images of 128 s each way: side by side, or one after the other."""
    rows = (0, 5000, 128, PRODUCTION), (0, 5000, 128, PRODUCTION), (100, 50, 256, EXPRESS)
    run = model.schedule(point(jobs_of(*rows), channel=channel))
    assert run.start[2] == 100 + seconds
    back = np.sort(run.detail.residencies.begins[3:]) - run.end[2]
    assert back.tolist() == [128, seconds]


def test_operators_suspend_resume_and_kill_a_job(tmp_path: Path) -> None:
    """ "Gangster also permits […] operations […] including: suspend, resume, kill, and change job class".

    Half the machine: 128 s to write, 128 to load. The third job, killed before it runs, is in no mean.
    """
    rows = (0, 5000, 128, PRODUCTION), (0, 5000, 128, PRODUCTION), (10, 50, 64, PRODUCTION)
    commands = ["100s suspend 1", "200s kill 2", "20s kill 3", "1000s resume 1", "50m kill 17", "51m kill 2"]
    made = point(jobs_of(*rows), commands=commands)
    run = model.schedule(made)
    done = run.detail.commands.done
    assert run.end.tolist() == [1000 + 128 + 4900, 200, 20]
    assert run.jobs.runtime.tolist() == [5000, 200, 0]
    assert run.preemptions.tolist() == [1, 0, 0]
    assert done[:4].tolist() == [20, 228, 200, 1000]
    assert np.isnan(done[4])  # there is no such job
    assert run.notes == (
        "policy.commands: 3000s kill 17 had no effect: nothing to do",
        "policy.commands: 3060s kill 2 had no effect: too late, the job ended at 200 s",
    )
    FAMILY.export(made, tmp_path / "run.swf")
    assert swf.read(tmp_path / "run.swf").columns["status"].tolist() == [1, 5, 5]
    letters = ["".join(moment.at(run, time).state) for time in (50, 150, 210, 500, 1100, 2000)]
    assert letters == ["RR", "oR", "o", "S", "i", "R"]
    found = FAMILY.simulate(made).metrics
    assert found["jobs"].tolist() == [2]
    assert found["slowdown"] == pytest.approx((6028 / 5000 + 1) / 2)
    assert found["utilization"] == pytest.approx(128 * 5200 / (256 * 6028))


def test_an_operator_changes_the_class_of_a_job() -> None:
    """At night another job of the same priority preempts, but only once the minimum slice is over.

    That is 30 s for each processor of a production job, and 1 s for each of a standby job. A job of 256
    processors is beyond the limit of the debug class, and stays what it is.
    """
    rows = (0, 9000, 256, PRODUCTION), (10, 5000, 64, INTERACTIVE)
    run = model.schedule(point(jobs_of(*rows), commands=["100s class 1 standby", "150s class 1 debug"]))
    assert run.detail.residencies.assigned[1] == 256
    assert [moment.at(run, time).job_class.tolist()[0] for time in (50, 150)] == [PRODUCTION, STANDBY]


@pytest.mark.parametrize(
    ("run_limit", "batch_limit", "size", "asks", "admitted"),
    [
        (64, 256, 64, 60.0, [5000, 1000]),
        (None, 66, 64, 60.0, [5000, 5000]),
        (64, 66, 64, 60.0, [5000, 1000]),
        (70, 256, 64, 9e4, [5000, 5000]),
        (None, {"prime": 256, "night": 100}, 128, 60.0, [7.5 * HOUR, 1000]),
    ],
    ids=["its queue", "the batch limit", "both", "the queue of the next one", "a limit below its size"],
)  # fmt: skip
def test_a_job_drains_only_what_keeps_it_out(
    run_limit: int | None, batch_limit: Any, size: int, asks: float, admitted: list[float]
) -> None:
    """Of queue `long` a job runs until 5,000 s and another is refused, which drains from 100 s on.

    The job that comes at 1,000 s would be within all limits.
    """
    rows = (0, 5000, 64, PRODUCTION), (0, 10, size, PRODUCTION), (1000, 10, 2, PRODUCTION)
    jobs = replace(jobs_of(*rows), requested=np.array([9e4, 9e4, asks]))
    queues = [
        {"name": "short", "processors": 32, "hours": 1, "run_limit": None, "open": "always"},
        {"name": "long", "processors": 256, "hours": None, "run_limit": run_limit, "open": "always"},
    ]
    for drain_after, expected in ((100, admitted), (None, [admitted[0], 1000])):
        keys = {
            "queues": queues,
            "batch_limit": batch_limit,
            "oversubscribe": None,
            "drain_after": drain_after,
        }
        made = model.schedule(point(jobs, **keys))
        assert made.detail.admitted.tolist() == [0, *expected]


@pytest.mark.parametrize(("days", "admitted"), [(2, 6 * DAY + 2 * HOUR), (1, 12 * DAY)])
def test_queues_of_the_weekend_are_open_on_saturdays_or_on_both_days(days: int, admitted: float) -> None:
    """Of two long jobs the first runs from Saturday, 0:00, to Sunday, 2:00, and fills its queue."""
    rows = (0, 26 * HOUR, 64, PRODUCTION), (1, 10 * HOUR, 64, PRODUCTION)
    run = model.schedule(point(jobs_of(*rows), "unicos_max", weekend_days=days))
    assert run.detail.admitted.tolist() == [5 * DAY, admitted]


def test_what_a_day_shows_in_working_hours() -> None:
    """At 10:00 an interactive job of 2 h preempts a job of the whole machine, which takes 256 s."""
    run = model.schedule(point(jobs_of((0, 72_000, 256, PRODUCTION), (10 * HOUR, 2 * HOUR, 64, INTERACTIVE))))
    found = of_day(run, np.array([0.0, DAY, 1.5 * DAY]))
    share = (2 * HOUR + 256) / (8 * HOUR)
    assert found["working_hours"].tolist() == [8 * HOUR, 3 * HOUR]
    assert found["demand_peak"].tolist() == [64, 0]
    expected = {
        "demand_usual": share, "day_jobs": share, "day_processors": 64 * share, "day_free": 192 * share,
        "day_batch": 256, "day_paged_out": 256 * share,
    }  # fmt: skip
    assert {name: found[name][0] for name in expected} == pytest.approx(expected)


def test_partitions_are_the_papers() -> None:
    assert shapes_of((8, 4, 4)) == (
        (1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (4, 2, 2), (4, 4, 2), (4, 4, 4), (8, 4, 4),
    )  # fmt: skip
    at = partitions((8, 4, 4), "aligned")
    assert np.diff(at.first).tolist() == [128, 64, 32, 16, 8, 4, 2, 1]
    for level in range(len(at.node_of)):
        its = at.nodes[at.node_of[level] :][:128].reshape(-1, 1 << level)
        assert sorted(its.ravel().tolist()) == list(range(128)), "places of a size divide the machine"
        halves = {frozenset(nodes) for nodes in its.tolist()}
        leaves = np.argsort(at.leaf).reshape(-1, 1 << level)
        assert {frozenset(nodes) for nodes in leaves.tolist()} == halves
    assert np.diff(partitions((8, 4, 4), "any").first).tolist() == [128, 128, 128, 128, 128, 32, 8, 1]


SMALL = (0, 1, 2, INTERACTIVE)
BLOCKED = "policy.classes.interactive: its jobs become urgent (max_wait), and no minimum slice protects"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"classes": {"debug": None}}, "policy.classes.debug has no parameters; give priority"),
        ({"prime_time": {"from": 22, "until": 7}}, "from=22 is not before until=7"),
        ({"classes": {"interactive": {"do_not_disturb": 0, "max_wait": 20}}}, BLOCKED),
        ({"classes": {"interactive": {"heeds_slices": False}}}, BLOCKED),
        ({"machine": {"torus": "12x4x4"}}, "machine.torus=12x4x4 in nodes of 2"),
        (
            {"batch_limit": 32, "jobs": jobs_of((0, 1, 40, PRODUCTION))},
            "job 1 gets 64 processors, and policy.batch_limit=32: it could never run",
        ),
        (
            {"classes": {"interactive": {"processor_limit": 64}}, "jobs": jobs_of((0, 1, 65, INTERACTIVE))},
            "job 1 gets 128 processors, and policy.classes.interactive.processor_limit=64: it could",
        ),
        (
            {"commands": ["1h suspnd 1"]},
            "policy.commands[0]=1h suspnd 1; allowed: a time since the beginning",
        ),
        ({"commands": ["-1h kill 1"]}, "policy.commands[0]=-1h kill 1; allowed: a time"),
        ({"commands": ["1h class 1 urgent"]}, "classes express, interactive, debug"),
        ({"commands": ["1h suspend 1"]}, "job 1 is suspended and never resumed"),
        ({"commands": ["1h kill 17"]}, "kill 17: the last job of the workload is number 1"),
        ({"commands": ["0s kill 1"]}, "kill 1: the job is submitted at 0 s, not before 0 s"),
        (
            {"commands": ["1h suspend 1", "2h kill 1"], "preemptive": False},
            "with policy.preemptive=false jobs",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        FAMILY.check(point(**{"jobs": jobs_of(SMALL)} | keys))
    assert "\n" not in str(refused.value)

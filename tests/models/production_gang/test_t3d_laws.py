"""What has to be so on the T3D whatever the engine does inside."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import family_cases
import numpy as np
import pytest
from family_cases import composed, merged, refused
from t3d_cases import POLICIES

from models.jobs import swf
from models.jobs.job_classes import EXPRESS, INTERACTIVE, PRODUCTION, STANDBY
from models.jobs.jobs import Jobs
from models.point import Batches, Point
from models.production_gang import FAMILY, model
from models.production_gang.daytime import of_day
from models.production_gang.t3d import moment

HOUR, DAY = 3600.0, 86_400.0


def point(jobs: Jobs | None = None, policy: str = "llnl_gang", machine: Any = None, **keys: Any) -> Point:
    """Return a point with some jobs, or three weeks; keys of the policy."""
    workload = composed("workload", "t3d_three_weeks")
    if jobs is not None:
        workload = composed("workload", "arrays") | {"jobs": jobs}
    given = merged(composed("policy/production_gang", policy), keys)
    hardware = composed("machine", "t3d") | (machine or {})
    return Point(given, workload, hardware, None, Batches(None, 0, (1,)), (1, 2, 0))


def jobs_of(*rows: tuple[float, float, int, int]) -> Jobs:
    """Return jobs of (submission, runtime, processors, class)."""
    submit, runtime, size, job_class = zip(*rows, strict=True)
    return family_cases.jobs_of(submit, runtime, size, job_class=job_class)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_second_of_every_processor_is_accounted_for(policy: str) -> None:
    metrics = FAMILY.simulate(
        replace(point(policy=policy), batches=Batches(None, 0, (50,), weeks=True))
    ).metrics
    shares = [metrics[name] for name in ("utilization", "switching_share", "packing_loss", "limits_loss")]
    assert np.allclose(sum(shares) + metrics["no_work_share"], 1)
    assert all((share >= -1e-12).all() for share in (*shares, metrics["no_work_share"]))
    assert metrics["class_delivered"].sum(axis=1) / (256 * metrics["period"]) == pytest.approx(shares[0])


def test_operators_suspend_resume_and_kill_a_job(tmp_path: Path) -> None:
    """ "Gangster also permits […] operations […] including: suspend, resume, kill, and change job class".

    Half the machine: 128 s to write, 128 to load. Means exclude the third job, killed before it runs.
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


def test_an_operator_changes_the_class_of_a_job() -> None:
    """At night another job of the same priority preempts, but only once the minimum slice is over.

    That is 30 s for each processor of a production job, and 1 s for each of a standby job. A job of 256
    processors is beyond the limit of the debug class, and stays what it is.
    """
    rows = (0, 9000, 256, PRODUCTION), (10, 5000, 64, INTERACTIVE)
    run = model.schedule(point(jobs_of(*rows), commands=["100s class 1 standby", "150s class 1 debug"]))
    assert run.detail.residencies.assigned[1] == 256
    assert [moment.at(run, time).job_class.tolist()[0] for time in (50, 150)] == [PRODUCTION, STANDBY]


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
        ({"commands": ["1h suspnd 1"]}, "policy.commands[0]=1h suspnd 1; allowed: a time since the"),
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
    with refused(re.escape(message)):
        FAMILY.check(point(**{"jobs": jobs_of(SMALL)} | keys))


def test_a_clock_that_stands_keeps_an_hours_rules_until_the_last_job_is_submitted() -> None:
    """A job of 256 processors is admitted at night: eight hours after 14:00, once the clock goes."""
    rows = (0.0, 3600.0, 256, PRODUCTION), (3 * DAY, 60.0, 2, PRODUCTION)
    made = point(jobs_of(*rows))
    for stands_at, start in ((14, 3 * DAY + 8 * HOUR), (None, 0.0), (23, 0.0)):
        workload = made.workload | ({} if stands_at is None else {"stands_at": stands_at})
        found = model.schedule(replace(made, workload=workload))
        assert found.start[0] == start, stands_at

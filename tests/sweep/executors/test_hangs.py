"""What must neither hang nor print without end; and long tasks, behind which nothing waits."""

import math
import os
import resource
import signal
from pathlib import Path

import pytest
from executor_contract import clean

from sweep.executors.bundles import Bundles
from sweep.executors.outlook import ENOUGH, PRIOR, Timings
from sweep.store.costs import keys

DASK = ("executor=dask", "executor.workers=2")


@pytest.mark.exhaustive
def test_few_open_files_are_one_line(command, monkeypatch):
    """Started by a shell with ``ulimit -n 20``."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    answer = command(*DASK, launcher=("sh", "-c", 'ulimit -n 20; exec "$@"', "sh")).finish()
    clean(answer, status=2)
    assert "only 20 files may be open at a time (ulimit -n), and workers need" in answer.err
    assert answer.err.count("\n") == 1


def test_a_soft_limit_of_open_files_is_raised(monkeypatch):
    from sweep.executors import dask

    given = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (20, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: given.append(limits))
    dask.allow_open_files(96)
    assert given == [(96, 4096)]


@pytest.mark.exhaustive
def test_ctrl_c_while_workers_start(command):
    run = command(*DASK, "policy.waits_at=0.3", "policy.waits_for=never")
    run.wait_for_worker()
    run.signal_all(signal.SIGINT)
    answer = run.finish()
    assert "Traceback" not in answer.err, answer
    assert run.survivors() == []


@pytest.mark.exhaustive
def test_a_worker_killed_while_workers_start_is_replaced(command, tmp_path):
    run = command(*DASK, "policy=quick", "policy.waits_at=0.3", f"policy.waits_for={tmp_path / 'go'}")
    os.kill(run.wait_for_worker(), signal.SIGKILL)
    (tmp_path / "go").touch()
    answer = run.finish()
    clean(answer)
    assert any(line.startswith("12/12 tasks, ") for line in answer.out.splitlines())
    assert run.survivors() == []


def logged():
    """Return what the workers have logged, the shortest log first."""
    logs = [log.read_bytes().splitlines() for log in Path("results/queue/shards").glob("*.jsonl")]
    return sorted(logs, key=len)


@pytest.mark.exhaustive
def test_nothing_waits_behind_a_task_that_may_take_long(command, tmp_path):
    """The first of six that have no timing yet ends when the other worker has done all others."""
    go = tmp_path / "go"
    run = command(
        *DASK, "policy=quick", "replications=1", "grid.preemption=[none]", "grid.urgent=[true]", "exclude=[]",
        "grid.load=[0.1,0.2,0.3,0.4,0.5,0.6]", "policy.waits_at=0.6", f"policy.waits_for={go}",
    )  # fmt: skip
    run.wait_for_results(5)
    (others,) = logged()
    go.touch()
    clean(run.finish())
    alone, still = logged()
    assert (len(alone), still) == (1, others)


def test_brief_is_what_was_seen_to_be_in_this_run(expand, costs, tmp_path):
    plan = expand()
    key = keys(plan)
    for number in range(24):
        costs.add(key(number), 1e-4 / plan.measurement(number).jobs)
    bundles = Bundles(plan, range(24), costs, tmp_path, 0.05)
    assert [next(bundles).brief for _ in range(3)] == [False] * 3, "measured on another day"
    quick = next(number for number in range(24) if "quick" in key(number))
    bundles.learn(quick, 1e-4)
    by_policy = {bundle.tasks[0].point.policy["name"]: bundle.brief for bundle in bundles}
    assert by_policy == {"quick": True, "slow": False}


def test_the_outlook_counts_what_is_on_its_way(expand, costs, tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("sweep.executors.bundles.time.monotonic", lambda: now[0])
    plan = expand("policy=quick", "replications=1", "grid.preemption=[none]", "exclude=[]")
    bundles = Bundles(plan, range(4), costs, tmp_path, 0.05)
    assert str(bundles.outlook(2)) == "time left unknown: 4 tasks with no timing yet"
    key = keys(plan)
    for number in range(4):
        costs.add(key(number), (60.0 if "0.6" in key(number) else 1.0) / plan.measurement(number).jobs)
    bundles = Bundles(plan, range(4), costs, tmp_path, 0.05)
    assert bundles.outlook(2).seconds == pytest.approx(61), "2 x 60 s and 2 x 1 s on 2 workers"
    assert bundles.outlook(100).seconds == pytest.approx(60), "never less than the longest"
    assert bundles.outlook(2).high == pytest.approx(122), "as none of them came back in this run"
    given = [next(bundles) for _ in range(4)]
    now[0] += 4
    assert bundles.outlook(2).seconds == pytest.approx(56), "nothing waits, and two run for 56 s yet"
    for bundle in given[2:]:
        bundles.learn(plan.ids.index(bundle.tasks[0].id), 1.0)
    now[0] += 396
    assert bundles.outlook(2)[4:] == (0, 2)
    assert "left: 2 take longer than expected" in str(bundles.outlook(2))
    bundles.ended(plan.ids.index(given[0].tasks[0].id))
    assert "left: 1 takes longer than expected" in str(bundles.outlook(2))


def test_the_pace_counts_the_work_of_what_runs(expand, costs, tmp_path, monkeypatch):
    """Two workers: one has done a task of 1 s, the other one is at work for 100 s, and two tasks wait."""
    now = [0.0]
    for module in ("bundles", "outlook"):
        monkeypatch.setattr(f"sweep.executors.{module}.time.monotonic", lambda: now[0])
    plan = expand("policy=quick", "replications=1", "exclude=[]", "grid.load=[0.3]")
    bundles = Bundles(plan, range(4), costs, tmp_path, 0.05, workers=lambda: 2)
    first, _ = (plan.ids.index(next(bundles).tasks[0].id) for _ in range(2))
    now[0] = 1.0
    bundles.learn(first, 1.0)
    now[0] = 100.0
    assert bundles.outlook(2).seconds == pytest.approx(2 / 1.01), "101 s of work were done in 100 s"
    assert [len(next(bundles).tasks) for _ in range(2)] == [1, 1]
    assert bundles.outlook(2).seconds == pytest.approx(1), "nothing waits: each has a worker of its own"


def test_the_time_left_is_that_of_this_run(costs, tmp_path, monkeypatch):
    """Kinds that were measured on another day are scaled by those that came back, and none stays unknown."""
    now = [0.0]
    monkeypatch.setattr("sweep.executors.outlook.time.monotonic", lambda: now[0])
    known, alike, unknown = (("family", "machine", name, "workload", "0.5") for name in "abc")
    timings = Timings({known: 1.0, alike: 10.0, unknown: math.inf}, dict.fromkeys((known, alike, unknown), 1))
    assert timings.seconds(alike, 10.0) == (10.0, 0)
    for _ in range(ENOUGH):
        assert timings.seconds(unknown, math.inf) == (math.inf, 0)
        timings.add(known, 0.1)
    assert timings.seconds(known, 1.0) == pytest.approx((0.1, ENOUGH / (ENOUGH + PRIOR)))
    assert timings.seconds(alike, 10.0) == (pytest.approx(1.0), 0), "a tenth, as the other"
    assert timings.seconds(unknown, math.inf) == (pytest.approx(0.1), 0)
    now[0] = 20.0
    assert timings.workers(2) == pytest.approx(0.1 * ENOUGH / 20.1), "they wait most of the time"
    timings.add(unknown, 7.0)
    expected = (7.0 + PRIOR * (7.0 + 0.1 * ENOUGH) / (ENOUGH + 1)) / (1 + PRIOR)
    assert timings.seconds(unknown, math.inf)[0] == pytest.approx(expected), "one task, and those at its load"


def test_one_log_says_nothing_of_another(expand, tmp_path, costs):
    """Both are called by the kind of their format, and a policy's time on a log is that log's."""
    found = []
    for n, log in enumerate(["short", "long"]):
        Path(log).write_text("x" * (n + 1), encoding="utf-8")
        whole = expand("workload=log", f"workload.path={log}", "batch_size=null", "replications=1")
        found.append(Bundles(whole, range(len(whole.ids)), costs, tmp_path, 0.05))
        if n == 0:
            key = keys(whole)
            costs.add(key(0), 0.5)
    assert found[0].outlook(2).unknown < len(whole.ids)
    assert found[1].outlook(2).unknown == len(whole.ids)

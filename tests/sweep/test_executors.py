"""Every executor gives the same bits, whatever happens to its processes."""

import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
import xarray as xr
from conftest import load, numbers, results

from sweep import executors, work
from sweep.bundles import Bundles, keys
from sweep.costs import Costs


@pytest.fixture
def serial(sweep):
    """Return what the study finds out in one process."""
    assert sweep("output=serial").status == 0
    return numbers("serial").drop_attrs()


def same(dataset: xr.Dataset, other: xr.Dataset) -> None:
    """Compare bits, NaN included."""
    xr.testing.assert_identical(dataset.drop_attrs(), other.drop_attrs())


def clean(answer, status=0):
    """Check that a command ended as it should, without a traceback or a warning."""
    assert answer.status == status, answer
    assert "Traceback" not in answer.out + answer.err, answer
    assert "Warning" not in answer.err, answer


def test_two_workers_find_out_the_same(command, serial):
    run = command("executor=dask", "executor.workers=2")
    answer = run.finish()
    clean(answer)
    assert answer.err == ""
    assert any(line.startswith("24/24 tasks, ") for line in answer.out.splitlines())
    assert run.survivors() == []
    same(numbers(), serial)


def test_one_worker_that_is_killed_is_replaced(command, serial, tmp_path):
    answer = command("executor=dask", "executor.workers=1", f"policy.dies_once={tmp_path / 'died'}").finish()
    clean(answer)
    assert (tmp_path / "died").exists()
    same(numbers(), serial)


def test_ctrl_c_stops_and_any_executor_goes_on(command, serial, sweep):
    run = command("executor=dask", "executor.workers=2", "policy.seconds=0.15")
    run.wait_for_results(3)
    run.signal_all(signal.SIGINT)
    answer = run.finish()
    clean(answer, status=130)
    assert "the same command goes on from here" in answer.out
    assert run.survivors() == []
    stopped = results()
    assert 3 <= stopped < 24
    assert (load()["state"] == 1).sum() == stopped
    assert sweep("policy.seconds=0.15").status == 0
    assert results() == 24
    same(numbers(), serial)


def test_kill_9_of_the_whole_run(command, serial):
    arguments = ("executor=dask", "executor.workers=2", "policy.seconds=0.15")
    run = command(*arguments)
    run.wait_for_results(2)
    run.process.kill()
    assert run.survivors() == [], "no worker outlives the run"
    assert results() < 24
    clean(command(*arguments).finish())
    same(numbers(), serial)


@pytest.mark.parametrize("done", [1, 7, 20])
def test_kill_9_at_some_moment(command, serial, sweep, done):
    run = command("executor=serial", "policy.seconds=0.02")
    run.wait_for_results(done)
    run.process.kill()
    run.process.wait()
    assert sweep("policy.seconds=0.02").status == 0
    same(numbers(), serial)


def test_sigterm_is_as_clean_as_ctrl_c(command):
    run = command("executor=serial", "policy.seconds=0.1")
    run.wait_for_results(1)
    run.process.terminate()
    clean(run.finish(), status=130)


def test_a_full_disk_loses_nothing(command, sweep):
    """The workers' logs may not grow beyond 16 KiB: about a third of the tasks fit."""

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))

    long = ("batches=100", "batch_size=5", "executor.workers=1")
    answer = command("executor=dask", *long, preexec_fn=small_disk).finish()
    clean(answer, status=1)
    assert "results cannot be written (File too large)" in answer.err
    assert answer.err.count("\n") == 1
    kept = results()
    assert 0 < kept < 24
    assert sweep(*long[:2]).status == 0
    assert results() == 24


def test_a_task_that_always_kills_its_worker_is_given_up(command, sweep):
    """The others are not, though they were on their way to the same worker when it died."""
    arguments = ("policy=quick", "replications=1", "policy.dies_at=0.6")
    answer = command("executor=dask", "executor.workers=1", *arguments).finish()
    clean(answer, status=1)
    assert "3 of 6 tasks failed" in answer.out
    status = sweep(*arguments, "action=status")
    assert "3 failed with: the worker died each time it ran this task" in status.out


def test_no_scheduler_at_the_address(command):
    answer = command("executor=dask", "executor.address=tcp://127.0.0.1:9").finish()
    assert answer.status == 1
    assert answer.err.startswith("error: Dask: executor.address=tcp://127.0.0.1:9 did not start")
    assert answer.err.count("\n") == 1


def test_an_existing_scheduler(command, serial):
    code = (
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    quiet = dict(processes=False, protocol='tcp', dashboard_address='127.0.0.1:0')\n"
        "    cluster = LocalCluster(n_workers=1, **quiet)\n"
        "    print(cluster.scheduler_address, flush=True); input()\n"
    )
    Path("cluster.py").write_text(code)
    with subprocess.Popen(
        [sys.executable, "cluster.py"], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as cluster:
        address = cluster.stdout.readline().strip()
        clean(command("executor=dask", f"executor.address={address}").finish())
        cluster.communicate("end\n")
    same(numbers(), serial)


def test_workers_must_be_positive(sweep):
    answer = sweep("executor=dask", "executor.workers=0")
    assert answer.status == 2
    assert "executor.workers=0: give 1 or more, or null for one a core" in answer.err


class Contract:
    """What every executor has to keep; one class below for each."""

    settings: ClassVar[dict] = {}

    def test_every_bundle_once_in_any_order(self, expand, tmp_path):
        plan = expand()
        bundles = Bundles(plan, range(len(plan.ids)), Costs(tmp_path / "none"), tmp_path, 0.05)
        with executors.create(self.settings, list(plan.families)) as executor:
            reports = list(executor.run(bundles))
            assert executor.workers >= 1
        assert sorted(result.id for report in reports for result in report) == sorted(plan.ids)
        assert not isinstance(executor, executors.Detached)
        assert executor.message_s > 0


class TestSerial(Contract):
    settings: ClassVar[dict] = {"name": "serial"}


def test_bundles_are_of_even_size_and_the_longest_come_first(expand, tmp_path):
    plan = expand()
    costs = Costs(tmp_path / "none")
    for policy, work_s in [("quick", 0.01), ("slow", 0.08)]:
        for at in ("0.3", "0.6"):
            key = ("fake_family", "one", policy, "poisson", at)
            costs.add(key, (work_s + float(at) / 1000) / plan.measurement.jobs)
    made = Bundles(plan, range(24), costs, tmp_path, 0.05)
    for number in range(24):  # much came back already, as predicted
        made.learn(number, costs.seconds_a_job(keys(plan)(number)) * plan.measurement.jobs)
    bundles = list(made)
    sizes = [len(bundle.tasks) for bundle in bundles]
    assert sizes == [1] * 12 + [5, 5, 2]
    first = [bundle.tasks[0] for bundle in bundles]
    assert [task.policy["name"] for task in first] == ["slow"] * 12 + ["quick"] * 3
    assert [task.load for task in first[:12]] == [0.6] * 6 + [0.3] * 6
    assert sorted(task.id for bundle in bundles for task in bundle.tasks) == sorted(plan.ids)


def test_bundles_grow_with_what_came_back(expand, tmp_path):
    plan = expand()
    costs = Costs(tmp_path / "none")
    bundles = Bundles(plan, range(24), costs, tmp_path, 0.05)
    assert bundles.seconds_waiting() is None
    first = next(bundles)
    assert [task.load for task in first.tasks] == [0.6]
    bundles.learn(0, 0.01)
    assert bundles.seconds_waiting() == pytest.approx(0.23)
    assert [len(bundle.tasks) for bundle in bundles] == [1] * 23, "one came back: no more than one is trusted"


def test_a_worker_logs_a_bundle_with_one_write(expand, tmp_path, monkeypatch):
    writes = []
    monkeypatch.setattr(work.Shard, "append", lambda self, records: writes.append(list(records)))
    plan = expand()
    bundles = Bundles(plan, range(8), Costs(tmp_path / "none"), tmp_path, 10.0)
    for number in range(4):
        bundles.learn(number, 1e-3)
    bundle = next(bundles)
    work.work(bundle)
    assert [len(records) for records in writes] == [4]

"""One study over several commands: resumed, grown, failing, refused; all in this process."""

import fcntl
import json
import math
import os
import re
import sys
from pathlib import Path

import fake_family.engine
import numpy as np
import pytest
import xarray as xr
from study_commands import load, numbers, results


def test_a_second_run_finds_everything_done(sweep, monkeypatch):
    first = sweep()
    before = {path: path.stat().st_mtime_ns for path in Path("results").rglob("*.nc")}
    monkeypatch.setitem(sys.modules, "distributed", None)  # importing it would fail
    second = sweep("executor=dask")
    assert "dataset: results/queue/queue.nc" in first.out.splitlines()
    assert first.out.splitlines()[-1] == "next:    python -m analysis results/queue"
    assert second.status == 0
    assert second.out.startswith("up to date: 24 of 24 tasks are done\n")
    assert second.out.splitlines()[1:] == first.out.splitlines()[1:], "the same table"
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert results() == 24
    assert sweep("accept.group_wait=2").out.startswith("up to date: 24 of 24 tasks are done\n")
    recipe = json.loads(load().attrs["config"])["settings"]
    assert recipe["accept"]["group_wait"] == 2, "only the dataset is written again"


def test_growth_runs_only_what_is_new(sweep):
    sweep()
    assert sweep("replications=3").status == 0
    assert results() == 36
    sweep("replications=3", "grid.load=[0.1,0.3,0.6]")
    assert results() == 54
    assert load().sizes["load"] == 3
    sweep("replications=3", "grid.load=[0.1,0.3,0.6]", "output=whole")
    xr.testing.assert_identical(numbers().drop_attrs(), numbers("whole").drop_attrs())


def test_a_smaller_grid_takes_nothing_out_of_a_dataset_without_a_word(sweep):
    sweep("replications=2")
    before = Path("results/queue/queue.nc").read_bytes()
    for smaller, lost in [
        ("grid.load=[0.3]", "load 0.6"),
        ("grid.load=[0.9]", "load 0.3, 0.6"),
        ("policy=quick", "policy slow"),
        ("replications=1", "2 replications"),
        ("exclude=[{load: 0.3}]", "6 points that zip or exclude leave out here"),
    ]:
        answer = sweep(smaller)
        assert answer.refused(f"results/queue/queue.nc has {lost}, which this smaller grid")
        assert "output=results/queue-2, or replace=true" in answer.err
        assert Path("results/queue/queue.nc").read_bytes() == before
    assert sweep("grid.load=[0.3,0.6,0.1]", "+axes.work=policy.work", "+grid.work=[1,2]").status == 0
    assert load().sizes["load"] == 3, "what was added to has all that there was"
    assert sweep("grid.load=[0.3]", "replace=true", "+axes.work=policy.work", "+grid.work=[1,2]").status == 0
    assert load().sizes["load"] == 1


def test_points_that_mean_the_same_are_run_once(sweep):
    overrides = ("grid.workload=[poisson,log]", f"workload.path={__file__}")
    sweep(*overrides, "+axes.who=workload.filter.user", "+grid.who=[1,2]", "replications=1", "exclude=[]")
    assert results() == 16 * 3
    poisson = load()["response"].sel(workload="poisson")
    assert np.isfinite(poisson).all()
    np.testing.assert_array_equal(poisson.sel(who=1), poisson.sel(who=2))


def test_a_task_that_raises_is_recorded_and_the_rest_goes_on(sweep):
    answer = sweep("policy.raises_at=0.3")
    assert answer.status == 1
    assert "12 of 24 tasks failed" in answer.out
    cause = (
        r"12 tasks failed with: ArithmeticError: no answer at load 0\.3 \(model\.py, line \d+\); first at "
        r"policy \w+, workload poisson, load 0\.3"
    )
    assert re.search(cause, answer.out)
    dataset = load()
    ran = dataset["state"] != 3
    assert (dataset["state"].sel(load=0.3).where(ran.sel(load=0.3), 2) == 2).all()
    assert (dataset["state"].sel(load=0.6).where(ran.sel(load=0.6), 1) == 1).all()
    status = sweep("policy.raises_at=0.3", "action=status")
    assert "24 tasks: 12 done, 12 failed, 0 left" in status.out
    assert re.search(cause, status.out)
    assert "seed (1, " in status.out
    assert 'fake_family/model.py", line' in status.out


def test_failed_tasks_are_run_again(sweep, monkeypatch):
    with monkeypatch.context() as patched:  # undone alone: the folder of this test is a patch, too
        patched.setattr(fake_family.engine, "stream", lambda seed, cause: 1 / 0)
        assert sweep().status == 1
    assert sweep().status == 0
    assert (load()["state"] != 2).all()
    assert "24 done, 0 failed" in sweep("action=status").out


def test_the_dataset_can_be_read_during_a_run(sweep, monkeypatch):
    monkeypatch.setattr("sweep.store.collect.WRITE_EVERY_S", 0.0)
    monkeypatch.setattr("sweep.store.collect.WRITE_SHARE", math.inf)  # however long a writing takes here
    done, real = [], fake_family.engine.stream

    def counted(seed, cause):
        """At the start of each simulation, record how many tasks are done in the dataset."""
        if cause == "arrivals":
            exists = Path("results/queue/queue.nc").exists()
            done.append(int((load()["state"] == 1).sum()) if exists else 0)
        return real(seed, cause)

    monkeypatch.setattr(fake_family.engine, "stream", counted)
    assert sweep("policy.seconds=0.02").status == 0
    assert done[0] == 0, "nothing is written before the first result"
    assert done == sorted(done)
    assert len(set(done)) > 3, "written several times"
    assert (load()["state"] == 0).sum() == 0


@pytest.mark.parametrize(
    ("overrides", "differs"),
    [
        (("batches=10",), "batches: 6 -> 10"),
        (("seed=3",), "seed: 1 -> 3"),
        (("policy=quick", "policy.work=2"), "policy.work: 1.0 -> 2 (policy quick)"),
        (("precision.relative=0.1",), "(precision.relative: null -> 0.1)"),
        (("batches={0:6,0.5:9}", "warmup=2"), "(warmup: 1 -> 2; batches: 6 -> {0:6,0.5:9})"),
    ],
)
def test_a_folder_of_another_config_is_refused_untouched(sweep, overrides, differs):
    sweep("replications=1")
    before = {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()}
    Path("results/queue-2").mkdir()
    answer = sweep(*overrides, "output=results/queue")
    assert answer.refused(differs)
    assert answer.err.endswith("output=results/queue-3\n")
    after = {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()}
    assert after == before


def test_a_second_run_at_the_same_time_is_told_who_writes(sweep):
    sweep("replications=1")
    with Path("results/queue/.lock").open("r+", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        answer = sweep()
    assert answer.status == 2
    assert f"is being written by process {os.getpid()} on " in answer.err
    assert " since 20" in answer.err
    assert sweep().status == 0


def test_the_order_of_the_logs_does_not_matter(sweep):
    sweep()
    whole = numbers()
    (log,) = Path("results/queue/shards").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.unlink()
    np.random.default_rng(1).shuffle(lines)
    for number, part in enumerate([lines[:9], lines[9:] + lines[:3]]):
        (log.parent / f"{number}.jsonl").write_bytes(b"".join(part))
    Path("results/queue/queue.nc").unlink()
    assert sweep("action=gather").status == 0
    xr.testing.assert_identical(numbers().drop_attrs(), whole.drop_attrs())


def test_gather_writes_what_is_there(sweep):
    nothing = sweep("action=gather")
    assert nothing.status == 1
    assert "holds no results yet" in nothing.err
    sweep("policy=quick")
    answer = sweep("action=gather")
    assert "12 of 24 tasks are in the dataset" in answer.out
    dataset = load()
    used = dataset["state"].sel(policy="slow") != 3
    assert (dataset["state"].sel(policy="slow").where(used, 0) == 0).all()
    assert np.isnan(dataset["response_mean"].sel(policy="slow")).all()


def test_plan_runs_and_writes_nothing(sweep, tmp_path):
    answer = sweep("action=plan")
    assert answer.status == 0
    assert "tasks     24 (12 points x 2 replications), 0 done, 24 left" in answer.out
    assert "expected  no timing yet" in answer.out
    assert "results/queue/queue.nc" in answer.out
    assert {path.name for path in tmp_path.iterdir()} <= {"cache"}  # the user's, of compositions
    sweep("replications=1")
    after = sweep("action=plan").out
    assert "12 done, 12 left" in after
    assert "of CPU time" in after, "measured by the run before"


def test_the_manifest_remembers_files_of_smaller_grids(sweep):
    sweep()
    sweep("policy=quick", "replace=true")
    answer = sweep("policy=slow", "policy.work=9")
    assert answer.status == 2
    assert "policy.work: 1.25 -> 9 (policy slow)" in answer.err
    assert json.loads(Path("results/queue/config.json").read_text(encoding="utf-8"))["settings"]["grid"][
        "policy"
    ] == ["quick"]


def test_while_the_last_task_runs_all_others_can_be_analysed(sweep, monkeypatch):
    """Nothing comes back while the clock goes on: ten seconds later the dataset has all other tasks."""
    from sweep.executors import bundles, serial
    from sweep.store import collect

    now, seen = [0.0], {}
    for module in (bundles, collect):
        monkeypatch.setattr(f"{module.__name__}.time.monotonic", lambda: now[0])

    def run(self, given):
        *first, last = given
        yield from map(serial.work, first)
        for seconds in (9, 2, 60):
            now[0] += seconds
            yield []
            seen[now[0]] = int((load().state == 1).sum()) if Path("results/queue/queue.nc").exists() else 0
        yield serial.work(last)

    monkeypatch.setattr(serial.Executor, "run", run)
    (line,) = [line for line in sweep().out.splitlines() if "can be analysed" in line]
    assert seen == {9: 0, 11: 23, 71: 23}
    assert line.startswith("all tasks but 1 are done and can be analysed: python -m analysis results/queue; ")
    assert re.search("still running: policy (quick|slow), load 0.[36], ", line)

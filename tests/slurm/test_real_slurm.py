"""Sweeps on a real Slurm of two emulated nodes: faults lose no task and double none.

The studies that need a time limit, which Slurm counts in minutes, sleep in the background meanwhile.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import xarray as xr
from studies import TASKS, environment, numbers, sweep

from slurm import record, submission
from slurm.testcluster import TestCluster, missing
from sweep.store.reader import heads

pytestmark = [pytest.mark.exhaustive, pytest.mark.skipif(bool(missing()), reason=missing())]

PACE = "policy.seconds=0.2"
FEW = ("policy=quick", "grid.load=[0.3]", "grid.preemption=[none]", "grid.urgent=[true]")
"""One point of the study."""


@dataclass
class Study:
    """A working folder, its environment, and the cluster that it uses."""

    place: Path
    cluster: TestCluster
    overrides: tuple[str, ...] = ()

    @property
    def env(self) -> dict[str, str]:
        return environment(self.place, **self.cluster.env)

    @property
    def results(self) -> Path:
        return self.place / "results/queue"

    def sweep(self, *arguments: str, status: int = 0) -> str:
        """Run the command, check its exit status, and return its output."""
        answer = sweep(self.place, self.env, *self.overrides, *arguments)
        assert answer.status == status, answer.output
        return answer.output

    def submit(self, *arguments: str) -> submission.Submission:
        """Submit, and return the record of it."""
        output = self.sweep(*arguments)
        assert output.startswith("submitted "), output
        return submission.load(max((self.results / "slurm").iterdir()))

    def finish(self, made: submission.Submission, seconds: float = 400) -> None:
        """Return when Slurm has no job of a submission any more."""
        self.wait(lambda: not self.cluster.slurm.jobs(name=made.job), seconds)

    def wait(self, condition, seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.everything()
            time.sleep(0.05)

    def done(self) -> list[str]:
        """Return the identities of all logged tasks, those that ran twice twice."""
        return [head.id for head in heads(self.results / "shards")]

    def everything(self) -> str:
        """Return what may explain a failure."""
        logs = [f"{p.name}: {p.read_text()}" for p in self.results.glob("slurm/*/*/*") if p.is_file()]
        return "\n".join(["took too long", *map(str, self.cluster.slurm.jobs()), *logs])

    def same_as(self, expected: xr.Dataset) -> None:
        """Compare bits."""
        xr.testing.assert_identical(numbers(self.results), expected)


@pytest.fixture(scope="module")
def cluster() -> Iterator[TestCluster]:
    """An array has three elements at most, and terminated jobs have 30 s to end."""
    with TestCluster(cpus=8, settings={"KillWait": 30, "MaxArraySize": 3}) as started:
        yield started


@pytest.fixture(scope="module")
def serial(tmp_path_factory) -> xr.Dataset:
    """Return what the study finds out in one process; how long its tasks sleep makes no difference."""
    place = tmp_path_factory.mktemp("serial")
    assert sweep(place, environment(place), "executor=serial").status == 0
    return numbers(place / "results/queue")


@pytest.fixture
def study(cluster, tmp_path) -> Study:
    place = tmp_path / 'Bär\'s "own" runs'
    place.mkdir()
    return Study(place, cluster)


@pytest.fixture(scope="module", autouse=True)
def background(cluster, tmp_path_factory) -> dict[str, tuple[Study, submission.Submission]]:
    """Submit the studies that need a minute: tasks near the limit, and Slurm's notice."""
    limits = ("executor.partition=short", 'executor.time="1"', "executor.max_elements=1")
    asked = {
        "near": ("policy.seconds=15", "replications=4", "executor.signal_lead_s=0"),
        "notice": ("policy.seconds=3", "replications=16", "executor.signal_lead_s=45"),
    }
    found = {}
    for name, overrides in asked.items():
        one = Study(tmp_path_factory.mktemp(name), cluster, (*FEW, *overrides, *limits))
        found[name] = (one, one.submit())
    return found


def test_an_array_of_the_largest_size_that_the_cluster_takes(study, serial):
    output = study.sweep("executor.max_elements=5", "executor.max_parallel=2", PACE)
    assert re.match(rf"submitted {TASKS} tasks in 3 array elements: job \d+ \(queue-\w+\)\n", output)
    assert re.search(r"gathers   job \d+, when they have ended", output)
    assert "action=status" in output and "action=cancel" in output  # noqa: PT018
    watched = study.sweep(PACE, "action=status", "--watch")
    assert watched.startswith("results/queue: 24 tasks: ")
    assert re.search(r"elements: .*(running|waiting)", watched), watched
    assert "24 done, 0 failed, 0 left" in watched
    (made,) = [submission.load(path) for path in (study.results / "slurm").iterdir()]
    study.finish(made)
    study.same_as(serial)
    assert sorted(set(study.done())) == sorted(study.done()), "nothing ran twice"
    assert [log.name for log in made.logs.iterdir()] == ["gather.out"], "empty logs are removed"
    assert len(list((study.results / "shards").glob("*.jsonl"))) == 3, "a log for each element"
    assert {one.why for one in record.read_all(made.path).values()} == {"done"}
    assert "up to date: 24 of 24 tasks are done" in study.sweep(PACE)


def test_cancel_ends_this_submission_and_no_other_job(study, serial):
    other = study.place / "other.sh"
    other.write_text("#!/bin/sh\nexec sleep 100\n")
    stranger = study.cluster.slurm.submit(other, ["-o", "/dev/null"])
    many = ("policy.seconds=1.2", "executor.max_elements=8")
    made = study.submit(*many, "executor.max_parallel=1")
    study.wait(lambda: len(study.done()) >= 2)
    assert "still has jobs" in study.sweep(*many, status=2), "one submission at a time"
    assert re.search(r"\d+ of 24 tasks are in the dataset", study.sweep(*many, "action=gather")), (
        "while elements run"
    )
    output = study.sweep(*many, "action=cancel")
    assert f"cancelled submission 001 of {made.when}: jobs " in output
    study.finish(made)
    assert [job.id for job in study.cluster.slurm.jobs([stranger])] == [stranger]
    study.cluster.slurm.cancel([stranger])
    before = study.done()
    assert 2 <= len(before) < TASKS
    output = study.sweep(*many, "action=status")
    assert re.search(r"001 of .*: 3 elements: .*cancelled", output), output
    assert "nothing to cancel" in study.sweep(*many, "action=cancel")
    again = study.submit(*many)
    assert again.n_tasks == TASKS - len(before)
    study.finish(again)
    assert sorted(study.done()) == sorted(set(study.done())), "nothing was run again"
    study.same_as(serial)


def held(place: Path) -> tuple[str, str]:
    """Return overrides with which half of the tasks cannot end before there is a file ``go``."""
    return "policy.waits_at=0.3", f"policy.waits_for={place / 'go'}"


def test_the_node_of_running_elements_dies(tmp_path, serial):
    """Slurm requeues them, and they go on from what they had done."""
    with TestCluster(cpus=1) as own:
        study = Study(tmp_path, own)
        made = study.submit(*held(tmp_path), "executor.max_elements=2")
        study.wait(lambda: len(record.read_all(made.path)) == 2 and len(study.done()) >= 4)
        own.kill_node(1)
        before = len(study.done())
        assert before < TASKS
        (tmp_path / "go").touch()
        own.start_node(1)
        study.finish(made)
        assert sorted(one.attempts for one in record.read_all(made.path).values()) == [1, 2]
        assert len(study.done()) == TASKS, "what was done was not run again"
        study.same_as(serial)


def test_the_controller_dies_and_comes_back(tmp_path, serial):
    with TestCluster() as own:
        study = Study(tmp_path, own, held(tmp_path))
        made = study.submit("executor.max_elements=2")
        study.wait(lambda: len(record.read_all(made.path)) == 2 and len(study.done()) >= 1)
        own.kill_controller()
        output = study.sweep("action=status")
        assert "2 elements: " in output
        assert "Slurm does not answer, so this comes from the sweep's own files (squeue: " in output
        (tmp_path / "go").touch()
        study.wait(lambda: {one.why for one in record.read_all(made.path).values()} == {"done"})
        own.start_controller()
        output = study.sweep("action=status")
        assert "24 done, 0 failed, 0 left" in output
        # It may take elements for lost that ran well without it, and hold them for ever.
        lost = "will never start, launch failed requeued held: "
        study.wait(lambda: not own.slurm.jobs(name=made.job) or lost in study.sweep("action=status"))
        if own.slurm.jobs(name=made.job):
            study.sweep("action=cancel")
            study.finish(made)
        study.sweep("action=gather")
        study.same_as(serial)


def test_ids_that_the_controller_forgets_and_gives_out_again(tmp_path, serial):
    """Power off right after a submission: its jobs are unknown, their ids go to others, and run twice."""
    with TestCluster(cpus=4) as own:
        study = Study(tmp_path, own, held(tmp_path))
        saved = tmp_path / "state"
        shutil.copytree(own.folder / "state", saved)
        made = study.submit("executor.max_elements=2")
        study.wait(lambda: len(study.done()) >= 1)
        own.kill_controller()
        shutil.rmtree(own.folder / "state")
        shutil.copytree(saved, own.folder / "state")
        own.start_controller()
        other = tmp_path / "other.sh"
        other.write_text("#!/bin/sh\nexec sleep 100\n")
        ids = [own.slurm.submit(other, ["-o", "/dev/null", "--hold"]) for _ in range(4)]
        assert made.array in ids, "the id is another job's now"
        output = study.sweep("action=status")
        assert "held" not in output, "not ours"
        assert "nothing to cancel" in study.sweep("action=cancel")
        assert {job.id for job in own.slurm.jobs(ids)} == set(ids)
        again = study.submit("executor.max_elements=2")
        (tmp_path / "go").touch()
        study.finish(again)
        study.sweep("action=gather")
        study.same_as(serial)


@pytest.mark.parametrize(("name", "why"), [("near", "time"), ("notice", "signal")])
def test_an_element_that_stops_in_time_is_queued_again(background, name, why):
    study, made = background[name]
    study.finish(made)
    events = map(json.loads, record.file(made.path, 0).read_text().splitlines())
    ends = [event["why"] for event in events if "why" in event]
    assert ends[0] == why, "Slurm gives notice up to a minute early, so it may do so more than once"
    assert ends == [why] * (len(ends) - 1) + ["done"]
    assert sorted(study.done()) == sorted(set(study.done())), "nothing was run again, nothing cut off"
    assert "0 failed, 0 left" in study.sweep("action=status")
    assert os.path.exists(study.results / "queue.nc")

"""The status of a submission, from fabricated answers of Slurm and the sweep's own files."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from studies import expand, folder, submitted

from slurm import record, status, submission
from slurm.answers import Job
from slurm.commands import UnreachableError
from slurm.submission import Submission
from sweep.executors import Assignment
from sweep.store.costs import Costs, keys
from sweep.store.state import State


class Queue:
    """A Slurm that has some jobs, or does not answer."""

    def __init__(self, *jobs: Job, down: bool = False) -> None:
        self.known = jobs
        self.down = down

    def jobs(self, *, name: str) -> list[Job]:
        if self.down:
            raise UnreachableError("squeue: the controller is down")
        return [job for job in self.known if job.name == name]


NAME = "queue-0123abcd"


def job(id_: int, indices: tuple[int, ...], state: str, reason: str = "None") -> Job:
    return Job(id_, indices, state, reason, "", None, NAME)


@pytest.fixture
def made(tmp_path) -> Submission:
    """Write a submission of six elements, job 10, and a gathering job, 12."""
    path = submission.claim(folder(tmp_path / "results"))
    one = submitted(path, n_elements=6, array=10, gathering=12, profile={"cpus_per_task": 4})
    one.save()
    return one


def started(made: Submission, element: int, job: str, why: str = "") -> None:
    file = record.file(made.path, element)
    record.append(file, started=1.0, job=job, host="h", cores=2, attempt=1)
    if why:
        record.append(file, ended=2.0, why=why)


def report(tmp_path: Path, queue: Queue, *, cost_s: float | None = None, left: int = 24) -> list[str]:
    plan = expand()
    costs = Costs(tmp_path / "none")
    if cost_s is not None:
        for number in range(24):
            costs.add(keys(plan)(number), cost_s / plan.longest.jobs)
    state = State(plan, dict.fromkeys(plan.ids[left:], 1.0))
    asked = Assignment(plan, folder(tmp_path / "results"), state, list(range(left)), costs)
    lines, _ = status.report(queue, asked)
    return lines


def test_a_submission_on_its_way(made, tmp_path):
    started(made, 0, "10_0", "done")
    started(made, 1, "10_1")
    queue = Queue(
        job(10, (1, 2), "RUNNING"),
        job(10, (3, 4, 5), "PENDING", "Resources"),
        job(12, (), "PENDING", "Dependency"),
    )
    assert report(tmp_path, queue, cost_s=3.0, left=20) == [
        f"submission 001 of {made.when}: 6 elements: 1 done, 2 running, 3 waiting",
        "3 wait in Slurm's queue: Resources",
        # One has recorded its two cores, the other one will have the four that were requested.
        "time left: 10 s (1 min 0 s of work left, 6 cores working)",
    ]


def test_results_that_are_not_gathered(made, tmp_path):
    """The gathering job was killed, or never started."""
    log = tmp_path / "results/shards/one.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    output = "the dataset lacks some of the results: action=gather writes it"
    assert report(tmp_path, Queue())[-1] == output
    assert output not in report(tmp_path, Queue(job(10, (0,), "RUNNING")))
    dataset = tmp_path / "results/queue.nc"
    dataset.touch()
    os.utime(dataset, (log.stat().st_mtime + 1,) * 2)
    assert output not in report(tmp_path, Queue())


def test_ids_that_vanished_or_are_other_jobs(made, tmp_path):
    started(made, 0, "10_0", "failed")
    started(made, 1, "10_1")
    (made.logs / "10_2.out").write_text("module: command not found\n")
    stranger = Job(10, (2,), "RUNNING", "None", "", None, "other")
    lines = report(tmp_path, Queue(stranger))
    assert lines[0].endswith("6 elements: 1 done, 1 lost, 1 broken, 3 never started")
    assert lines[1] == "Slurm no longer has a job of it; 5 elements are not finished"
    assert lines[2] == (
        f"1 element ended without a record (killed, or its node died): 1, log {made.logs}/10_1.out; the same "
        "command submits what is missing"
    )
    assert f"1 element ended before Python started (setup, python?): 2, log {made.logs}/10_2.out" in lines[3]
    assert lines[4].startswith("3 elements vanished from Slurm's queue without a start: 3, 4, 5;")
    assert lines[5] == "1 element had tasks that failed: 0"


DOWN = Queue(down=True)
WAITING = Queue(job(10, (0, 1, 2, 3, 4, 5), "PENDING", "Priority"))
HOPELESS = Queue(
    job(10, (0, 1, 2), "PENDING", "PartitionTimeLimit"),
    job(10, (3, 4, 5), "PENDING", "Priority"),
    job(12, (), "PENDING", "DependencyNeverSatisfied"),
)


@pytest.mark.parametrize(
    ("elements", "queue", "changed", "expected"),
    [
        (["done", ""], DOWN, {}, ["1 done, 1 running, 4 waiting", "Slurm does not answer, so this comes"]),
        (
            [],
            HOPELESS,
            {},
            [
                "6 waiting",
                "3 will never start, PartitionTimeLimit: its time is above the partition's limit",
                "3 wait in Slurm's queue: Priority",
                "1 will never start, DependencyNeverSatisfied: ",
                "the gathering job waits for them: action=gather",
            ],
        ),
        (
            ["done", "terminated"],
            Queue(),
            {"cancelled": 1.0},
            ["1 done, 5 cancelled", "it was cancelled at "],
        ),
        ([], WAITING, {"digest": "another"}, ["6 waiting", "it was made with a different grid or settings"]),
    ],
    ids=["controller down", "hopeless", "cancelled", "another grid"],
)
def test_other_states(made, tmp_path, elements, queue, changed, expected):
    for number, why in enumerate(elements):
        started(made, number, f"10_{number}", why)
    replace(made, **changed).save()
    first, *lines = report(tmp_path, queue)
    assert first.endswith(f"6 elements: {expected[0]}")
    assert all(line.startswith(text) for line, text in zip(lines, expected[1:], strict=False))

"""What is submitted and what is shown about it, with a fake Slurm that records its calls."""

import re
import shlex
from pathlib import Path

import pytest
from studies import TASKS, environment, sweep

from slurm import executor, submission
from slurm.answers import Job, Limits, Partition
from slurm.commands import RefusedError, UnreachableError


class Controller:
    """Accepts a number of jobs, and records what was submitted."""

    def __init__(self, *, array_size: int = 1001, jobs: int = 10000, takes: int = 1000, down: bool = False):
        self.answer = Limits("fake", "0", array_size, jobs, None)
        self.takes = takes
        self.down = down
        self.given: list[list[str]] = []
        self.cancelled: list[int] = []
        self.living: list[Job] = []

    def __call__(self) -> "Controller":
        return self

    def limits(self, qos: str | None) -> Limits:
        if self.down:
            raise UnreachableError("scontrol: the controller is down")
        return self.answer

    def partitions(self) -> list[Partition]:
        return [Partition("main", True, True, None, 2, 2, 4, 4000)]

    def jobs(self, *, name: str) -> list[Job]:
        return [job for job in self.living if job.name == name]

    def submit(self, script: Path, options: list[str], arguments: tuple[str, ...] = ()) -> int:
        if len(self.given) == self.takes:
            raise RefusedError("sbatch: too many jobs; try again later")
        assert (script.parent / "tasks.npz").exists(), "written before the first element starts"
        self.given.append([script.name, *options, *arguments])
        number = 100 + len(self.given)
        name = re.search("--job-name=(.*)", script.read_text(encoding="utf-8"))[1]
        self.living.append(Job(number, (0,), "PENDING", "Priority", "", None, name))
        return number

    def cancel(self, ids: list[int]) -> None:
        self.cancelled += ids
        self.living = [job for job in self.living if job.id not in ids]


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Run the command with a fake controller."""

    def ask(controller, *arguments, status=0):
        monkeypatch.setattr(executor, "Slurm", controller)
        answer = sweep(tmp_path, environment(tmp_path), *arguments)
        assert answer.status == status, answer.output
        return answer.output

    return ask


def latest(tmp_path):
    return submission.load(max((tmp_path / "results/queue/slurm").iterdir()))


def test_an_array_below_the_limit_and_a_gathering_job(ask, tmp_path):
    """No more elements than the cluster's arrays have; each then has more tasks."""
    controller = Controller(array_size=4)
    output = ask(controller, "executor.max_elements=10", "executor.max_parallel=2")
    logs = latest(tmp_path).logs
    assert controller.given == [
        ["array.sh", "--array=0-3%2", f"--output={logs}/%A_%a.out"],
        ["gather.sh", "--dependency=afterany:101", f"--output={logs}/gather.out"],
    ]
    assert output.startswith("submitted 24 tasks in 4 array elements: job 101 (queue-")
    packed = submission.read(latest(tmp_path).path)[1]
    shares = [packed.share(element).tolist() for element in range(4)]
    assert sorted(number for share in shares for number in share) == list(range(TASKS))


def test_a_refused_array_leaves_nothing_and_a_refused_gathering_job_is_reported(ask, tmp_path):
    output = ask(Controller(takes=0), status=1)
    assert "error: sbatch: too many jobs; try again later" in output
    assert list((tmp_path / "results/queue/slurm").iterdir()) == []
    controller = Controller(takes=1)
    assert "gathers   no job: sbatch: too many jobs" in ask(controller)
    assert "cancelled submission 001" in ask(controller, "action=cancel")
    assert controller.cancelled == [101]


def test_a_second_submission_is_refused(ask, tmp_path):
    controller = Controller()
    ask(controller)
    output = ask(controller, status=2)
    when = latest(tmp_path).when
    assert f"submission 001 of {when} still has jobs (101, 102); wait for them (action=status)" in output


@pytest.mark.parametrize("down", [False, True])
def test_the_plan_shows_it_all_and_does_nothing(ask, tmp_path, down):
    controller = Controller(array_size=4, down=down)
    output = ask(controller, "executor.max_elements=5", "executor.cpus_per_task=2", "action=plan")
    assert controller.given == []
    assert not (tmp_path / "results").exists()
    assert ("limits    Slurm's defaults are assumed (scontrol: the controller is down)" in output) is down
    assert f"elements  {5 if down else 4} of 2 cores each (the cluster's MaxArraySize is" in output
    assert f"at most {24 if down else 21} files in all" in output
    (command,) = [shlex.split(line) for line in output.splitlines() if line.startswith("submits ")]
    assert command[-1].endswith("/results/queue/slurm/NNN/array.sh")
    assert "  #SBATCH --cpus-per-task=2\n" in output
    assert re.search(r"  exec \S+ -P -m slurm.element \S+/results/queue/slurm/NNN\n", output)


@pytest.mark.parametrize("action", ["run", "plan"])
def test_elements_that_would_wait_for_ever_are_noted_at_once(ask, action):
    output = ask(Controller(), "executor.cpus_per_task=5", f"action={action}")
    assert "note      partition main: its largest node has 4 cores; lower cpus_per_task=5: until" in output
    assert "note " not in ask(Controller(), "output=other", f"action={action}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["slurm=nosuch"], "unknown profile 'nosuch'"),
        (["executor=serial", "slurm=lab"], "slurm=lab goes with executor=slurm, not with executor=serial"),
        (["executor.max_elements=0"], "executor.max_elements=0: give 1 or more"),
        (["executor.partitions=x"], "did you mean 'partition'?"),
        (["executor.cpus_per_task=0"], "cpus_per_task"),
    ],
)
def test_mistakes_are_one_line(ask, arguments, message):
    given = [*arguments, *([] if "executor=serial" in arguments else ["executor=slurm"]), "action=plan"]
    output = ask(Controller(), *given, status=2)
    assert message in output
    assert output.count("\n") == 1


def test_dask_slurm_without_slurm_is_answered_in_one_line(tmp_path):
    answer = sweep(tmp_path, environment(tmp_path, PATH=str(tmp_path)), "executor=dask_slurm")
    assert answer.status == 1
    assert [line for line in answer.output.splitlines() if line.startswith("error")] == [
        "error: sbatch: no such program; go to a node from which jobs are submitted, and load Slurm "
        "(module load slurm) if it has to be loaded there"
    ]
    assert answer.output.splitlines()[-1].startswith("error")

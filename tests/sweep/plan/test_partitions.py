"""``workload.partition=each``: an axis of the log's partitions."""

from pathlib import Path

import pytest

import sweep as face
from models.workloads.sacct import COMMAND
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.errors import SweepError
from sweep.plan import checks
from sweep.plan.data import Plan
from sweep.plan.expansion import expand as expanded

FIELDS = COMMAND.rsplit(" ", 1)[1].replace(",End,ReqCPUS,ReqNodes,ReqTRES", "").replace(",", "|")


def row(job: int, partition: str, minute: int, processors: int) -> str:
    at = f"2024-03-01T00:{minute:02}:00"
    return f"{job}|ann||{partition}|COMPLETED|{at}|{at}|{at}|600|20|{processors}|1|4000M|normal|||"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log whose jobs of batch had 12 processors at once, and the jobs of gpu 4."""
    jobs = [("batch", 0, 8), ("gpu", 1, 4), ("batch", 5, 4), ("batch", 10, 8), ("gpu", 11, 4)]
    path = tmp_path / "march.txt"
    path.write_text("\n".join([FIELDS, *(row(number, *job) for number, job in enumerate(jobs)), ""]))
    return path


def expand(log: Path, *overrides: str) -> Plan:
    given = ["+experiment=what_if", f"workload.path={log}", "grid.policy=[easy,fcfs]", *overrides]
    return expanded(compose.load(parsed(given), locate.conf_folder()))


def test_each_partition_is_the_study_of_it_alone(log: Path) -> None:
    plan = expand(log, "workload.partition=each", "+values.partition.gpu=6")
    assert plan.axes["partition"] == ("batch", "gpu")
    alone = [
        expand(log, f"workload.partition={name}", f"machine.processors={size}").ids
        for name, size in (("batch", 12), ("gpu", 6))
    ]
    assert plan.ids == [one for both in zip(*alone, strict=True) for one in both]
    assert "had at once (a lower bound of its size): batch 12, gpu 6; +values" in checks.notes(plan)[0]
    one = expand(log, "workload.partition=each", "grid.partition=[gpu]")
    assert one.variants["machine"][0].parameters["processors"] == 4


@pytest.mark.parametrize(
    ("overrides", "answer"),
    [
        (["machine.processors=16"], "leave out the machine and axes of it"),
        (["grid.machine=[pe128]"], "leave out the machine and axes of it"),
        (["+axes.n=machine.processors", "+grid.n=[16,32]"], "leave out the machine and axes of it"),
        (["+axes.p=workload.partition", "+grid.p=[batch]"], "leave out the machine and axes of it"),
        (["+values.partition=3"], "values.partition=3; allowed: the processors of partitions"),
        (["+values.partition.gpus=6"], "unknown partition in values.partition 'gpus': did you mean 'gpu'?"),
        (["workload.user=bob"], "no row has user bob"),
    ],
)
def test_what_cannot_be_is_refused(log: Path, overrides: list[str], answer: str) -> None:
    with pytest.raises(SweepError, match=answer.replace("?", "[?]")):
        expand(log, "workload.partition=each", *overrides)


def test_each_partition_waits_for_its_own_processors(log: Path, tmp_path: Path) -> None:
    """On 8 processors the second job of batch waits for the first one, and the third one for the second."""
    study = face.Study(
        "what_if", grid={"policy": ["easy"]}, workload={"path": str(log), "partition": "each"}, batches=1,
        values={"partition": {"batch": 8}}, measures={"groups": []}, output=str(tmp_path / "out"),
    )  # fmt: skip
    assert study.run().wait_mean.squeeze().to_series().to_dict() == {"batch": 300.0, "gpu": 0.0}

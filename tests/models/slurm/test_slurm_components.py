"""Heterogeneous jobs of a log: their components (``2+0``, ``2+1``) start together, in a backfill cycle."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed, machine_of

from models.point import Batches, Point
from models.slurm.model import schedule, simulate
from models.slurm.policies import check

FIELDS = "JobID|User|Account|Partition|State|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem"
NODES = ("NodeName=n[1-4] CPUs=4", "PartitionName=all Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE")
SOME = "PartitionName=some Nodes=n4 OverSubscribe=EXCLUSIVE"
ABOVE = "PartitionName=some Nodes=n[1-4] PriorityTier=2 OverSubscribe=EXCLUSIVE"
ACCOUNT = (
    "Parent - 'root'", "Account - 'a':GrpJobs=2", "AccountingStorageEnforce=limits",
    "AccountingStorageType=accounting_storage/slurmdbd",
)  # fmt: skip

# Name of a job, submission, nodes, seconds, partition.
BUSY = (
    ("1", 0, 1, 100, "some"),
    ("2+0", 10, 2, 60, "all"),
    ("2+1", 10, 1, 60, "some"),
    ("3", 20, 1, 30, "all"),
)
BLOCKED = (
    ("1+0", 10, 3, 50, "all"),
    ("1+1", 10, 1, 50, "all"),
    ("2+0", 10, 3, 60, "all"),
    ("2+1", 10, 1, 60, "some"),
)


def point_of(folder: Path, lines: Any, rows: Any, parameters: str = "", **workload: Any) -> Point:
    day = np.datetime64("2024-03-01T00:00:00")
    text = [
        f"{name}|u|a|{partition}|COMPLETED|{day + submit}|{day + submit}|{ran}|2|{4 * nodes}|{nodes}|1M"
        for name, submit, nodes, ran, partition in rows
    ]
    (folder / "log").write_text("\n".join([FIELDS, *text, ""]))
    lines = [*NODES, *lines, f"SchedulerParameters=bf_interval=10{parameters}"]
    given = composed("workload", "sacct", path=str(folder / "log"), **workload)
    return Point(
        composed("policy", "slurm", lines=lines), given, machine_of("log"), batches=Batches(None, 0, (1,))
    )


@pytest.mark.parametrize(
    ("lines", "rows", "parameters", "starts"),
    [
        # No component starts before all can; job 3 may run meanwhile.
        ([SOME], BUSY, "", [(0, 3), (100, 121), (100, 121), (20, 31)]),
        ([SOME], BUSY, ",bf_hetjob_immediate", [(0, 3), (100, 121), (100, 121), (20, 31)]),
        # Three nodes are free, but the account may have two jobs.
        ([ABOVE, *ACCOUNT], BUSY[:3], "", [(0, 3), (100, 121), (100, 121)]),
        # By the tiers of their components jobs 1 and 2 reserve nodes that the other one lacks.
        ([ABOVE], BLOCKED, ",bf_hetjob_prio=min", [(10, 31), (10, 31), (60, 91), (60, 91)]),
    ],
)  # fmt: skip
def test_components_start_together(
    tmp_path: Path, lines: list[str], rows: Any, parameters: str, starts: list[Any]
) -> None:
    if rows is BLOCKED:
        with pytest.raises(ValueError, match=r"heterogeneous job, waits forever.*add bf_hetjob_prio=min to"):
            schedule(point_of(tmp_path, lines, rows))
    point = point_of(tmp_path, lines, rows, parameters)
    made = schedule(point)
    for start, (first, last) in zip(made.start.tolist(), starts, strict=True):
        assert first <= start + rows[0][1] <= last, made.start
    components = [k for k, row in enumerate(rows) if row[0].startswith("2+")]
    assert len({made.start[k] for k in components}) == 1
    counted = [k for k, row in enumerate(rows) if not row[0].endswith("+1")]
    metrics = simulate(point).metrics
    assert metrics["jobs"].tolist() == [len(counted)], "a heterogeneous job is one job"
    np.testing.assert_allclose(metrics["wait"], [(made.start - made.jobs.submit)[counted].mean()])


@pytest.mark.parametrize(
    ("lines", "kept", "note"),
    [
        (["SchedulerType=sched/builtin"], 2, "components of heterogeneous jobs, which Slurm refuses"),
        ([SOME.replace("n4", "n4 MaxTime=1")], 1, "ask for more time than their partition allows"),
    ],
)
def test_a_job_of_which_a_component_never_starts_is_left_out(
    tmp_path: Path, lines: list[str], kept: int, note: str
) -> None:
    point = point_of(tmp_path, [SOME, *lines], BUSY)
    assert len(schedule(point).jobs) == kept
    notes = "\n".join(check(point))
    assert note in notes
    if remedy := re.search(r"policy\.lines=\['(SchedulerType=\S+)'\]", notes):
        assert len(schedule(point_of(tmp_path, [SOME, *lines, remedy[1]], BUSY)).jobs) == 4


def test_a_word_that_slurm_does_not_know_is_named(tmp_path: Path) -> None:
    notes = check(point_of(tmp_path, [SOME], BUSY, ",bf_hetjob_prio=often"))
    assert any("bf_hetjob_prio=often has no effect; allowed: min, avg, max" in note for note in notes)
    assert any("components of heterogeneous jobs (50.0% of the jobs)" in note for note in notes)

"""Heterogeneous jobs of a log: their components (``2+0``, ``2+1``) start together, in a backfill cycle."""

import re
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed, jobs_of, machine_of

from models.jobs.requests import Requests
from models.point import Batches, Point
from models.slurm.asked import asked
from models.slurm.building import system_of
from models.slurm.configuration.reading import of_lines
from models.slurm.engine import Present, Result, StuckError, run
from models.slurm.model import schedule, simulate
from models.slurm.policies import check
from models.slurm.scheduler import Phases

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
        with pytest.raises(ValueError, match=r"\(JobID 1\+0, line 2 .*add bf_hetjob_prio=min to"):
            schedule(point_of(tmp_path, lines, rows))
        one_job = ["AccountingStorageEnforce=limits", "Account - 'a':GrpJobs=1"]
        with pytest.raises(ValueError, match=r"\(JobID 1\+0, line 2 .* at once; leave them out of the log"):
            schedule(point_of(tmp_path, [*lines, *one_job], rows, parameters))
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
        (
            [SOME.replace("n4", "n4 MaxTime=1")],
            1,
            "ask for more time than their partition allows: JobID 1, 2+1, with 1 other component of the same "
            "heterogeneous jobs (JobID 2+0)",
        ),
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


def test_that_components_are_not_preempted_is_said(tmp_path: Path) -> None:
    notes = check(point_of(tmp_path, [ABOVE, *PREEMPTS[3:]], BUSY))
    assert any("heterogeneous jobs are not preempted here (50.0% of the jobs)" in note for note in notes)


def ran(lines: list[str], rows: Any, **present: Any) -> Result:
    """Return what becomes of jobs: heterogeneous job, submission, CPUs, seconds, limit, partition, QOS."""
    common = ("SelectType=select/cons_tres", "SchedulerParameters=bf_interval=1", "SLURM_VERSION=24.11")
    configuration = of_lines("slurm.conf", [*common, *lines])
    het_job, submit, tasks, runtime, limit, partition, qos = (
        np.array(one) for one in zip(*rows, strict=True)
    )
    names = {name: one.astype(object) for name, one in (("partition", partition), ("qos", qos))}
    account = np.full(len(rows), "a", object)
    request = Requests.of(tasks, 0 * tasks, het_job=het_job, account=account, **names)
    given = jobs_of(submit, runtime, tasks, requested=limit, user=[1] * len(rows))
    return run(asked(replace(given, request=request), configuration), configuration, Phases(), **present)


TWO = ("NodeName=n[1-2] CPUs=1", "PartitionName=all Nodes=ALL Default=YES")
PREEMPTS = (
    *TWO, "PartitionName=some Nodes=ALL PriorityTier=2", "PreemptType=preempt/partition_prio",
    "PreemptMode=REQUEUE",
)  # fmt: skip
LIMITS = ("AccountingStorageType=accounting_storage/slurmdbd", "Parent - 'root'")
OVERDUE = (-1, 10, 1, 200, 60, "some", "")
"""Job that is ended at the first test of limits after its limit, so that a component finds its node taken."""


@pytest.mark.parametrize(
    ("lines", "rows", "starts", "refused"),
    [
        # Of job 0, neither component is preempted; of job 3, which has none, both CPUs are.
        (
            PREEMPTS,
            [(0, 0, 1, 50, 120, "all", ""), (0, 0, 1, 200, 300, "all", ""), (-1, 40, 1, 100, 120, "some", ""),
             (-1, 300, 2, 100, 120, "all", ""), (-1, 350, 2, 50, 120, "some", "")],
            [0, 0, 50, 471, 350], [],
        ),
        # The first component is suspended as it starts, and its start is undone.
        (
            ("NodeName=n[1-2] CPUs=1", "PartitionName=all Nodes=n1 Default=YES OverSubscribe=FORCE:2",
             "PartitionName=some Nodes=n2", "PreemptMode=GANG"),
            [(-1, 0, 1, 1000, 3600, "all", ""), OVERDUE, (0, 15, 1, 50, 60, "all", ""),
             (0, 15, 1, 50, 60, "some", "")],
            [0, 10, 192, 192], [],
        ),
        # Of two partitions in which a component could start now it takes the first.
        (
            ("NodeName=n[1-3] CPUs=1", "PartitionName=all Nodes=n1 Default=YES",
             "PartitionName=some Nodes=n2", "PartitionName=rest Nodes=n3"),
            [(0, 0, 1, 100, 120, "all,some", ""), (0, 0, 1, 100, 120, "rest", ""),
             (-1, 10, 1, 50, 60, "some", "")],
            [0, 0, 10], [],
        ),
        # A heterogeneous job is refused as a whole, and leaves room for the next one.
        *(
            (
                (*TWO, *LIMITS, "AccountingStorageEnforce=limits", f"QosName=normal MaxSubmitPU={most}"),
                [(-1, 0, 2, 100, 120, "all", "normal"), (-1, 1, 1, 100, 120, "all", "normal"),
                 (0, 2, 1, 50, 60, "all", "normal"), (0, 2, 1, 50, 60, "all", "normal"),
                 (-1, 3, 1, 50, 60, "all", "normal")],
                starts, refused,
            )
            for most, starts, refused in [(3, [0, 100, 2, 2, 100], [2, 3]), (4, [0, 100, 200, 200, 3], [4])]
        ),
    ],
)  # fmt: skip
def test_what_happens_to_one_component_happens_to_all(
    lines: list[str], rows: Any, starts: list[int], refused: list[int]
) -> None:
    made = ran([*lines], rows)
    assert np.floor(made.start).tolist() == starts
    assert np.flatnonzero(made.refused).tolist() == refused


def test_the_error_of_a_job_that_waits_forever_may_come_from_another_process() -> None:
    assert str(copy(StuckError(3, " waits forever"))) == "job 4 waits forever"  # as pickle makes it again


def test_a_failed_start_leaves_a_component_that_ran_before() -> None:
    rows = [(0, -50, 1, 500, 600, "all", ""), (-1, -40, 1, 100, 60, "some", ""),
            (0, -50, 1, 50, 60, "all", ""), (0, -50, 1, 50, 60, "some", "")]  # fmt: skip
    lines = [
        "NodeName=n[1-3] CPUs=1",
        "PartitionName=all Nodes=ALL Default=YES",
        "PartitionName=some Nodes=n3",
    ]
    present = Present(np.array([-50.0, -40.0]), [{0: 1}, {2: 1}], np.array([2, 3]), {})
    made = ran(lines, rows, present=present)
    assert np.floor(made.start).tolist() == [-50, -40, 142, 142]
    assert len(made.lost.job) == 0


@pytest.mark.parametrize(
    ("rows", "enforced", "parameters", "refused"),
    [
        # A job that is requeued, after it has used a part of what it may.
        ([(-1, 0, 2, 100, 120, "all", "few"), (-1, 80, 2, 20, 60, "some", "")], "safe", "", [0]),
        # A job, and one that it blocks.
        ([(-1, 0, 2, 600, 600, "all", "few"), (-1, 900, 1, 60, 60, "all", "few"),
          (-1, 901, 2, 600, 600, "all", "")], "limits", ",assoc_limit_stop", [1, 2]),
    ],
)  # fmt: skip
def test_jobs_whose_budget_is_spent_for_good_never_start(
    rows: Any, enforced: str, parameters: str, refused: list[int]
) -> None:
    limits = (*LIMITS, f"AccountingStorageEnforce={enforced}", "PriorityType=priority/multifactor")
    limits += ("PriorityDecayHalfLife=0", "PriorityUsageResetPeriod=NOW")
    lines = [*PREEMPTS, *limits, "QosName=few GrpTRESMins=cpu=4"]
    made = ran([*lines, f"SchedulerParameters=bf_interval=1{parameters}"], rows)
    assert np.flatnonzero(made.refused).tolist() == refused
    np.testing.assert_array_equal(made.end[made.refused], [rows[job][1] for job in refused])
    assert np.isfinite(made.start).all()


@pytest.mark.parametrize(
    ("parameters", "most", "bounds"),
    [("bf_running_job_reserve", 1600, 14), ("bf_licenses", 2600, 0), ("bf_max_job_test=0", 10_100, 14)],
)
def test_tables_of_a_plan_are_as_large_as_it_may_become(parameters: str, most: int, bounds: int) -> None:
    configuration = of_lines("slurm.conf", [*TWO, f"SchedulerParameters={parameters}"])
    jobs = jobs_of(np.arange(5000.0), np.ones(5000), np.ones(5000, np.int64), requested=np.full(5000, 60.0))
    system = system_of(asked(jobs, configuration), configuration, Phases())
    assert len(system.segments) < most
    assert len(system.bounds) == bounds * len(system.segments)

"""Jobs that were cancelled while they waited: they hold their places in the queue until then."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed, machine_of

from models.backfill import policies as backfill
from models.point import Batches, Point
from models.slurm import policies
from models.slurm.model import schedule, simulate

FIELDS = (
    "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem|ReqCPUS|"
)
FIELDS += "ReqNodes"
LINES = ["NodeName=n[1-2] CPUs=4", "PartitionName=all Nodes=ALL", "SchedulerType=sched/builtin"]


def instant(second: int) -> str:
    return str(np.datetime64("2024-03-01") + np.timedelta64(second, "s"))


def sacct(submit: int, start: int | None, end: int, cpus: int, nodes: int, state: str) -> str:
    begin = "None" if start is None else instant(start)
    given = (0, 0) if start is None else (cpus, nodes)
    ran = 0 if start is None else end - start
    asked = f"{cpus}|{nodes}"
    return f"u|all|{state}|{instant(submit)}|{begin}|{instant(end)}|{ran}|40|{given[0]}|{given[1]}|1M|{asked}"


def swf(submit: int, start: int | None, end: int, cpus: int, nodes: int, state: str) -> str:
    wait = (end if start is None else start) - submit
    ran, given = (-1, -1) if start is None else (end - start, cpus)
    status = 5 if state.startswith("CANCELLED") else 1
    return f"{submit} {wait} {ran} {given} -1 -1 {cpus} 2400 -1 {status} 1 1 1 1 1 -1 -1"


JOBS = [
    (0, 10, 1210, 4, 1, "COMPLETED"),
    (60, None, 900, 8, 2, "CANCELLED by 1000"),  # waits for both nodes
    (70, None, 75, 4, 1, "CANCELLED by 1000"),
    (100, 110, 400, 4, 1, "COMPLETED"),
    (2000, 2010, 2600, 4, 1, "COMPLETED"),
    (2005, None, 2300, 8, 2, "CANCELLED"),  # would start if it were not cancelled
    (2006, 2007, 2100, 4, 1, "COMPLETED"),
]
"""Of each job the instants of submission, start and end, the CPUs, the nodes and the state."""


@pytest.mark.parametrize("form", ["sacct", "swf"])
@pytest.mark.parametrize("cancelled", ["keep", "drop"])
def test_a_cancelled_job_holds_its_place_until_its_recorded_time(
    tmp_path: Path, form: str, cancelled: str
) -> None:
    rows = [FIELDS, *(f"{n}|{sacct(*job)}" for n, job in enumerate(JOBS, start=1))]
    if form == "swf":
        rows = ["; MaxProcs: 8", *(f"{n} {swf(*job)}" for n, job in enumerate(JOBS, start=1))]
    (tmp_path / "log").write_text("\n".join([*rows, ""]))
    workload = composed("workload", form, path=str(tmp_path / "log"), cancelled=cancelled)
    point = Point(
        composed("policy", "slurm", lines=LINES), workload, machine_of("log"), batches=Batches(None, 0, (1,))
    )
    made = schedule(point)
    wait = dict(zip(made.jobs.submit.tolist(), (made.start - made.jobs.submit).tolist(), strict=True))
    assert list(wait) == [0, 100, 2000, 2006]
    kept = cancelled == "keep"
    assert (wait[100] > 790) == kept
    assert wait[100] < 900
    assert (wait[2006] > 290) == kept
    assert wait[2006] < 350
    assert simulate(point).metrics["jobs"].tolist() == [4]  # measures are of the jobs that ran
    notes = " ".join(policies.check(point))
    assert ("3 jobs were cancelled while waiting: such jobs hold" in notes) == kept
    recorded = policies.open_log(point)
    assert recorded is not None
    assert recorded.waited is not None
    assert recorded.waited.tolist() == [10, 10, 10, 1]


def test_other_policies_refuse_to_keep_them(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        "\n".join([FIELDS, *(f"{n}|{sacct(*job)}" for n, job in enumerate(JOBS)), ""])
    )
    workload = composed("workload", "sacct", path=str(tmp_path / "log"), cancelled="keep")
    point = Point(composed("policy", "easy"), workload, {"name": "pool", "processors": 8})
    with pytest.raises(
        ValueError, match=r"policy easy has no jobs that are cancelled .* workload.cancelled=drop"
    ):
        backfill.check(point)


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a load": ({"load": 0.05}, "", "3 jobs were cancelled while"),
    "no End": ({}, "|End", "if the file had the fields End and ReqCPUS"),
    "no ReqCPUS": ({}, "|ReqCPUS", "3 jobs were cancelled before the start; such jobs could hold"),
    "never fits": ({"lines": ["NodeName=n1 CPUs=4", *LINES[1:]]}, "", "1 job was cancelled while"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_keeps_cancelled_jobs_out(tmp_path: Path, case: str) -> None:
    given, without, note = CASES[case]
    rows = [FIELDS, *(f"{n}|{sacct(*job)}" for n, job in enumerate(JOBS, start=1))]
    text = "\n".join([*rows, ""]).replace(without, without.replace("|", "|x"))
    (tmp_path / "log").write_text(text)
    point = Point(
        composed("policy", "slurm", lines=given.get("lines", LINES)),
        composed("workload", "sacct", path=str(tmp_path / "log"), cancelled="keep"),
        machine_of("log"),
        given.get("load"),
        Batches(None, 0, (1,)),
    )
    assert note in " ".join(policies.check(point))
    made = schedule(point)
    assert len(made.jobs) == 4
    assert not np.isnan(made.start).any()

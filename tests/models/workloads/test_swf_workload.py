"""SWF logs as jobs: users, memory asked for and used, requests, and notes."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import opened_on

from models.jobs import swf

POOL = {"processors": 8}
HOSTS = {"hosts": [{"name": "a", "processors": 8, "memory_gb": 1}], "spans": False}
MB = 1024
MACHINE = {"MaxProcs": ["8"]}


@pytest.mark.parametrize(
    ("header", "columns", "words"),
    [
        (
            {"MaxProcs": ["0"]},
            {},
            "header has MaxProcs: 0, which is not a whole number from 1 to 100,000,000",
        ),
        ({"MaxProcs": ["many"]}, {}, "MaxProcs: many"),
        ({"MaxProcs": ["1e3"]}, {}, "MaxProcs: 1e3"),
        ({"MaxNodes": ["2000000000"]}, {}, "MaxNodes: 2000000000"),
        ({"UnixStartTime": ["1700000000000"]}, {}, "UnixStartTime: 1700000000000"),
        ({"MaxJobs": ["3.5"]}, {}, "MaxJobs: 3.5"),
        ({}, {"submit": [0, 1.7e9, 1.7e9]}, "line 2 is submitted 54 years after line 1"),
        ({"UnixStartTime": ["1700000000"]}, {"submit": [9e9, 9e9, 9e9]}, "285 years after UnixStartTime"),
    ],
)
def test_headers_and_dates_that_no_log_has(tmp_path: Path, header: Any, columns: Any, words: str) -> None:
    given = workload(tmp_path / "a.swf", columns, header)
    with pytest.raises(ValueError, match=rf"a\.swf: .*{words}"):
        opened_on(given, {"processors": None})


def test_a_number_of_a_header_may_be_unknown_or_explained(tmp_path: Path) -> None:
    for text, processors in (("-1", 4), ("1,024 (since May)", 1024), ("16 nodes", 16)):
        given = workload(tmp_path / "a.swf", {}, {"MaxProcs": [text]})
        assert opened_on(given, {"processors": None}).machine.total == processors


def workload(
    path: Path, columns: dict[str, list[float]], header: Any = MACHINE, **changes: Any
) -> dict[str, Any]:
    base = {"submit": [0, 5, 9], "runtime": [10, 20, 30], "processors": [2, 4, 1]}
    swf.write(path, {n: np.array(v) for n, v in (base | columns).items()}, header)
    return {"name": "swf", "model": "swf", "path": str(path)} | changes


def test_users_and_memory(tmp_path: Path) -> None:
    columns = {
        "requested_memory": [100 * MB, -1, 50 * MB],
        "memory": [80 * MB, 20 * MB, -1],
        "user": [7, 3, 7],
        "requested_time": [10, 20, 30],
    }
    opened = opened_on(workload(tmp_path / "a.swf", columns), HOSTS)
    # KB of whole jobs: what is known of a processor, times the processors.
    assert opened.jobs.memory.tolist() == [200 * MB, 80 * MB, 50 * MB]
    assert opened.jobs.used.tolist() == [160 * MB, 80 * MB, 50 * MB]
    assert opened.jobs.user.tolist() == [7, 3, 7]
    assert any("1 job has no requested memory: the used memory is taken" in note for note in opened.notes)
    without = opened_on(workload(tmp_path / "b.swf", {}), POOL).jobs
    assert without.user is None
    assert without.memory.tolist() == without.used.tolist() == [0, 0, 0]
    unknown = opened_on(workload(tmp_path / "b.swf", {}), HOSTS)
    assert any("3 jobs have no known memory: 0 is taken" in note for note in unknown.notes)


def test_jobs_that_no_host_can_take(tmp_path: Path) -> None:
    memory = {"requested_memory": [1024 * MB, MB, MB]}
    opened = opened_on(workload(tmp_path / "a.swf", memory), HOSTS)
    assert opened.jobs.size.tolist() == [4, 1]
    assert opened.rows.tolist() == [1, 2]
    assert any(
        "1 more job was dropped, because no host has the memory (oversized" in note for note in opened.notes
    )
    words = "a.swf: line 2 asks for 2 processors with 2,097,152 KB, which no host has; add workload.oversized"
    strict = workload(tmp_path / "a.swf", memory, oversized="error")
    with pytest.raises(ValueError, match=re.escape(words)):
        opened_on(strict, HOSTS)


@pytest.mark.parametrize(
    ("processors", "load", "days", "noted"),
    [(8, None, 2, True), (32, None, 2, False), (8, 0.9, 2, False), (8, None, 0.5, False)],
)
def test_a_log_of_more_work_than_the_machine_can_do_has_a_note(
    tmp_path: Path, processors: int, load: float | None, days: float, noted: bool
) -> None:
    n_jobs = 20
    gap = days * 86400 / (n_jobs - 1)
    columns = {"submit": np.arange(n_jobs) * gap, "runtime": [gap] * n_jobs, "processors": [8] * n_jobs}
    mine = workload(tmp_path / "a.swf", columns)
    notes = opened_on(mine, {"processors": processors}, load).notes
    # One job more than there are gaps between submissions.
    words = f"a.swf: its jobs are {n_jobs / (n_jobs - 1):.3g} times what 8 processors can do"
    assert any(note.startswith(words) for note in notes) == noted


def test_memory_that_is_lacking_is_filled(tmp_path: Path) -> None:
    columns = {"requested_memory": [100 * MB, -1, -1], "memory": [-1, 30 * MB, -1]}
    trace = opened_on(workload(tmp_path / "a.swf", columns, memory=50), HOSTS)
    assert trace.jobs.memory.tolist() == [200 * MB, 120 * MB, 50 * MB]
    assert trace.jobs.used.tolist() == [200 * MB, 120 * MB, 50 * MB]
    assert "a.swf: 1 job has no memory request: 50 MB for each processor are taken" in trace.notes


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    given = workload(tmp_path / "a.swf", {})
    assert len(opened_on(given, POOL).jobs) == 3
    workload(tmp_path / "a.swf", {"submit": [0, 5, 9, 9], "runtime": [1] * 4, "processors": [1] * 4})
    assert len(opened_on(given, POOL).jobs) == 4

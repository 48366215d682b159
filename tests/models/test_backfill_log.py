"""SWF logs as jobs for backfilling: users, memory asked for and used, requests, and what is said aloud."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import backfill
from models.jobs import machine as machines
from models.jobs import swf
from models.point import Batches
from models.workloads import swf_log as log

EASY = {"name": "easy", "discipline": "backfill"}
POOL = {"n_pes": 8}
HOSTS = {"hosts": [{"name": "a", "processors": 8, "memory_gb": 1}]}
MB = 1024


def workload(path: Path, columns: dict[str, list[float]], **changes: Any) -> dict[str, Any]:
    base = {"submit": [0, 5, 9], "runtime": [10, 20, 30], "processors": [2, 4, 1]}
    swf.write(path, {n: np.array(v) for n, v in (base | columns).items()}, {"MaxProcs": ["8"]})
    return {"name": "swf", "model": "swf", "path": str(path)} | changes


def test_users_and_memory(tmp_path: Path) -> None:
    columns = {
        "requested_memory": [100 * MB, -1, 50 * MB],
        "memory": [80 * MB, 20 * MB, -1],
        "user": [7, 3, 7],
        "requested_time": [10, 20, 30],
    }
    opened = log.open_source(workload(tmp_path / "a.swf", columns), HOSTS, None, ())
    # KB of whole jobs: what is known of a processor, times the processors.
    assert opened.jobs.memory.tolist() == [200 * MB, 80 * MB, 50 * MB]
    assert opened.jobs.used.tolist() == [160 * MB, 80 * MB, 50 * MB]
    assert opened.jobs.user is not None
    assert opened.jobs.user.tolist() == [7, 3, 7]
    assert any("1 jobs without requested memory take what they used" in note for note in opened.notes)
    without = log.open_source(workload(tmp_path / "b.swf", {}), POOL, None, ()).jobs
    assert without.user is None
    assert without.memory.tolist() == without.used.tolist() == [0, 0, 0]
    unknown = log.open_source(workload(tmp_path / "b.swf", {}), HOSTS, None, ())
    assert any("3 jobs whose memory is unknown take none" in note for note in unknown.notes)


def test_rows_out_of_order_are_sorted_and_said_so(tmp_path: Path) -> None:
    opened = log.open_source(workload(tmp_path / "a.swf", {"submit": [9, 0, 5]}), POOL, None, ())
    assert opened.jobs.submit.tolist() == [0, 5, 9]
    assert opened.jobs.size.tolist() == [4, 1, 2]
    assert any("2 rows were out of submit order, sorted" in note for note in opened.notes)
    assert opened.rows is not None
    assert opened.log is not None
    assert opened.log.columns["processors"][opened.rows].tolist() == [4, 1, 2]


def test_jobs_that_no_host_can_take(tmp_path: Path) -> None:
    memory = {"requested_memory": [1024 * MB, MB, MB]}
    opened = log.open_source(workload(tmp_path / "a.swf", memory), HOSTS, None, ())
    assert opened.jobs.size.tolist() == [4, 1]
    assert opened.rows is not None
    assert opened.rows.tolist() == [1, 2]
    assert any("1 more dropped, whose memory no host has (oversized=drop)" in note for note in opened.notes)
    words = "a.swf: line 2 asks for 2 processors with 2,097,152 KB, which no host has; add workload.oversized"
    strict = workload(tmp_path / "a.swf", memory, oversized="error")
    with pytest.raises(ValueError, match=re.escape(words)):
        log.open_source(strict, HOSTS, None, ())


def test_requests_are_drawn_where_there_are_none(tmp_path: Path) -> None:
    columns = {"requested_time": [-1, 3600, -1]}
    bare = workload(tmp_path / "a.swf", columns)
    words = r"2 of 3 jobs have no requested time.*workload\.estimates=tsafrir2005"
    with pytest.raises(ValueError, match=words):
        backfill.check(EASY, bare, POOL, None)
    drawn = bare | {"estimates": "tsafrir2005"}
    notes = backfill.check(EASY, drawn, POOL, None)
    assert any("a.swf: 2 requested times drawn (tsafrir2005), at most 7,200 s" in note for note in notes)
    assert not backfill.chance(EASY, bare, POOL)
    assert backfill.chance(EASY, drawn, POOL)
    draws = [log.open_source(drawn, POOL, None, (1, k)).jobs.requested for k in range(5)]
    assert all(draw[1] == 3600 for draw in draws)
    assert len({tuple(draw) for draw in draws}) > 1
    with pytest.raises(ValueError, match=r"workload\.estimates=guess; allowed: null, tsafrir2005"):
        backfill.chance(EASY, bare | {"estimates": "guess"}, POOL)


def bare(path: Path, submit: list[float], header: dict[str, list[str]]) -> dict[str, Any]:
    columns = {"submit": submit, "runtime": [10, 20], "processors": [4, 4], "requested_time": [10, 30]}
    swf.write(path, {name: np.array(values) for name, values in columns.items()}, header)
    return {"name": "swf", "model": "swf", "path": str(path)}


def test_a_log_that_names_no_machine_says_so(tmp_path: Path) -> None:
    nameless = bare(tmp_path / "a.swf", [0, 5], {})
    told = backfill.check(EASY, nameless, {"n_pes": None}, None)
    assert sum("its header names no processors, so that 4 are taken" in note for note in told) == 1
    told = backfill.check(EASY, nameless, POOL, None)
    assert not any("names no processors" in note for note in told)


def test_a_log_that_comes_at_once_runs_as_it_is(tmp_path: Path) -> None:
    at_once = bare(tmp_path / "a.swf", [5, 5], {"MaxProcs": ["4"]})
    made = backfill.simulate(EASY, at_once, {"n_pes": None}, None, Batches(10**9, 0, (1,)), (1,))
    assert made.metrics["wait"][0, 0] == 5.0
    with pytest.raises(ValueError, match=r"no load to rescale; take it as it is, grid.load=\[null\]"):
        backfill.check(EASY, at_once, {"n_pes": None}, 0.5)


def test_hosts_or_a_number_of_processors() -> None:
    with pytest.raises(ValueError, match=r"machine.n_pes=8 and machine.hosts: give one of them"):
        machines.of(POOL | HOSTS)

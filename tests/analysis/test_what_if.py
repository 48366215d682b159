"""From a log to the report's tables, with the real simulator: the names that both sides use are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.operators import tables
from analysis.operators.case import cases
from analysis.operators.labels import WAIT
from analysis.study import open_study
from sweep import cli

LOG = Path(__file__).parents[1] / "data" / "backfill" / "syn1k.swf.gz"
"""1,000 jobs on 128 processors."""


def run(tmp_path: Path, *arguments: str) -> int:
    place = [f"output={tmp_path / 'what_if'}", f"workload.path={LOG}"]
    return cli.main(["+experiment=what_if", "workload=swf", "executor=serial", *place, *arguments])


def test_the_plan_holds_every_policy_that_needs_no_special_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "action=plan") == 0
    said = capsys.readouterr().out
    assert "load 0.802 on 128 processors" in said
    for policy in ("easy", "fcfs", "conservative", "sjf_backfill", "lxf_w_backfill", "lxf_w_immediate"):
        assert policy in said


def test_tables_of_a_real_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run(tmp_path, "grid.policy=[easy,fcfs]", "batches=20", "batch_size=50") == 0
    study = open_study(tmp_path / "what_if")
    (case,) = cases(study)
    assert case.n_batches == 20
    found = {table.name: table for table in tables.tables(study)}
    assert {"overview", "against", "winners", "by-runtime", "by-size"} <= set(found)
    # Every job is in one group of each kind, and in the means of all.
    for name in ("by-runtime", "by-size"):
        assert sum(int(row[1].text.replace(",", "")) for row in found[name].rows) == 1000
    everybody = case.values(WAIT, "easy")
    assert case.mean(WAIT, "easy").mean == pytest.approx(np.nanmean(everybody))
    worse = case.difference(WAIT, "fcfs")
    assert worse.interval.mean > 0  # nobody passes anybody: at a load of 0.8 the queue is long
    assert tables.brief(study)[1].startswith("policy")

"""From a log to the report's tables, with the real simulator: the names that both sides use are the same."""

from pathlib import Path

import numpy as np
import pytest

import sweep
from analysis import command
from analysis.operators import tables
from analysis.operators.case import cases
from analysis.operators.labels import WAIT
from analysis.study import open_study
from analysis.study.groups import SIZE
from sweep import cli

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
"""1,000 jobs on 128 processors."""


def run(tmp_path: Path, *arguments: str) -> int:
    place = [f"output={tmp_path / 'what_if'}", f"workload.path={LOG}"]
    return cli.main(["+experiment=what_if", "workload=swf", "executor=serial", *place, *arguments])


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
    assert worse.mean > 0  # no job overtakes another one: at a load of 0.8 the queue is long
    assert any(line.startswith("policy") for line in tables.brief(study))


@pytest.mark.exhaustive
def test_policies_of_any_family_on_one_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a family does not measure the time beyond the runtime, all jobs in one batch tell it."""
    place = [f"output={tmp_path / 'replay'}", f"workload.path={LOG}", "executor=serial"]
    assert cli.main(["+experiment=replay", "grid.policy=[easy,gang/buddy,equi_plus]", *place]) == 0
    (case,) = cases(open_study(tmp_path / "replay"))
    assert case.without_waits == []
    for policy in ("easy", "gang/buddy", "equi_plus"):
        jobs = sweep.simulate(policy, workload=LOG)
        beyond = (jobs.response_time - jobs.runtime).groupby(jobs.processors).mean()
        label = policy.rpartition("/")[2]
        assert float(case.values(WAIT, label).item()) == pytest.approx(
            float((jobs.response_time - jobs.runtime).mean())
        )
        assert case.mean(WAIT, label, SIZE, "1").mean == pytest.approx(float(beyond.sel(processors=1)))
    assert case.difference(WAIT, "buddy").mean != 0
    capsys.readouterr()
    assert command.main([str(tmp_path / "replay")]) == 0
    out = capsys.readouterr()
    assert "Warning" not in out.err
    assert all("– s" not in line.partition("s  ")[0] for line in out.out.splitlines() if "buddy" in line)

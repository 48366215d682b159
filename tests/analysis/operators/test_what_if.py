"""From a log to the report's tables, with the real simulator: the names that both sides use are the same."""

from pathlib import Path

import pytest

import sweep
from analysis import command
from analysis.operators.case import cases
from analysis.operators.labels import WAIT
from analysis.study import open_study
from analysis.study.axes import SIZE
from sweep import cli

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
"""1,000 jobs on 128 processors."""


@pytest.mark.exhaustive
def test_policies_of_any_family_on_one_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a family does not measure the time beyond the runtime, it follows from all jobs in one batch."""
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
        assert case.mean(WAIT, label, SIZE.of("1")).mean == pytest.approx(float(beyond.sel(processors=1)))
    assert case.difference(WAIT, "buddy").mean != 0
    capsys.readouterr()
    assert command.main([str(tmp_path / "replay")]) == 0
    out = capsys.readouterr()
    assert "Warning" not in out.err
    assert all("– s" not in line.partition("s  ")[0] for line in out.out.splitlines() if "buddy" in line)

"""A site's own log under its own slurm.conf: the recorded waits are there, or a line says why they are
not."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.operators.case import cases
from analysis.operators.fidelity import Fidelity
from analysis.operators.labels import WAIT
from analysis.study import open_study
from analysis.study.axes import ACCOUNT, PARTITION, Axes
from models.workloads import sacct
from sweep import cli
from sweep.store.collect import Collection
from sweep.store.loading import loaded

SITE = Path(__file__).parents[2] / "data" / "slurm"
COMMAND = (
    "+experiment=slurm_what_if", "policy.path=slurm.conf", "workload.path=sacct.txt", "executor=serial",
    "output=out",
)  # fmt: skip


@pytest.fixture
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SITE, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_site")
def test_recorded_waits_stand_beside_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*COMMAND, "measures.groups=[account,partition]"]) == 0
    capsys.readouterr()
    with loaded(Path("out/slurm_what_if.nc")) as data:
        (log,) = json.loads(data.attrs["facts"])["logs"]
        weights = data.recorded_jobs.squeeze()
        recorded = float((data.recorded_wait.squeeze() * weights).sum() / weights.sum())
    table = sacct.read("sacct.txt")
    kept = sacct.select(table, machine_size=None)
    waits = (table.start - table.submit)[kept.rows].astype(float)
    assert log["waits"] == kept.kept
    assert recorded == pytest.approx(np.maximum(waits, 0).mean())
    (case,) = cases(open_study(Path("out"), Axes()))
    for grouping, column in ((ACCOUNT, table.account), (PARTITION, table.partition)):
        names = column[kept.rows].astype(str)
        groups = case.identified(grouping)
        assert {case.label_of(one) for one in groups} == {*names}
        mean = {case.label_of(one): case.recorded(WAIT, one).mean for one in groups}
        assert all(mean[one] == pytest.approx(np.maximum(waits, 0)[names == one].mean()) for one in mean)
    found = Fidelity.of(case)
    assert found is not None
    assert (found.was, found.simulated) == (pytest.approx(recorded), case.mean(WAIT, "slurm").mean)


@pytest.mark.usefixtures("_site")
def test_a_log_that_vanished_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is deleted while the study runs: its results are written, and a line states what they lack."""
    write = Collection.write

    def after_deletion(self: Collection, *given: Any) -> str | None:
        Path("sacct.txt").unlink(missing_ok=True)
        return write(self, *given)

    monkeypatch.setattr(Collection, "write", after_deletion)
    assert cli.main([*COMMAND, "measures.groups=[]"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "sacct.txt: no such file" in said
    assert "the dataset has no recorded waits of this log" in said
    with loaded(Path("out/slurm_what_if.nc")) as data:
        facts = json.loads(data.attrs["facts"])
        assert (facts["logs"], len(facts["faults"])) == ([], 1)
        assert "recorded_wait" not in data

"""The commands under "Run it again" work, also where a study has code and policies of its own."""

import shlex
from pathlib import Path

import pytest

from analysis.registry import opened
from analysis.report.render import again
from sweep import cli

MODULE = """\
from models.jobs.measures import JobMeasure

wait_per_processor = JobMeasure("s", "wait / processors", lambda jobs, values: values["wait"] / jobs.size)
"""
POLICY = """\
# Our weights.
defaults: [_backfill, _self_]
discipline: backfill
weights: {wait: 1, processors: 0.1}
"""


@pytest.fixture(autouse=True)
def _modules_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_measures", raising=False)


def test_a_study_with_ones_own_policy_and_module(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for file, text in (("code/own_measures.py", MODULE), ("myconf/policy/backfill/ours.yaml", POLICY)):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    command = [
        "+experiment=compare", "--config-dir", "myconf", "modules=code", "grid.policy=[ours]",
        "grid.workload=[lublin2003]", "grid.load=[0.5]", "measures.of_jobs=[own_measures.wait_per_processor]",
        "executor=serial", "replications=2", "batches=2", "batch_size=20", "warmup=0", "capacity=0",
        "output=first",
    ]  # fmt: skip
    assert cli.main(command) == 0
    (file,) = Path("first").glob("*.nc")
    found = again(opened(file)[0])
    assert "--config-dir myconf modules=code " in found["command"]
    assert found["rerun"] == f"python -m sweep rerun {file} modules=code"
    for typed, same in ((found["command"], "done"), (found["rerun"], "identical, bit for bit")):
        capsys.readouterr()
        output = f"output={same.partition(',')[0]}"
        assert cli.main([*shlex.split(typed)[3:], "executor=serial", output]) == 0
    assert same in capsys.readouterr().out
    (tmp_path / "lost").mkdir()
    assert cli.main([*shlex.split(found["rerun"])[3:-1], "output=lost", "executor=serial"]) == 2
    assert "modules=FOLDER" in capsys.readouterr().err

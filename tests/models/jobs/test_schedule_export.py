"""``schedule=FILE`` with backfilling: the file holds the start times that an independent program has."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from models.jobs.swf import read
from sweep import cli

DATA = Path(__file__).parents[2] / "data" / "backfill"


def test_the_schedule_of_a_replay_is_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    arguments = [
        "+experiment=replay",
        f"workload.path={DATA / 'syn1k.swf.gz'}",
        "grid.policy=[easy]",
        "grid.ties=[instant]",
        "executor=serial",
        f"output={tmp_path / 'results'}",
        f"schedule={tmp_path / 'easy.swf.gz'}",
    ]
    assert cli.main(arguments) == 0, capsys.readouterr().err
    columns = read(tmp_path / "easy.swf.gz").columns
    text = gzip.decompress((DATA / "ref_easy_batch_1k.csv.gz").read_bytes()).decode()
    job, start = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1).T
    np.testing.assert_array_equal(columns["job"], job)
    np.testing.assert_array_equal(columns["submit"] + columns["wait"], start)

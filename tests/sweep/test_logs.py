"""Where job logs are looked for if nobody says."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import command
from analysis.arguments import log_folder
from sweep import logs


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in a folder beside which there are no logs, and name none."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv(logs.VARIABLE, raising=False)


def test_the_folder_that_is_named_comes_before_the_usual_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert log_folder({}) is None
    Path("traces").mkdir()
    assert log_folder({}) == Path("traces")
    monkeypatch.setenv(logs.VARIABLE, str(tmp_path / "mine"))
    assert log_folder({}) == tmp_path / "mine", "where it is not there, a message shall name it"
    assert logs.folders() == [tmp_path / "mine", *logs.USUAL]
    given = tmp_path / "given"
    given.mkdir()
    assert log_folder({"logs": str(given)}) == given


def test_help_names_the_variable(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--help"])
    assert f"${logs.VARIABLE}" in capsys.readouterr().out

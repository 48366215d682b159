"""A run that works in a folder takes over the settings of the job that a batch system started for it."""

import json

import pytest

from sweep.executors import handed_over


@pytest.fixture
def submission(tmp_path):
    """Write what a submission of three elements leaves."""
    path = tmp_path / "slurm" / "002"
    (path / "elements").mkdir(parents=True)
    made = {"n_elements": 3, "created": 0.0, "cancelled": None}
    (path / "submission.json").write_text(json.dumps(made))
    return path


def end(submission, element, why):
    lines = [{"started": 1.0}, *([{"ended": 2.0, "why": why}] if why else [])]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (submission / "elements" / f"{element:05d}.jsonl").write_text(text)


def test_elements_that_have_not_finished(tmp_path, submission):
    assert list(handed_over.notes(tmp_path / "elsewhere")) == []
    end(submission, 0, "done")
    end(submission, 1, None)
    end(submission, 2, "signal")
    (note,) = handed_over.notes(tmp_path)
    assert "Slurm has submission 002 of it since " in note
    assert "2 of its 3 elements have not finished" in note
    for element in (1, 2):
        end(submission, element, "failed")
    assert list(handed_over.notes(tmp_path)) == []

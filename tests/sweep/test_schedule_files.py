"""``schedule=FILE``: which file holds which schedule, and that no reader finds half of one."""

from pathlib import Path

import numpy as np
import pytest
from study_commands import load

ONE = ("grid.load=[0.3]", "policy=quick", "grid.preemption=[none]", "grid.urgent=[true]", "replications=1")
"""One point of the queue in one replication."""

SECOND_TIER = pytest.mark.exhaustive

SIZE = 50
"""Customers in a batch, see conf/experiment/queue.yaml."""


def responses(path):
    """Return the mean time in the system of each measured batch of a file in the Standard Workload Format."""
    rows = np.loadtxt(path, comments=";")
    return (rows[:, 2] + rows[:, 3]).reshape(-1, SIZE)[1:].mean(axis=1)


def test_one_point_is_one_file(sweep):
    answer = sweep(*ONE, "schedule=out/one.swf")
    assert answer.status == 0, answer
    assert "schedules: out/one.swf" in answer.out.splitlines()
    np.testing.assert_allclose(responses("out/one.swf"), load().response.values.ravel())
    assert [path.name for path in Path("out").iterdir()] == ["one.swf"]


def test_several_are_a_folder_named_by_what_varies(sweep):
    answer = sweep("schedule=out", "grid.load=[0.3,null]", "grid.urgent=[true]")
    assert answer.status == 0, answer
    assert "schedules: out/ (16 files)" in answer.out.splitlines()
    names = {path.name for path in Path("out").iterdir()}
    assert len(names) == 16
    assert "quick-load_0.3-preemption_none-replication_0.swf" in names
    assert "slow-load_null-preemption_resume-replication_1.swf" in names
    data = load()
    stored = data.response.sel(policy="slow", load=0.3, preemption="resume", replication=1)
    found = responses("out/slow-load_0.3-preemption_resume-replication_1.swf")
    np.testing.assert_allclose(found, stored.values.ravel())


def test_gather_writes_those_that_are_done(sweep):
    assert sweep(*ONE).status == 0
    answer = sweep(*ONE, "grid.load=[0.3,0.6]", "action=gather", "schedule=out")
    assert answer.status == 0
    assert "schedules: out/ (1 file); 1 left out, whose tasks are not done" in answer.out.splitlines()
    assert [path.name for path in Path("out").iterdir()] == ["load_0.3.swf"]


def test_a_disk_that_fills_leaves_the_old_file_and_no_other(sweep):
    Path("one.swf").write_text("the old one", encoding="utf-8")
    assert sweep(*ONE, "policy.torn=true", "schedule=one.swf", "replace=true").refused(
        "schedule=one.swf: one.swf cannot be written (No space left on device); all results", status=1
    )
    assert Path("one.swf").read_text(encoding="utf-8") == "the old one"
    assert not list(Path().glob(".*swf*"))


def test_a_file_of_somebody_else_is_not_written_over(sweep):
    Path("notes.swf").write_text("; Computer: mine\n1 2 3\n", encoding="utf-8")
    answer = sweep(*ONE, "schedule=notes.swf")
    assert answer.status == 2
    assert "schedule=notes.swf: notes.swf exists and is not a schedule of this point" in answer.err
    assert answer.err.endswith("or replace=true to overwrite it\n")
    assert not Path("results").exists(), "refused before anything runs"
    assert Path("notes.swf").read_text(encoding="utf-8").startswith("; Computer: mine")
    assert sweep(*ONE, "schedule=notes.swf", "replace=true").status == 0
    np.testing.assert_allclose(responses("notes.swf"), load().response.values.ravel())


@pytest.mark.parametrize(
    "name",
    ["one.swf", "one.csv.gz", *(pytest.param(f"one.{end}", marks=SECOND_TIER) for end in ("swf.gz", "csv"))],
)
def test_the_same_command_writes_the_same_file_again_and_no_other(sweep, name):
    assert sweep(*ONE, f"schedule={name}").status == 0
    before = Path(name).read_bytes()
    assert sweep(*ONE, f"schedule={name}").status == 0
    assert Path(name).read_bytes() == before
    other = (*ONE, "grid.load=[0.6]", "output=other", f"schedule={name}")
    refused = sweep(*other)
    assert refused.status == 2, "a schedule of another point is another file"
    what = "table of this study" if ".csv" in name else "schedule of this point"
    assert f"{name} exists and is not a {what}; give another name, or replace=true" in refused.err
    assert Path(name).read_bytes() == before
    assert sweep(*other, "replace=true").status == 0
    assert Path(name).read_bytes() != before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("schedule=taken",), "schedule=taken is a file, and there are 24 schedules: name a folder"),
        ((*ONE, "schedule=folder"), "schedule=folder is a folder: name the file of the one schedule"),
        ((*ONE, "schedule=taken/one.swf"), "schedule=taken/one.swf: "),
        ((*ONE, "schedule=/dev/null/one.swf"), "/dev/null is not a folder; give a place that can be written"),
        (
            ("schedule=jobs.cvs",),
            "schedule=jobs.cvs: a schedule cannot be written as .cvs; end the name in .swf",
        ),
        (("schedule=",), "schedule= names no file: give one, schedule=FILE.swf"),
        ((*ONE, "schedule=taken", "workload=log", "workload.path=taken"), "taken is read by this study"),
        (
            (*ONE, "policy.family=models.o2k_workload", "schedule=x.swf"),
            "models.o2k_workload writes no schedules; omit schedule=",
        ),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_runs(sweep, arguments, says):
    Path("taken").write_text("a log", encoding="utf-8")
    Path("folder").mkdir()
    assert sweep(*arguments).refused(says)
    assert not Path("results").exists()
    assert Path("taken").read_text(encoding="utf-8") == "a log"


@pytest.mark.parametrize("name", ["queue.nc", "config.json", "shards/a.jsonl"])
def test_nothing_of_the_study_is_written_over(sweep, name):
    assert sweep(*ONE, f"schedule=results/queue/{name}").refused(
        "may be one of the study's own files; end the name in .swf"
    )

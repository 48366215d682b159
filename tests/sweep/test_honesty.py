"""What a run warns of although it ended well: copies, short runs, precision that was not reached."""

from pathlib import Path

import numpy as np
import pytest

from sweep import cli
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.plan import families
from sweep.plan.expansion import expand

POINT = (
    "+experiment=packing",
    "grid.policy=[first_fit]",
    "grid.load=[0.5]",
    "grid.alternation=[shared]",
    "grid.unification=[true]",
    "executor=serial",
    "batch_size=20",
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log of 200 jobs."""
    rows = (
        f"{job} {60 * job} 0 {100 + job} {1 + job % 8} -1 -1 -1 -1 -1 1 1 1 1 1 -1 -1 -1"
        for job in range(1, 201)
    )
    path = tmp_path / "short.swf"
    path.write_text("; MaxProcs: 128\n" + "\n".join(rows) + "\n")
    return path


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Run the sweep in this process and return its status and all that it said."""
    capsys.readouterr()
    status = cli.main([*POINT, f"output={tmp_path / 'results'}", *arguments])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_copies_of_a_log_are_no_sample(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = run(tmp_path, capsys, "workload=swf", f"workload.path={log}", "replications=2")
    assert status == 2
    assert "is deterministic" in said
    assert "replications=1" in said


def test_the_default_is_safe_and_adapts_to_what_has_no_chance(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five replications; one, without an error, where more would be copies; and never one unsaid."""
    status, said = run(tmp_path / "stream", capsys, "batches=2", "replications=null", "action=plan")
    assert status == 0
    assert "(1 point x 5 replications, and 2 overload runs)" in said
    of_log = ("workload=swf", f"workload.path={log}", "replications=null", "batches=10")
    status, said = run(tmp_path / "log", capsys, *of_log)
    assert status == 0
    assert "one replication: workload swf is deterministic\n" in said
    mixed = ("grid.workload=[swf,feitelson1996]", *of_log[1:])
    status, said = run(tmp_path / "mixed", capsys, *mixed)
    assert status == 0
    assert "workload swf is deterministic; stochastic points would get 5 in a separate exp" in said


@pytest.mark.parametrize(("warmup", "left"), [("1", 9), ("mser", 10)])
def test_a_log_that_is_too_short_says_so(
    warmup: str, left: int, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("workload=swf", f"workload.path={log}", "replications=1", "batches=50", f"warmup={warmup}")
    status, said = run(tmp_path, capsys, *given)
    assert status == 0
    assert f"1 task ended with fewer than 50 batches, the shortest with {left}:" in said


def test_a_precision_that_was_not_reached_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("replications=1", "batches=10", "precision.relative=0.0001", "precision.checkpoints=[10,12]")
    status, said = run(tmp_path, capsys, *given)
    assert status == 0
    assert "1 of 1 point misses precision.relative=0.0001 at the last checkpoint, 12 batches" in said


def test_a_log_that_is_replaced_after_planning_is_refused(log: Path) -> None:
    """Its values would be kept under the identity of the planned log."""
    overrides = ("+experiment=replay", f"workload.path={log}", "grid.policy=[fcfs]")
    point = expand(compose.load(parsed(overrides), locate.conf_folder())).task(0).point
    family, planned = families.find("models.backfill"), log.read_text(encoding="utf-8")
    before = family.simulate(point).metrics["wait"]
    log.write_text(planned.replace(" 0 101 ", " 0 1101 "), encoding="utf-8")
    with pytest.raises(ValueError, match="has changed since the study was planned"):
        family.simulate(point)
    log.write_text(planned, encoding="utf-8")
    assert np.array_equal(family.simulate(point).metrics["wait"], before)
    log.write_text(planned.replace(" 0 101 ", " 0 1101 "), encoding="utf-8")
    again = expand(compose.load(parsed(overrides), locate.conf_folder())).task(0)
    assert again.point.workload["sha256"] != point.workload["sha256"]
    assert family.simulate(again.point).jobs == 200

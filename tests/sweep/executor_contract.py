"""What every executor has to keep: the same bits, whatever happens to its processes.

A class of tests for each executor inherits from `Contract`. Everything runs as a user would run it.
"""

import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import xarray as xr
from study_commands import Answer, Command, load, numbers, results

Serial = Callable[..., xr.Dataset]
Sweep = Callable[..., Answer]
Start = Callable[..., Command]
Ask = Callable[..., Answer]


def same(dataset: xr.Dataset, other: xr.Dataset) -> None:
    """Compare bits, NaN included."""
    xr.testing.assert_identical(dataset.drop_attrs(), other.drop_attrs())


def clean(answer: Answer, status: int = 0) -> None:
    """Check that a command ended as it should, without a traceback or a warning."""
    assert answer.status == status, answer
    assert "Traceback" not in answer.out + answer.err, answer
    assert "Warning" not in answer.err, answer


class Contract:
    """Tests that every executor passes."""

    settings: ClassVar[Sequence[str]]
    """Choose the executor on the command line, with at least two workers where it can have them."""

    starts_workers: ClassVar[bool] = True
    """Whether a start takes seconds: except for one test the contract is then in the second tier."""

    launcher: ClassVar[Sequence[str]] = ()
    """What has to be typed before ``python``."""

    replaces_workers: ClassVar[bool] = False
    """Whether the run survives a worker that is killed; else it has to end, and say so by its status."""

    ends_workers: ClassVar[bool] = True
    """Whether workers end with the run at once; on other machines they do what they have begun."""

    @pytest.fixture
    def start(self, command: Start) -> Start:
        """Start the study on this executor."""

        def start(*arguments: str) -> Command:
            return command(*self.settings, *arguments, launcher=self.launcher)

        return start

    @pytest.fixture
    def ask(self, start: Start, sweep: Sweep) -> Ask:
        """Ask what starts no worker: in this process, where no launcher has to come first."""

        def ask(*arguments: str) -> Answer:
            if self.launcher:
                return start(*arguments).finish()
            return sweep(*self.settings, *arguments)

        return ask

    def test_the_same_bits_and_nothing_twice(self, start: Start, ask: Ask, serial: Serial) -> None:
        """With sequential stopping, which is a matter of each task alone."""
        arguments = ("precision.relative=0.2", "batches=4", "policy=quick")
        run = start(*arguments)
        answer = run.finish()
        clean(answer)
        assert answer.err == ""
        assert any(line.startswith("12/12 tasks, ") for line in answer.out.splitlines())
        assert run.survivors() == []
        assert results() == 12, "every task once"
        same(numbers(), serial(*arguments))
        lengths = np.unique(load()["response"].notnull().sum("batch").where(load()["state"] == 1))
        assert len(lengths[lengths > 0]) > 1, "runs have stopped at different checkpoints"
        again = ask(*arguments)
        clean(again)
        assert again.out.count("up to date: 12 of 12 tasks are done\n") == 1
        assert results() == 12

    @pytest.mark.exhaustive
    def test_one_failing_task_does_not_stop_the_others(self, start: Start, serial: Serial) -> None:
        failing = ("policy.raises_at=0.3", "policy=quick")
        answer = start(*failing).finish()
        clean(answer, status=1)
        assert answer.out.count("6 of 12 tasks failed") == 1
        state = load()["state"]
        assert set(np.unique(state.sel(load=0.3))) == {2, 3}
        assert set(np.unique(state.sel(load=0.6))) == {1, 3}
        whole = serial("policy=quick", "grid.load=[0.6]")
        same(numbers().sel(load=[0.6]).drop_vars("state"), whole.drop_vars("state"))

    def test_a_worker_is_killed(self, start: Start, serial: Serial, sweep: Sweep, tmp_path: Path) -> None:
        arguments = (f"policy.dies_once={tmp_path / 'died'}",)
        first = start(*arguments)
        answer = first.finish()
        assert (tmp_path / "died").exists()
        assert (answer.status == 0) == self.replaces_workers, answer
        assert "Traceback" not in answer.err
        assert first.survivors() == [], answer
        if not self.replaces_workers:
            assert sweep(*arguments).status == 0
        same(numbers(), serial())

    @pytest.mark.exhaustive
    def test_the_whole_run_is_killed_and_started_again(
        self, start: Start, serial: Serial, tmp_path: Path
    ) -> None:
        """While half of the tasks cannot end."""
        go = tmp_path / "go"
        arguments = ("policy.waits_at=0.3", f"policy.waits_for={go}")
        run = start(*arguments)
        run.wait_for_results(2)
        run.process.kill()
        if self.ends_workers:
            assert run.survivors() == [], "no worker outlives the run"
        assert 2 <= results() < 24
        go.touch()
        clean(start(*arguments).finish())
        same(numbers(), serial())

    @pytest.mark.exhaustive
    def test_ctrl_c_stops_and_any_executor_goes_on(
        self, start: Start, serial: Serial, sweep: Sweep, tmp_path: Path
    ) -> None:
        """While half of the tasks cannot end."""
        go = tmp_path / "go"
        arguments = ("policy.waits_at=0.3", f"policy.waits_for={go}")
        run = start(*arguments)
        run.wait_for_results(2)
        run.signal_all(signal.SIGINT)
        answer = run.finish()
        clean(answer, status=130)
        assert answer.out.count("the same command continues from here") == 1
        assert run.survivors() == []
        stopped = results()
        assert 2 <= stopped < 24
        if self.ends_workers:
            # A task that ends between the dataset's last read of the logs and the kill is in the logs alone.
            assert 2 <= (load()["state"] == 1).sum() <= stopped
        go.touch()
        assert sweep(*arguments).status == 0
        assert results() == 24 or not self.ends_workers
        same(numbers(), serial())

    def test_a_full_disk_loses_nothing(self, start: Start, sweep: Sweep, tmp_path: Path) -> None:
        """The workers' logs may not grow beyond 16 KiB: some of the tasks fit, not all."""
        full = tmp_path / "full"
        full.touch()
        arguments = ("batches=200", "batch_size=5", f"policy.full_disk={full}")
        answer = start(*arguments).finish()
        clean(answer, status=1)
        assert "results cannot be written (File too large)" in answer.err
        assert answer.err.count("\n") == 1
        kept = results()
        assert 0 < kept < 24
        full.unlink()
        assert sweep(*arguments).status == 0
        assert results() == 24

"""The model of Slurm's scheduler beside a real controller: its log, and when both start each job."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from slurm.cli import main
from slurm.testcluster import missing
from slurm.validation.cases import workload
from slurm.validation.comparing import compare, on_slurm
from slurm.validation.observed import Observed

LOG = """\
[2026-11-24T12:00:00.100] debug:  sched: Running job scheduler for full queue.
[2026-11-24T12:00:10.200] _slurm_rpc_submit_batch_job: JobId=1 InitPrio=4294901759 usec=508
[2026-11-24T12:00:11.111] debug:  sched: Running job scheduler for default depth.
[2026-11-24T12:00:11.112] sched: Allocate JobId=1 NodeList=n[1-2] #CPUs=8 Partition=main
[2026-11-24T12:00:12.300] _slurm_rpc_submit_batch_job: JobId=2 InitPrio=4294901758 usec=508
[2026-11-24T12:00:30.118] debug2: Testing job time limits and checkpoints
[2026-11-24T12:00:30.500] sched/backfill: _attempt_backfill: beginning
[2026-11-24T12:00:30.501] sched/backfill: _start_job: Started JobId=2 in main on n3
[2026-11-24T12:00:30.502] sched/backfill: _dump_job_sched: JobId=3 to start at 2026-11-24T12:02:00, end at
[2026-11-24T12:00:40.000] _job_complete: JobId=2 WEXITSTATUS 0
[2026-11-24T12:00:40.000] _job_complete: JobId=2 done
[2026-11-24T12:00:40.020] debug2: node_did_resp n3
[2026-11-24T12:01:00.170] debug2: Testing job time limits and checkpoints
[2026-11-24T12:01:00.171] Time limit exhausted for JobId=1
[2026-11-24T12:01:00.250] debug2: _slurm_rpc_epilog_complete: JobId=1 Node=n2
[2026-11-24T12:01:00.300] debug2: _slurm_rpc_epilog_complete: JobId=1 Node=n1
[2026-11-24T12:01:00.301] debug:  sched: Running job scheduler for default depth.
"""


def test_a_log_is_read() -> None:
    found = Observed.of(LOG.splitlines())
    zero = found.submitted[1]
    assert found.jobs == [1, 2]
    assert found.started_by == {1: "main", 2: "backfill"}
    assert found.ended[1] - zero == pytest.approx(49.971)
    assert found.killed.keys() == {1}
    assert [(job, start - zero) for _, job, start in found.plans] == [(3, pytest.approx(109.8))]
    np.testing.assert_allclose(found.messages([1, 2]), [0.129, -1], atol=1e-6)
    phases = found.phases(zero)
    assert phases.completing == pytest.approx(0.02)
    assert phases.clock == pytest.approx(43_210.2)
    assert phases.backfill == pytest.approx(20.3, abs=0.01)


SLICES = """\
[2026-11-24T12:00:00.000] debug2: Testing job time limits and checkpoints
[2026-11-24T12:00:01.000] _slurm_rpc_submit_batch_job: JobId=1 InitPrio=4294901759 usec=508
[2026-11-24T12:00:02.000] debug:  sched: Running job scheduler for default depth.
[2026-11-24T12:00:02.004] sched: Allocate JobId=1 NodeList=n[1-2] #CPUs=8 Partition=main
[2026-11-24T12:00:10.000] GANG: gang: _timeslicer_thread: scanning partitions
[2026-11-24T12:00:10.000] GANG: gang: _cycle_job_list: suspending JobId=1
[2026-11-24T12:00:10.000] gang: suspending JobId=1
[2026-11-24T12:00:25.000] gang: resuming JobId=1
[2026-11-24T12:00:40.000] gang: suspending JobId=1
[2026-11-24T12:00:41.000] _job_complete: JobId=1 done
[2026-11-24T12:00:41.006] GANG: gang: entering gs_job_fini for JobId=1
"""


def test_time_slices_are_read_from_a_log() -> None:
    found = Observed.of(SLICES.splitlines())
    assert found.ran(1) == pytest.approx(39 - 13, abs=0.01), "and two seconds after it was suspended"
    phases = found.phases(found.submitted[1])
    assert phases.slices == pytest.approx((9.0,), abs=1e-6)
    assert phases.completing == pytest.approx(0.006, abs=1e-6)


def test_wake_ups_between_two_logged_ones_are_interpolated_and_called_passes_do_not_count() -> None:
    wake_ups = Observed.of(LOG.splitlines()).wake_ups()
    assert np.diff(wake_ups) == pytest.approx(1.0, abs=0.01)
    assert wake_ups[-1] == pytest.approx(wake_ups[0] + 60.07, abs=1e-6)


def test_wrong_arguments_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["validate", "cases=other"],
        ["validate", "jobs=few"],
        ["validate", "seeds=x"],
        ["validated"],
    ):
        assert main(words) != 0
        assert capsys.readouterr().err.count("\n") == 1


ATTEMPTS = 3

LONGEST_S = {"backfill": 200.0, "gang": 25.0, "gang_cores_three": 25.0}
"""Runtimes in a short comparison: one case has jobs that are killed at their limits, two time slices."""

LACKS = missing(accounting=True)
NEEDS_ACCOUNTING = pytest.mark.skipif(bool(LACKS), reason=LACKS)


@pytest.mark.exhaustive
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize(
    "case",
    [
        "builtin",
        "backfill",
        "partitions",
        "preemption_cpus",
        "gang",
        "gang_cores_three",
        pytest.param("limits", marks=NEEDS_ACCOUNTING),
        pytest.param("shares", marks=NEEDS_ACCOUNTING),
    ],
)
def test_the_model_starts_each_job_when_slurm_does(case: str, tmp_path: Path) -> None:
    """A short form of ``python -m slurm validate``.

    On a quiet machine nine in ten starts are within .01 s. On a busy one the controller wakes up late, and if
    it is late for a submission, what follows is a wake-up (1.0017 s) or two later: try again.
    """
    longest_s = LONGEST_S.get(case, 10.0)
    jobs = [replace(job, runtime=min(job.runtime, longest_s)) for job in workload(seed=5, n_jobs=20, gap=1.0)]
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        on_slurm(case, jobs, folder, lambda text: None)
        found = compare(case, jobs, folder)
        off = np.abs(found.model - found.real)
        assert len(off) == len(jobs)
        near = np.percentile(off, 90) <= 3 * 1.0017 + 0.1 and off.mean() <= 2.0
        if near and found.same_scheduler.mean() >= 0.9:
            return
    raise AssertionError(f"starts are off by {off.round(2)} s")

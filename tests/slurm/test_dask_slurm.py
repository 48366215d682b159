"""Dask workers in the jobs of a real Slurm keep the executors' contract, and no job outlives a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
import studies  # noqa: F401 # finds tests/sweep

pytest.register_assert_rewrite("executor_contract")

from executor_contract import Contract, clean  # noqa: E402
from study_commands import _own_place, command, results, serial, sweep  # noqa: E402, F401

from slurm.commands import KEPT, Slurm  # noqa: E402
from slurm.testcluster import PROFILE, TestCluster  # noqa: E402


@pytest.fixture(autouse=True)
def slurm(cluster: TestCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slurm]:
    """Use the test cluster, and check that no job outlives the run."""
    for name in KEPT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_CONF", cluster.env["SLURM_CONF"])
    yield cluster.slurm
    cluster.clear()


class TestDaskSlurm(Contract):
    settings: ClassVar = ("executor=dask_slurm", f"slurm={PROFILE}", "executor.cpus_per_task=1")
    replaces_workers = True
    ends_workers = False

    def test_no_job_outlives_the_run(self, start, slurm):
        answer = start("policy=quick", "replications=1", "executor.jobs=1").finish()
        clean(answer)
        # A job that was cancelled is listed until its node has answered.
        assert all(job.ended or job.state == "COMPLETING" for job in slurm.jobs())
        assert not Path("results/queue/dask_slurm").exists(), (
            "logs of workers that did well are nothing to keep"
        )


@pytest.mark.parametrize(
    ("lines", "override", "message"),
    [
        ("partition: nowhere", "executor.jobs=1", "no Dask workers: sbatch: "),
        ("cpus_per_task: 64", "executor.jobs=1", "is pending (PartitionConfig): "),
        ('options: ["--begin=now+1hour"]', "executor.wait_minutes=0.05", "no Dask worker for 0.05 minutes"),
        ("setup: [echo no gcc; exit 3]", "executor.jobs=2", ".out: no gcc\n"),
    ],
)
def test_why_no_worker_comes(command, slurm, tmp_path, lines, override, message):  # noqa: F811
    profile = tmp_path / "mine.yaml"
    profile.write_text(f"interface: lo\n{lines}\n")
    answer = command("executor=dask_slurm", f"slurm={profile}", override).finish()
    clean(answer, status=1)
    assert answer.err.startswith("error: no Dask worker")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert all(job.ended for job in slurm.jobs())
    assert results() == 0
    assert not [*Path("results").rglob("*.pem")]  # the keys of the run

"""MPI ranks in an allocation of a real Slurm, where a launcher lets the others wait when a rank dies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import studies  # noqa: F401 # finds tests/sweep

pytest.register_assert_rewrite("executor_contract")

from executor_contract import same  # noqa: E402
from study_commands import _own_place, command, numbers, results, serial, sweep  # noqa: E402, F401

from slurm.commands import KEPT  # noqa: E402
from slurm.testcluster import TestCluster  # noqa: E402

pytest.importorskip("mpi4py", reason="no mpi4py here: pip install schedsweep[mpich]")

SRUN = ("srun", "--quiet", "--mpi=pmi2", "--nodes=2", "--ntasks=4")


@pytest.fixture(autouse=True)
def _slurm(cluster: TestCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in KEPT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_CONF", cluster.env["SLURM_CONF"])
    # Nodes that are emulated share the memory of one machine; ranks of real ones do not find it there.
    monkeypatch.setenv("MPIR_CVAR_NOLOCAL", "1")
    yield
    cluster.clear()


def test_the_same_bits_under_srun(command, serial):  # noqa: F811
    answer = command("executor=mpi", launcher=SRUN).finish()
    assert answer.status == 0, answer
    assert answer.out.count("MPI: 3 of 4 ranks work") == 1
    same(numbers(), serial())


def test_a_rank_that_dies(command, serial, sweep, tmp_path):  # noqa: F811
    arguments = (f"policy.dies_once={tmp_path / 'died'}",)
    answer = command("executor=mpi", *arguments, launcher=SRUN).finish()
    assert answer.status != 0
    errors = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, answer
    assert "has died (killed, or out of memory?) during the task policy " in errors[0]
    assert errors[0].endswith("; the same command continues from here")
    assert sweep(*arguments).status == 0
    same(numbers(), serial())


def test_ranks_that_do_not_know_of_each_other(command):  # noqa: F811
    answer = command("executor=mpi", launcher=("srun", "--quiet", "--mpi=none", "--ntasks=3")).finish()
    assert answer.status == 2
    text = "error: executor=mpi: 3 processes were started, but each is alone"
    assert f"\n{text}" in f"\n{answer.err}", "on a line of its own; srun may report one that ended before it"
    assert answer.err.count("executor=mpi") == 1
    assert not Path("results").exists()

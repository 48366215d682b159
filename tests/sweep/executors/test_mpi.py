"""MPI ranks keep the executors' contract, and no mistake or death leaves any of them waiting."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from executor_contract import Contract, clean
from study_commands import LIMIT_S, PYTHON_PATH, results

from sweep.errors import RunError
from sweep.executors import mpi, ranks
from sweep.executors.ranks import Watch, World
from sweep.plan.task import Bundle

pytest.importorskip("mpi4py", reason="no mpi4py here: pip install schedsweep[mpich]")

HERE = Path(sys.executable).parent
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(HERE), os.environ["PATH"]]))

needs_mpiexec = pytest.mark.skipif(
    MPIEXEC is None, reason="no mpiexec here: pip install schedsweep[mpich], or load the site's MPI"
)


@needs_mpiexec
@pytest.mark.exhaustive
class TestMpi(Contract):
    settings: ClassVar = ("executor=mpi",)
    launcher: ClassVar = (MPIEXEC, "-n", "3")

    def test_rank_0_says_that_it_does_not_work(self, start):
        answer = start("policy=quick", "replications=1").finish()
        clean(answer)
        assert answer.out.count("MPI: 2 of 3 ranks work, rank 0 hands out the tasks\n") == 1
        assert not list(Path("results/queue/shards").glob(".*")), "the ranks' locks are gone"
        assert 1 <= len(list(Path("results/queue/shards").glob("*.jsonl"))) <= 2

    def test_a_world_of_one_rank(self, command):
        answer = command("executor=mpi", launcher=(MPIEXEC, "-n", "1")).finish()
        clean(answer, status=2)
        assert answer.err.startswith("error: executor=mpi: this is the only rank")
        assert answer.err.count("\n") == 1
        assert not Path("results").exists()


@pytest.mark.exhaustive
def test_the_launcher_of_another_mpi(command, monkeypatch):
    """Each process is then rank 0 of a world of its own: one of them says it, all of them end."""
    for rank in (0, 1):
        monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "64")
        monkeypatch.setenv("OMPI_COMM_WORLD_RANK", str(rank))
        answer = command("executor=mpi").finish()
        clean(answer, status=2)
        assert answer.out == ""
        if rank:
            assert answer.err == ""
        else:
            assert answer.err.startswith("error: executor=mpi: 64 processes were started, but each is alone")
            assert answer.err.count("\n") == 1
    assert results() == 0


def test_the_executor_has_to_be_on_the_command_line(sweep, monkeypatch):
    """Named by an experiment's file it is found too late: this process may be one of many by then."""
    monkeypatch.setattr(ranks, "main", lambda command: command())
    answer = sweep("executor=mpi")
    assert answer.status == 2
    assert answer.err.startswith("error: executor=mpi has to be given on the command line")


@pytest.mark.exhaustive
def test_a_lock_tells_who_has_died(tmp_path):
    path = tmp_path / "locks"
    code = (
        "from pathlib import Path; from sweep.executors.ranks import Watch; "
        f"w = Watch(Path({str(path)!r}), 1); "
    )
    holding = [sys.executable, "-c", code + "print(w.works, flush=True); input()"]
    with subprocess.Popen(holding, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "True\n"
        watch = Watch(path, 0)
        assert watch.works
        assert not watch.has_died(1)
        other.kill()
        other.wait()
        assert watch.has_died(1)
        asking = [sys.executable, "-c", code + "print(w.works, w.has_died(1), flush=True)"]
        assert subprocess.run(asking, capture_output=True, text=True, check=True).stdout == "False False\n"


@pytest.mark.exhaustive
def test_a_death_is_told_once_even_if_who_was_told_has_ended(tmp_path):
    path = tmp_path / "locks"
    code = (
        f"from pathlib import Path; from sweep.executors.ranks import Watch; w = Watch(Path({str(path)!r}), "
    )
    watch = Watch(path, 0)
    subprocess.run([sys.executable, "-c", code + "1)"], check=True)  # rank 1 has ended
    asking = [sys.executable, "-c", code + "2); print(w.has_died(1))"]
    assert subprocess.run(asking, capture_output=True, text=True, check=True).stdout == "True\n"
    assert not watch.has_died(1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("rank", ["0", "1"])
def test_ranks_do_not_wait_for_ever_to_join(tmp_path, rank):
    """The stand-in of MPI waits as MPI does for a dead rank: with Python's interpreter lock."""
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").write_text("class rc: pass\n")
    (tmp_path / "mpi4py" / "MPI.py").write_text("import ctypes\nctypes.PyDLL(None).sleep(3600)\n")
    code = "from sweep.executors import ranks; ranks.JOIN_S = 0.1; ranks.main(lambda: 0)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), PYTHON_PATH]),
            "OMPI_COMM_WORLD_SIZE": "2",
            "OMPI_COMM_WORLD_RANK": rank,
        },
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 1
    assert ("in _join" in done.stderr) == (rank == "0"), "one rank prints where it waited"


@pytest.mark.exhaustive
def test_every_exception_of_a_rank_is_an_answer(monkeypatch, tmp_path, expand):
    def leave(bundle):
        sys.exit("no reason")

    monkeypatch.setattr(ranks, "world", World(SimpleNamespace(rank=3, size=4)))
    monkeypatch.setattr(mpi, "work", leave)
    ranks.world.watch = Watch(tmp_path / "locks", 3)
    rank, answer = mpi.run_bundle(Bundle((expand().task(0), expand().task(1)), tmp_path))
    assert rank == 3
    assert isinstance(answer, RunError)
    assert str(answer).startswith("rank 3 on ")
    assert str(answer).endswith(": no reason")
    assert ranks.world.watch.noted(3).endswith("urgent True or one of 1 other")

"""The throw-away cluster: it starts, it breaks as asked, and it leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slurm import daemons, emulation, guard
from slurm.commands import Slurm, SlurmError, UnreachableError
from slurm.testcluster import TestCluster

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def needed() -> None:
    """Skip where there is no Slurm, for tests that start one of their own."""
    if text := daemons.missing():
        pytest.skip(f"tests with a real Slurm: {text}")


def until(ready: Callable[[], object]) -> None:
    """Wait until something is so, with a limit."""
    deadline = time.monotonic() + 200
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def submit(cluster: TestCluster, command: str, *options: str) -> int:
    """Submit a shell command and wait until it runs."""
    script = cluster.folder / "job.sh"
    script.write_text(f"#!/bin/sh\n{command}\n")
    job = cluster.slurm.submit(script, ["--output=/dev/null", *options])
    until(lambda: cluster.slurm.jobs([job])[0].state == "RUNNING")
    return job


def alive(pid: int) -> bool:
    """Whether a process lives; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("needed")
def test_two_side_by_side_and_nothing_left_of_either() -> None:
    with TestCluster(nodes=1) as one, TestCluster(nodes=3, cpus=2, max_array_size=17) as two:
        assert one.slurm.nodes() == {"n1": "idle"}
        assert two.slurm.nodes() == {"n1": "idle", "n2": "idle", "n3": "idle"}
        assert two.slurm.limits().max_array_size == 17
        assert two.slurm.partitions()[0].cpus == 2
        # A job that hides a process in a session of its own.
        job = submit(one, f"echo $$ > {one.folder}/pid; setsid sleep 600 & sleep 600")
        assert [found.id for found in one.slurm.jobs()] == [job]
        assert two.slurm.jobs() == []
        until((one.folder / "pid").exists)
        started = [*guard.processes(one.folder), *guard.processes(two.folder)]
        assert int((one.folder / "pid").read_text()) in started
        assert len(started) >= 3 + 5 + 3  # daemons of both, and the job
    assert not any(map(alive, started))
    assert not one.folder.exists()
    assert not two.folder.exists()


@pytest.mark.usefixtures("needed")
def test_a_given_folder_is_kept_and_may_be_used_again_but_not_twice_at_once(tmp_path: Path) -> None:
    folder = Path(os.path.relpath(tmp_path)) / "lab"
    with TestCluster(folder, nodes=1) as cluster:
        assert cluster.folder == (tmp_path / "lab").absolute() or cluster.folder.samefile(tmp_path / "lab")
        with pytest.raises(SlurmError, match="a test cluster runs there already"), TestCluster(folder):
            pass
        assert cluster.slurm.nodes() == {"n1": "idle"}
    assert (tmp_path / "lab" / "log" / "slurmctld.log").exists()
    with TestCluster(folder, nodes=1):
        pass


@pytest.mark.usefixtures("needed")
def test_an_outer_job_and_a_users_habits_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_CPU_BIND", "SLURM_CLUSTERS", "SBATCH_ACCOUNT", "SQUEUE_FORMAT", "SLURM_CONF"):
        monkeypatch.setenv(name, "outer")
    cluster = TestCluster(tmp_path / "lab")
    assert "outer" not in cluster.env.values()
    assert cluster.env["HOME"] == os.environ["HOME"]
    assert not cluster.folder.exists()


@pytest.mark.usefixtures("needed")
def test_a_controller_that_ends_and_one_that_is_killed() -> None:
    with TestCluster(nodes=1, settings={"MessageTimeout": 2}) as cluster:
        job = submit(cluster, "sleep 600")
        cluster.kill_controller(orderly=True)
        with pytest.raises(UnreachableError, match="the controller is down or out of reach"):
            cluster.slurm.jobs()
        cluster.start_controller()
        assert [found.state for found in cluster.slurm.jobs([job])] == ["RUNNING"]
        cluster.kill_controller()
        cluster.start_controller()
        assert [found.id for found in cluster.slurm.jobs([job])] == [job]


@pytest.mark.usefixtures("needed")
def test_a_killed_node() -> None:
    with TestCluster() as cluster:
        job = submit(cluster, f"echo $$ >> {cluster.folder}/pids; sleep 600", "--requeue")
        (found,) = cluster.slurm.jobs([job])
        number = cluster.nodes.index(found.node) + 1
        until(lambda: (cluster.folder / "pids").exists() and (cluster.folder / "pids").read_text())
        pid = int((cluster.folder / "pids").read_text())
        cluster.kill_node(number)
        assert not alive(pid)
        assert cluster.slurm.nodes()[found.node].startswith("down")
        until(lambda: cluster.slurm.jobs([job])[0].state == "RUNNING")
        (again,) = cluster.slurm.jobs([job])
        assert again.node != found.node
        cluster.start_node(number)
        cluster.clear()
        assert set(cluster.slurm.nodes().values()) == {"idle"}


@pytest.mark.usefixtures("needed")
def test_a_start_that_fails_says_why_and_leaves_nothing() -> None:
    cluster = TestCluster(settings={"SelectType": "select/nosuch"})
    with pytest.raises(SlurmError, match=r"^test cluster: \w+ ended \(.*select.*\)$"), cluster:
        pass
    assert list(guard.processes(cluster.folder)) == []
    assert not cluster.folder.exists()


@pytest.mark.usefixtures("needed")
def test_a_port_that_somebody_took_in_the_meantime(monkeypatch: pytest.MonkeyPatch) -> None:
    with TestCluster(nodes=1) as first:
        taken = [int(line.partition("=")[2]) for line in _configuration(first) if "SlurmctldPort" in line]
        free = emulation.free_ports
        answers = iter([[*taken, *free(1)]])
        monkeypatch.setattr(emulation, "free_ports", lambda number: next(answers, None) or free(number))
        with TestCluster(nodes=1) as second:
            assert second.slurm.nodes() == {"n1": "idle"}
        assert first.slurm.nodes() == {"n1": "idle"}


def _configuration(cluster: TestCluster) -> list[str]:
    return (cluster.folder / "slurm.conf").read_text().splitlines()


@pytest.mark.usefixtures("needed")
@pytest.mark.parametrize("name", ["with blank", "umlaut-ä", "quote'", "hash#", "x" * 80])
def test_folders_that_slurm_cannot_use(tmp_path: Path, name: str) -> None:
    with pytest.raises(SlurmError, match="letters, digits and"), TestCluster(tmp_path / name):
        pass
    assert not (tmp_path / name).exists()


def test_missing_programs_name_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemons, "PROGRAMS", ("sh", "nosuchd"))
    said = r"^not installed: nosuchd; on Debian or Ubuntu: apt-get install slurmctld slurmd"
    with pytest.raises(SlurmError, match=said):
        TestCluster()


@pytest.fixture
def command(needed: None) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Run ``python -m slurm testcluster`` and return it with the cluster's folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "slurm", "testcluster", "nodes=1"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests may run in the background, where a shell has Ctrl-C ignored; a user's terminal has not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    lines = (line.strip() for line in process.stdout)
    export = next(line for line in lines if line.startswith("export SLURM_CONF="))
    yield process, Path(export.partition("=")[2]).parent
    process.kill()
    process.communicate(timeout=200)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_keeps_a_cluster_until_it_is_stopped(
    command: tuple[subprocess.Popen[str], Path], number: signal.Signals
) -> None:
    process, folder = command
    slurm = Slurm({**os.environ, "SLURM_CONF": str(folder / "slurm.conf")})
    assert slurm.nodes() == {"n1": "idle"}
    started = list(guard.processes(folder))
    process.send_signal(number)
    assert process.wait(timeout=200) == 0
    assert not any(map(alive, started))
    assert not folder.exists()


def test_nothing_is_left_where_the_starter_is_killed(command: tuple[subprocess.Popen[str], Path]) -> None:
    process, folder = command
    started = list(guard.processes(folder))
    assert len(started) >= 3
    process.kill()
    until(lambda: not any(map(alive, started)))
    until(lambda: not folder.exists())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nodes=0"], "error: nodes=0: give a whole number, 1 or more"),
        (["node=2"], "error: unknown argument 'node': did you mean 'nodes='?"),
        (["nodes="], "error: nodes=: give a value, nodes=VALUE"),
    ],
)
def test_wrong_arguments(arguments: list[str], said: str) -> None:
    command = [sys.executable, "-m", "slurm", "testcluster", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 2
    assert run.stderr.startswith(said)
    assert run.stderr.count("\n") == 1

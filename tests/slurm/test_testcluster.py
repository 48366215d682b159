"""The throw-away cluster starts, breaks as told by a test, and leaves no process and no file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from testcluster import TestCluster, missing

from slurm.commands import SlurmError, UnreachableError

pytestmark = [pytest.mark.exhaustive, pytest.mark.skipif(bool(missing()), reason=missing())]


def until(ready: Callable[[], object]) -> None:
    """Wait until a condition holds, with a limit."""
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


def test_two_side_by_side_and_nothing_left_of_either() -> None:
    with TestCluster(nodes=1) as one, TestCluster(nodes=2, cpus=2) as two:
        assert one.states() == {"n1": "idle"}
        assert two.states() == {"n1": "idle", "n2": "idle"}
        # A job that hides a process in a session of its own.
        job = submit(one, f"echo $$ > {one.folder}/pid; setsid sleep 600 & sleep 600")
        assert [found.id for found in one.slurm.jobs()] == [job]
        assert two.slurm.jobs() == []
        until((one.folder / "pid").exists)
        started = [*one.processes(), *two.processes()]
        assert len(started) >= 3 + 4 + 3  # daemons of both, and the job
    assert not any(map(alive, started))
    assert not one.folder.exists()


def test_a_controller_and_a_node_that_fail() -> None:
    with TestCluster(settings={"MessageTimeout": 2}) as cluster:
        job = submit(cluster, "sleep 600", "--requeue")
        cluster.kill_controller(orderly=True)
        with pytest.raises(UnreachableError, match="the controller is down or out of reach"):
            cluster.slurm.jobs()
        cluster.start_controller()
        (found,) = cluster.slurm.jobs([job])
        assert found.state == "RUNNING"
        number = cluster.nodes.index(found.node) + 1
        cluster.kill_node(number)
        until(lambda: cluster.slurm.jobs([job])[0].state == "RUNNING")
        assert cluster.slurm.jobs([job])[0].node != found.node
        cluster.start_node(number)
        cluster.clear()


def test_a_start_that_fails_is_an_error_that_leaves_nothing() -> None:
    cluster = TestCluster(settings={"SelectType": "select/nosuch"})
    with pytest.raises(SlurmError, match=r"^test cluster: \w+ ended \(.*select.*\)$"), cluster:
        pass
    assert list(cluster.processes()) == []
    assert not cluster.folder.exists()

"""The CPU time of a command, by its processes.

A command's workers are grandchildren (forked by a fork server), which the usual accounting of waited-for
children leaves out when the server is not waited for; so they are sampled while they live.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psutil

SAMPLE_EVERY_S = 0.02
"""CPU time after the last sample of a process is missed: this long at most."""


@dataclass(frozen=True)
class Watched:
    """Wall seconds of a command, and CPU seconds of its workers and of its other processes."""

    wall: float
    workers_cpu: float
    other_cpu: float


def is_grandchild(member: psutil.Process, root: psutil.Process) -> bool:
    """Whether a process is a worker of embedded Dask, which a fork server started."""
    return member.pid != root.pid and member.ppid() != root.pid


def is_rank(member: psutil.Process, root: psutil.Process) -> bool:
    """Whether a process is an MPI rank that works: any but rank 0."""
    return member.environ().get("PMI_RANK", "0") != "0"


def is_root(member: psutil.Process, root: psutil.Process) -> bool:
    """Whether a process is the command itself."""
    return member.pid == root.pid


def watch(
    arguments: Sequence[str],
    launcher: Sequence[str] = (),
    is_worker: Callable[[psutil.Process, psutil.Process], bool] = is_grandchild,
) -> Watched:
    """Run ``python`` with some arguments, and add up the CPU time of its processes.

    Parameters
    ----------
    arguments : sequence of str
    launcher : sequence of str
        Words before ``python``, such as ``mpiexec -n 3``.
    is_worker : callable
        Whether the CPU time of a process is a worker's; its second argument is the first process.

    Raises
    ------
    RuntimeError
        If the command fails, with the last line of its standard error.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        [*launcher, sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    root = psutil.Process(process.pid)
    seconds: dict[int, float] = {}
    workers: set[int] = set()
    while process.poll() is None:
        try:
            family = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            break
        for member in family:
            try:
                times = member.cpu_times()
                if member.pid not in seconds and is_worker(member, root):
                    workers.add(member.pid)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
            seconds[member.pid] = times.user + times.system
        time.sleep(SAMPLE_EVERY_S)
    _, errors = process.communicate()
    wall = time.perf_counter() - start
    if process.returncode:
        last = (errors.strip().splitlines() or ["(no message)"])[-1]
        raise RuntimeError(f"python {' '.join(arguments)} ended with status {process.returncode}: {last}")
    workers_cpu = sum(seconds[pid] for pid in workers)
    return Watched(wall, workers_cpu, sum(seconds.values()) - workers_cpu)

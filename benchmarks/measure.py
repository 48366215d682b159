"""Clocks: CPU time, things in turn, whole commands, and peak memory."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Name = TypeVar("Name")
Value = TypeVar("Value")


def cpu_seconds(action: Callable[[], Any]) -> float:
    """Return the CPU time of this process that a call takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


def in_turn(actions: Mapping[Name, Callable[[], Value]], rounds: int) -> dict[Name, list[Value]]:
    """Take every measurement once, then all of them once more, and so on (A B A B).

    Whatever slows the machine down for a while then hits all of them alike.
    """
    taken: dict[Name, list[Value]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            taken[name].append(action())
    return taken


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Return the median of the ratios of pairs taken in turn."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


@dataclass(frozen=True)
class Command:
    """What one run of a command took: wall-clock and CPU seconds, its children's included."""

    wall: float
    cpu: float


def python(*arguments: str) -> Command:
    """Run ``python`` with some arguments to its end.

    Raises
    ------
    RuntimeError
        If it does not end well, with the last line that it wrote to its standard error.
    """
    start, before = time.perf_counter(), os.times()
    process = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    after, end = os.times(), time.perf_counter()
    if process.returncode:
        last = (process.stderr.strip().splitlines() or ["(no message)"])[-1]
        raise RuntimeError(f"python {' '.join(arguments)} ended with status {process.returncode}: {last}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Command(end - start, cpu)


def in_fresh_process(function: Callable[..., Value], *arguments: Any) -> Value:
    """Call a function of a module in an interpreter of its own, whose memory nothing has touched before."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def peak_memory() -> float:
    """Return the most memory that this process has ever held, in MB.

    Not ``getrusage``: its maximum is inherited from the process that started this one.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == "VmHWM":
            return int(value.split()[0]) * 1024 / 1e6
    raise RuntimeError("/proc/self/status has no VmHWM")

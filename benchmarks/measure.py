"""Clocks: CPU time, measurements in turn, peak memory, and fitted exponents."""

import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

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


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent b of the power law y ~ x^b, fitted by least squares to the logarithms.

    Examples
    --------
    >>> round(exponent([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def in_fresh_process(function: Callable[..., Value], *arguments: Any) -> Value:
    """Call a function of a module in an interpreter of its own, with fresh memory."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def peak_memory() -> float:
    """Return the peak memory of this process, in MB.

    Not ``getrusage``: its maximum is inherited from the process that started this one.
    """
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key == "VmHWM":
            return int(value.split()[0]) * 1024 / 1e6
    raise RuntimeError("/proc/self/status has no VmHWM")

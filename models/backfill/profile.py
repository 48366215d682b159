"""What is free from now on: a step function of time for each host, as far as requested times tell.

The steps of all hosts are kept in flat arrays; those of a host begin at the position `at`. Step i holds from
``time[at + i]`` to the next one's time, the last one for ever, and the first begins now. Memory is counted in
whole KB, so that what is taken and given back cancels exactly.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS


@kernel(float64(FLOATS, INTS, INTS, int64, int64, int64, int64, float64), inline=True)
def earliest(
    time: Floats, processors: Ints, memory: Ints, at: int, n: int, size: int, need: int, duration: float
) -> float:
    """Return the first instant from which a job fits for its whole duration, inf if never. O(n steps)."""
    begin = np.inf
    for i in range(at, at + n):
        if begin + duration <= time[i]:
            return begin
        if processors[i] < size or memory[i] < need:
            begin = np.inf
        elif begin == np.inf:
            begin = time[i]
    return begin


@kernel(boolean(FLOATS, INTS, INTS, int64, int64, int64, int64, float64), inline=True)
def fits_now(
    time: Floats, processors: Ints, memory: Ints, at: int, n: int, size: int, need: int, end: float
) -> bool:
    """Tell whether a job fits from now to `end`. O(n steps up to the end)."""
    for i in range(at, at + n):
        if time[i] >= end:
            break
        if processors[i] < size or memory[i] < need:
            return False
    return True


@kernel(int64(FLOATS, INTS, INTS, int64, int64, float64), inline=True)
def split(time: Floats, processors: Ints, memory: Ints, at: int, n: int, instant: float) -> int:
    """Let a step begin at an instant, and return how many there are then. O(n steps)."""
    i = at + n
    while time[i - 1] > instant:
        i -= 1
    if time[i - 1] == instant:
        return n
    for k in range(at + n, i, -1):
        time[k] = time[k - 1]
        processors[k] = processors[k - 1]
        memory[k] = memory[k - 1]
    time[i] = instant
    processors[i] = processors[i - 1]
    memory[i] = memory[i - 1]
    return n + 1


@kernel(int64(FLOATS, INTS, INTS, int64, int64, float64), inline=True)
def join(time: Floats, processors: Ints, memory: Ints, at: int, n: int, instant: float) -> int:
    """Take away the step that begins at an instant if it is like the one before. O(n steps)."""
    i = at + n - 1
    while time[i] > instant:
        i -= 1
    if i == at or processors[i] != processors[i - 1] or memory[i] != memory[i - 1]:
        return n
    for k in range(i, at + n - 1):
        time[k] = time[k + 1]
        processors[k] = processors[k + 1]
        memory[k] = memory[k + 1]
    return n - 1


@kernel(int64(FLOATS, INTS, INTS, int64, int64, float64, float64, int64, int64))
def occupy(
    time: Floats, processors: Ints, memory: Ints, at: int, n: int,
    start: float, end: float, size: int, need: int,
) -> int:  # fmt: skip
    """Take processors and memory away from `start` to `end` (or give them back: negative). O(n steps).

    Returns
    -------
    int
        Steps of this host then; two more at most.
    """
    n = split(time, processors, memory, at, n, start)
    n = split(time, processors, memory, at, n, end)
    i = at + n - 1
    while time[i] >= start:
        if time[i] < end:
            processors[i] -= size
            memory[i] -= need
        i -= 1
        if i < at:
            break
    n = join(time, processors, memory, at, n, end)
    return join(time, processors, memory, at, n, start)


@kernel(int64(FLOATS, INTS, INTS, int64, int64, float64))
def forget(time: Floats, processors: Ints, memory: Ints, at: int, n: int, now: float) -> int:
    """Drop what lies before now, and return how many steps are left. O(n steps) if there is such a step."""
    past = 0
    while past + 1 < n and time[at + past + 1] <= now:
        past += 1
    if past > 0:
        for i in range(at, at + n - past):
            time[i] = time[i + past]
            processors[i] = processors[i + past]
            memory[i] = memory[i + past]
    time[at] = now
    return n - past

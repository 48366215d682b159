"""The profile of each host: its free resources from now on, a step function of time, by requested times.

Memory is counted in whole KB, so that allocations and releases cancel exactly.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Ints
from models.jobs.machine import Machine
from models.kernels.compiling import part
from models.kernels.types import fields, record

STEP = fields("time", "processors memory")
"""Free resources from an instant (seconds) on; memory in KB."""


class Steps(NamedTuple):
    """The steps of all hosts, in one array.

    Parameters
    ----------
    step : ndarray of `STEP`, shape (n_hosts * places,)
        Steps of host `h` begin at the position ``h * places``. In a profile a step lasts to the beginning of
        the next one, the last for ever, and the first begins now.
    n_steps : ndarray of int, shape (n_hosts,)
    places : int
        Number of places for the steps of each host.
    """

    step: Annotated[np.ndarray, STEP]
    n_steps: Ints
    places: int


STEPS = record(Steps)


def no_steps(n_hosts: int, places: int) -> Steps:
    """Return hosts without steps, with `places` places on each."""
    return Steps(np.empty(n_hosts * places, STEP), np.zeros(n_hosts, np.int64), places)


def all_free(machine: Machine, places: int) -> Steps:
    """Return profiles of hosts that are free for ever except for the machine's downtimes."""
    profile, n = no_steps(len(machine.names), places), 1 + 2 * len(machine.down)
    step = profile.step.reshape(-1, places)[:, :n]
    step["time"] = [-np.inf, *machine.down.ravel()]
    step["processors"], step["memory"] = machine.processors[:, None], machine.memory[:, None]
    step["processors"][:, 1::2] = step["memory"][:, 1::2] = 0
    profile.n_steps[:] = n
    return profile


@part(void(STEPS, int64, float64, int64, int64))
def begin(profile: Steps, h: int, now: float, processors: int, memory: int) -> None:
    """Begin a profile with one step: the free resources of a host from now on for ever."""
    first = profile.step[h * profile.places]
    first.time, first.processors, first.memory = now, processors, memory
    profile.n_steps[h] = 1


@part(float64(STEPS, int64, int64, int64, float64))
def earliest(profile: Steps, h: int, size: int, need: int, duration: float) -> float:
    """Return the first instant from which a job fits for its whole duration, inf if never. O(steps)."""
    at = h * profile.places
    start = np.inf
    for i in range(at, at + profile.n_steps[h]):
        if start + duration <= profile.step[i].time:
            return start
        if profile.step[i].processors < size or profile.step[i].memory < need:
            start = np.inf
        elif start == np.inf:
            start = profile.step[i].time
    return start


@part(boolean(STEPS, int64, int64, int64, float64))
def fits_now(profile: Steps, h: int, size: int, need: int, end: float) -> bool:
    """Return whether a job fits from now to `end`. O(steps up to the end)."""
    at = h * profile.places
    for i in range(at, at + profile.n_steps[h]):
        if profile.step[i].time >= end:
            break
        if profile.step[i].processors < size or profile.step[i].memory < need:
            return False
    return True


@part(int64(STEPS, int64, int64, float64))
def split(profile: Steps, at: int, n: int, instant: float) -> int:
    """Begin a step of a host at an instant, and return the new number of steps. O(steps)."""
    i = at + n
    while profile.step[i - 1].time > instant:
        i -= 1
    if profile.step[i - 1].time == instant:
        return n
    for k in range(at + n, i - 1, -1):
        profile.step[k] = profile.step[k - 1]
    profile.step[i].time = instant
    return n + 1


@part(int64(STEPS, int64, int64, float64))
def join(profile: Steps, at: int, n: int, instant: float) -> int:
    """Remove the step at an instant if it equals the previous one; return the new number of steps.

    O(steps).
    """
    i = at + n - 1
    while profile.step[i].time > instant:
        i -= 1
    if i == at:
        return n
    this, before = profile.step[i], profile.step[i - 1]
    if this.processors != before.processors or this.memory != before.memory:
        return n
    for k in range(i, at + n - 1):
        profile.step[k] = profile.step[k + 1]
    return n - 1


@part(void(STEPS, int64, float64, float64, int64, int64))
def occupy(profile: Steps, h: int, start: float, end: float, size: int, need: int) -> None:
    """Allocate processors and memory from `start` to `end` (negative numbers release them). O(steps).

    The host gets at most two more steps.
    """
    at = h * profile.places
    n = split(profile, at, profile.n_steps[h], start)
    n = split(profile, at, n, end)
    i = at + n - 1
    while profile.step[i].time >= start:
        if profile.step[i].time < end:
            profile.step[i].processors -= size
            profile.step[i].memory -= need
        i -= 1
        if i < at:
            break
    n = join(profile, at, n, end)
    profile.n_steps[h] = join(profile, at, n, start)


@part(void(STEPS, int64, float64))
def forget(profile: Steps, h: int, now: float) -> None:
    """Drop steps before now. O(steps) if there are any."""
    at = h * profile.places
    n = profile.n_steps[h]
    past = 0
    while past + 1 < n and profile.step[at + past + 1].time <= now:
        past += 1
    if past > 0:
        for i in range(at, at + n - past):
            profile.step[i] = profile.step[i + past]
    profile.step[at].time = now
    profile.n_steps[h] = n - past

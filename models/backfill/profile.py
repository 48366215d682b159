"""The profile of each host: what is free from now on, a step function of time, by requested times.

Memory is counted in whole KB, so that what is taken and returned cancels exactly.
"""

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.jobs.machine import Machine
from models.kernels.compiling import part
from models.kernels.types import record


class Profile(NamedTuple):
    """The steps of all hosts, in flat arrays.

    Parameters
    ----------
    time : ndarray of float, shape (n_hosts * places,), seconds
        When a step begins; it lasts to the beginning of the next one, the last for ever, and the first begins
        now. The steps of host `h` begin at the position ``h * places``.
    processors, memory : ndarray of int, shape (n_hosts * places,)
        What is free then; memory in KB.
    n_steps : ndarray of int, shape (n_hosts,)
    places : int
        For the steps of each host.
    """

    time: Floats
    processors: Ints
    memory: Ints
    n_steps: Ints
    places: int


PROFILE = record(Profile)


def empty(n_hosts: int, places: int) -> Profile:
    """Return profiles without steps, with so many places on each host."""
    steps = n_hosts * places
    return Profile(
        np.empty(steps),
        np.empty(steps, np.int64),
        np.empty(steps, np.int64),
        np.zeros(n_hosts, np.int64),
        places,
    )


def all_free(machine: Machine, places: int) -> Profile:
    """Return profiles of hosts that are free for ever but for the downtimes of the machine."""
    profile, n = empty(len(machine.names), places), 1 + 2 * len(machine.down)
    profile.time.reshape(-1, places)[:, :n] = [-np.inf, *machine.down.ravel()]
    for free, whole in ((profile.processors, machine.processors), (profile.memory, machine.memory)):
        free.reshape(-1, places)[:, :n] = whole[:, None]
        free.reshape(-1, places)[:, 1:n:2] = 0
    profile.n_steps[:] = n
    return profile


@part(void(PROFILE, int64, float64, int64, int64))
def begin(profile: Profile, h: int, now: float, processors: int, memory: int) -> None:
    """Begin a profile with one step: so much is free on a host from now on for ever."""
    at = h * profile.places
    profile.time[at] = now
    profile.processors[at] = processors
    profile.memory[at] = memory
    profile.n_steps[h] = 1


@part(float64(PROFILE, int64, int64, int64, float64))
def earliest(profile: Profile, h: int, size: int, need: int, duration: float) -> float:
    """Return the first instant from which a job fits for its whole duration, inf if never. O(steps)."""
    at = h * profile.places
    start = np.inf
    for i in range(at, at + profile.n_steps[h]):
        if start + duration <= profile.time[i]:
            return start
        if profile.processors[i] < size or profile.memory[i] < need:
            start = np.inf
        elif start == np.inf:
            start = profile.time[i]
    return start


@part(boolean(PROFILE, int64, int64, int64, float64))
def fits_now(profile: Profile, h: int, size: int, need: int, end: float) -> bool:
    """Return whether a job fits from now to `end`. O(steps up to the end)."""
    at = h * profile.places
    for i in range(at, at + profile.n_steps[h]):
        if profile.time[i] >= end:
            break
        if profile.processors[i] < size or profile.memory[i] < need:
            return False
    return True


@part(int64(PROFILE, int64, int64, float64))
def split(profile: Profile, at: int, n: int, instant: float) -> int:
    """Begin a step of a host at an instant, and return how many there are then. O(steps)."""
    i = at + n
    while profile.time[i - 1] > instant:
        i -= 1
    if profile.time[i - 1] == instant:
        return n
    for k in range(at + n, i, -1):
        profile.time[k] = profile.time[k - 1]
        profile.processors[k] = profile.processors[k - 1]
        profile.memory[k] = profile.memory[k - 1]
    profile.time[i] = instant
    profile.processors[i] = profile.processors[i - 1]
    profile.memory[i] = profile.memory[i - 1]
    return n + 1


@part(int64(PROFILE, int64, int64, float64))
def join(profile: Profile, at: int, n: int, instant: float) -> int:
    """Remove the step that begins at an instant if it is like the one before; return how many are left.

    O(steps).
    """
    i = at + n - 1
    while profile.time[i] > instant:
        i -= 1
    if i == at:
        return n
    if profile.processors[i] != profile.processors[i - 1] or profile.memory[i] != profile.memory[i - 1]:
        return n
    for k in range(i, at + n - 1):
        profile.time[k] = profile.time[k + 1]
        profile.processors[k] = profile.processors[k + 1]
        profile.memory[k] = profile.memory[k + 1]
    return n - 1


@part(void(PROFILE, int64, float64, float64, int64, int64))
def occupy(profile: Profile, h: int, start: float, end: float, size: int, need: int) -> None:
    """Take processors and memory from `start` to `end` (or return them: negative). O(steps).

    The host has two steps more then at most.
    """
    at = h * profile.places
    n = split(profile, at, profile.n_steps[h], start)
    n = split(profile, at, n, end)
    i = at + n - 1
    while profile.time[i] >= start:
        if profile.time[i] < end:
            profile.processors[i] -= size
            profile.memory[i] -= need
        i -= 1
        if i < at:
            break
    n = join(profile, at, n, end)
    profile.n_steps[h] = join(profile, at, n, start)


@part(void(PROFILE, int64, float64))
def forget(profile: Profile, h: int, now: float) -> None:
    """Drop what lies before now. O(steps) if there is such a step."""
    at = h * profile.places
    n = profile.n_steps[h]
    past = 0
    while past + 1 < n and profile.time[at + past + 1] <= now:
        past += 1
    if past > 0:
        for i in range(at, at + n - past):
            profile.time[i] = profile.time[i + past]
            profile.processors[i] = profile.processors[i + past]
            profile.memory[i] = profile.memory[i + past]
    profile.time[at] = now
    profile.n_steps[h] = n - past

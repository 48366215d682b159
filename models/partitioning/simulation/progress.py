"""How a job gets on: compiled functions that bring its account up to date and give it another partition.

Progress is fluid. Where jobs repeat cycles of computing and communicating, a job works at 1 / step_time(its
partition) cycles a second, where the time of a cycle is its expected value over the threads' random times.
What is left out is the fluctuation of the sum over a job's cycles, below 0.1 % for a job of 300 (tests draw
every thread's time and compare).
"""

from __future__ import annotations

from typing import Any

from numba import float64, int64, void

from models.kernels.compiling import part
from models.partitioning.simulation.state import (
    ALONE,
    FINISH,
    LEFT,
    NOT_YET,
    NOW,
    PLAN,
    RATE,
    RATE_BEFORE,
    RESUME,
    SHARE,
    SINCE,
    SIZE,
    START,
    STATE,
    STOP,
    Plan,
    State,
)
from models.workloads.speedup.curves import CURVE


@part(void(int64, STATE))
def catch_up(job: int, state: State) -> None:
    """Take what was worked since the last look off the work left."""
    real, now = state.real, state.clocks[NOW]
    since = real[job, SINCE]
    if now > real[job, RESUME]:
        real[job, LEFT] -= (now - max(since, real[job, RESUME])) * real[job, RATE]
    if since < real[job, STOP]:
        real[job, LEFT] -= (min(now, real[job, STOP]) - since) * real[job, RATE_BEFORE]
    real[job, SINCE] = now


@part(void(int64, STATE))
def foresee_end(job: int, state: State) -> None:
    """Write when the job will end if nothing changes; its account is up to date."""
    real, now = state.real, state.clocks[NOW]
    left = max(real[job, LEFT], 0.0)  # not below, whatever rounding did
    before = 0.0
    if now < real[job, STOP]:
        before = (real[job, STOP] - now) * real[job, RATE_BEFORE]
        if left <= before:
            real[job, FINISH] = now + left / real[job, RATE_BEFORE]
            return
    real[job, FINISH] = max(now, real[job, RESUME]) + (left - before) / real[job, RATE]


@part(float64(int64, int64, STATE, PLAN, CURVE))
def rate_on(share: int, job: int, state: State, plan: Plan, curve: Any) -> float:
    """Return the seconds alone on the machine that a job works off in a second on a share."""
    if plan.settings.by_shape:
        return plan.rate[share]
    speed = curve(plan.processors[share], state.whole[job, SIZE], plan.curve)
    return speed / state.real[job, ALONE]


@part(void(int64, float64, float64, int64, STATE, PLAN, CURVE))
def reallocate(job: int, wait: float, pause: float, share: int, state: State, plan: Plan, curve: Any) -> None:
    """Give a job another partition.

    It works on as it does for `wait` seconds, stands still for `pause` seconds, then works as fast as the
    new partition lets it. If it is already standing still or about to, the moves are done one after the
    other.
    """
    real, now = state.real, state.clocks[NOW]
    catch_up(job, state)
    if now < real[job, STOP]:
        pause += real[job, RESUME] - real[job, STOP]
    elif now < real[job, RESUME]:
        pause += real[job, RESUME] - now
        wait = 0.0
    else:
        real[job, RATE_BEFORE] = real[job, RATE]
    real[job, STOP] = now + wait
    real[job, RESUME] = now + wait + pause
    real[job, RATE] = rate_on(share, job, state, plan, curve)
    state.whole[job, SHARE] = share
    foresee_end(job, state)


@part(void(int64, float64, int64, STATE, PLAN, CURVE))
def begin(job: int, wait: float, share: int, state: State, plan: Plan, curve: Any) -> None:
    """Give a job that has come into memory a partition, on which it works after `wait` seconds."""
    real, now = state.real, state.clocks[NOW]
    if real[job, START] == NOT_YET:
        real[job, START] = now
    real[job, SINCE] = now
    real[job, STOP] = now
    real[job, RESUME] = now + wait
    real[job, RATE] = rate_on(share, job, state, plan, curve)
    state.whole[job, SHARE] = share
    foresee_end(job, state)

"""A loop whose time stands still ends with one line; many events at one instant do not end it."""

import numpy as np
import pytest
from numba import float64, int64

from models.kernels import standstill
from models.kernels.compiling import kernel
from models.kernels.standstill import STEPS, STEPS_OF_A_JOB, count_repeated, stands_still
from models.kernels.types import fields
from models.production_gang.t3d.commands import commands_of


@kernel(int64(float64, int64, int64))
def loop(step: float, n_steps: int, n_jobs: int) -> int:
    """Advance time from 1e6 s on, and return the steps at the last instant."""
    now, repeated = 1e6, 0
    for _ in range(n_steps):
        repeated = count_repeated(repeated, now, now + step)
        now += step
        if stands_still(repeated, n_jobs):
            break
    return repeated


@pytest.mark.parametrize(("step", "is_stuck"), [(1.0, False), (1e-9, False), (1e-12, True), (0.0, True)])
def test_time_that_does_not_advance_is_noticed(step: float, is_stuck: bool) -> None:
    n_jobs = 10
    most = STEPS + STEPS_OF_A_JOB * n_jobs
    scalars = np.zeros(1, fields("now", standstill.REPEATED))
    scalars["now"] = 1e6
    scalars[standstill.REPEATED] = loop(step, 2 * most, n_jobs)
    if not is_stuck:
        standstill.check(scalars[0], n_jobs)
        return
    with pytest.raises(RuntimeError, match=r"time stands still at 1e\+06 s, after 101,001 events") as refused:
        standstill.check(scalars[0], n_jobs)
    assert "\n" not in str(refused.value)
    scalars[standstill.REPEATED] = loop(step, most, n_jobs)
    standstill.check(scalars[0], n_jobs)


@pytest.mark.parametrize("late", ["1e9", "9" * 400 + "d", "11575d"])
def test_a_command_after_decades_is_refused(late: str) -> None:
    policy = {"commands": ["1h suspend 1", f"{late} resume 1"], "preemptive": True}
    with pytest.raises(ValueError, match=r"policy\.commands\[1\]="):
        commands_of(policy, "policy", "commands")

"""Where processor time is lost under fixed slices: as the engines count it, and recounted at random times."""

from collections.abc import Callable

import numpy as np
import pytest
import slices_cases as cases


def within(begin: np.ndarray, end: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return which intervals hold at which times, shape (times, intervals)."""
    return (begin <= now[:, None]) & (now[:, None] < end)


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(2, 15))]


@pytest.mark.parametrize("draw", [cases.tc2000, cases.alpha])
@pytest.mark.parametrize("seed", SEEDS)
def test_levels_are_those_of_the_schedule(draw: Callable[[int], cases.Case], seed: int) -> None:
    """Idle processors are lost, to limits within the reserve, while a job neither runs nor switches."""
    case = draw(seed)
    run = case.run()
    switches, levels = run.detail.switches, run.levels
    now = np.random.default_rng(seed).uniform(0, run.end.max(), 300)
    runs = within(run.runs.begin, run.runs.end, now)
    switch = within(switches.begin, switches.end, now)
    switching = switch @ switches.used
    gangs = run.jobs.size >= case.policy.get("gang_from", 0)
    # A gang holds processors of which the class scheduler withholds a part.
    held = run.runs.processors / np.where(gangs[run.runs.job], case.policy.get("delivered", 1.0), 1.0)
    withheld = runs @ (held - run.runs.processors)
    idle = case.machine.total - runs @ held - switching
    jobs = np.arange(len(run.jobs))
    active = (runs @ (run.runs.job[:, None] == jobs)) + (switch @ (switches.job[:, None] == jobs)) > 0
    waits = (within(run.jobs.submit, run.end, now) & ~active).any(axis=1)
    kept, limits = case.policy.get("reserved", 0), np.zeros(len(now))
    for host in range(len(case.machine.names)):
        others = (run.runs.host == host) & ~gangs[run.runs.job]
        limits += np.maximum(kept - runs[:, others] @ run.runs.processors[others], 0)
    limits = np.where(waits, np.minimum(limits, idle), 0)
    found = np.searchsorted(levels.time, now, side="right") - 1
    np.testing.assert_allclose(levels.switching[found], switching, atol=1e-6)
    np.testing.assert_allclose(levels.limits[found], limits + withheld, atol=1e-6)
    np.testing.assert_allclose(levels.packing[found], np.where(waits, idle, 0) - limits, atol=1e-6)

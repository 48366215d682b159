"""Where processor time goes that no job gets: as the engines count it, and recounted from the schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import slices_cases as cases
from slices_accounts import levels_of


def areas(levels: Any, until: np.ndarray) -> np.ndarray:
    """Return the integrals of all levels up to some times."""
    found = []
    for level in (levels.switching, levels.packing, levels.limits):
        area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(levels.time))])
        found.append(np.interp(until, levels.time, area))
    return np.array(found)


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(2, 30))]


@pytest.mark.parametrize("draw", [cases.tc2000, cases.alpha])
@pytest.mark.parametrize("seed", SEEDS)
def test_levels_are_those_of_the_schedule(draw: Callable[[int], cases.Case], seed: int) -> None:
    case = draw(seed)
    run = case.run()
    made = run.schedule
    kept = case.policy.get("reserved", 0)
    is_gang = made.jobs.size >= case.policy.get("gang_from", 0)
    recounted = levels_of(made, run.detail.switches, is_gang, np.full(len(case.machine.names), kept))
    assert (np.diff(run.levels.time) > 0).all()
    until = np.linspace(0, made.end.max(), 50)
    np.testing.assert_allclose(areas(run.levels, until), areas(recounted, until), rtol=1e-7, atol=1e-3)

"""What switches cost: the fluid share against slices one by one."""

import numpy as np
import pytest
from gang_cases import Case
from gang_twin import Session

SLICE, SWITCH = 0.01, 0.002


def slice_by_slice(runtimes: list[float], slice_s: float, switch: float) -> list[float]:
    """Return the ends of jobs of the whole machine, all there from the beginning, a slice at a time."""
    left, ends, now = dict(enumerate(runtimes)), [0.0] * len(runtimes), 0.0
    while left:
        for job in list(left):
            if len(left) == 1:
                ends[job] = now + left.pop(job)
                break
            useful = slice_s - switch
            if left[job] <= useful:
                ends[job] = now + switch + left.pop(job)
            else:
                left[job] -= useful
            now += slice_s
    return ends


@pytest.mark.parametrize("switch", [0.0, 0.001, SWITCH, 0.005])
def test_slices_one_by_one(switch: float) -> None:
    rng = np.random.default_rng(2)
    for n_jobs in (2, 3, 6):
        runtimes = rng.exponential(2.0, n_jobs).tolist()
        sessions = tuple(Session(0.0, 4, runtime, 1, key) for key, runtime in enumerate(runtimes))
        case = Case("best_fit", 4, sessions, slice=SLICE, switch_cost=switch, batch_size=n_jobs)
        expected = slice_by_slice(runtimes, SLICE, switch)
        # Every end may differ by a round of slices, and so may each of those before it.
        assert case.finished().responses == pytest.approx(expected, abs=n_jobs * n_jobs * SLICE)

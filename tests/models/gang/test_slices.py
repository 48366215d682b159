"""What switches cost: the fluid share against a closed form, slices one by one, and switched tasks."""

import numpy as np
import pytest
from gang_cases import EIGHT, POLICIES, Case
from gang_twin import Session

from models.point import Batches

SLICE, SWITCH = 0.01, 0.002
WHOLE = Batches(None, 0, (1,))


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
def test_equal_jobs_of_the_whole_machine(name: str, n_jobs: int) -> None:
    """Each of n slots has 1 / n of the time, less the switches; one slot is never switched."""
    sessions = tuple(Session(0.0, 8, 3.0, 1, key) for key in range(n_jobs))
    case = Case(name, 8, sessions, POLICIES[name], slice=2.0, switch_cost=0.5, batch_size=n_jobs)
    kernel = case.finished()
    lost = 0.25 if n_jobs > 1 else 0.0
    assert kernel.responses == pytest.approx(3.0 * n_jobs / (1 - lost), rel=1e-12)
    assert kernel.metrics()["utilization"] == pytest.approx([1 - lost], rel=1e-12)


@pytest.mark.parametrize("alternation", ["none", "exclusive", "shared"])
def test_who_runs_in_all_slots_loses_the_switches_too(alternation: str) -> None:
    """Four PEs, jobs of 3, 3 and 1: the third has its PE in both slots for itself, where it may use it."""
    sessions = tuple(Session(0.0, size, 1.0, 1, size) for size in (3, 3, 1))
    case = Case("left_right_size", 4, sessions, {"threshold": 4}, alternation, slice=1.0, switch_cost=0.2)
    slots = 1 if alternation == "none" else 2
    expected = 2.0 / slots / 0.8
    assert case.finished(batch_size=3).responses[2] == pytest.approx(expected, rel=1e-12)


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

"""How a class of the Origin 2000 is bent towards its demands: the tilts and what they leave as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from o2k_cases import workload
from scipy.optimize import minimize

from models.workloads.o2k.assumptions import Assumptions
from models.workloads.o2k.calibration import LARGEST, calibrate
from models.workloads.o2k.classes import Draft, draft
from models.workloads.o2k.job_classes import CLASSES
from models.workloads.o2k.shapes import Stiffness, choice, span

ASSUMED = Assumptions.of(workload("2000-01"))
TILTS = st.floats(-LARGEST, LARGEST)


@given(TILTS, TILTS)
def test_tilts_move_all_numbers_one_way_and_keep_ranks_and_limits(one: float, other: float) -> None:
    rank = (np.arange(50) + 0.5) / 50
    low, high = sorted((one, other))
    for numbers in (span(2.0, 300.0, rank), choice(((2, 1), (7, 2), (300, 1)), rank)):
        assert (numbers.at(low) <= numbers.at(high)).all()
        assert (np.diff(numbers.at(one)) >= 0).all()
        assert numbers.at(one).min() >= 2
        assert numbers.at(one).max() <= 300 * (1 + 1e-12)


def demands(jobs: Draft, runtime: float, size: float, memory: float) -> tuple[float, float]:
    """Return processor-hours and GB-hours of jobs under three tilts."""
    hours = jobs.runtime.at(runtime) / 3600
    processors = jobs.size.at(size)
    return float(processors @ hours), float(jobs.memory(processors).at(memory) @ hours) / 1024


@pytest.mark.parametrize("name", CLASSES)
def test_demands_of_a_known_tilt_are_met_again(name: str) -> None:
    jobs = draft(name, 200, ASSUMED, (1, 2, 3), "month")
    for known in ((0.0, 0.0, 0.0), (0.8, -0.3, 0.5), (-0.5, 0.4, 1.2)):
        wanted = demands(jobs, *known)
        tilts = calibrate(jobs, *wanted, ASSUMED.stiffness)
        assert demands(jobs, tilts.runtime, tilts.size, tilts.memory) == pytest.approx(wanted, rel=1e-4)
        assert tilts.miss < 1e-4


@pytest.mark.parametrize("weights", [(1.0, 2.0, 0.5), (3.0, 1.0, 1.0), (1.0, 0.2, 5.0)])
def test_stiffness_shares_the_bending_with_the_least_energy(weights: tuple[float, float, float]) -> None:
    """By trying other bendings that keep the two sums of tilts: none has less."""
    least = minimize(
        lambda size: np.dot(weights, np.cosh([1.3 - size[0], size[0], 0.4 - (1.3 - size[0])])),
        [0.0],
        tol=1e-12,
    ).x[0]
    tilts = (1.3 - least, least, 0.4 - (1.3 - least))
    assert Stiffness(*weights).imbalance(*tilts) == pytest.approx(0, abs=1e-4)
    assert Stiffness(*weights).imbalance(tilts[0] - 0.1, tilts[1] + 0.1, tilts[2] + 0.1) > 0

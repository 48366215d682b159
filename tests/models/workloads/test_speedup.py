"""Speed-ups of rigid jobs on other numbers of processors than they ask for."""

from typing import Any

import numpy as np
import pytest
from numba import njit

from models.partitioning.simulation.source import speeds_on
from models.workloads.speedup import Speedup
from models.workloads.speedup.curves import CURVE_SIGNATURE


def downey(average: float | None, sigma: float) -> Speedup:
    return Speedup.of({"speedup": "downey", "downey": {"average_parallelism": average, "sigma": sigma}})


def on(numbers: np.ndarray, size: int, speedup: Speedup) -> np.ndarray:
    return speeds_on(numbers, np.full(len(numbers), size), speedup)


@pytest.mark.parametrize("sigma", [0.0, 0.4, 1.0, 1.00001, 3.0])
def test_downey_s_speed_up_is_continuous_and_ends_at_the_average_parallelism(sigma: float) -> None:
    """Nothing jumps where a formula takes over from another; without variance it is linear up to A."""
    numbers = np.arange(1.0, 100.0, 0.01)
    found = on(numbers, 1, downey(20.0, sigma))
    assert found[0] == pytest.approx(1.0)
    assert found[-1] == 20.0
    assert (np.diff(found) > -1e-12).all()
    assert np.diff(found).max() < 0.0101
    if sigma == 0:
        assert found == pytest.approx(np.minimum(numbers, 20.0))


@njit(CURVE_SIGNATURE)
def falls_to_nothing(processors: float, size: int, parameters: Any) -> float:
    return 10.0 - processors


@njit(CURVE_SIGNATURE)
def amdahl(processors: float, size: int, parameters: Any) -> float:
    """A tenth of the work is sequential."""
    return 1 / (0.1 + 0.9 / processors)


def test_a_function_of_one_s_own() -> None:
    numbers = np.array([1.0, 2.0, 9.0])
    found = on(numbers, 4, Speedup.of({"speedup": f"{__name__}.amdahl"}))
    assert found == pytest.approx(1 / (0.1 + 0.9 / numbers))
    with pytest.raises(
        ValueError, match="0 on 10 processors for a job of 4; allowed: a finite speed above 0"
    ):
        on(np.array([10.0]), 4, Speedup.of({"speedup": f"{__name__}.falls_to_nothing"}))
    with pytest.raises(ValueError, match=r"speedup=math\.sqrt; allowed: a function that is compiled"):
        on(numbers, 4, Speedup.of({"speedup": "math.sqrt"}))

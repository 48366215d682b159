"""Speed-ups of rigid jobs on other numbers of processors than they ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from models.partitioning.simulation.source import speeds_on
from models.topology.mesh import Mesh
from models.workloads.speedup import Speedup
from models.workloads.speedup.curves import CURVE_SIGNATURE
from models.workloads.speedup.cycle import Steps, best_speeds, mean_step

CYCLE: dict[str, Any] = {
    "compute_time": 0.1, "delta": 0.0, "communication_time": 0.001, "code_bytes": 524288,
    "data_bytes": 4194304,
}  # fmt: skip
MESH = Mesh(16, 16, 0.0005, 200 * 2**20)


def downey(average: float | None, sigma: float) -> Speedup:
    return Speedup.of({"speedup": "downey", "downey": {"average_parallelism": average, "sigma": sigma}})


def on(numbers: np.ndarray, size: int, speedup: Speedup) -> np.ndarray:
    return speeds_on(numbers, np.full(len(numbers), size), speedup)


def test_linear_is_the_default_and_ends_at_what_a_job_asks_for() -> None:
    found = on(np.array([1.0, 6.0, 7.0, 8.0, 100.0]), 7, Speedup.of({}))
    assert found.tolist() == [1.0, 6.0, 7.0, 7.0, 7.0]


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


@pytest.mark.parametrize("sigma", [1.0, np.nextafter(1.0, 2.0)])
def test_both_formulas_of_downey_agree_at_a_variance_of_one(sigma: float) -> None:
    """At n = A: 2 A^2 / (3 A - 1), with the job's own processors as A."""
    assert on(np.array([16.0]), 16, downey(None, float(sigma)))[0] == pytest.approx(2 * 16**2 / (3 * 16 - 1))


def test_the_knee_of_downey_s_curve_by_hand() -> None:
    """A = 8: sigma = 0.5 ends at 2 A - 1 = 15; sigma = 2 at A + A sigma - sigma = 22."""
    assert on(np.array([12.0, 15.0, 16.0]), 8, downey(None, 0.5)) == pytest.approx([96 / 12.75, 8, 8])
    assert on(np.array([12.0, 22.0, 23.0]), 8, downey(None, 2.0)) == pytest.approx([288 / 46, 8, 8])


def test_the_best_rectangle_of_so_many_processors() -> None:
    steps = Steps.of(CYCLE)
    best = best_speeds(MESH, steps)
    assert best[256] == 1.0
    assert best[64] == pytest.approx(mean_step(MESH, steps, 16, 16) / mean_step(MESH, steps, 8, 8))
    assert best[251] == best[240]  # a prime number that no rectangle has
    assert (np.diff(best) >= 0).all()


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

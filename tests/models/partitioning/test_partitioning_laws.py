"""The simulation of partitioned machines against the birth-death chain."""

from typing import Any

import numpy as np
import pytest
from partitioning_cases import MACHINE, POLICIES, WORKLOAD

from models.family import Outcome
from models.partitioning import FAMILY
from models.partitioning.static import birth_death
from models.point import Batches, Point

SEED = (1, 2, 0)
SHORT, LONG, ALL = range(3)


def simulate(policy: dict[str, Any], workload: dict[str, Any], load: float, batches: Batches) -> Outcome:
    return FAMILY.simulate(Point(policy, workload, MACHINE, load, batches, SEED))


def near(values: np.ndarray, expected: float) -> bool:
    """Return whether the mean of independent batches lies within four standard errors."""
    return bool(abs(values.mean() - expected) < 4 * values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize(
    ("policy", "rotation"),
    [
        ("equi", {}),
        ("equi_plus", {}),
        ("fold_never", {}),
        ("fold_7", {"rotation": 20.0}),
        ("fold_2j", {"rotation": 20.0}),
    ],
)
@pytest.mark.parametrize("load", [pytest.param(0.5, marks=pytest.mark.exhaustive), 0.75])
def test_the_birth_death_chain_where_its_assumptions_hold(
    policy: str, rotation: dict[str, float], load: float
) -> None:
    """Jobs of one kind, no cost of arrivals and departures; rotations cost what equation 5.3 comes to."""
    parameters = POLICIES[policy] | rotation | {"reallocation_cost": False, "overhead": "derived"}
    workload = WORKLOAD | {"short_time": 300.0, "long_time": 300.0, "isolated_time": 300.0, "delta": 0.0}
    batches = Batches(4000, 1, (40,))
    simulated = simulate(parameters, workload, load, batches).metrics
    chain = birth_death.simulate(Point(parameters, workload, MACHINE, load, batches, SEED)).metrics
    assert near(simulated["class_response_time"][:, ALL] / 300, chain["blow_up"][0])
    assert near(simulated["jobs_in_system"], chain["jobs_in_system"][0])

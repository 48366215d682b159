"""What the kernel is timed against in `benchmarks.concurrent_gang` simulates the same."""

import numpy as np
import pytest

from benchmarks.concurrent_gang import BASELINES, WORKLOADS, at, in_simpy
from models.concurrent_gang import model

HORIZON = 5_000.0


@pytest.mark.parametrize("policy", BASELINES)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_jobs_end_when_they_do_in_simpy(policy: str, workload: str) -> None:
    point = at(policy, workload, HORIZON)
    machine, arrivals = in_simpy(point, BASELINES[policy])
    expected = {number: end for number, end in enumerate(machine.run(arrivals, HORIZON)) if end is not None}
    simulation = model.prepare(point)
    simulation.run(1, until=HORIZON)
    ended = simulation.ended()
    assert len(expected) > 5
    assert set(ended.number.tolist()) == set(expected)
    np.testing.assert_allclose(ended.end, [expected[number] for number in ended.number], atol=1e-6)

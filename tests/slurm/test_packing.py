"""Tasks divided among elements: nothing lost, nothing twice, even lengths."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies import TASKS, expand

from slurm import packing, profile
from slurm.answers import Limits
from sweep.store.costs import Costs, keys

seconds = st.lists(st.floats(0.001, 1000), min_size=1, max_size=200)


@given(seconds, st.integers(1, 50))
@settings(max_examples=100)
def test_every_task_is_in_one_element_and_elements_are_even(taken, n):
    taken, n = np.array(taken), min(n, len(taken))
    numbers = np.arange(len(taken)) * 3
    packed = packing.pack(numbers, taken, n)
    assert packed.n_elements == n
    shares = [packed.share(element) for element in range(n)]
    assert sorted(np.concatenate(shares).tolist()) == numbers.tolist()
    lengths = [taken[share // 3].sum() for share in shares]
    assert max(lengths) - min(lengths) <= taken.max() * (1 + 1e-9)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    back_and_forth = packing.pack(np.arange(4), np.array([4.0, 3.0, 2.0, 1.0]), 2)
    assert [back_and_forth.share(element).tolist() for element in (0, 1)] == [[0, 3], [1, 2]]


@pytest.mark.parametrize(
    ("taken", "cores", "time", "wanted", "allowed", "expected"),
    [
        ([60.0] * 100, 1, "UNLIMITED", 300, 1000, 5),  # 6000 s in elements of 1200 s
        ([60.0] * 100, 4, "UNLIMITED", 300, 1000, 2),
        ([0.001] * 10, 1, "UNLIMITED", 300, 1000, 1),
        ([1200.0] * 1000, 1, "UNLIMITED", 300, 1000, 300),  # as few files as wanted ...
        ([1200.0] * 1000, 1, "1:00:00", 300, 1000, 417),  # ... but each ends in 0.8 of its time
        ([1200.0] * 1000, 1, "1:00:00", 300, 350, 350),  # ... and the cluster takes no more
        ([math.nan, 1.0] * 100, 1, "UNLIMITED", 300, 1000, packing.UNMEASURED_ELEMENTS),
        ([math.nan], 1, "UNLIMITED", 300, 1000, 1),
    ],
)
def test_number_of_elements(taken, cores, time, wanted, allowed, expected):
    asked = profile.load("default", {"cpus_per_task": cores, "time": time, "target_minutes": 20})
    assert packing.elements(np.array(taken), asked, wanted, allowed) == expected


def test_predictions_are_the_measured_costs(tmp_path):
    plan = expand()
    costs = Costs(tmp_path / "none")
    assert np.isnan(packing.predicted(plan, np.arange(24), costs)).all()
    key = keys(plan)
    for number in range(24):
        costs.add(key(number), (1.0 if "slow" in key(number) else 0.25) / plan.longest.jobs)
    found = packing.predicted(plan, np.array([23, 0, 1, 5]), costs)
    expected = [1.0 if "slow" in key(number) else 0.25 for number in (23, 0, 1, 5)]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("most", [(20, None), (20, 1000), (1000, 20)])
def test_a_submission_leaves_jobs_to_others_and_one_to_the_gathering(tmp_path, most):
    """Of 20 jobs that the cluster takes, of all users or of this one, nine tenths, less one."""
    plan, costs = expand(), Costs(tmp_path / "costs.json")
    for number in range(TASKS):
        costs.add(keys(plan)(number), 1e6)
    given = SimpleNamespace(plan=plan, left=list(range(TASKS)), costs=costs)
    outline = packing.outlined(given, profile.load("default", {}), Limits("fake", "0", 1001, *most), 300)
    assert outline.packing.n_elements == 17


@pytest.mark.parametrize(
    ("seconds", "note"),
    [([2000.0], ""), ([3000.0], "note      a task is"), ([2000.0] * 2, "note      an element is")],
)
def test_what_does_not_fit_in_its_time_is_noted(seconds, note):
    """Of an hour, elements fill 0.8 at most."""
    asked = profile.load("default", {"time": "1:00:00", "cpus_per_task": 1})
    taken = np.array(seconds)
    outline = packing.Outline(asked, packing.pack(np.arange(len(taken)), taken, 1), taken)
    assert [line[: len(note)] for line in outline.notes()] == ([note] if note else [])

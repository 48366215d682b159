"""How long a study takes on many workers: the policy itself, on simulated workers with their own clock."""

import pytest

from benchmarks.makespan import makespan, mixed


@pytest.mark.parametrize(
    ("workers", "short_s"), [(2, 0.02), (30, 0.02), pytest.param(1000, 0.1, marks=pytest.mark.exhaustive)]
)
def test_one_long_task_among_many_short_ones(workers, short_s):
    """At most 1.1 times what no order can beat, also where it is not known beforehand which one is long."""
    study = mixed(workers, short_s, [1.8])
    for known in (True, False):
        assert makespan(study, workers, known=known) <= 1.1 * study.bound(workers)


def test_a_task_longer_than_all_the_rest():
    """It is the bound, and nothing waits for it or before it."""
    study = mixed(4, 0.02, [60.0])
    for known in (True, False):
        assert makespan(study, 4, known=known) <= 60.1


@pytest.mark.exhaustive
def test_many_long_tasks_of_a_policy_without_a_timing():
    """They are not left for the end because the first has not come back yet."""
    study = mixed(10, 0.01, [1.0] * 20)
    assert makespan(study, 10, known=False) <= 1.1 * study.bound(10)

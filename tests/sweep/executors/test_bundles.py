"""When bundles end, where their results go, and what is known of what tasks take."""

from pathlib import Path

import numpy as np
import pytest

from sweep.executors.bundles import Bundles
from sweep.store.costs import NEWEST, Costs


@pytest.fixture
def costs(tmp_path):
    """Return costs of a user who has measured nothing yet."""
    return Costs(tmp_path / "none")


def test_no_more_is_the_end(expand, costs):
    answers = iter([True, True, False])
    bundles = Bundles(expand(), range(24), costs, Path("x"), 0.05, more=lambda: next(answers))
    assert len(list(bundles)) == 2


def test_shared_logs_take_turns(expand, costs):
    bundles = Bundles(expand(), range(5), costs, Path("x"), 0.05, logs=["a", "b"])
    assert [bundle.log for bundle in bundles] == ["a", "b", "a", "b", "a"]
    assert {bundle.log for bundle in Bundles(expand(), range(5), costs, Path("x"), 0.05)} == {None}


@pytest.mark.parametrize("known", [[], [4.0]])
@pytest.mark.parametrize("taken", [[1.0], [3.0, 1.0, 7.0, 2.0]])
def test_many_costs_at_once_weigh_as_one_by_one(tmp_path, known, taken):
    one, many = Costs(tmp_path / "none"), Costs(tmp_path / "none")
    for cost in known:
        one.add(("a", "b"), cost)
        many.add(("a", "b"), cost)
    for cost in taken:
        one.add(("a", "b"), cost)
    many.add(("a", "b"), np.array(taken))
    if known:
        assert many.seconds_a_job(("a", "b")) == pytest.approx(one.seconds_a_job(("a", "b")))
    else:  # nothing to weigh the first one against: the mean with the same weights
        weights = (1 - NEWEST) ** np.arange(len(taken))[::-1]
        assert many.seconds_a_job(("a", "b")) == pytest.approx(np.average(taken, weights=weights))


def test_a_whole_log_is_not_expected_to_cost_what_a_job_does(expand, costs):
    jobs, whole = expand(), expand("batches=1", "batch_size=null")
    Bundles(jobs, range(24), costs, Path("x"), 0.05).learn(0, 2.0)
    bundles = Bundles(whole, range(24), costs, Path("x"), 0.05)
    assert bundles.outlook(2).unknown == 24
    bundles.learn(0, 3.0)
    outlook = bundles.outlook(2)
    assert (outlook.work, outlook.unknown) == (pytest.approx(12 * 3.0), 12), "nor that of another policy"

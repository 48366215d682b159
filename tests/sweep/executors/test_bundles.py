"""When bundles end, where their results go, and what is known of what tasks take."""

from pathlib import Path

import numpy as np
import pytest

from sweep.executors.bundles import Bundles
from sweep.store.costs import Costs


def test_no_more_is_the_end(expand, costs):
    answers = iter([True, True, False])
    bundles = Bundles(expand(), range(24), costs, Path("x"), 0.05, more=lambda: next(answers))
    assert len(list(bundles)) == 2


def test_shared_logs_take_turns(expand, costs):
    bundles = Bundles(expand(), range(5), costs, Path("x"), 0.05, logs=["a", "b"])
    assert [bundle.log for bundle in bundles] == ["a", "b", "a", "b", "a"]
    assert {bundle.log for bundle in Bundles(expand(), range(5), costs, Path("x"), 0.05)} == {None}


def test_a_cost_is_the_mean_of_a_run_in_which_earlier_runs_count_for_four_tasks(tmp_path):
    one, many = Costs(tmp_path / "costs"), Costs(tmp_path / "none")
    many.add(("a", "b"), np.array([3.0, 1.0, 8.0]))
    many.add(("a", "b"), np.array([9.0, 4.0]))
    for cost in (3.0, 1.0, 8.0, 9.0, 4.0):
        one.add(("a", "b"), cost)
    assert one.seconds_a_job(("a", "b")) == many.seconds_a_job(("a", "b")) == pytest.approx(5)
    one.save()
    later = Costs(tmp_path / "costs")
    later.add(("a", "b"), 10.0)
    assert later.seconds_a_job(("a", "b")) == pytest.approx(6)


def test_a_load_without_a_timing_costs_what_the_nearest_one_does(costs):
    system = ("family", "machine", "policy", "workload")
    for load, cost in ((0.5, 1.0), (0.9, 2.0), (1.25, 9.0)):
        costs.add((*system, str(load)), cost)
    assert [costs.seconds_a_job((*system, load)) for load in ("0.2", "0.8", "0.9")] == [1, 2, 2]


def test_a_damaged_file_of_costs_starts_anew(tmp_path):
    (tmp_path / "costs").write_text('{"family|machine|policy|workload|no load": 1.0}')
    costs = Costs(tmp_path / "costs")
    assert costs.seconds_a_job(("family", "machine", "policy", "workload", "0.5")) is None


def test_a_whole_log_is_not_expected_to_cost_what_a_job_does(expand, costs):
    jobs, whole = expand(), expand("batches=1", "batch_size=null")
    Bundles(jobs, range(24), costs, Path("x"), 0.05).learn(0, 2.0)
    bundles = Bundles(whole, range(24), costs, Path("x"), 0.05)
    assert bundles.outlook(2).unknown == 24
    bundles.learn(0, 3.0)
    outlook = bundles.outlook(2)
    assert (outlook.work, outlook.unknown) == (pytest.approx(12 * 3.0), 12), "nor the time of another policy"

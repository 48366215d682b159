"""A part of an experiment's grid is a study: each workload alone, and each policy alone."""

import json
from pathlib import Path

import pytest

import sweep
from sweep.config import compose, locate
from sweep.config.kept import as_json, from_json
from sweep.config.overrides import parsed
from sweep.plan.expansion import expand

SECOND_TIER = pytest.mark.exhaustive


@pytest.mark.parametrize(("name", "policy"), [("llnl_tc2000", "tc2000_gang"), ("llnl_alpha", "alpha_gang")])
@pytest.mark.parametrize(
    "workload", ["lublin2003", pytest.param("jann1997_kth", marks=pytest.mark.exhaustive)]
)
def test_any_workload_alone(name: str, policy: str, workload: str, tmp_path: Path) -> None:
    grid = {"workload": [workload], "load": [0.5]}
    every = sweep.Study(name, grid=grid, output=tmp_path / "every", replications=1)
    one = sweep.Study(name, grid=grid | {"policy": [policy]}, output=tmp_path / "one", replications=1)
    assert 0 < one.tasks <= every.tasks


@pytest.mark.parametrize("policy", ["easy", pytest.param("buddy", marks=SECOND_TIER)])
def test_one_policy_of_several_families_has_its_part_of_the_study(policy: str, tmp_path: Path) -> None:
    """The settings and axes of the others are not in its way, and its tasks are the same."""
    every = sweep.Study("families", output=tmp_path / "every").plan
    one = sweep.Study("families", grid={"policy": [policy]}, output=tmp_path / "one").plan
    its = {every.ids[i] for i in range(len(every.ids)) if every.task(i).point.policy["name"] == policy}
    assert set(one.ids) == its
    assert list(one.axes) == list(every.axes)
    kept = from_json(json.loads(json.dumps(as_json(one.asked))))
    assert expand(kept).ids == one.ids


def test_an_axis_that_is_tied_keeps_its_values_in_a_part(tmp_path: Path) -> None:
    """The one to which it is tied has them all, of which `exclude` leaves one in the grid."""
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment/mine.yaml").write_text(
        "name: mine\naxes: {alternation: policy.alternation}\ngrid: {policy: [easy, buddy], "
        "workload: [lublin2003], load: [0.3, 0.6], machine: [pe128], alternation: [none, shared]}\n"
        "zip: [[load, alternation]]\nexclude: [{load: 0.6}]\n"
    )
    grid = {"policy": ["easy"]}
    part = sweep.Study("mine", config_dir=tmp_path, grid=grid, output=tmp_path / "r", replications=1).plan
    assert part.axes["alternation"] == ("none", "shared")
    assert len(part.points) == 1


@pytest.mark.exhaustive
def test_a_part_may_be_asked_for_by_a_mapping(tmp_path: Path) -> None:
    typed = ["+experiment=families", "grid={policy: [easy]}", f"output={tmp_path}"]
    study = sweep.Study("families", grid={"policy": ["easy"]}, output=tmp_path)
    assert expand(compose.load(parsed(typed), locate.conf_folder())).ids == study.plan.ids


def test_names_of_digits_may_be_typed_as_numbers(tmp_path: Path) -> None:
    grid = {"switch_cost": [0, 0.25], "do_not_disturb": [2, "never"]}
    typed = sweep.Study("llnl_tradeoff", grid=grid, output=tmp_path, replications=1)
    assert typed.tasks == 4
    with pytest.raises(sweep.Error, match=r"unknown value of grid\.switch_cost '3': valid: 0, 0\.25, 1, 4"):
        sweep.Study("llnl_tradeoff", grid={"switch_cost": [3]}, output=tmp_path)

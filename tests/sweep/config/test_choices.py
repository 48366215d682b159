"""Files of conf by name: short, with their folder, ambiguous, and in a folder of a user's own."""

from pathlib import Path

import pytest
from study_commands import CONF, load

from sweep.config import choices, compose, locate
from sweep.config.chosen import parameters
from sweep.config.overrides import parsed, written
from sweep.errors import SweepError

PROJECT = locate.conf_folder()


@pytest.fixture
def own(tmp_path) -> Path:
    """Return a user's conf folder: the folder of the tests and a second family with a policy ``quick``."""
    folder = tmp_path / "own"
    for file in CONF.rglob("*.yaml"):
        copy = folder / file.relative_to(CONF)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(file.read_text())
    (folder / "policy" / "other").mkdir()
    quick = (folder / "policy" / "fake" / "_base.yaml").read_text().replace("work: 1.0", "work: 0.5")
    (folder / "policy" / "other" / "quick.yaml").write_text(quick)
    return folder


def test_policies_of_the_project_are_in_their_families_folders():
    full = choices.names("policy", [PROJECT])
    assert {"gang/buddy", "backfill/fcfs", "partitioning/one_at_a_time"} <= set(full)


def test_a_short_name_is_enough_where_one_family_has_it():
    for given in ("buddy", "gang/buddy"):
        assert choices.find("policy", given, [PROJECT]) == "gang/buddy"


def test_an_ambiguous_name_is_one_line_with_the_candidates(sweep, own):
    answer = sweep("policy=quick", f"--config-dir={own}")
    assert answer.status == 2
    says = "policy quick: several files have this name; give fake/quick or other/quick"
    assert answer.err == f"error: {says}\n"


def test_two_of_one_short_name_are_told_apart(sweep, own):
    arguments = (f"--config-dir={own}", "grid.load=[0.3]", "grid.urgent=[true]")
    assert sweep(*arguments, "policy=[fake/quick,slow,other/quick]").status == 0
    response = load().response_mean.sel(load=0.3, preemption="none", urgent=True)
    assert list(response.policy.values) == ["fake/quick", "slow", "other/quick"]
    assert response.sel(policy="other/quick") < response.sel(policy="fake/quick")
    assert sweep(*arguments, "policy=other/quick", "output=alone").status == 0
    assert list(load("alone").policy.values) == ["quick"], "alone, its short name is enough"


def test_exclude_takes_either_name(sweep, own, expand):
    assert expand("exclude=[{policy: fake/slow}]").ids == expand("exclude=[{policy: slow}]").ids
    both = (f"--config-dir={own}", "policy=[fake/quick,other/quick]", "action=plan")
    assert "points, by zip and exclude" in sweep(*both, "exclude=[{policy: other/quick}]").out
    answer = sweep(*both, "exclude=[{policy: quick}]")
    assert answer.err == (
        "error: exclude: policy quick can be fake/quick or other/quick; give one of them, or a list\n"
    )


def test_files_of_ones_own_may_lie_in_any_folder_and_build_on_short_names(sweep, own):
    """Bases of policies, workloads and experiments are found by their short names wherever they are."""
    (own / "policy" / "mine.yaml").write_text("defaults: [_gang, _self_]\nscheme: best_fit\n")
    (own / "workload" / "busy.yaml").write_text("defaults: [feitelson1996, _self_]\nsize_order: 2.0\n")
    (own / "experiment" / "part").mkdir()
    (own / "experiment" / "part" / "few.yaml").write_text(
        "# @package _global_\ndefaults: [packing, _self_]\nname: few\ngrid:\n  workload: [busy]\n"
    )
    answer = sweep("+experiment=few", "policy=mine", "action=plan", f"--config-dir={own}")
    assert answer.status == 0, answer
    assert "policy            1  mine" in answer.out
    assert "workload          1  busy" in answer.out
    assert parameters("workload", "busy", folders=[PROJECT, own])["model"] == "feitelson1996"
    assert sweep("+experiment=part/few", "action=plan", f"--config-dir={own}").status == 0


def test_a_policy_of_ones_own_builds_on_its_familys(expand, sweep, own):
    (own / "policy" / "gang").mkdir()
    (own / "policy" / "gang" / "mine.yaml").write_text("defaults: [_gang, _self_]\nscheme: best_fit\n")
    answer = sweep("+experiment=packing", "policy=mine", "action=plan", f"--config-dir={own}")
    assert answer.status == 0, answer
    assert "policy            1  mine" in answer.out
    (own / "policy" / "other" / "theirs.yaml").write_text(
        "defaults: [/policy/gang/_gang@_here_, _self_]\nscheme: best_fit\n"
    )
    assert parameters("policy", "theirs", folders=[PROJECT, own]) == {
        **parameters("policy", "mine", folders=[PROJECT, own]), "name": "theirs",
    }  # fmt: skip
    answer = sweep("+experiment=packing", "policy=[mine,theirs]", "action=plan", f"--config-dir={own}")
    assert answer.status == 0, answer


@pytest.mark.parametrize(
    "line", ["executor: serial", "defaults: [packing, override /executor: serial, _self_]"]
)
def test_an_experiment_names_its_executor_and_a_command_another_one(tmp_path, line):
    (tmp_path / "experiment").mkdir()
    text = line if "packing" in line else f"defaults: [packing, _self_]\n{line}"
    (tmp_path / "experiment" / "mine.yaml").write_text(f"{text}\nname: mine\n")
    asked = {"experiment": "mine", "executor.workers": 3}
    with pytest.raises(SweepError, match="unknown key of executor serial 'workers'"):
        compose.load(asked, PROJECT, [tmp_path])
    settings = compose.load({**asked, "executor": "dask"}, PROJECT, [tmp_path]).settings
    assert settings.executor == {"name": "dask", "workers": 3, "address": None}


def test_a_mapping_that_is_written_as_a_command_is_read_back():
    asked = {
        "experiment": "packing", "executor": "dask", "executor.workers": 3, "batches": {0: 30, 0.85: 60},
        "grid.load": [0.5, None, 1e-07], "output": "a b, {c}'d=\\'", "policy": ["buddy", "it's"],
        "fresh": True,
        "values.what": {"a (b): c": {"policy": {"ties": "event"}}, "default": {}},
        "exclude": [{"policy": "buddy", "load": [0.5]}],
    }  # fmt: skip
    assert parsed(written(asked)) == asked
    with pytest.raises(SweepError, match="give one experiment"):
        parsed(["+experiment=packing", "experiment=compare"])

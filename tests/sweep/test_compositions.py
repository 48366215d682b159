"""A command that was typed before is not composed again, unless anything that it depends on has changed."""

import os
import shutil
import time
from pathlib import Path

import pytest
from study_commands import CONF

from sweep.config import compose, compositions, locate
from sweep.errors import SweepError
from sweep.store import cached

STUDY = ("+experiment=queue", "replications=3", "batches={0:6,0.5:8}")


@pytest.fixture
def composed(monkeypatch):
    """Return the commands that Hydra was asked for."""
    asked, load = [], compose.load
    monkeypatch.setattr(compose, "load", lambda *given: asked.append(given[0]) or load(*given))
    return asked


@pytest.fixture
def user(tmp_path):
    """Return a config folder that may be edited."""
    return Path(shutil.copytree(CONF, tmp_path / "conf"))


def load(user, *arguments):
    return compositions.load((*STUDY, *arguments), locate.conf_folder(), user)


def test_the_second_time_it_is_the_same(composed, user):
    first, second = load(user), load(user)
    assert len(composed) == 1
    assert second == first == compose.load(STUDY, locate.conf_folder(), user)
    assert second.settings.batches == {0: 6, 0.5: 8}


def test_all_actions_share_a_composition(composed, user):
    actions = [load(user, f"action={action}").settings.action for action in ("plan", "status", "gather")]
    assert actions == ["plan", "status", "gather"]
    assert load(user).settings.action == "run"
    assert len(composed) == 1
    assert load(user, "fresh=true").settings.fresh
    with pytest.raises(SweepError, match="fresh=true goes with action=run, not with action=status"):
        load(user, "fresh=true", "action=status")
    assert len(composed) == 2


def test_an_action_of_the_experiment_is_not_taken_for_none(composed, user):
    with (user / "experiment" / "queue.yaml").open("a") as file:
        file.write("action: plan\n")
    for _ in range(2):
        assert load(user).settings.action == "plan"
        assert load(user, "action=run").settings.action == "run"
    assert len(composed) == 4


def test_an_edited_file_counts_at_once(composed, user):
    load(user)
    experiment = user / "experiment" / "queue.yaml"
    times = experiment.stat()
    experiment.write_text(experiment.read_text().replace("batch_size: 50", "batch_size: 70"))
    os.utime(experiment, ns=(times.st_atime_ns, times.st_mtime_ns))  # as within one tick of a clock
    assert load(user).settings.batch_size == 70
    (user / "policy" / "fake" / "newer.yaml").write_text("defaults: [_base, _self_]\nwork: 3.0\n")
    assert load(user, "policy=newer").files["policy"]["newer"]["work"] == 3
    assert len(composed) == 3


def test_another_folder_is_another_command(composed, user, tmp_path):
    load(user)
    other = Path(shutil.copytree(user, tmp_path / "other"))
    load(other)
    assert len(composed) == 2


def test_the_environment_counts_where_a_file_asks_for_it(composed, user, monkeypatch):
    with (user / "experiment" / "queue.yaml").open("a") as file:
        file.write("output: ${oc.env:PLACE,here}\n")
    assert load(user).settings.output == "here"
    monkeypatch.setenv("PLACE", "there")
    assert load(user).settings.output == "there"
    monkeypatch.setenv("NOT_ASKED_FOR", "1")
    assert load(user).settings.output == "there"
    assert len(composed) == 2


def test_the_time_of_day_is_not_kept(composed, user):
    with (user / "experiment" / "queue.yaml").open("a") as file:
        file.write("output: ${now:%H%M%S%f}\n")
    first = load(user).settings.output
    time.sleep(1e-3)
    assert load(user).settings.output != first
    assert not cached.file("compositions").exists()


def test_mistakes_are_told_each_time(composed, user):
    for _ in range(2):
        with pytest.raises(SweepError, match="unknown policy 'quik'"):
            load(user, "policy=quik")
    assert len(composed) == 2


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\x80\x04K\x01."])
def test_a_damaged_file_of_the_cache_is_no_harm(composed, user, damage):
    first = load(user)
    (kept,) = cached.file("compositions").iterdir()
    kept.write_bytes(damage)
    assert load(user) == first
    assert len(composed) == 2


def test_a_cache_that_cannot_be_written_is_no_harm(composed, user, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load(user) == load(user)
    assert len(composed) == 2


def test_the_cache_does_not_grow_for_ever(composed, user, monkeypatch):
    monkeypatch.setattr(compositions, "MOST_KEPT", 2)
    for seed in range(4):
        load(user, f"seed={seed}")
        for path in cached.file("compositions").iterdir():  # a year older, by whatever clock
            os.utime(path, (0, path.stat().st_mtime - 3e7))
    assert len(list(cached.file("compositions").iterdir())) == 2
    load(user, "seed=3")
    assert len(composed) == 4

"""What is solved and not simulated: one batch, an interval of no width, and no replications."""

import json
from pathlib import Path

import numpy as np
import pytest

from sweep import cli
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.plan.expansion import expand as expanded
from sweep.store.loading import loaded

FAIRNESS = ("+experiment=fairness", "executor=serial", "output=out", "grid.jobs=[3,5]")
LISTS = (
    "+experiment=memory_examples", "executor=serial", "output=out", "policy=equi_epoch", "exclude=[]",
    "grid.processors=[16]", "batch_size=4", "batches=6", "warmup=1", "workload.jobs=5",
)  # fmt: skip


def plan(*arguments):
    return expanded(compose.load(parsed(arguments), locate.conf_folder()))


def test_a_solution_is_one_value_whatever_was_asked_for(capsys):
    assert cli.main([*FAIRNESS, "batches=7", "warmup=3", "precision.relative=0.1"]) == 0
    said = capsys.readouterr().out
    assert "relative to equal shares, exact;" in said
    assert "±" not in said
    with loaded(Path("out/fairness.nc")) as data:
        assert (data.sizes["replication"], data.sizes["batch"]) == (1, 1)
        ran = data["exact"] == 1
        assert int(ran.sum()) == 2 * (2 + 4), "excluded points are none"
        for name in ("most_loaded_ratio", "least_loaded_ratio"):
            np.testing.assert_equal(data[f"{name}_mean"].values, data[name].values[..., 0, 0])
            assert (data[f"{name}_ci"].where(ran, 0) == 0).all()
            assert data[f"{name}_ci"].where(~ran).isnull().all()
            assert data[f"{name}_lag1"].isnull().all()
        settings = json.loads(data.attrs["config"])["settings"]
    assert (settings["batches"], settings["batch_size"], settings["warmup"]) == (1, None, 0)
    assert cli.main([*FAIRNESS, "batches=9"]) == 0, "the same results, so nothing runs again"
    assert "up to date" in capsys.readouterr().out


@pytest.mark.exhaustive
def test_solved_and_sampled_points_in_one_dataset(capsys):
    assert cli.main([*LISTS, "grid.workload=[mccann1994_fig6_2,minimum_uniform]"]) == 0
    said = capsys.readouterr().out
    assert "± 95 % half-width" in said
    assert "fewer than" not in said
    with loaded(Path("out/memory_examples.nc")) as data:
        assert data.sizes["batch"] == 6
        at = data.squeeze(drop=True)
        assert at["exact"].values.tolist() == [1, 0]
        assert np.isfinite(at["reallocations"]).sum("batch").values.tolist() == [1, 6]
        half_width = at["reallocations_ci"].values
        assert half_width[0] == 0
        assert half_width[1] != 0


def test_a_whole_log_is_one_batch_or_as_many_as_asked_for(tmp_path, capsys):
    rows = [f"{n} {n * 10} 0 {50 + n} 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1" for n in range(1, 61)]
    (tmp_path / "log.swf").write_text("; MaxProcs: 8\n" + "\n".join(rows) + "\n")
    whole = ("+experiment=replay", f"workload.path={tmp_path / 'log.swf'}", "policy=easy", "executor=serial")
    assert cli.main([*whole, "output=one"]) == 0
    said = capsys.readouterr().out
    assert "withheld" not in said, "one batch by design needs no warning"
    assert " over all jobs" in said
    assert "± ?" not in said
    assert cli.main([*whole, "output=six", "batches=6"]) == 0
    with loaded(Path("one/replay.nc")) as one, loaded(Path("six/replay.nc")) as six:
        assert (one.sizes["batch"], six.sizes["batch"]) == (1, 6)
        assert "exact" not in one, "a log is a sample, although nothing in it is random"
        assert one["wait_ci"].isnull().all()
        np.testing.assert_allclose(six["wait"].squeeze().mean("batch"), one["wait"].squeeze())

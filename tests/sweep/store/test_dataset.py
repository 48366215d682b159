"""The contract of a dataset, and what of it depends on saturation, stopping and warm-up."""

import re

import numpy as np
import pytest
from fake_family import model
from study_commands import load

from models.family import Outcome
from models.streams import key, stream
from sweep import statistics
from sweep.statistics.warmup import truncation


def test_contract(sweep):
    assert sweep().status == 0
    dataset = load()
    axes = ("policy", "workload", "load", "machine", "preemption", "urgent")
    assert dataset["response"].dims == (*axes, "replication", "batch")
    assert dataset["response_by_class"].dims == (*axes, "replication", "batch", "job_class")
    for metric in ("response", "response_by_class"):
        for part in ("_mean", "_ci", "_lag1"):
            assert dataset[metric + part].dims == axes + dataset[metric].dims[8:]
    for name in ("state", "seconds"):
        assert dataset[name].dims == (*axes, "replication")
    for name in ("saturated", "too_short", "bias"):
        assert dataset[name].dims == axes
    for name in ("capacity", "capacity_se", "capacity_upper"):
        assert dataset[name].dims == tuple(axis for axis in axes if axis != "load")
    for name in dataset.variables:
        assert dataset[name].attrs["long_name"], name
    for name in ("response", "response_mean", "response_ci", "seconds"):
        assert dataset[name].attrs["units"] == "s"
    assert dataset["response_ci"].attrs["confidence"] == 0.95
    assert "Student" in dataset["response_ci"].attrs["method"]
    assert list(dataset["job_class"].values) == ["short", "long"]
    assert dataset["state"].dtype == np.int8
    assert list(dataset["state"].attrs["flag_values"]) == [0, 1, 2, 3]
    assert dataset["state"].attrs["flag_meanings"] == "left done failed excluded"
    assert dataset["saturated"].dtype == bool


def test_values_are_the_models(sweep):
    """The first batch of one task, recomputed by hand."""
    sweep("warmup=0", "batch_size=4")
    seed = (1, key("poisson"), 1)
    gaps = stream(seed, "arrivals").exponential(1 / 0.6, 4)
    services = stream(seed, "services").exponential(1, 4)
    wait, responses = 0.0, []
    for gap, service in zip(gaps, services, strict=True):
        wait = max(0.0, wait - gap) + service
        responses.append(wait)
    cell = load()["response"].sel(
        policy="quick", load=0.6, preemption="none", urgent=True, replication=1, batch=0
    )
    assert cell.item() == pytest.approx(np.mean(responses), rel=1e-14)


def test_a_saturated_point_is_in_no_mean(sweep):
    answer = sweep("grid.load=[0.3,1.2]", "replications=3")
    dataset = load()
    used = dataset["state"].isel(replication=0) != 3
    assert np.isnan(dataset["response_mean"].sel(load=1.2)).all()
    assert np.isnan(dataset["response_by_class_ci"].sel(load=1.2)).all()
    assert np.isfinite(dataset["response_mean"].sel(load=0.3).where(used, 0)).all()
    assert dataset["saturated"].sel(load=1.2).where(used.sel(load=1.2), True).all()
    assert not dataset["saturated"].sel(load=0.3).any()
    assert "saturated" in answer.out


def test_a_point_is_saturated_where_half_of_its_runs_overflow(sweep, monkeypatch):
    for broken in (1, 2):
        flags = iter([*[True] * broken, False, False, False])
        monkeypatch.setattr(model, "Outcome", lambda *given, flags=flags: Outcome(*given[:2], next(flags)))
        one = (
            "policy=quick",
            "grid.load=[0.3]",
            "grid.preemption=[none]",
            "grid.urgent=[true]",
            "capacity=0",
        )
        assert sweep(*one, "replications=4", f"output={broken}").status == 0
        assert load(str(broken))["saturated"].squeeze() == (broken == 2)


def test_a_point_that_is_too_short_is_marked_with_its_expected_bias(sweep):
    """On the terminal as in figures: such a mean must not be taken for the long-run mean."""
    answer = sweep(
        "grid.load=[0.97,0.3,0.6]", "exclude=[{load: 0.6}]", "grid.policy=[quick]", "grid.preemption=[none]",
        "grid.urgent=[true]", "replications=6", "batches=30", "warmup=0",
    )  # fmt: skip
    dataset = load().squeeze()
    assert dataset["too_short"].values.tolist() == [True, False, False]
    dataset = dataset.sel(load=[0.3, 0.97])
    assert np.isnan(dataset["bias"].sel(load=0.3))
    assert -1 < dataset["bias"].sel(load=0.97) < 0
    assert np.isfinite(dataset["response_mean"]).all()
    (row,) = [line for line in answer.out.splitlines() if line.startswith("quick ")]
    assert row.count("°") == 1
    assert "1 of 2 points is too short (°)" in answer.out


def test_runs_stop_at_declared_looks_only(sweep):
    sweep(
        "precision.relative=0.4", "precision.checkpoints=[10,19,40]", "grid.load=[0.1,0.8]", "replications=4"
    )
    dataset = load()
    assert dataset.sizes["batch"] == 40
    lengths = np.isfinite(dataset["response"]).sum("batch").where(dataset["state"] == 1).values
    seen = {int(length) for length in lengths[np.isfinite(lengths)]}
    assert seen <= {10, 19, 40}
    assert len(seen) > 1, "easy points stop before hard ones"
    task = dataset["response"].sel(policy="quick", load=0.1, preemption="none", urgent=True).squeeze()
    for values in task.values:
        values = values[np.isfinite(values)]
        looks = [look for look in (10, 19) if look <= len(values)]
        reached = [statistics.precise_enough(values[np.newaxis, :look], 0.4) for look in looks]
        assert reached == [look == len(values) for look in looks]


def test_mser_drops_leading_batches_of_all_replications_alike(sweep):
    sweep("warmup=mser", "batches=60", "grid.load=0.9", "replications=3", "output=results/cut")
    sweep("warmup=0", "batches=60", "grid.load=0.9", "replications=3", "output=results/whole")
    cut, whole = load("results/cut"), load("results/whole")
    done = cut["state"] == 1
    missing = np.isnan(cut["response"]).sum("batch")
    assert (missing.where(done, cut["dropped"]) == cut["dropped"]).all()
    assert cut["dropped"].sum() > 0
    by_class = np.isnan(cut["response_by_class"]).any("job_class").sum("batch")
    assert (by_class.where(done, missing) >= missing).all()
    at = {"policy": "quick", "preemption": "none", "urgent": True}
    runs = whole["response"].sel(at).squeeze().mean("replication").values
    assert cut["dropped"].sel(at).item() == truncation(runs[np.newaxis])


def test_runs_are_longer_where_the_load_is_high(sweep):
    answer = sweep("batches={0:6,0.5:9}", "warmup={0:1,0.6:2}")
    assert "ended with fewer" not in answer.out
    dataset = load()
    assert dataset.sizes["batch"] == 9
    lengths = np.isfinite(dataset["response"]).sum("batch").where(dataset["state"] == 1)
    assert set(np.unique(lengths.sel(load=0.3).values[np.isfinite(lengths.sel(load=0.3))])) == {6}
    assert set(np.unique(lengths.sel(load=0.6).values[np.isfinite(lengths.sel(load=0.6))])) == {9}
    covers = dataset["response_ci"].attrs["covers"]
    assert covers.startswith(
        "the mean over {0:6,0.5:9} batches of 50, those after the first {0:1,0.6:2} of a"
    )
    sweep("batches=6", "warmup=1", "output=results/plain")
    plain = load("results/plain")["response"].sel(load=0.3)
    np.testing.assert_array_equal(dataset["response"].sel(load=0.3)[..., :6], plain)


def test_batches_that_resemble_each_other_are_said_aloud(sweep):
    answer = sweep("grid.load=0.95", "batch_size=5", "batches=30", "replications=1")
    line = next(line for line in answer.out.splitlines() if "widened" in line)
    assert re.search(r"worst: \w+, ", line)
    assert "lag-1 correlation" in line
    assert "or run at least 5 replications" in line
    assert "withheld" not in answer.out
    assert "widened" not in sweep("grid.load=0.95", "batch_size=5", "batches=30", "replications=5").out

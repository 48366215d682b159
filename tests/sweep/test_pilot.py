"""Lengths of runs that a pilot decides."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from models.metric import Metric
from sweep import cli, pilot
from sweep.config.settings import Settings
from sweep.errors import SweepError
from sweep.store.loading import loaded

STUDY = (
    "+experiment=packing",
    "grid.policy=[buddy]",
    "grid.alternation=[exclusive]",
    "grid.unification=[true]",
)
AUTO = ("batches=auto", "warmup=auto", "executor=serial", "output=found")


def test_a_study_finds_its_lengths_once(sweep) -> None:
    command = (*STUDY, "grid.load=[0.3,0.7]", "batch_size=50", "replications=2", *AUTO)
    planned = sweep(*command, "action=plan").out
    assert "a run begins with a pilot that sets the lengths of runs; this plan assumes" in planned
    assert not Path("found").exists()
    answer = sweep(*command)
    assert answer.status == 0, answer.err
    with loaded(Path("found/packing.nc")) as data:
        settings = json.loads(data.attrs["config"])["settings"]
    assert settings["budget"] is None
    batches, warmup = settings["batches"], settings["warmup"]
    # The queue at the higher load forgets later, and a run is five times its warm-up.
    assert 30 <= batches["0"] <= batches["0.7"]
    assert 1 <= warmup["0"] < warmup["0.7"]
    assert batches["0.7"] == pytest.approx(5 * warmup["0.7"], abs=5)
    assert "up to date" in sweep(*command).out
    assert "0 left" in sweep(*command, "action=plan").out
    assert cli.main(["rerun", "found", "executor=serial", "output=again"]) == 0  # identical, bit for bit


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("budget=5min",), "budget=5min decides how long runs are: add batches=auto"),
        (("batches=auto", "budget=5"), "budget=5: give a time on this machine, e.g. budget=10min"),
        (("batches=auto", "batch_size=null"), "need batches of a given number of jobs"),
        (
            ("batches=auot",),
            "batches=auot: give 1 to 10,000,000, or numbers by load, {0:30,0.85:60}, or auto",
        ),
        (("warmup=atuo",), "warmup=atuo: give 0 to 10,000,000 batches, mser or auto"),
    ],
)
def test_refusals(sweep, given: tuple[str, ...], line: str) -> None:
    answer = sweep(*STUDY, *given, "action=plan")
    assert answer.status == 2
    assert line in answer.err
    assert not Path("results").exists()


def test_runs_at_a_higher_load_are_no_shorter_than_at_a_lower_one() -> None:
    """Whatever one pilot shows of it: here ten batches are alike at load 0.5, and none at 0.9."""
    draw = np.random.default_rng(1).normal
    waits = 100 + np.stack([np.repeat(draw(size=(5, 4)), 10, axis=1), draw(size=(5, 40))])
    values = {
        "wait": (("load", "replication", "batch"), waits), "saturated": ("load", [False, False]),
        "seconds": (("load", "replication"), np.ones((2, 5))),
    }  # fmt: skip
    plan = SimpleNamespace(
        metrics={"wait": Metric("wait", "s", "wait")}, headline="wait", replications=5,
        settings=Settings("any", batches=40),
    )  # fmt: skip
    lower, higher = pilot._seen(xr.Dataset(values, {"load": [0.5, 0.9]}), plan).relaxation
    assert higher == lower > 2


def test_a_budget_goes_where_it_helps_most() -> None:
    relaxation, variance = np.array([1.0, 4.0, 4.0, np.nan]), np.array([0.1, 0.4, 0.4, 0.0])
    found = pilot.Pilot([0.5, 0.8, 0.9, 1.2], relaxation, variance, np.array([0.1, 0.1, 0.4, 0.1]))
    warmup, least = np.array([4.0, 16, 16, 1]), np.array([30.0, 80, 80, 30])
    settings = Settings("any", executor={"name": "serial"}, replications=4)
    cost = 4 * found.seconds
    batches = pilot._within(2000.0, found, warmup, least, settings)
    assert (batches >= least).all()
    assert 1950 < (cost * (warmup + batches)).sum() <= 2000
    assert batches[1] / batches[2] == pytest.approx(2.0, rel=0.01)  # four times as dear
    assert batches[3] == 30  # saturated: nothing to gain

    def error(n: np.ndarray) -> float:
        return float(np.nansum(variance * 2 * relaxation / n))

    rng = np.random.default_rng(1)
    for _ in range(200):  # no other way to spend as much gives less
        other = least + rng.dirichlet(np.ones(4)) * (2000 - (cost * (warmup + least)).sum()) / cost
        assert error(batches) <= error(other) * 1.001
    with pytest.raises(SweepError, match="runs that are long enough take 3 min 38 s"):
        pilot._within(20.0, found, warmup, least, settings)

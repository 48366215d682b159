"""What users of xarray and pandas type first: it works, or one line has what would."""

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import sweep
from sweep.config.settings import Settings
from sweep.notebook.settings import Keys
from sweep.notebook.study import Pictures

EASY: dict[str, Any] = {"policy": "easy", "machine": 64, "load": 0.7, "jobs": 200}


@pytest.fixture(scope="module")
def jobs() -> xr.Dataset:
    """Return two hundred jobs under EASY."""
    return sweep.simulate(**EASY)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "loads": ({"load": [0.5, 0.7]}, r"load: several .* sweep.Study\('compare', grid={'load': \[...\]}\)"),
    "an array of loads": ({"load": np.linspace(0.1, 0.9, 3)}, "load: several values"),
    "a series of loads": ({"load": pd.Series([0.1, 0.9])}, "load: several values"),
    "policies": ({"policy": ["easy", "fcfs"]}, "policy: several values"),
    "machines": ({"machine": (64, 128)}, "machine: several values"),
    "seeds": ({"seed": range(3)}, "seed: several values .* replications=5"),
    "an unknown argument": ({"n_jobs": 5}, r"unknown argument 'n_jobs': did you mean 'jobs'\?"),
    "a key of the policy": ({"ties": "event"}, "unknown argument 'ties'.* 'easy', 'ties': 'event'}"),
    "half a job": ({"jobs": 10.5}, "jobs=10.5: give a whole number"),
    "a folder that is not there": ({"config_dir": "mine"}, "config_dir=mine: no such folder"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_simulation_cannot_do_has_one_line(name: str) -> None:
    given, line = REFUSED[name]
    with pytest.raises(sweep.Error, match=line):
        sweep.simulate(**EASY | given)


def test_numbers_and_seeds(jobs: xr.Dataset) -> None:
    xr.testing.assert_identical(sweep.simulate(**EASY | {"jobs": 2e2}), jobs)
    first, second = (sweep.simulate(**EASY | {"seed": None}) for _ in range(2))
    assert first.attrs["seed"] != second.attrs["seed"]
    again = sweep.simulate(**EASY | {"seed": first.attrs["seed"][0]})
    xr.testing.assert_identical(again, first)


def test_dates_and_durations_are_times() -> None:
    seconds = pd.DataFrame(
        {"submit": [0.0, 60.0, 90.0], "runtime": [100.0, 50.0, 5.0], "processors": [2, 3, 1]}
    )
    plain = sweep.simulate("fcfs", seconds, machine=4)
    for zone in (None, "Europe/Berlin"):
        submit = pd.Timestamp("2024-03-31 00:59", tz=zone) + pd.to_timedelta(seconds["submit"], unit="s")
        table = seconds.assign(submit=submit, runtime=pd.to_timedelta(seconds["runtime"], unit="s"))
        made = sweep.simulate("fcfs", table, machine=4)
        np.testing.assert_array_equal(made.start, plain.start)
    for column, line in (("runtime", "runtime has dates"), ("submit", "submit has durations")):
        other = seconds.assign(**{column: table["submit" if column == "runtime" else "runtime"]})
        with pytest.raises(sweep.Error, match=line):
            sweep.simulate("fcfs", other, machine=4)


def test_measures_of_the_machine_need_all_jobs(jobs: xr.Dataset) -> None:
    assert 0 < jobs.schedule.utilization() < 1
    number = jobs.schedule.jobs_in_system()
    assert number[-1] == 0
    assert number.max() >= 1
    by_hand = [int(((jobs.submit <= t) & (t < jobs.end)).sum()) for t in number.time.values[::20]]
    assert number.values[::20].tolist() == by_hand
    for some in (
        jobs.isel(job=slice(10)),
        jobs.query(job="wait > 0"),
        jobs.where(jobs.processors == 1, drop=True),
    ):
        for method in ("utilization", "jobs_in_system"):
            with pytest.raises(sweep.Error, match=f"{method}: these are .* of 200 jobs"):
                getattr(some.schedule, method)()


def test_notes_are_in_the_words_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    made = sweep.simulate("equi_plus", machine=64, load=0.5, jobs=50)
    assert "machine={'mesh': 'ROWSxCOLUMNS'} sets another" in made.attrs["notes"]
    assert "machine.mesh" not in made.attrs["notes"] + capsys.readouterr().err


def test_a_study_offers_its_keys() -> None:
    keys = {field.name for field in fields(Settings)} - {"action", "executor"}
    assert keys >= set(Keys.__annotations__)
    assert keys <= set(inspect.signature(sweep.Study).parameters)
    assert sweep.__version__[0].isdigit()


def test_pictures_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "fig.png"
    path.write_bytes(b"\x89PNG")
    assert "data:image/png;base64,iVBORw==" in Pictures({"fig <1>": path})._repr_html_()
    assert "fig <1>" not in Pictures({"fig <1>": path})._repr_html_()

"""What an analysis sees of a dataset."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated import dataset, write

from analysis.errors import AnalysisError
from analysis.feitelson1996.labels import AXES
from analysis.study import open_study
from analysis.study.curve import DONE, EXCLUDED, FAILED, SATURATED, UNFINISHED, Curve


def test_states_of_points(tmp_path: Path) -> None:
    data = dataset(
        loads=(0.9, 0.5, 0.7), schemes=("first_fit", "buddy"), replications=3, saturation={"buddy": 0.9}
    )
    here = {"policy": "first_fit", "alternation": "exclusive", "unification": True}
    data["state"].loc[here | {"load": 0.7, "replication": 2}] = 0
    data["state"].loc[here | {"load": 0.9, "replication": 1}] = 2
    data["saturated"].loc[here | {"load": 0.5, "policy": "buddy"}] = True
    data["bias"] = data["saturated"] * np.nan
    data["bias"].loc[here | {"load": 0.7, "policy": "buddy"}] = -0.1
    study = open_study(write(tmp_path, data.assign_coords(replication=range(3))), AXES)
    assert study.loads.tolist() == [0.5, 0.7, 0.9]
    assert study.curve("slowdown", "first_fit").status == (DONE, UNFINISHED, FAILED)
    assert study.curve("slowdown", "buddy").status == (SATURATED, DONE, SATURATED)
    assert study.curve("slowdown", "buddy").too_short.tolist() == [False, True, False]
    assert study.curve("slowdown", "buddy", alternation="none", unification="false").status == (EXCLUDED,) * 3
    assert study.curve("slowdown", "unknown").status == (EXCLUDED,) * 3
    assert study.curve("nothing", "buddy").status == (EXCLUDED,) * 3
    assert sum(study.tally().values()) == 2 * 3 * 3 * 2


def test_loads_are_averaged_batch_by_batch() -> None:
    values = np.arange(12.0).reshape(3, 1, 4)
    curve = Curve(np.array([0.5, 0.7, 0.9]), values, (DONE,) * 3)
    assert curve.over(np.array([0.5, 0.9])).values.tolist() == [[4.0, 5.0, 6.0, 7.0]]


def test_readings_are_all_that_is_no_feature(tmp_path: Path) -> None:
    data = dataset(
        name="packing_readings",
        loads=(0.5,),
        alternations=("exclusive", "shared"),
        readings={"repetition": ["feedback", "sequence"], "precedence": ["arrival", "largest"]},
        exclude=lambda p: (
            p["precedence"] == "largest" and (p["alternation"], p["repetition"]) != ("exclusive", "feedback")
        ),
    )
    study = open_study(write(tmp_path, data), AXES)
    assert {letter: one.label for letter, one in study.readings.items()} == {
        "A": "default",
        "B": "precedence=largest",
        "C": "alternation=shared",
        "D": "repetition=sequence",
        "E": "repetition=sequence, alternation=shared",
    }
    assert study.readings["B"].usual() == {
        "alternation": "exclusive",
        "precedence": "largest",
        "unification": "true",
    }
    assert study.readings["B"].curve("slowdown", "buddy").status == (DONE,)


def test_who_may_run_in_a_foreign_slot_is_a_reading_and_a_feature(tmp_path: Path) -> None:
    """Each kind of alternation is a reading of its own, the default first, and can be compared with none."""
    study = open_study(write(tmp_path, dataset(loads=(0.5,))), AXES)
    assert [one.reading for one in study.readings.values()] == [
        {"alternation": "exclusive"},
        {"alternation": "shared"},
        {"alternation": "none"},
    ]
    shared = study.readings["B"]
    values = study.data["slowdown"].sel(policy="buddy", load=0.5, unification=True)
    assert (shared.curve("slowdown", "buddy").values[0] == values.sel(alternation="shared").values).all()
    without = shared.curve("slowdown", "buddy", alternation="none")
    assert (without.values[0] == values.sel(alternation="none").values).all()


def test_what_is_no_dataset_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.nc").write_text("no dataset")
    xr.Dataset({"x": 1}).to_netcdf(tmp_path / "other.nc")
    (tmp_path / "empty").mkdir()
    wrong = {
        "absent": "does not exist: give the folder of a study's results",
        "empty": "holds no dataset",
        "text.nc": "cannot be read",
        "other.nc": "is not a dataset of a sweep, it lacks policy, load, state, saturated: give one that",
        ".": "holds several datasets",
    }
    for name, message in wrong.items():
        with pytest.raises(AnalysisError, match=message) as error:
            open_study(tmp_path / name)
        assert "\n" not in str(error.value)

"""The table of all points, and what a reader types to have them again."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from analysis.registry import opened
from analysis.report import points
from analysis.report.render import again, prepared
from analysis.study import Study
from analysis.study.curve import DONE


def study(
    policies: int, loads: int, left: tuple[int, ...] = (), attributes: dict[str, str] | None = None
) -> Study:
    """A study of two metrics whose means say where they are: policy + load, and its square in seconds."""
    shape = (policies, 1, loads, 1)
    means = np.add.outer(np.arange(policies), np.linspace(0.1, 0.9, loads)).reshape(shape)
    axes = ("policy", "workload", "load", "machine")
    state = np.full((*shape, 1), "done", dtype="U8")
    state.reshape(-1)[list(left)] = "left"
    data = {"state": ((*axes, "replication"), state), "saturated": (axes, np.zeros(shape, int))}
    for name, values, unit in (("slowdown", means, "1"), ("wait", means**2 * 1000, "s")):
        attrs = {"units": unit, "long_name": f"mean {name}"}
        data[name] = ((*axes, "replication", "batch"), values[..., None, None], attrs)
        data[f"{name}_mean"] = (axes, values)
        data[f"{name}_ci"] = (axes, values / 100)
    names = [f"p{number}" for number in range(policies)]
    coords = {"policy": names, "workload": ["model"], "load": np.linspace(0.1, 0.9, loads), "machine": ["m"]}
    config = {"settings": {"name": "own"}}
    found = xr.Dataset(
        data, coords, {"headline": "slowdown", "config": json.dumps(config), **(attributes or {})}
    )
    return Study(found, Path("results/own"))


def test_every_point_has_its_row_and_its_numbers() -> None:
    found = study(2, 3, left=(4,))
    frame = points.frame(found)
    assert list(frame.columns[:6]) == ["policy", "workload", "load", "machine", "status", "slowdown_mean"]
    assert len(frame) == 6
    for row in frame.itertuples():
        at = {"policy": row.policy, "load": float(row.load)}
        assert row.slowdown_mean == found.data.slowdown_mean.sel(at).item()
        assert row.wait_ci == found.data.wait_ci.sel(at).item()
        assert (row.status == DONE) == (at != {"policy": "p1", "load": 0.5})
    shown = points.points(found, frame)
    assert [column.title for column in shown.columns] == [
        "policy", "load", "status", "mean slowdown", "mean wait, min"
    ]  # fmt: skip
    assert [entry.text for entry in shown.rows[-1]] == ["p1", "0.9", "done", "1.900 ± 0.019", "60.17 ± 0.60"]
    assert float(shown.rows[-1][4].key) == pytest.approx(1.9**2 * 1000 / 60)


def test_a_large_study_keeps_its_report_small(tmp_path: Path) -> None:
    found = study(50, 200)
    frame = points.frame(found)
    shown = points.points(found, frame)
    assert (len(frame), shown.total, len(shown.rows)) == (10_000, 10_000, points.MOST)
    folder = tmp_path / "own"
    folder.mkdir()
    found.data.to_netcdf(folder / "own.nc", engine="netcdf4")
    opened_study, paper = opened(folder)
    text = prepared(opened_study, paper, {"A": []}, shown)([])
    assert "the first 2,000 of 10,000 points" in " ".join(text.split())
    assert "points.csv" in text
    assert "<details><summary>2,000 points" in text
    assert len(text) < 3_000_000


def test_commands_of_a_rerun() -> None:
    attributes = {
        "recipe": "{}",
        "command": "python -m sweep +experiment=packing",
        "versions": json.dumps({"python": "3.12.1", "schedsweep": "0.1.0", "numpy": "2.4.6"}),
        "commit": "0123456789abcdef0123-dirty",
    }
    found = again(study(1, 1, attributes=attributes))
    assert found["rerun"] == "python -m sweep rerun results/own/own.nc"
    assert found["install"] == "pip install numpy==2.4.6"
    assert found["checkout"] == "git checkout 0123456789ab"
    assert ("commit", "0123456789ab with changes") in found["environment"]
    assert again(study(1, 1))["rerun"] == "", "an earlier dataset cannot be made from itself alone"

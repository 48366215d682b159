"""Every figure of McCann's experiments draws, whatever state the dataset is in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from fabricated_mccann1994 import EXPERIMENTS, dataset
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.figures.load_plot import Line, LoadPlot, draw_lines
from analysis.figures.policies import PARTITIONING, label
from analysis.figures.style import shade
from analysis.mccann1994 import PAPER, drawings
from analysis.mccann1994.figures import fairness as fairness_figures
from analysis.mccann1994.figures import simulation as simulation_figures
from analysis.mccann1994.labels import AXES
from analysis.report.warnings import warnings
from analysis.study import Study

NAMES = {
    "efficiency_preservation": ["fig3-1", "fig3-2", "fig4-2", "fig4-3", "fig4-5", "fig4-6", "fig4-7",
                                "fig5-2", "fig5-3"],
    "fairness": ["fig5-4", "fig5-5"],
    "birth_death": ["fig5-6", "fig5-7"],
    "partitioning": ["fig5-8", "fig5-8-relative", "fig5-9"],
    "partitioning_memory": ["fig5-10", "fig5-11"],
    "memory_schedules": ["reallocations", "reallocations-optimum", "epochs"],
    "memory_examples": [f"fig6-{n}" for n in (2, 4, 5, 7, 8, 9, 10, 11)],
}  # fmt: skip


def study(name: str, **made: Any) -> Study:
    return Study(dataset(name, **made).squeeze("machine"), Path("results") / name, axes=AXES)


def draw(found: Study) -> dict[str, Figure]:
    """Draw all figures but those that depend on no dataset."""
    independent = {*drawings.PICTURES, *NAMES["memory_examples"]}
    figures = {}
    with style.styled():
        for picture in PAPER.pictures(found, None):
            if picture.name in independent:
                continue
            try:
                figures[picture.name] = picture.draw()
            except DrawingError:
                continue
            # Layout takes most of the time, and draws as well as without.
            figures[picture.name].set_layout_engine(None)
            figures[picture.name].draw_without_rendering()
    return figures


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_all_figures_draw(name: str) -> None:
    found = study(name)
    assert [picture.name for picture in PAPER.pictures(found, None)] == NAMES[name]
    assert all(picture.title and picture.caption for picture in PAPER.pictures(found, None))
    drawn = draw(found)
    assert len(drawn) == len([n for n in NAMES[name] if not n.startswith(("fig4", "fig6"))])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_figures_of_half_a_run_draw_or_say_why_not(name: str) -> None:
    axes = list(EXPERIMENTS[name]["axes"])
    last = axes[-1]
    values = EXPERIMENTS[name]["axes"][last]
    draw(study(name, unfinished=lambda at: at[last] in values[::2]))


def test_each_reading_has_its_figures() -> None:
    found = study("fairness", leftover=["smallest", "regular"], jobs=[1, 2, 3])
    pictures = PAPER.pictures(found, None)
    assert [picture.name for picture in pictures] == ["fig5-4-A", "fig5-5-A", "fig5-4-B", "fig5-5-B"]
    assert pictures[2].caption.startswith("Reading B: leftover=regular.")
    assert dict(PAPER.readings(found))["leftover"] == "varied: smallest, regular"


def test_loads_get_a_figure_where_there_are_several() -> None:
    names = [p.name for p in simulation_figures.pictures(study("partitioning", load=[0.3, 0.5]))]
    assert names[-1] == "response-loads"


def test_bounds_are_shaded_between_most_and_least() -> None:
    found = study("fairness")
    (_, picture) = fairness_figures.pictures(found)
    with style.styled():
        never, *rotating = picture.draw().axes
    (band,) = never.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((0.5, 1.6))
    assert all(axes.collections[0].get_paths()[0].vertices[:, 1].max() < 1.6 for axes in rotating)


def test_a_policy_looks_the_same_everywhere_and_families_share_a_hue() -> None:
    figures = draw(study("efficiency_preservation")) | draw(study("birth_death"))
    looks: dict[str, set[tuple[str, str]]] = {}
    for figure in figures.values():
        for legend in figure.legends:
            for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
                looks.setdefault(text.get_text(), set()).add((handle.get_color(), handle.get_marker()))
    assert {"EQUI", "EQUI+", "FOLD∞", "FOLD 200 s"} <= looks.keys()
    assert all(len(found) == 1 for found in looks.values())
    blue, red = (PARTITIONING[name].color for name in ("equi_plus", "fold_never"))
    assert int(blue[5:], 16) > int(blue[1:3], 16)
    assert int(red[1:3], 16) > int(red[5:], 16)
    assert len({look.label for look in PARTITIONING.values()}) == len(PARTITIONING)
    assert label("worst_fold") == "Worst fold"
    assert (shade("#204060", 0), shade("#204060", 1)) == ("#204060", "#ffffff")


def test_readings_tell_what_the_dissertation_leaves_open() -> None:
    told = dict(PAPER.readings(study("partitioning")))
    assert told["policy.leftover"].startswith("smallest: columns left over go to")
    assert told["workload.delta"] == "5.0"
    assert "completion rate" not in told
    assert "completion rate" in dict(PAPER.readings(study("birth_death")))


def test_readings_leave_out_what_the_grid_varies() -> None:
    """A file has one of the values; the rows say all of them, or the figures do."""
    made = dataset("partitioning_memory", admission_interval=[10.0, 60.0, 120.0])
    config = json.loads(made.attrs["config"])
    admission = {"interval": 120.0, "overhead": 0.03}
    config["policy"] = {name: file | {"admission": admission} for name, file in config["policy"].items()}
    axes = {f"admission_{key}": f"policy.admission.{key}" for key in admission}
    one = made.assign_attrs(config=json.dumps(config | {"settings": {**config["settings"], "axes": axes}}))
    told = dict(PAPER.readings(Study(one.squeeze("machine"), Path("results"), axes=AXES)))
    assert told["admission_interval"] == "varied: 10, 60, 120"
    assert not {"policy.admission.interval", "policy.admission.overhead"} & told.keys()
    assert "interval between medium-term decisions" in told


def test_warnings_name_points_without_an_interval() -> None:
    made = dataset("partitioning_memory", noise=0.0).squeeze("machine")
    assert warnings(Study(made, Path("results"), axes=AXES)) == []
    # Nine batches of one run are too few to tell how much they resemble each other.
    batch = xr.DataArray(np.arange(9.0), dims="batch")
    made = made.isel(batch=slice(9))
    grown = made.assign(class_response_time=made["class_response_time"] * (1 + 0.1 * batch))
    (first,) = warnings(Study(grown, Path("results"), axes=AXES))
    assert re.match(r"Class response time of equi_plus, \w+: no interval at 42 points, the last ", first)
    assert "memory_limit=16 admission_overhead=0.03 job_class=all" in first


def test_markers_keep_apart_but_no_point_is_lost() -> None:
    x = np.arange(1.0, 65)
    mean = np.where((x > 40) & (x != 50), np.nan, 1.0)
    line = Line(x, mean, np.zeros(64), np.isnan(mean), np.ones(64, bool))
    plot = LoadPlot({"equi": line}, "", "", xscale="log", xlim=(0.95, 67), spacing=0.1, dodge=0.0)
    axes = Figure().subplots()
    draw_lines(axes, plot)
    marked = next(found.get_xdata() for found in axes.lines if found.get_marker() not in ("", "None"))
    assert marked[-1] == 50
    assert marked[:4].tolist() == [1, 2, 4, 7]
    assert (np.diff(np.log(marked[:-1])) >= 0.1 * np.log(67 / 0.95) - 1e-9).all()

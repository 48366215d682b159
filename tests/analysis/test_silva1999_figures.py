"""Every figure of the Concurrent Gang experiments draws, whatever state a dataset is in, with its data."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from drawn import drawn
from fabricated_silva1999 import (
    ASSUMPTIONS,
    EXPERIMENTS,
    GAINS,
    IDLE,
    SCHEMES,
    SWITCHING_SHARE,
    Point,
    dataset,
    tasks,
)
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analysis.figures.verdict_map import SAID
from analysis.registry import paper_for
from analysis.report.warnings import brief, warnings
from analysis.silva1999 import PAPER
from analysis.silva1999.claims import claims
from analysis.silva1999.figures import pe_time
from analysis.silva1999.figures.assumptions import verdicts
from analysis.silva1999.figures.pe_time import LOOKS, shares
from analysis.silva1999.labels import AXES, IO, JOBS, PRIORITIES, STATES, at_time, machine, size, workload
from analysis.study import Study
from sweep import statistics

OF_THE_PAPER = [
    "fig3", "fig4", "fig4-tasks", "fig5", "fig6", "fig7", "fig8", "fig8-tasks", "fig9", "fig10",
    "fig10-tasks",
]  # fmt: skip
NAMES = {
    "concurrent_gang": [*OF_THE_PAPER, "gains", "pe-time", "pe-time-torus4x8"],
    "concurrent_gang_sensitivity": [
        "map", "gains-io_intensive", "gains-computation_intensive", "gains-communication_intensive",
        "gains-synchronization_intensive",
    ],
    "concurrent_gang_scale": ["scale-switching", "scale-utilization"],
    "idling_ratio": ["idling-ratio"],
}  # fmt: skip


def study(name: str, **made: Any) -> Study:
    return Study(dataset(name, **made), Path("results") / name, axes=AXES).under(AXES)


draw = partial(drawn, PAPER)
"""Of a study, the figures of these names or all that can be drawn."""


def points(figure: Figure, panel: int, color: str) -> list[tuple[float, float]]:
    """Return the marked points of a colour in a panel."""
    found = [
        line
        for line in figure.axes[panel].lines
        if line.get_marker() not in ("None", "", "|", "_") and line.get_markerfacecolor() == color
    ]
    return [(float(x), float(y)) for line in found for x, y in zip(*line.get_data(), strict=True)]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_all_figures_draw_and_have_units(name: str) -> None:
    found = study(name)
    assert paper_for(name) is PAPER
    pictures = PAPER.pictures(found, None)
    assert [picture.name for picture in pictures] == NAMES[name]
    assert all(picture.title and picture.caption for picture in pictures)
    drawn = draw(found, render=True)
    assert list(drawn) == NAMES[name]
    for key, figure in drawn.items():
        shown = [axes for axes in figure.axes if axes.get_visible()]
        assert any(axes.get_xlabel() for axes in shown) or key == "map", key


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_figures_of_half_a_run_draw_or_say_why_not(name: str) -> None:
    first = EXPERIMENTS[name]["grid"]["workload"][0]
    draw(study(name, unfinished=lambda at: at["workload"] == first))
    assert set(draw(study(name, unfinished=lambda at: True))) <= {"map"}  # all of it is open


def test_fig_3_has_the_jobs_and_below_them_what_is_paired() -> None:
    (figure,) = draw(study("concurrent_gang", noise=1e-6), "fig3").values()
    mine, theirs = (GAINS[IO][place] for place in (2, 0))
    above = points(figure, 0, "#882255")
    assert [round(x) for x, _ in above] == [10, 20, 30, 40]
    assert [y for _, y in above] == pytest.approx(
        [mine * time / 100 for time in (1e4, 2e4, 3e4, 4e4)], rel=1e-4
    )
    below = points(figure, 2, "#882255")
    assert [y for _, y in below] == pytest.approx(
        [(mine - theirs) * time / 100 for time in (1e4, 2e4, 3e4, 4e4)], rel=1e-3
    )
    assert points(figure, 2, "#0072b2") == [], "gang scheduling is what the others are compared with"
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == ["16 PEs", "32 PEs"]


def test_differences_are_paired_run_by_run() -> None:
    """What all schedulers have in common of a sequence of jobs is in no difference."""
    from analysis.silva1999.figures.panels import difference

    found = study("concurrent_gang", noise=0.2)
    mine, gang = (found.curve(JOBS, name, along="horizon", workload=IO) for name in (PRIORITIES, "gang"))
    line = difference(mine, gang)
    each = mine.values[0] - gang.values[0]
    expected = statistics.interval(each, 0.95)
    assert line.mean[0] == pytest.approx(expected.mean)
    assert line.half_width[0] == pytest.approx(expected.half_width)
    assert line.half_width[0] < 0.5 * mine.intervals().half_width[0]


def test_bars_of_pe_time_add_up_and_tell_the_idle_share() -> None:
    (figure,) = draw(study("concurrent_gang", noise=1e-6), "pe-time").values()
    panel = figure.axes[0]
    bars = [patch for patch in panel.patches if isinstance(patch, Rectangle)]
    for row in range(4):
        widths = [bar.get_width() for bar in bars if round(bar.get_y() + bar.get_height() / 2) == row]
        assert sum(widths) == pytest.approx(100, rel=1e-5)
    texts = [text.get_text() for text in panel.texts]
    assert texts == [f"{100 * 0.4 * factor:.0f} %" for factor in IDLE[IO]]
    at: Point = {"policy": PRIORITIES, "workload": IO, "machine": "torus4x4", "horizon": 40000.0}
    time = {state: tasks("pe_time", {**at, "pe_state": state}) for state in STATES}
    made = shares(time, 0.2 * time["busy"])
    assert list(made) == list(LOOKS)
    assert made["local"] == pytest.approx(0.2 * (0.6 + 0.2 - SWITCHING_SHARE))
    assert sum(made.values()) == pytest.approx(1)


def no_gain_with_a_low_beta(metric: str, at: Point) -> float:
    """Let Concurrent Gang be gang scheduling where beta is 0.1 and tasks do input and output."""
    if at["assumption"] == "beta 0.1" and at["workload"] == IO and at["policy"] == PRIORITIES:
        return tasks(metric, {**at, "policy": "gang"})
    return tasks(metric, at)


def test_the_map_has_a_row_for_each_claim_and_a_column_for_each_assumption() -> None:
    found = study("concurrent_gang_sensitivity", truth=no_gain_with_a_low_beta)
    assert [one.label for one in found.readings.values()] == [
        "default", "assumption=alpha 1", "assumption=beta 0.1", "assumption=slice 2.5 s",
    ]  # fmt: skip
    table = verdicts(found)
    failing = {name: [column for column, one in row.items() if one != "holds"] for name, row in table.items()}
    failing = {name: columns for name, columns in failing.items() if columns}
    assert {"3.2-io-throughput", "3.2-io-idle-time", "3.2-io-priorities-first"} <= set(failing)
    assert all(columns == ["beta 0.1"] for columns in failing.values())
    assert table["3.2-io-throughput"]["beta 0.1"] == "fails"
    (report,) = PAPER.tables(found)
    assert tuple(report.columns) == ("claim", *ASSUMPTIONS)
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in report.rows}
    assert rows["3.2-io-throughput"] == ["holds", "holds", "fails", "holds"]
    counted = rows.pop("hold, fail, open")
    assert counted[0] == f"{len(rows)} · 0 · 0"
    assert {name: cells for name, cells in rows.items() if name not in failing} == {
        name: ["holds"] * 4 for name in rows if name not in failing
    }
    assert {cell for cells in rows.values() for cell in cells} <= set(SAID.values())
    (figure,) = draw(found, "map").values()
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(table)
    assert [label.get_text() for label in axes.get_xticklabels()] == list(ASSUMPTIONS)
    assert len(axes.texts) == len(table) * len(ASSUMPTIONS)
    signs = [text.get_text() for text in axes.texts if round(text.get_position()[0]) == 2]
    assert signs.count("✗") == sum(row["beta 0.1"] == "fails" for row in table.values())


def test_an_experiment_of_one_reading_has_no_map() -> None:
    assert PAPER.tables(study("concurrent_gang")) == ()
    one = study("concurrent_gang_sensitivity", assumption=("default",))
    assert [picture.name for picture in PAPER.pictures(one, None)] == ["gains", "pe-time"]
    assert not any("32" in claim.id for claim in claims(one))


def test_readings_beside_horizons_have_figures_each_and_the_map() -> None:
    found = study("concurrent_gang", horizon=(10000.0, 20000.0), machine=("torus4x4",), alpha=(2.0, 1.0))
    names = [picture.name for picture in PAPER.pictures(found, None)]
    assert names[-1] == "map"
    assert names[:-1] == [
        f"{name}-{letter}" for letter in "AB" for name in [*OF_THE_PAPER, "gains", "pe-time"]
    ]


def test_idling_ratio_has_a_line_for_each_scheme() -> None:
    (figure,) = draw(study("idling_ratio", noise=1e-6), "idling-ratio").values()
    lines = points(figure, 0, "#882255")
    assert [y for _, y in lines] == pytest.approx([60 - 20 * load + 6 for load in (0.3, 0.9, 1.5)], rel=1e-4)
    less = points(figure, 2, "#882255")
    assert [y for _, y in less] == pytest.approx([6, 6, 6], rel=1e-3)
    assert points(figure, 2, "#56b4e9") == [], "first fit is what the others are compared with"
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(legend) == len(SCHEMES)


def test_what_switching_costs_is_a_share_of_all_time() -> None:
    figures = draw(study("concurrent_gang_scale", noise=1e-6))
    clock = points(figures["scale-switching"], 0, "#0072b2")
    assert [x for x, _ in clock] == [64, 256, 1024, 4096]
    assert [y for _, y in clock] == pytest.approx([100 * SWITCHING_SHARE] * 4, rel=1e-4)
    highest = points(figures["scale-switching"], 0, "#d55e00")
    expected = [100 * (SWITCHING_SHARE + 0.5 * 0.002 * n / 10) for n in (64, 256, 1024, 4096)]
    assert [y for _, y in highest] == pytest.approx(expected, rel=1e-3)
    left = points(figures["scale-utilization"], 1, "#0072b2")
    assert [y for _, y in left] == pytest.approx([79.9] * 4, rel=1e-4)


def test_names_in_text() -> None:
    assert machine("torus4x4") == "16 PEs"
    assert machine("o2k") == "o2k"
    assert workload("changing_phases") == "Changing phases"
    assert at_time("40000") == ", 40,000 s"


def test_a_machine_is_called_by_its_size_whatever_its_file_says() -> None:
    made = study("concurrent_gang")
    config = made.config
    assert size(made, "torus4x4") == "16 PEs"
    config.setdefault("machine", {})["torus4x4"] = {"torus": "2x3", "processors": None}
    larger = replace(made, data=made.data.assign_attrs(config=json.dumps(config)))
    assert size(larger, "torus4x4") == "6 PEs"
    shown = next(one for one in pe_time.pictures(larger) if one.name == "pe-time")
    assert shown.title == "Where the time of a PE goes, 6 PEs"


def test_readings_say_what_was_taken() -> None:
    rows = dict(PAPER.readings(study("concurrent_gang")))
    assert rows["policy.returns"].startswith("at_once: the task of the slot gets its PE back as soon")
    assert rows["policy.beta"] == "0.5"
    assert "waiting of tasks" in rows["total idle time"]
    varied = dict(PAPER.readings(study("concurrent_gang_sensitivity")))
    assert varied["assumption"] == f"varied: {', '.join(ASSUMPTIONS)}"


def test_runs_cut_at_a_horizon_are_advised_replications_and_told_once() -> None:
    """More batches would be refused, and schedulers with the same to tell share a line."""
    made = study("concurrent_gang")
    config = made.config
    config["policy"] = {name: {"horizon": 40000.0} for name in made.policies}
    few = made.data.isel(replication=slice(3)).assign_attrs(config=json.dumps(config))
    (line,) = warnings(replace(made, data=few))
    assert re.match(r".* of (\w+, ){3}\w+: no interval at \d+ point", line)
    assert line.endswith("3 runs are too few, and each is one sample; run at least 5 replications.")
    assert brief(line) == line.partition("; at the last")[0] + "."
    assert brief("2 points are saturated.") == "2 points are saturated."

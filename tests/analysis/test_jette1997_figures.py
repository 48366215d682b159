"""Every figure of the T3D's experiments draws, whatever state a dataset is in, with its data."""

from __future__ import annotations

import json
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import drawn
from fabricated_jette1997 import EXPERIMENTS, LOST, Point, dataset, t3d
from fabricated_jette1997 import tradeoff as tradeoff_truth
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analysis.figures import style
from analysis.figures.policies import look
from analysis.jette1997 import PAPER
from analysis.jette1997.figures import lost, months, tradeoff
from analysis.jette1997.labels import (
    AXES,
    BENCHMARK_WEEK,
    FIFTEEN_MONTHS,
    GANG,
    NEVER,
    THREE_WEEKS,
    UNICOS_MAX,
)
from analysis.registry import paper_for
from analysis.study import Study

NAMES = {
    "llnl_t3d": ["fig1", "weeks", "week-by-week", "responsiveness", "by-hour", "by-length", "lost"],
    "llnl_tradeoff": ["tradeoff", "tradeoff-curves"],
    "llnl_compare": ["compare"],
}


def study(name: str, **made: Any) -> Study:
    return Study(dataset(name, **made), Path("results") / name, axes=AXES).under(AXES)


@cache
def true(name: str) -> Study:
    return study(name, noise=0.0, replications=5)


draw = partial(drawn, PAPER)
"""Of a study, the figures of these names or all that can be drawn."""


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_has_its_figures_and_its_paper(name: str) -> None:
    assert list(draw(true(name), render=True)) == NAMES[name]
    assert paper_for(name) is PAPER


@pytest.mark.parametrize("name", NAMES)
def test_what_has_not_run_is_said_and_not_drawn(name: str) -> None:
    found = study(name, unfinished=lambda at: True, replications=5)
    assert draw(found) == {}


def test_one_scheduler_that_is_missing_leaves_the_others() -> None:
    found = study("llnl_t3d", unfinished=lambda at: at["policy"] == "djm", replications=5)
    assert list(draw(found, render=True)) == NAMES["llnl_t3d"]


def test_a_grid_of_the_gang_scheduler_alone_draws() -> None:
    found = study("llnl_t3d", policy=(GANG,), workload=(FIFTEEN_MONTHS,), replications=5)
    assert list(draw(found, render=True)) == NAMES["llnl_t3d"]


def test_three_weeks_are_not_drawn_as_months() -> None:
    """July 1996 is no month of UNICOS MAX, and a day is no week."""
    found = study("llnl_t3d", workload=(THREE_WEEKS, BENCHMARK_WEEK), replications=5)
    assert list(draw(found, render=True)) == NAMES["llnl_t3d"][3:]


@pytest.mark.parametrize("axes", [{"switch_cost": ("0",)}, {"do_not_disturb": ("2", NEVER)}])
def test_a_map_of_one_row_or_column_draws_without_a_break_even(axes: dict[str, tuple[str, ...]]) -> None:
    def truth(metric: str, at: Point) -> float:
        better = metric == "utilization" and at["do_not_disturb"] != NEVER
        gains = at["do_not_disturb"] == "10" if "switch_cost" in axes else at["switch_cost"] == "0"
        return tradeoff_truth(metric, at) * ((1.1 if gains else 0.5) if better else 1.0)

    found = study("llnl_tradeoff", truth=truth, noise=0.0, replications=5, **axes)
    _, gained = tradeoff.table(found)
    assert np.nanmin(gained) < 0 < np.nanmax(gained)
    assert list(draw(found, render=True)) == NAMES["llnl_tradeoff"]


def points(figure: Figure, panel: int, color: str) -> list[tuple[float, float]]:
    found = [
        line
        for line in figure.axes[panel].lines
        if line.get_color() == color and line.get_marker() not in ("None", "|", "_")
    ]
    return [(float(x), float(y)) for line in found for x, y in zip(*line.get_data(), strict=True)]


def test_fig1_has_the_months_of_each_scheduler_and_marks_what_the_site_had() -> None:
    (figure,) = draw(true("llnl_t3d"), "fig1").values()
    drawn = points(figure, 0, look(UNICOS_MAX).color)
    first = t3d("utilization", {"policy": UNICOS_MAX, "workload": FIFTEEN_MONTHS, "batch": 0})
    line, marked = drawn[:15], drawn[15:]
    assert line[0][1] == pytest.approx(100 * first)
    assert marked == line[:3]
    last = points(figure, 0, look(GANG).color)
    assert last[14][1] == pytest.approx(98)
    assert last[15:] == last[5:15]


def test_months_have_names_where_the_workload_has_a_first_day() -> None:
    assert months.month_name(date(1995, 10, 1), 1) == "Oct\n95"
    assert months.month_name(date(1995, 10, 1), 15) == "Dec"
    assert months.month_name(None, 15) == "15"


def test_shares_of_the_processor_time_add_up_and_are_the_bars() -> None:
    found = lost.shares(true("llnl_t3d"), GANG, BENCHMARK_WEEK)
    assert sum(found.values()) == pytest.approx(1)
    assert found["switching_share"] == pytest.approx(LOST[GANG][0])
    (figure,) = draw(true("llnl_t3d"), "lost").values()
    bars = [patch for patch in figure.axes[2].patches if isinstance(patch, Rectangle)]
    of_gang = [bar for bar in bars if round(bar.get_y() + bar.get_height() / 2) == 2]
    assert [bar.get_width() for bar in of_gang] == pytest.approx([100 * share for share in found.values()])


def test_the_map_has_slowdowns_and_gains_where_they_belong() -> None:
    excess, gained = tradeoff.table(true("llnl_tradeoff"))
    # Rows: costs 0, 1, 4; columns: multipliers 0, 2, 10, of the fabricated machine.
    assert excess[0] == pytest.approx([10, 20, 60])
    assert gained[0] == pytest.approx([9, 9, 9])
    switching = 0.3 * 4 / 5
    assert gained[2] == pytest.approx([100 * (0.95 - switching / (1 + m) - 0.86) for m in (0, 2, 10)])


def test_the_break_even_is_where_preemption_gains_nothing() -> None:
    """The line goes through the interpolated zero between multipliers 0 and 2 at a cost of 4."""
    _, gained = tradeoff.table(true("llnl_tradeoff"))
    (figure,) = draw(true("llnl_tradeoff"), "tradeoff").values()
    lines = [path.vertices for held in figure.axes[1].collections for path in held.get_paths()]
    top = max((vertex for line in lines for vertex in line), key=lambda vertex: vertex[1])
    zero = -gained[2, 0] / (gained[2, 1] - gained[2, 0])
    assert top == pytest.approx([zero, 2.0], abs=1e-6)


def test_no_break_even_is_drawn_where_preemption_always_gains() -> None:
    def truth(metric: str, at: Point) -> float:
        value = EXPERIMENTS["llnl_tradeoff"]["truth"](metric, at)
        return 0.1 * value if metric == "utilization" and at["do_not_disturb"] == "never" else value

    (figure,) = draw(study("llnl_tradeoff", truth=truth, replications=5), "tradeoff").values()
    assert not [
        path for held in figure.axes[1].collections for path in held.get_paths() if len(path.vertices)
    ]
    assert not figure.legends


@pytest.mark.parametrize("known", ["none", "one"])
def test_no_break_even_is_drawn_beside_gains_that_are_not_known(known: str) -> None:
    """A map that is still being run may have a gain, a loss and nothing between them."""

    def unfinished(at: Point) -> bool:
        if at["do_not_disturb"] == NEVER:
            return known == "none"
        return (at["do_not_disturb"], at["switch_cost"]) not in (("0", "0"), ("0", "4"))

    half = study("llnl_tradeoff", unfinished=unfinished, noise=0.0, replications=5)
    _, gained = tradeoff.table(half)
    assert np.isfinite(gained).sum() == (0 if known == "none" else 2)
    (figure,) = draw(half, "tradeoff").values()
    assert not figure.axes[1].collections
    assert not figure.legends


def test_slowdowns_of_less_than_a_decade_have_plain_numbers() -> None:
    (figure,) = draw(true("llnl_t3d"), "week-by-week").values()
    (axes,) = figure.axes
    axes.set_ylim(3, 40)
    figure.canvas.draw()
    ticks = [*axes.yaxis.get_ticklabels(), *axes.yaxis.get_ticklabels(minor=True)]
    texts = [label.get_text() for label in ticks if label.get_text()]
    assert {"5", "10", "20"} <= set(texts)
    assert all(text.replace(",", "").replace(".", "").isdigit() for text in texts)


def test_readings_say_what_was_taken() -> None:
    told = dict(PAPER.readings(true("llnl_t3d")))
    assert "October 1995 to December 1996" in told["the months"]
    assert told["machine.places"] == "aligned: a partition's corner is at multiples of its sides"


def test_what_a_named_axis_varies_is_no_reading() -> None:
    """The files of a dataset have the parameters of one point: of these keys, one value among several."""
    made = dataset("llnl_tradeoff")
    config = json.loads(made.attrs["config"])
    costs = {cost: {"policy": {"swap_out": float(cost)}} for cost in ("0", "1", "4")}
    slices = {
        "0": {},
        "2": {"policy": {"oversubscribe": {"from": 64}}},
        NEVER: {"policy": {"preemptive": False}},
    }
    config["settings"]["axes"] = {"do_not_disturb": "*", "switch_cost": "*"}
    config["settings"]["values"] = {"do_not_disturb": slices, "switch_cost": costs}
    config["policy"][GANG] |= {
        "swap_out": 4.0, "preemptive": False, "order": "largest", "oversubscribe": {"from": 64},
    }  # fmt: skip
    made.attrs["config"] = json.dumps(config)
    told = dict(PAPER.readings(Study(made, Path("results"), axes=AXES).under(AXES)))
    assert "policy.order" in told
    assert not {"policy.swap_out", "policy.preemptive", "policy.oversubscribe"} & set(told)


def test_hours_are_put_together_by_threes() -> None:
    from analysis.jette1997.figures.slowdowns import groups

    found = groups(true("llnl_t3d"), "hour")
    assert len(found) == 8
    assert found["21–24"] == ("21", "22", "23")
    assert np.concatenate(list(found.values())).tolist() == [str(hour) for hour in range(24)]


def test_the_map_has_every_claim_under_every_assumption() -> None:
    """Under one of two assumptions the gang scheduler delivers less: there the sentence on 96 % fails."""

    def truth(metric: str, at: Point) -> float:
        less = metric == "utilization" and at["policy"] == GANG and at["assumption"] == "few jobs"
        return (0.8 if less else 1.0) * t3d(metric, at)

    found = study(
        "llnl_t3d",
        truth=truth,
        replications=5,
        policy=(UNICOS_MAX, GANG),
        workload=(FIFTEEN_MONTHS, THREE_WEEKS),
        assumption=("default", "few jobs"),
    )
    (picture,) = PAPER.pictures(found, None)
    assert picture.name == "map"
    with style.styled():
        (axes,) = picture.draw().axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["default", "few jobs"]
    signs = {text.get_position(): text.get_text() for text in axes.texts}
    row = rows.index("t3d-96-percent-a-week")
    assert (signs[0, row], signs[1, row]) == ("✓", "✗")
    (told,) = PAPER.tables(found)
    assert len(told.rows) == len(rows) + 1

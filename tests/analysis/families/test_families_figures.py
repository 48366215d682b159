"""Figures and tables across families, from datasets whose break-evens are known."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from fabricated_families import Point, truth
from papers import drawn
from papers import study as fabricate

from analysis.families import PAPER
from analysis.families.contestants import Contestant, Field
from analysis.families.figures.styles import style_of
from analysis.families.labels import GANG, SLOWDOWN
from analysis.families.tables import share_of_gain
from analysis.study.axes import RUNTIME

NAMES = [
    "slowdown", "levels-slowdown", "best-slowdown", "response", "levels-response", "best-response",
    "break-even-cost", "who-pays-runtime", "who-pays-size",
]  # fmt: skip
ONE_OF_EACH = {"policy": ("easy", "buddy"), "level": (math.nan,), "queue": ("fcfs",), "switch_cost": (0,)}


study = partial(fabricate, "families", "families")


draw = partial(drawn, "families", render=True)
"""Of a study, the figures of these names or all that can be drawn."""


@pytest.mark.parametrize(
    ("made", "names", "tables"),
    [
        pytest.param(
            {}, NAMES, ["take-over", "break-even-cost", "requests", "levels", "payers"],
            marks=pytest.mark.exhaustive,
        ),
        (
            {**ONE_OF_EACH, "requests": ("real",), "speedup": ("linear",)},
            ["slowdown", "response", "who-pays-runtime", "who-pays-size"],
            ["take-over", "payers"],
        ),
        ({"policy": ("buddy",), "level": (math.nan,), "requests": ("exact",)}, [], []),
    ],
)  # fmt: skip
def test_figures_and_tables_of_a_grid(made: dict[str, Any], names: list[str], tables: list[str]) -> None:
    found = study(**made)
    assert list(draw(found)) == names
    assert [table.name for table in PAPER.tables(found)] == tables
    assert all(len(row) == len(table.columns) for table in PAPER.tables(found) for row in table.rows)
    assert bool(PAPER.summary(found)) == bool(names)


def test_no_two_contestants_look_alike() -> None:
    """Two schemes at one level share its colour, and one of them changes."""
    policies = ("easy", "fcfs", "conservative", "best_fit", "buddy", "migration", "equi_plus")
    field = Field(study(policy=policies, level=(math.nan, 2, 3, 5)))
    styles = [style_of(field, one) for one in field.all]
    assert len(styles) > len(policies)
    assert len({(one.color, one.marker) for one in styles}) == len(styles)


def crossing(metric: str, at: Point) -> float:
    """Let gang scheduling be as good as EASY at a cost of 8 % of a slice, at every load."""
    easy = {**at, "policy": "easy", "level": math.nan, "queue": "fcfs", "switch_cost": 0}
    if (
        at["policy"] == "buddy"
        and math.isnan(at["level"])
        and metric in ("bounded_slowdown", "response_time")
    ):
        return truth(metric, easy) * (1 + (at["switch_cost"] - 8.0) / 20)
    return truth(metric, at)


def test_the_break_even_figure_has_the_break_even() -> None:
    found = study(truth=crossing)
    field = Field(found)
    figure = draw(found, "break-even-cost")["break-even-cost"]
    color = style_of(field, field.find("buddy")).color  # type: ignore[arg-type] # it takes part
    for axes in figure.axes:
        (line,) = [line for line in axes.lines if line.get_color() == color and len(line.get_xdata()) == 4]
        assert np.asarray(line.get_ydata(), float) == pytest.approx([8.0] * 4, abs=0.5)
    table = next(table for table in PAPER.tables(found) if table.name == "break-even-cost")
    for cell in table.rows[0][1:]:
        assert float(cell.text.removeprefix("up to ").split()[0]) == pytest.approx(8.0, abs=0.5)


INACCURATE = ("exact", "f1", "f3", "f10", "real")


def overestimated(metric: str, at: Point) -> float:
    """Let gang scheduling be as good as EASY where requests are up to 1 + 2 times the runtime."""
    if at["policy"] == "easy" and metric in ("bounded_slowdown", "response_time"):
        gang = {**at, "policy": "buddy", "level": math.nan, "queue": "fcfs", "requests": "real"}
        f = {"exact": 0, "f1": 1, "f3": 3, "f10": 10, "real": 20}[at["requests"]]
        return truth(metric, gang) * (1 + (f - 2) / 20)
    return truth(metric, at)


@pytest.mark.parametrize(
    "requests", [INACCURATE, pytest.param(INACCURATE[:-1], marks=pytest.mark.exhaustive)]
)
def test_the_inaccuracy_from_which_gang_scheduling_wins(requests: tuple[str, ...]) -> None:
    """With requests as users make them, and in a grid without these."""
    few = ("easy", "fcfs", "conservative", "buddy")
    found = study(truth=overestimated, requests=requests, policy=few, switch_cost=(0,))
    table = next(table for table in PAPER.tables(found) if table.name == "inaccuracy")
    rows = [row for row in table.rows if row[0].text.startswith("Buddy ∞ against EASY, load")]
    assert len(rows) == 4
    for row in rows:
        for cell in row[1:]:
            words = cell.text.removeprefix("from ").split()
            assert float(words[0]) == pytest.approx(2.0, abs=0.4)
            low, high = float(words[1].strip("(")), float(words[3].strip(");"))
            assert 1.0 < low <= float(words[0]) <= high < 3.0
            assert cell.text.endswith("; users: better") == ("real" in requests)
    assert any("Buddy ∞ is better than EASY: load 0.5, from 2." in one for one in PAPER.summary(found))
    panels = [axes for axes in draw(found, "inaccuracy")["inaccuracy"].axes if axes.get_title(loc="left")]
    color = style_of(Field(found), Field(found).find("buddy")).color  # type: ignore[arg-type] # it takes part
    assert len(panels) == 4
    for axes in panels:
        (y,) = [np.asarray(line.get_ydata(), float) for line in axes.lines if line.get_color() == color][:1]
        wanted = [1 / (1 + (f - 2) / 20) for f in (0, 1, 3, 10, 20)][: len(requests)]
        assert y == pytest.approx(wanted, rel=0.03)


def test_the_share_of_a_level_is_that_of_the_gain() -> None:
    field = Field(study(own=0.0))
    one = field.find("buddy", "2", "backfill")
    found = share_of_gain(field, one, 0.5, SLOWDOWN, "lublin2003")
    assert found.mean == pytest.approx((20 - 16) / (20 - 4.5), abs=1e-6)
    dear = {"truth": lambda metric, at: 50.0 if at["policy"] == "buddy" else truth(metric, at)}
    nothing = Field(study(**dear))
    assert share_of_gain(nothing, one, 0.5, SLOWDOWN, "lublin2003") is None


def test_groups_that_gain_and_lose() -> None:
    found = study()
    field, at = Field(found), {"policy": "buddy", "workload": "lublin2003", "load": 0.8}
    at |= {"level": math.nan, "queue": "fcfs", "switch_cost": 0, "requests": "real", "speedup": "linear"}
    at[RUNTIME.dim], metric = "10 to 100 min", "bounded_slowdown_by_runtime"
    gang = field.find("buddy")
    group = RUNTIME.of("10 to 100 min")
    long = field.beside(SLOWDOWN, (gang, field.reference), "lublin2003", 0.8, group=group).ratio(gang)
    wanted = truth(metric, at) / truth(metric, {**at, "policy": "easy"})
    assert long.mean == pytest.approx(wanted, rel=0.02)
    table = next(table for table in PAPER.tables(found) if table.name == "payers")
    (row,) = [row for row in table.rows if row[0].text.startswith("Buddy ∞, Lublin")]
    assert "under 1 min" in row[1].text
    assert "10 to 100 min" in row[2].text


def test_costs_and_requests_matter_to_some_contestants_only() -> None:
    field = Field(study())
    easy, gang = field.find("easy"), field.find("buddy")
    assert field.point(easy, "lublin2003", cost="20")["switch_cost"] == "0"
    assert field.point(gang, "lublin2003", cost="20", requests="exact") | {} == {
        "workload": "lublin2003", "level": "null", "queue": "fcfs", "speedup": "linear", "switch_cost": "20",
        "requests": "real",
    }  # fmt: skip
    assert gang.family == GANG
    labels = [one.label for one in field.all]
    assert len(labels) == len(set(labels)) == 5 + 3 * 7 + 2 * 2 + 1
    assert len(field.costly) == 4
    assert field.share("5") == 5.0
    assert field.reference == Contestant("easy", "models.backfill")

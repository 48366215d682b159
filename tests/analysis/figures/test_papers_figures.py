"""Every figure of every paper has its data, labels with units and a complete legend, or a reason why not."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from papers import EXPERIMENTS, KEYS, drawn, figures, made, paper, study, true

import sweep
from analysis.chiang2001.figures import policies
from analysis.figures import style
from analysis.figures.policies import STYLES
from analysis.registry import opened, paper_for

UNDRAWN = {"o2k_backfill": {"fig4"}}
"""Experiment -> a figure that a run of the policy draws: a fabricated dataset has none."""

LOGS = {"fig3", "fig4", "fig5", "fig6"}
"""Figures of packing's logs, which need no run."""

WITHOUT_AXES = re.compile(r"table4|fig2-3|fig4-\d|fig6-\d|map|fig9$|readings-verdicts")
"""Tables, matrices and meshes."""


def shown(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_visible() and axes.axison]


@pytest.mark.parametrize(("key", "name"), EXPERIMENTS)
def test_figures_have_data_labels_and_legends(key: str, name: str) -> None:
    pictures = paper(key).pictures(true(key, name), None)
    assert all(picture.title and picture.caption for picture in pictures)
    assert paper_for(name) is paper(key)
    drawings = figures(key, name)
    assert list(drawings) == [one.name for one in pictures if one.name not in UNDRAWN.get(name, ())]
    for figure_name, figure in drawings.items():
        axes = shown(figure)
        assert any(map(style.shows, figure.axes)), figure_name
        if not WITHOUT_AXES.match(figure_name):
            labelled = [one.get_xlabel() for one in axes] + [figure.get_supxlabel()]
            assert any(labelled), figure_name
            assert any(one.get_ylabel() or one.get_yticklabels() for one in axes) or figure.get_supylabel()
        for legend in figure.legends:
            texts = [text.get_text() for text in legend.get_texts()]
            assert texts, figure_name
            assert all(texts), figure_name
            assert len(set(texts)) == len(texts), figure_name
            assert len({*map(signs, legend.legend_handles)}) == len(texts), figure_name
        assert not [*faint(figure)], figure_name


def signs(handle: Any) -> tuple[object, ...]:
    """Return what distinguishes an entry of a legend, or a curve, from the others."""
    if isinstance(handle, Line2D):
        styles = handle.get_color(), handle.get_marker(), handle.get_markeredgecolor()
        return *styles, str(handle._dash_pattern)
    return handle.get_facecolor(), handle.get_hatch()


def faint(figure: Figure) -> Iterator[str]:
    """Yield texts that stand out from what is behind them by less than 4.5 to 1 (WCAG 2.1, 1.4.3)."""
    for text in figure.findobj(Text):
        if not (text.get_visible() and text.get_text().strip()):
            continue
        behind = figure.get_facecolor() if text.axes is None else under(text, text.axes)
        one, other = sorted(map(luminance, (text.get_color(), behind)))
        if (other + 0.05) / (one + 0.05) < 4.5:
            yield f"{text.get_text()} in {text.get_color()} on {behind}"


def under(text: Text, axes: Axes) -> Any:
    """Return the colour of what is behind a text: of a patch, a cell of an image, a marker at its place."""
    place = text.get_transform().transform(text.get_position())
    x, y = axes.transData.inverted().transform(place)
    if filled := [patch for patch in axes.patches if patch.get_fill() and patch.contains_point(place)]:
        return filled[-1].get_facecolor()
    for image in axes.images:
        left, right, bottom, top = image.get_extent()
        if left <= x <= right and min(bottom, top) <= y <= max(bottom, top):
            values = image.get_array()
            return image.to_rgba(values)[round(y), round(x)]
    for line in axes.lines:
        if line.get_marker() == "s" and np.allclose(line.get_xydata(), (x, y)):
            return line.get_markerfacecolor()
    return axes.get_facecolor()


def luminance(color: Any) -> float:
    """Return the relative luminance of a colour over white (WCAG 2.1)."""
    *parts, alpha = to_rgba(color)
    seen = [alpha * part + 1 - alpha for part in parts]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in seen]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


SOME = [
    pytest.param(*one, marks=[pytest.mark.exhaustive] if i % 3 else []) for i, one in enumerate(EXPERIMENTS)
]
"""Every third in the first tier."""


@pytest.mark.parametrize(("key", "name"), SOME)
def test_without_runs_nothing_is_drawn(key: str, name: str) -> None:
    independent = {"fig2-3", "fig3-1", "fig7", "fig9", "map", "readings-verdicts"} | LOGS
    found = drawn(key, study(key, name, unfinished=lambda at: True))
    assert {one for one in found if not one.startswith(("fig4-", "fig6-"))} <= independent


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "name"), EXPERIMENTS)
def test_half_a_run_is_drawn_as_far_as_it_has_come(key: str, name: str) -> None:
    axis, values = next((a, v) for a, v in reversed(made(key).experiments[name].grid.items()) if len(v) > 1)
    half = study(key, name, unfinished=lambda at: at[axis] in values[::2])
    assert drawn(key, half, render=True)


@pytest.mark.parametrize("key", KEYS)
def test_a_policy_looks_the_same_in_every_figure(key: str) -> None:
    styles: dict[str, set[tuple[str, str]]] = {}
    policies = {one.label for one in STYLES.values()}
    for name in made(key).experiments:
        for figure in figures(key, name).values():
            for legend in figure.legends:
                for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
                    if handle.get_label() in policies and hasattr(handle, "get_marker"):
                        own = (str(handle.get_color()), str(handle.get_marker()))
                        styles.setdefault(text.get_text(), set()).add(own)
    assert all(len({color for color, _ in found}) == 1 for found in styles.values()), styles
    assert all(len({marker for _, marker in found} - {"None"}) <= 1 for found in styles.values()), styles


@pytest.mark.parametrize(
    ("key", "name", "axes", "names"),
    [
        ("chiang2001", "o2k_immediate", {"ties": ("instant", "event")}, ["fig8-A", "fig8-B"]),
        (
            "mccann1994",
            "fairness",
            {"leftover": ["smallest", "regular"], "jobs": [1, 2, 3]},
            ["fig5-4-A", "fig5-5-B"],
        ),
        (
            "silva1999",
            "concurrent_gang",
            {"alpha": (2.0, 1.0), "machine": ("torus4x4",)},
            ["fig3-A", "gains-B", "map"],
        ),
    ],
)
def test_each_reading_has_its_figures(key: str, name: str, axes: dict[str, Any], names: list[str]) -> None:
    pictures = {picture.name: picture for picture in paper(key).pictures(study(key, name, **axes), None)}
    assert set(names) <= set(pictures)
    assert all("Reading" in pictures[one].caption for one in names if one != "map")
    assert dict(paper(key).readings(study(key, name, **axes)))[next(iter(axes))].startswith("varied: ")


@pytest.mark.parametrize(
    ("key", "name", "axes", "figures_"),
    [
        (
            "jette1997",
            "llnl_t3d",
            {"policy": ("llnl_gang",), "workload": ("t3d",)},
            "fig1 weeks week-by-week responsiveness by-hour by-length by-size lost",
        ),
        (
            "jette1997",
            "llnl_t3d",
            {"workload": ("t3d_three_weeks", "t3d_benchmark")},
            "responsiveness by-hour by-length by-size lost",
        ),
        ("silva1999", "concurrent_gang_sensitivity", {"assumption": ("default",)}, "gains pe-time"),
        ("chiang2001", "o2k_equipartition", {"workload": ("o2k_2000_01",)}, "fig9-months fig10 fig10-all"),
        ("mccann1994", "partitioning", {"load": [0.3, 0.5]}, "fig5-8 fig5-8-relative fig5-9 response-loads"),
    ],
)
def test_a_part_of_a_grid_has_the_figures_that_it_can_have(
    key: str, name: str, axes: dict[str, Any], figures_: str
) -> None:
    assert list(drawn(key, study(key, name, **axes))) == figures_.split()


def test_bars_and_points_have_the_values_of_the_dataset() -> None:
    """Wait of each class; jobs until a horizon; months of each scheduler; shares of a PE's time."""
    fig3 = figures("chiang2001", "o2k_backfill")["fig3"].axes[0]
    assert [bar.get_height() for bar in fig3.patches] == pytest.approx([20.0] * 12, rel=0.02)  # type: ignore[attr-defined]
    fig3 = figures("silva1999", "concurrent_gang")["fig3"]
    assert [y for _, y in points(fig3, 0, "#882255")] == pytest.approx([135, 270, 405, 540], rel=0.02)
    assert [y for _, y in points(fig3, 1, "#882255")] == pytest.approx([1.35] * 4, rel=0.02)
    months = points(figures("jette1997", "llnl_t3d")["fig1"], 0, "#332288")
    assert months[14][1] == pytest.approx(98, rel=0.01)
    assert months[15:] == months[5:15], "large points are what the site had"
    for key, name, figure, total in (
        ("silva1999", "concurrent_gang", "pe-time", 100), ("jette1997", "llnl_t3d", "lost", 100)
    ):  # fmt: skip
        panel = figures(key, name)[figure].axes[0]
        rows: dict[int, float] = {}
        for bar in panel.patches:
            row = round(bar.get_y() + bar.get_height() / 2)  # type: ignore[attr-defined]
            rows[row] = rows.get(row, 0.0) + bar.get_width()  # type: ignore[attr-defined]
        assert list(rows.values()) == pytest.approx([total] * len(rows), rel=1e-3)


def points(figure: Figure, panel: int, color: str) -> list[tuple[float, float]]:
    """Return the marked points of a colour in a panel."""
    found = [
        line
        for line in figure.axes[panel].lines
        if line.get_color() == color and line.get_marker() not in ("None", "", "|", "_")
    ]
    return [(float(x), float(y)) for line in found for x, y in zip(*line.get_data(), strict=True)]


def test_a_gain_whose_interval_has_both_signs_is_in_parentheses() -> None:
    """At a cost of 4 a multiplier of 0 gains -15 points beyond noise, and one of 2 gains 1 within it."""
    from analysis.jette1997.figures import tradeoff

    found = study("jette1997", "llnl_tradeoff", noise=0.0)
    excess, gained, half = tradeoff.table(found)
    assert excess[0] == pytest.approx([10, 20, 60])
    assert gained[2] == pytest.approx([100 * (0.95 - 0.24 / (1 + m) - 0.86) for m in (0, 2, 10)])
    assert half.max() == pytest.approx(0, abs=1e-9)
    (figure,) = drawn("jette1997", found, "tradeoff").values()
    sure = [text.get_text() for text in figure.axes[1].texts]
    assert sure[6:] == ["-15.0", "+1.0", "+6.8"]
    (figure,) = drawn("jette1997", study("jette1997", "llnl_tradeoff", noise=0.3), "tradeoff").values()
    noisy = [text.get_text() for text in figure.axes[1].texts]
    assert not noisy[6].startswith("("), "a loss of 15 points is beyond noise"
    assert noisy[7].startswith("("), "a gain of a point is not"
    half_done = study("jette1997", "llnl_tradeoff", unfinished=lambda at: at["do_not_disturb"] == "never")
    (figure,) = drawn("jette1997", half_done, "tradeoff").values()
    assert not figure.axes[1].texts


def test_the_map_has_every_claim_under_every_assumption() -> None:
    from fabricated_silva1999 import ASSUMPTIONS, Point, tasks

    def low_beta(metric: str, at: Point) -> float:
        same = at["assumption"] == "beta 0.1" and at["workload"] == "io_intensive"
        if not same or at["policy"] != "concurrent_gang":
            return tasks(metric, at)
        return 0.9 * tasks(metric, {**at, "policy": "gang"})

    found = study("silva1999", "concurrent_gang_sensitivity", truth=low_beta)
    (report,) = paper("silva1999").tables(found)
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in report.rows}
    assert tuple(report.columns) == ("claim", *ASSUMPTIONS)
    assert rows["3.2: io throughput"] == ["holds", "holds", "fails", "holds"]
    counts = rows.pop("findings that hold, hold in direction only, fail, are inconclusive, were not tested")
    assert counts[0] == f"{len(rows)} · 0 · 0 · 0 · 0"
    (figure,) = drawn("silva1999", found, "map").values()
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(rows)
    signs = {text.get_position(): text.get_text() for text in axes.texts}
    assert signs[2, list(rows).index("3.2: io throughput")] == "✗"


def test_pairs_of_assumptions_are_listed_where_neither_gives_a_sentence() -> None:
    from fabricated_silva1999 import ASSUMPTIONS, Point, tasks

    giving = ({"alpha 1"}, {"beta 0.1", "slice 2.5 s"}, {"alpha 1", "beta 0.1"})

    def given_some(metric: str, at: Point) -> float:
        both = {at["assumption"], at["beside"]}
        fails = at["workload"] == "io_intensive" and not any(one <= both for one in giving)
        return tasks(metric, {**at, "policy": "gang"} if fails else at)

    found = study("silva1999", "concurrent_gang_sensitivity", truth=given_some, beside=ASSUMPTIONS)
    (report,) = paper("silva1999").tables(found)
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in report.rows}
    assert rows["3.2: io throughput"] == ["fails", "alpha 1", "beta 0.1 with slice 2.5 s"]
    assert rows["3.2: communication throughput"] == ["holds", "–", "–"]
    assert set(drawn("silva1999", found)) >= {"map"}


@pytest.mark.exhaustive
def test_fig_4_runs_the_policy_under_the_datasets_reading(tmp_path: Path) -> None:
    """The waits that the model gives back are those from which the dataset's average was made."""
    month = "o2k_2000_01"
    grid = {"policy": ["easy"], "workload": [month], "ties": ["instant", "event"]}
    made = sweep.Study("o2k_backfill", grid=grid, output=tmp_path / "o2k", executor="serial", replications=1)
    made.run(progress=False)
    found = opened(made.folder)[0].readings["B"]
    wait, runtime = policies.month_of_jobs(found, "easy", month)
    assert found.label == "ties=event"
    assert wait.mean() == pytest.approx(found.data["delay"].item())
    assert len(wait) == len(runtime)


def test_shares_and_averages_are_those_of_the_runs() -> None:
    """Months are averaged run by run, differences are paired, and a group without jobs is left out."""
    from analysis.chiang2001.figures.policies import sample
    from analysis.silva1999.figures.claimed import difference
    from analysis.study.curve import together

    found = true("chiang2001", "o2k_backfill")
    each = [sample(found, "delay", "easy", month) for month in found.values_of("workload")]
    assert together(each).values == pytest.approx(np.mean([one.values for one in each], axis=0))
    first, second = (
        sample(study("chiang2001", "o2k_backfill"), "delay", "easy", f"o2k_{m}")
        for m in ("1999_11", "2000_01")
    )
    first.values[0] = np.nan
    assert together([first, second]).values[0] == second.values[0]
    noisy = study("silva1999", "concurrent_gang", noise=0.2)
    at = {"along": "horizon", "workload": "io_intensive"}
    mine, gang = (noisy.curve("jobs", policy, **at) for policy in ("concurrent_gang", "gang"))
    assert difference(mine, gang).half_width[0] < 0.5 * mine.intervals().half_width[0]

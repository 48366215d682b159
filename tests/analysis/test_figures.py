"""Every figure draws, whatever state the dataset is in, and looks the same everywhere."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricated import LOADS, SCHEMES, dataset, write
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.markers import CARETUP

from analysis.errors import DrawingError
from analysis.feitelson1996 import PAPER
from analysis.feitelson1996.figures.curves import REFERENCE
from analysis.feitelson1996.figures.workload import N_JOBS
from analysis.feitelson1996.labels import AXES
from analysis.figures import category_plot, style
from analysis.figures.load_plot import Line, LoadPlot, draw, draw_lines
from analysis.figures.load_plot.names import LABEL_HEIGHT, spread
from analysis.figures.load_plot.plot import MOST_COUNTS
from analysis.figures.policies import PACKING, look
from analysis.study import open_study
from analysis.study.curve import DONE, SATURATED, Curve
from sweep import statistics

DATASETS: dict[str, dict[str, Any]] = {
    "full": {"loads": LOADS[::2]},
    "mid-run": {"loads": LOADS[::3], "unfinished": lambda scheme, load: load > 0.5},
    "single load": {"loads": (0.7,), "batches": 3},
    "saturated": {"loads": (0.9, 0.95), "saturation": dict.fromkeys(SCHEMES, 0.9)},
    "one scheme": {"schemes": ("buddy",), "loads": (0.5, 0.9)},
    "unknown schemes": {"schemes": ("best_fit", "worst_fit"), "loads": (0.5, 0.9)},
    "trace": {"features": False, "name": "packing_trace", "workload": "swf", "loads": (0.5, 0.9)},
    "readings": {
        "name": "packing_readings",
        "loads": (0.7, 0.9),
        "alternations": ("shared", "exclusive"),
        "readings": {"repetition": ["feedback", "sequence"]},
    },
}

NAMES = {
    "full": {"fig7", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13", "utilization", "used-slots"}
    | {"readings-slowdown", "readings-ranks", "readings-verdicts"},
    "readings": {"readings-slowdown", "readings-ranks", "readings-verdicts"},
}


@pytest.mark.parametrize("kind", DATASETS)
def test_all_figures_draw(kind: str, tmp_path: Path) -> None:
    study = open_study(write(tmp_path, dataset(**DATASETS[kind])), AXES)
    drawn = set()
    with style.styled():
        for picture in PAPER.pictures(study, None):
            if kind != "full" and picture.name in ("fig7", "fig9"):
                continue  # they do not depend on the points
            with suppress(DrawingError):
                picture.draw().draw_without_rendering()
                drawn.add(picture.name)
            assert picture.caption
            assert picture.title
    assert drawn >= NAMES.get(kind, set())
    # Without logs the figures that need them are missing; with one scheme, or all saturated, comparisons.
    missing = {picture.name for picture in PAPER.pictures(study, None)} - drawn
    excused = {"fig3", "fig4", "fig5", "fig6"} | (set() if kind == "full" else {"fig7", "fig9"})
    if kind in ("one scheme", "saturated", "readings", "mid-run", "single load"):
        excused |= {"readings-ranks"}  # they need two schemes and loads from 0.85 up
    assert missing <= excused


def test_ranks_name_their_loads_and_say_why_a_row_is_empty(tmp_path: Path) -> None:
    made = dataset(loads=(0.5, 0.9, 0.95), saturation={"min_max_load": 0.5})
    made["saturated"].loc[{"alternation": "none"}] = True
    study = open_study(write(tmp_path, made), AXES)
    (picture,) = (p for p in PAPER.pictures(study, None) if p.name == "readings-ranks")
    with style.styled():
        figure = picture.draw()
        figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.get_xlabel().endswith("at loads 0.9, 0.95")
    rows = [label.get_text() for label in axes.get_yticklabels()]
    empty = next(row for row, label in enumerate(rows) if "alternation=none" in label)
    (told,) = axes.texts
    assert told.get_position()[1] == empty
    assert told.get_text() == "saturated: loads 0.9, 0.95"
    filled = {round(y) for container in axes.containers for y in container[0].get_ydata()}
    assert filled == set(range(len(rows))) - {empty}
    shown = {name for name, _ in named(figure)}
    assert "Buddy" in shown
    assert look("min_max_load").label not in shown, "no entry of a legend is without a point"
    assert look("min_max_load").label in figure.get_supxlabel()


def test_files_have_the_same_bytes_every_time(tmp_path: Path) -> None:
    study = open_study(write(tmp_path, dataset(loads=(0.5, 0.9))), AXES)
    (picture,) = (p for p in PAPER.pictures(study, None) if p.name == "fig8")
    files = []
    for folder in ("first", "second"):
        with style.styled():
            files.append(style.save(picture.draw(), tmp_path / folder, "fig8"))
    for first, second in zip(*files, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.suffix
    assert [file.suffix for file in files[0]] == [".pdf", ".svg", ".png"]
    assert b"<dc:date>" not in files[0][1].read_bytes()


def test_the_users_own_settings_change_nothing(tmp_path: Path) -> None:
    import matplotlib as mpl

    study = open_study(write(tmp_path, dataset(loads=(0.5, 0.9))), AXES)
    (picture,) = (p for p in PAPER.pictures(study, None) if p.name == "fig10")
    saved = []
    for size in (9, 30):
        with mpl.rc_context({"font.size": size, "lines.linewidth": size}), style.styled():
            saved.append(style.save(picture.draw(), tmp_path / str(size), "fig10")[1].read_bytes())
    assert saved[0] == saved[1]


def named(figure: Figure) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the names of lines, in legends and beside axes, with the looks beside them."""
    found = []
    for legend in figure.legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            found.append((text.get_text(), (handle.get_color(), handle.get_marker())))
    lines = [line for axes in figure.axes for line in axes.lines if not line.get_label().startswith("_")]
    return found + [(line.get_label(), (line.get_color(), line.get_marker())) for line in lines]


def test_a_scheme_looks_the_same_in_every_figure(tmp_path: Path) -> None:
    study = open_study(
        write(tmp_path, dataset(loads=(0.5, 0.9), schemes=("buddy", "best_fit", "worst_fit"))), AXES
    )
    looks: dict[str, set[tuple[Any, ...]]] = {}
    with style.styled():
        for picture in PAPER.pictures(study, None):
            if picture.name in ("fig3", "fig4", "fig5", "fig6", "fig7", "fig9", "readings-verdicts"):
                continue
            for name, look_ in named(picture.draw()):
                looks.setdefault(name, set()).add(look_)
    assert {"Buddy", "Best fit", "Worst fit"} <= looks.keys()
    assert all(len(found) == 1 for found in looks.values())


def test_schemes_can_be_told_apart_in_grey() -> None:
    markers = [one.marker for one in PACKING.values()]
    assert len(set(markers)) == len(SCHEMES) == len(PACKING)
    assert look("worst_fit") == look("worst_fit")


def test_curves_end_where_a_scheme_saturates(tmp_path: Path) -> None:
    study = open_study(write(tmp_path, dataset(loads=(0.5, 0.7, 0.9), saturation={"buddy": 0.7})), AXES)
    curve = study.readings["A"].curve("slowdown", "buddy")
    line = Line.of(curve)
    assert curve.first_saturated == 0.7
    assert line.drawn.tolist() == [True, False, False]
    assert line.saturated.tolist() == [False, True, True]
    with style.styled():
        figure = draw(LoadPlot({"buddy": line}, "Slowdown", "Saturating", ylim=(0, 10)))
    strip, axes = figure.axes
    # Nothing is joined across a saturated load, whatever comes after it.
    assert np.isfinite(axes.lines[0].get_ydata()).tolist() == [True, False, False]
    assert strip.lines[0].get_xdata().tolist() == [0.7, 0.9]
    assert curve.status.count(SATURATED) == 2


SATURATED_AT = {
    "one": [0.4, 2, 2, 2, 2, 2, 2, 2],
    "some": [0.9, 0.4, 0.4, 0.95, 0.4, 2, 2, 0.4],
    "all": [0.4] * 8,
}
"""Load from which each scheme saturates."""


@pytest.mark.parametrize("kind", SATURATED_AT)
def test_a_scheme_that_is_saturated_at_every_load_has_its_name_beside_the_strip(kind: str) -> None:
    x = np.array([0.4, 0.6, 0.8, 0.9, 0.95])
    lines = {}
    for name, first in zip(PACKING, SATURATED_AT[kind], strict=True):
        full = x >= first
        mean = np.where(full, np.nan, 1 / (1 - x))
        lines[name] = Line(x, mean, mean / 10, full, ~np.zeros(x.size, bool))
    plot = LoadPlot(lines, "Slowdown", "Slowdown", (1, 12), "A note.\nBars.", direct=True)
    with style.styled():
        figure = draw(plot, plot)
        figure.draw_without_rendering()
    always = {name for name, first in zip(PACKING, SATURATED_AT[kind], strict=True) if first == x[0]}
    for strip, axes in zip(figure.axes[:2], figure.axes[2:], strict=True):
        assert {text.get_text() for text in strip.texts} == {look(name).label for name in always}
        assert {text.get_text() for text in axes.texts} == {look(name).label for name in set(lines) - always}
        rows = {row.get_label(): float(row.get_ydata()[0]) for row in strip.lines}
        markers = {
            row.get_marker(): float(row.get_ydata()[0]) for row in strip.lines if len(row.get_xdata()) != 2
        }
        for name in always:
            assert rows[look(name).label] == markers[look(name).marker], "its own row"
        told = [text.get_window_extent() for text in (*strip.texts, *axes.texts)]
        assert not any(one.overlaps(other) for one, other in combinations(told, 2))
        assert all(box.x1 <= figure.bbox.x1 for box in told)


def test_error_bars_are_the_intervals_of_the_statistics(tmp_path: Path) -> None:
    study = open_study(write(tmp_path, dataset(loads=(0.5, 0.7), noise=0.1)), AXES)
    line = Line.of(study.readings["A"].curve("slowdown", "buddy"))
    values = study.data["slowdown"].sel(policy="buddy", load=0.7, alternation="exclusive", unification=True)
    found = statistics.interval(values.values, 0.95)
    assert line.mean[1] == pytest.approx(found.mean)
    assert line.half_width[1] == pytest.approx(found.half_width)


def test_relative_slowdown_is_paired(tmp_path: Path) -> None:
    """Common luck cancels: the ratio is known far better than either slowdown."""
    study = open_study(write(tmp_path, dataset(loads=(0.7,), noise=0.1)), AXES).readings["A"]
    buddy, reference = (study.curve("slowdown", name) for name in ("buddy", REFERENCE))
    line = Line.ratio(buddy, reference)
    alone = np.hypot(*(c.intervals().half_width[0] / c.intervals().mean[0] for c in (buddy, reference)))
    assert 0 < line.half_width[0] < 0.7 * alone
    assert line.mean[0] == pytest.approx(buddy.intervals().mean[0] / reference.intervals().mean[0])


def test_fig12_says_why_migration_is_missing(tmp_path: Path) -> None:
    study = open_study(write(tmp_path, dataset(loads=(0.5, 0.9))), AXES)
    (picture,) = (p for p in PAPER.pictures(study, None) if p.name == "fig12")
    with style.styled():
        figure = picture.draw()
    labels = [name for name, _ in named(figure)]
    assert "Migration" not in labels
    assert "Buddy" in labels
    assert "footnote 5" in figure.get_supxlabel()


def drawn(tmp_path: Path, name: str, **made: Any) -> Figure:
    """Return a figure of a fabricated dataset."""
    data = made.pop("data", None)
    study = open_study(write(tmp_path, dataset(**made) if data is None else data), AXES)
    (picture,) = (p for p in PAPER.pictures(study, None) if p.name == name)
    with style.styled():
        figure = picture.draw()
        figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize("name", ["fig8", "fig12", "fig13"])
def test_slowdowns_begin_at_one_with_their_ratios_beside_them(name: str, tmp_path: Path) -> None:
    figure = drawn(tmp_path, name, loads=(0.5, 0.7, 0.9), saturation={})
    slowdown, ratio = figure.axes
    assert slowdown.get_ylim()[0] == 1
    assert slowdown.get_yticks()[0] == 1
    assert ratio.get_ylabel() == "Slowdown / slowdown of best fit"
    low, high = ratio.get_ylim()
    assert low < 1 < high


def test_lines_have_their_names_at_their_ends_in_the_order_of_their_ends(tmp_path: Path) -> None:
    axes = drawn(tmp_path, "fig8", loads=(0.5, 0.7, 0.9), saturation={}, noise=0.001).axes[0]
    names = {text.get_text(): text.get_position()[1] for text in axes.texts if text.get_position()[0] > 1}
    assert len(names) == len(SCHEMES)
    assert max(names, key=names.__getitem__) == "Minimal average load"
    assert min(names, key=names.__getitem__) == "Buddy"
    heights = np.sort(list(names.values()))
    assert np.diff(heights).min() >= LABEL_HEIGHT - 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.08))
def test_names_are_kept_apart_and_in_order(wanted: list[float], apart: float) -> None:
    wanted_ = np.sort(wanted)
    found = spread(wanted_, apart)
    assert (np.diff(found) >= apart - 1e-9).all()
    assert found.min() >= -1e-9
    assert found.max() <= 1 + 1e-9
    if len(wanted) == 1 or np.diff(wanted_).min() >= apart:
        assert found == pytest.approx(wanted_)


def test_unifications_are_on_a_logarithmic_axis_that_shows_all_schemes(tmp_path: Path) -> None:
    (axes,) = drawn(tmp_path, "fig10", loads=(0.5, 0.7, 0.9), saturation={}).axes
    assert axes.get_yscale() == "log"
    low, high = axes.get_ylim()
    assert low < 0.08 < 5 < high


def test_utilization_is_what_is_delivered_minus_what_is_offered(tmp_path: Path) -> None:
    """A point at load 0.9 that delivers 0.87 lies at -3, and it is drawn although it is saturated."""
    figure = drawn(tmp_path, "utilization", loads=(0.7, 0.8, 0.9), noise=1e-6)
    axes = figure.axes[-1]
    ends = {line.get_color(): line.get_ydata()[-1] for line in axes.lines if line.get_zorder() == 3}
    assert ends[look("first_fit").color] == pytest.approx(0, abs=0.01)
    assert ends[look("min_max_load").color] == pytest.approx(-3, abs=0.01)


def test_slots_per_job_are_drawn_for_both_averages(tmp_path: Path) -> None:
    data = dataset(loads=(0.5, 0.9))
    data["slots_per_job_over_jobs"] = 1.1 * data["slots_per_job"]
    figure = drawn(tmp_path, "fig11", data=data)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == [
        "Slots per job, over job-time",
        "Slots per job, over jobs",
    ]


def test_fig7_counts_the_jobs_of_a_sample(tmp_path: Path) -> None:
    """Bars have a base and whole heights, which add up to the jobs that were drawn."""
    figure = drawn(tmp_path, "fig7", loads=(0.5,))
    sizes = figure.axes[0]
    # Of each bar four corners, and one vertex that only closes it.
    bars = np.concatenate([drawn.get_path().vertices.reshape(-1, 5, 2)[:, :4] for drawn in sizes.patches])
    heights, bases = bars[:, :, 1].max(axis=1), bars[:, :, 1].min(axis=1)
    assert sizes.get_yscale() == "linear"
    assert sizes.get_ylim()[0] == 0
    assert sizes.get_ylim()[1] > heights.max()
    assert not bases.any()
    assert heights.sum() == N_JOBS
    assert (heights == heights.round()).all()
    from models.workloads.feitelson1996 import size_probabilities

    expected = N_JOBS * size_probabilities(open_study_workload(tmp_path), 128)
    centres = (bars[:, :, 0].min(axis=1) + bars[:, :, 0].max(axis=1)).round().astype(int) // 2
    assert sorted(centres) == list(range(1, 129))
    common = expected[centres - 1] > 100
    assert heights[common] == pytest.approx(expected[centres - 1][common], rel=0.35)
    assert np.abs(heights - expected[centres - 1])[common].max() > 0


def open_study_workload(folder: Path) -> dict[str, Any]:
    """Return the workload of the one study in a folder."""
    return open_study(folder / "packing", AXES).parameters("workload")


DOUBTED = Curve(np.array([0.5, 0.7, 0.9]), 2 + np.random.default_rng(1).random((3, 20, 6)), (DONE,) * 3)


def test_a_doubtful_point_is_hollow_and_says_how_many_replications() -> None:
    line = Line.of(replace(DOUBTED, doubtful=(0, 0, 2)))
    with style.styled():
        figure = draw(LoadPlot({"buddy": line}, "Slowdown", "Doubtful", ylim=(0, 4), direct=True))
    (axes,) = figure.axes
    solid, hollow = (points for points in axes.lines if points.get_zorder() == 4)
    assert solid.get_xdata().tolist() == [0.5, 0.7]
    assert hollow.get_xdata().tolist() == [0.9]
    assert hollow.get_markerfacecolor() == "white"
    assert [text.get_text() for text in axes.texts] == ["2/20", "Buddy"]
    assert "some of 20 replications look saturated" in figure.get_supxlabel()
    assert not Line.of(DOUBTED).doubted.any()


def test_small_panels_have_hollow_points_without_counts() -> None:
    line = Line.of(replace(DOUBTED, doubtful=(0, 0, 2)))
    axes = Figure().subplots()
    draw_lines(axes, LoadPlot({"buddy": line}, "y", "title", counted=False))
    assert not axes.texts
    assert any(drawn.get_markerfacecolor() == "white" for drawn in axes.lines)


def test_many_doubtful_points_are_told_in_the_strip() -> None:
    counts = [(1, 2, 9)] * (MOST_COUNTS // 3 + 1)
    lines = {
        name: Line.of(replace(DOUBTED, doubtful=doubtful))
        for name, doubtful in zip(SCHEMES, counts, strict=False)
    }
    with style.styled():
        strip, axes = draw(LoadPlot(lines, "Slowdown", "Doubtful", direct=True)).axes
        close = {name: replace(line, x=np.array([0.5, 0.89, 0.9])) for name, line in lines.items()}
        dotted, _ = draw(LoadPlot(close, "Slowdown", "Doubtful", direct=True)).axes
    told = {(text.get_position()[0], text.get_text()) for text in strip.texts}
    assert {text for x, text in told if x > 1} == {"of 20"}
    assert {(x, text) for x, text in told if x < 1} == {(0.5, "1"), (0.7, "2"), (0.9, "9")}
    assert not any("/20" in text.get_text() for text in axes.texts)
    assert {text.get_text() for text in dotted.texts} == {"1–9/20"}, "no room for numbers"


def test_values_far_from_nothing_have_room_for_their_markers() -> None:
    """Above them on an axis that begins at 0, however close to each other they are."""
    x, never = np.array([0.5, 0.7, 0.9]), np.zeros(3, bool)
    line = Line(x, np.array([71.0, 71.5, 72.0]), np.full(3, 0.1), never, ~never)
    with style.styled():
        axes = draw(LoadPlot({"buddy": line}, "Utilization", "", ylim=(0, None))).axes[-1]
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > 1.03 * 72.1


def test_a_bar_that_the_frame_cuts_off_has_an_arrow() -> None:
    x, never = np.array([0.5, 0.7, 0.9]), np.zeros(3, bool)
    line = Line(x, np.array([2.0, 3.5, 5.0]), np.array([0.1, 0.8, 2.0]), never, ~never)
    with style.styled():
        figure = draw(LoadPlot({"buddy": line}, "Slowdown", "Cut", ylim=(0, 4), direct=True))
        whole = draw(LoadPlot({"buddy": line}, "Slowdown", "Whole", ylim=(0, 8), direct=True))
    (arrow,) = (drawn for drawn in figure.axes[-1].lines if drawn.get_marker() == CARETUP)
    assert arrow.get_xdata().tolist() == [0.7], "the point of the last one is outside itself"
    assert "An arrow at the frame" in figure.get_supxlabel()
    assert not any(drawn.get_marker() == CARETUP for drawn in whole.axes[-1].lines)
    assert "arrow" not in whole.get_supxlabel()


def test_fig8_has_room_for_the_bars_of_its_points(tmp_path: Path) -> None:
    """Its axis ends where the paper's does, or before that, but never within a bar without need."""
    made = dataset(loads=(0.5, 0.9), replications=5, batches=4, noise=2.0, schemes=("buddy", "migration"))
    study = open_study(write(tmp_path, made), AXES)
    (picture,) = (p for p in PAPER.pictures(study, None) if p.name == "fig8")
    with style.styled():
        axes = picture.draw().axes[-1]
    ends = [bars[0].get_ydata() for bars in axes.containers]
    assert len(ends) == 2
    assert axes.get_ylim()[1] <= 12
    assert np.nanmax(np.concatenate(ends)) <= axes.get_ylim()[1]


def test_a_ratio_is_as_doubtful_as_its_worse_half() -> None:
    first, second = (replace(DOUBTED, doubtful=counts) for counts in ((0, 3, 1), (2, 0, 4)))
    assert Line.ratio(first, second).doubtful == (2, 3, 4)
    assert Line.ratio(first, DOUBTED).doubtful == (0, 3, 1)
    assert first.part(first.x > 0.6).doubtful == (3, 1)


@pytest.mark.parametrize("shared", [False, True])
def test_values_far_from_zero_have_room_for_their_markers(shared: bool) -> None:
    """Points that are close to each other are not cut in half by the frame of an axis that begins at 0."""
    one = category_plot.Estimates(np.array([71.6, 71.7]), np.full(2, np.nan), np.full(2, True))
    names = ("buddy", "migration")
    plot = category_plot.CategoryPlot(("a", "b"), dict.fromkeys(names, one), {n: look(n) for n in names}, "%")
    figure = category_plot.panels([plot, plot], "", 2, shared=shared)
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert low == 0
        assert high - 71.7 > 0.03 * high

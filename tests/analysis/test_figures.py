"""Every figure draws, whatever state the dataset is in, and looks the same everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricated import SCHEMES, dataset, write
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.markers import CARETUP

from analysis.feitelson1996 import PAPER
from analysis.feitelson1996.figures.curves import REFERENCE
from analysis.feitelson1996.figures.workload import N_JOBS
from analysis.feitelson1996.labels import AXES
from analysis.figures import style
from analysis.figures.load_plot import Line, LoadPlot, draw
from analysis.figures.load_plot.names import spread
from analysis.figures.load_plot.plot import MOST_COUNTS
from analysis.figures.policies import look
from analysis.study import open_study
from analysis.study.curve import DONE, SATURATED, Curve
from sweep import statistics


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


def drawn(tmp_path: Path, name: str, **made: Any) -> Figure:
    """Return a figure of a fabricated dataset."""
    data = made.pop("data", None)
    study = open_study(write(tmp_path, dataset(**made) if data is None else data), AXES)
    (picture,) = (p for p in PAPER.pictures(study, None) if p.name == name)
    with style.styled():
        figure = picture.draw()
        figure.draw_without_rendering()
    return figure


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.08))
def test_names_are_kept_apart_and_in_order(wanted: list[float], apart: float) -> None:
    wanted_ = np.sort(wanted)
    found = spread(wanted_, apart)
    assert (np.diff(found) >= apart - 1e-9).all()
    assert found.min() >= -1e-9
    assert found.max() <= 1 + 1e-9
    if len(wanted) == 1 or np.diff(wanted_).min() >= apart:
        assert found == pytest.approx(wanted_)


def test_utilization_is_what_is_delivered_minus_what_is_offered(tmp_path: Path) -> None:
    """A point at load 0.9 that delivers 0.87 lies at -3, and it is drawn although it is saturated."""
    figure = drawn(tmp_path, "utilization", loads=(0.7, 0.8, 0.9), noise=1e-6)
    axes = figure.axes[-1]
    ends = {line.get_color(): line.get_ydata()[-1] for line in axes.lines if line.get_zorder() == 3}
    assert ends[look("first_fit").color] == pytest.approx(0, abs=0.01)
    assert ends[look("min_max_load").color] == pytest.approx(-3, abs=0.01)


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


def test_a_ratio_is_as_doubtful_as_its_worse_half() -> None:
    first, second = (replace(DOUBTED, doubtful=counts) for counts in ((0, 3, 1), (2, 0, 4)))
    assert Line.ratio(first, second).doubtful == (2, 3, 4)
    assert Line.ratio(first, DOUBTED).doubtful == (0, 3, 1)
    assert first.part(first.x > 0.6).doubtful == (3, 1)

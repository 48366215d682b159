"""Every figure draws, whatever state the dataset is in, and is the same everywhere."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated import dataset, write
from matplotlib.markers import CARETUP
from papers import KEYS, drawn, of

from analysis.claims import Claim
from analysis.feitelson1996 import PAPER
from analysis.feitelson1996.figures.curves import REFERENCE
from analysis.feitelson1996.figures.workload import N_JOBS
from analysis.feitelson1996.labels import AXES
from analysis.figures import style, verdict_map
from analysis.figures.load_plot import Line, LoadPlot, draw
from analysis.figures.policies import style_of
from analysis.study import open_study
from analysis.study.curve import DONE, SATURATED, Curve
from sweep import statistics
from sweep.statistics.capacity import Capacity


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


def test_utilization_is_what_is_delivered_minus_what_is_offered() -> None:
    """A point at load 0.9 that delivers 0.87 lies at -3, and it is drawn although it is saturated."""
    data = dataset(loads=(0.7, 0.8, 0.9), noise=1e-6)
    (figure,) = drawn(KEYS[0], of(KEYS[0], data), "utilization", render=True).values()
    axes = figure.axes[-1]
    ends = {line.get_color(): line.get_ydata()[-1] for line in axes.lines if line.get_zorder() == 3}
    assert ends[style_of("first_fit").color] == pytest.approx(0, abs=0.01)
    assert ends[style_of("min_max_load").color] == pytest.approx(-3, abs=0.01)


def test_fig7_counts_the_jobs_of_a_sample() -> None:
    """Bars have a base and whole heights, which add up to the jobs that were drawn."""
    (figure,) = drawn(KEYS[0], of(KEYS[0], dataset(loads=(0.5,))), "fig7", render=True).values()
    sizes = figure.axes[0]
    # Of each bar four corners, and one vertex that only closes it.
    bars = np.concatenate([bar.get_path().vertices.reshape(-1, 5, 2)[:, :4] for bar in sizes.patches])
    heights, bases = bars[:, :, 1].max(axis=1), bars[:, :, 1].min(axis=1)
    assert not bases.any()
    assert heights.sum() == N_JOBS


DRAWN = Curve(np.array([0.5, 0.7, 0.9]), 2 + np.random.default_rng(1).random((3, 20, 6)), (DONE,) * 3)


def test_a_point_that_is_too_short_is_hollow_and_a_capacity_is_a_tick() -> None:
    line = Line.of(replace(DRAWN, bias=(np.nan, np.nan, -0.1), capacity=Capacity(0.93, 0.001, 0.94)))
    with style.styled():
        figure = draw(LoadPlot({"buddy": line}, "Slowdown", "Short", ylim=(0, 4)))
    (axes,) = figure.axes
    solid, hollow = (points for points in axes.lines if points.get_zorder() == 4)
    assert solid.get_xdata().tolist() == [0.5, 0.7]
    assert hollow.get_xdata().tolist() == [0.9]
    assert hollow.get_markerfacecolor() == "white"
    (tick,) = (points for points in axes.lines if points.get_marker() == "|")
    assert tick.get_xdata() == pytest.approx([0.93])
    assert not Line.of(DRAWN).short.any()


def test_a_mean_with_a_control_variate_is_drawn_as_the_dataset_has_it(tmp_path: Path) -> None:
    """Of the batches alone it would be another one."""
    data = dataset(loads=(0.5, 0.7), noise=0.1)
    for part, value in (("mean", 3.0), ("ci", 0.25), ("lag1", 0.0)):
        data[f"slowdown_{part}"] = xr.full_like(
            data["slowdown"].isel(replication=0, batch=0, drop=True), value
        )
    curve = open_study(write(tmp_path, data), AXES).readings["A"].curve("slowdown", "buddy")
    line = Line.of(curve)
    assert (line.mean[1], line.low[1], line.high[1]) == (3.0, 2.75, 3.25)
    assert Line.of(curve.changed(2 * curve.values)).mean[1] != 3.0


def test_a_bar_or_a_curve_that_the_frame_cuts_off_has_an_arrow() -> None:
    x, never = np.array([0.5, 0.7, 0.9]), np.zeros(3, bool)
    line = Line(
        x, np.array([2.0, 3.5, 5.0]), np.array([1.9, 2.7, 3.0]), np.array([2.1, 4.3, 7.0]), never, ~never
    )
    with style.styled():
        figure = draw(LoadPlot({"buddy": line}, "Slowdown", "Cut", ylim=(0, 4)))
        whole = draw(LoadPlot({"buddy": line}, "Slowdown", "Whole", ylim=(0, 8)))
        left = draw(LoadPlot({"buddy": line}, "Slowdown", "At the left", ylim=(0, 4), xlim=(0.4, 0.72)))
    (arrow,) = (one for one in figure.axes[-1].lines if one.get_marker() == CARETUP)
    assert arrow.get_xdata() == pytest.approx([0.7, 0.7 + 0.2 / 3]), "the bar, and where the line leaves"
    assert not any(one.get_marker() == CARETUP for one in whole.axes[-1].lines)
    (arrow,) = (one for one in left.axes[-1].lines if one.get_marker() == CARETUP)
    assert arrow.get_xdata() == pytest.approx([0.7]), "none beside the frame"


def test_a_map_tells_apart_what_is_open_and_what_was_not_tested() -> None:
    """A fact in one column is a row of its own in none."""
    claims = {
        "A": Claim("p-1-x", "", "", "inconclusive", ("2 comparisons", "? a: not tested, saturated"), ""),
        "B": Claim("p-1-x", "", "", "holds", ("1 comparison", "✓ a: true"), "", is_fact=True),
        "C": Claim("p-1-x", "", "", "inconclusive", ("1 comparison", "? a: 1 ± 1"), "", is_fact=True),
    }
    found = verdict_map.verdicts(dict(zip(claims, claims, strict=True)), lambda name: [claims[name]], "p")
    assert found == {"1: x (fact)": {"A": "not tested", "B": "holds", "C": "inconclusive"}}
    axes = verdict_map.draw(found, list(claims), ["A: one", "B: two", "C: three"]).axes[0]
    assert [one.get_text() for one in axes.texts] == ["–", "✓", "?"]

"""Every figure draws, whatever state the dataset is in, and looks the same everywhere."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricated import LOADS, SCHEMES, dataset, write

from analysis.errors import DrawingError
from analysis.feitelson1996 import PAPER
from analysis.feitelson1996.figures.curves import REFERENCE
from analysis.feitelson1996.labels import AXES
from analysis.figures import style
from analysis.figures.load_plot import Line, LoadPlot, draw
from analysis.figures.policies import PACKING, look
from analysis.study import open_study
from analysis.study.curve import SATURATED
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
    "full": {"fig7", "fig8", "fig8-relative", "fig9", "fig10", "fig11", "fig12", "fig13"}
    | {"exclusive", "utilization", "used-slots"},
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
    if kind in ("one scheme", "saturated", "readings"):
        excused |= {"fig8-relative", "readings-ranks"}
    assert missing <= excused


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


def test_a_scheme_looks_the_same_in_every_figure(tmp_path: Path) -> None:
    study = open_study(
        write(tmp_path, dataset(loads=(0.5, 0.9), schemes=("buddy", "best_fit", "worst_fit"))), AXES
    )
    looks: dict[str, set[tuple[Any, ...]]] = {}
    with style.styled():
        for picture in PAPER.pictures(study, None):
            if picture.name in ("fig3", "fig4", "fig5", "fig6", "fig7", "fig9"):
                continue
            for legend in picture.draw().legends:
                for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
                    looks.setdefault(text.get_text(), set()).add((handle.get_color(), handle.get_marker()))
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


def test_error_bars_are_the_intervals_of_the_statistics(tmp_path: Path) -> None:
    study = open_study(write(tmp_path, dataset(loads=(0.5, 0.7), noise=0.1)), AXES)
    line = Line.of(study.readings["A"].curve("slowdown", "buddy"))
    values = study.data["slowdown"].sel(policy="buddy", load=0.7, alternation="shared", unification=True)
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
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Migration" not in labels
    assert "Buddy" in labels
    assert "footnote 5" in figure.get_supxlabel()

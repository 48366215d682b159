"""Figures 3 to 6: what is computed from a log, and what happens where there is none."""

import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from analysis.feitelson1996 import logs
from analysis.figures import style
from models.jobs import swf

TRACES = Path(os.environ.get("TRACES", "no folder"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with small logs under the names of the real ones."""
    random = np.random.default_rng(1)
    n = 400
    for source in (logs.NASA, logs.KTH):
        size = 2 ** random.integers(0, 7, n)
        columns = {
            "submit": np.arange(n) * 60.0,
            "runtime": 10.0 * size + random.exponential(5, n) // 1,
            "processors": size,
            "user": random.integers(4, 9, n),
            "application": random.integers(1, 4, n),
        }
        columns["user"][:50], columns["processors"][:50], columns["application"][:50] = 3, 1, 1
        swf.write(tmp_path / source.file, columns)
    return tmp_path


def test_figures_draw_and_say_what_was_left_out(folder: Path) -> None:
    with style.styled():
        figures = {picture.name: picture.draw() for picture in logs.pictures(folder)}
        for figure in figures.values():
            figure.draw_without_rendering()
    assert list(figures) == ["fig3", "fig4", "fig5", "fig6"]
    for figure in figures.values():
        assert "350 jobs, without 50 rows of a system probe (user 3, 1 PE)" in figure.get_supxlabel()
    for name in ("fig3", "fig5", "fig6"):
        assert "in place of the ANL SP1 and SDSC Paragon" in figures[name].get_supxlabel()


@pytest.mark.parametrize("folder_name", ["", "absent"])
def test_without_the_logs_their_counts_are_drawn(folder_name: str, tmp_path: Path) -> None:
    folder = tmp_path / folder_name if folder_name else None
    with style.styled():
        drawn = {picture.name: picture.draw() for picture in logs.pictures(folder)}
    for name, figure in drawn.items():
        assert "NASA Ames iPSC/860: 18,066 jobs, without 24,025 rows" in figure.get_supxlabel(), name
    bars = [bar.get_height() for bar in drawn["fig3"].axes[0].patches]
    assert sum(bars) == 18_066


def test_buckets_hold_equally_many_jobs_in_order_of_size() -> None:
    size = np.repeat([2, 4, 8, 100], [40, 30, 20, 10])
    mean_size, mean_runtime = logs.buckets(size, 3.0 * size)
    assert mean_size.tolist() == [2, 2, 2, 2, 4, 4, 4, 8, 8, 100]
    assert mean_runtime == pytest.approx(3.0 * mean_size)


def test_order_of_an_exact_power_law() -> None:
    lengths = np.arange(1, 30)
    order, constant = logs.zipf_order(lengths, 5000 * lengths**-2.2)
    assert order == pytest.approx(2.2)
    assert 10**constant == pytest.approx(5000)


def test_the_papers_own_log_gives_the_papers_numbers() -> None:
    """Section 3.3: "the harmonic order is around 2.2"; section 3.2: "larger jobs running longer"."""
    found = logs.load(None, logs.NASA)
    used = found.runs >= logs.RARE_RUNS
    order, _ = logs.zipf_order(found.lengths[used], found.runs[used])
    assert 2.1 < order < 2.3
    assert found.sizes.tolist() == [1, 2, 4, 8, 16, 32, 64, 128]
    assert np.corrcoef(found.sizes, found.mean)[0, 1] > 0.9


@pytest.mark.parametrize("source", logs.LOGS, ids=lambda source: source.label)
def test_shipped_counts_are_those_in_the_log(source: logs.Source) -> None:
    if not (TRACES / source.file).is_file():
        pytest.skip(f"{source.file} is not in TRACES={TRACES}")
    counted, shipped = (asdict(found) for found in (logs.load(TRACES, source), logs.load(None, source)))
    for name, values in counted.items():
        np.testing.assert_array_equal(values, shipped[name], err_msg=name)

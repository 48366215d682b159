"""Figures 3 to 6: what is computed from a log, and what happens where there is none."""

import os
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import DrawingError
from analysis.feitelson1996.figures import logs
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
def test_without_a_log_each_figure_says_which_file_to_get(folder_name: str, tmp_path: Path) -> None:
    folder = tmp_path / folder_name if folder_name else None
    for picture in logs.pictures(folder):
        with pytest.raises(
            DrawingError, match=r"(NASA-iPSC|KTH-SP2)\S+\.swf\.gz is not in .*Archive.*TRACES.*logs=FOLDER"
        ):
            picture.draw()


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


@pytest.mark.skipif(
    not (TRACES / logs.NASA.file).is_file(), reason=f"{logs.NASA.file} is not in TRACES={TRACES}"
)
def test_the_papers_own_log_gives_the_papers_numbers() -> None:
    """Section 3.3: "the harmonic order is around 2.2"; section 3.2: "larger jobs running longer"."""
    found = logs.load(TRACES, logs.NASA)
    jobs = found.jobs
    lengths, counts = np.unique(swf.run_lengths(found.user, found.application, jobs.size), return_counts=True)
    order, _ = logs.zipf_order(lengths[counts >= logs.RARE_RUNS], counts[counts >= logs.RARE_RUNS])
    assert 2.1 < order < 2.3
    sizes, mean, _ = logs.mean_by_size(jobs.size, jobs.runtime)
    assert sizes.tolist() == [1, 2, 4, 8, 16, 32, 64, 128]
    assert np.corrcoef(sizes, mean)[0, 1] > 0.9

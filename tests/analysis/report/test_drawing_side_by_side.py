"""Pictures are drawn by several processes, each picture by one, and returned in their order."""

import os
import signal
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.paper import Picture
from analysis.report import writing as drawing
from analysis.report.writing import draw_pictures


def draw(name: str, shown: Path) -> Figure:
    """Record the process that draws, line by line, and return a figure."""
    with (shown / name).open("a") as file:
        file.write(f"{os.getpid()}\n")
    if name == "missing":
        raise DrawingError("it has no points")
    figure = Figure(figsize=(1, 1))
    figure.text(0.5, 0.5, name)
    return figure


def pictures(shown: Path, names: list[str], *with_claims: str) -> list[Picture]:
    return [Picture(name, name, "", partial(draw, name, shown), name in with_claims) for name in names]


NAMES = ["a", "missing", "b", "verdicts", "c", "d", "example"]


@pytest.mark.parametrize("cores", [1, 2])
def test_each_picture_is_drawn_once_and_returned_in_order(
    cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing.os, "sched_getaffinity", lambda process: set(range(cores)))
    found = list(draw_pictures(pictures(tmp_path, NAMES, "verdicts", "example"), tmp_path / "figures"))
    assert [one.picture.name for one in found] == NAMES
    assert [one.skipped for one in found if one.skipped] == ["it has no points"]
    processes = {name: (tmp_path / name).read_text().split() for name in NAMES}
    assert all(len(by) == 1 for by in processes.values())
    assert processes["verdicts"] == processes["example"] == [str(os.getpid())]
    for one in found:
        assert one.svg is None or one.svg.stat().st_size


def test_a_process_that_dies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing.os, "sched_getaffinity", lambda process: {0, 1})
    here = os.getpid()

    def deadly() -> Figure:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return draw("deadly", tmp_path)

    with pytest.raises(BrokenProcessPool):
        list(draw_pictures([Picture("deadly", "", "", deadly), *pictures(tmp_path, NAMES)], tmp_path))


def test_an_exception_in_a_figure_is_raised(tmp_path: Path) -> None:
    def broken() -> Figure:
        raise ZeroDivisionError("in a figure")

    for with_claims in (False, True):
        wrong = Picture("wrong", "", "", broken, with_claims)
        with pytest.raises(ZeroDivisionError, match="in a figure"):
            list(draw_pictures([*pictures(tmp_path, NAMES), wrong], tmp_path / "figures"))

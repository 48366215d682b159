"""What is written from one drawing is what matplotlib writes when it draws anew for each format."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from analysis.figures import style

X = np.linspace(0, 1, 7)

PIXEL = 72 / style.DPI
"""In points. Texts are measured in pixels: each end of one may lie in the next."""


def lines(axes: Axes) -> None:
    """Lines with markers and bars, that leave the axes, and a logarithmic scale with its minor ticks."""
    axes.set(yscale="log", ylim=(2, 50))
    axes.errorbar(
        X, 1 + 99 * X, 5 * X + 0.5, fmt="s--", color="#d55e00", mec="white", capsize=2, label="bars"
    )
    axes.plot(X, 3 + X, "o-", mfc="white", alpha=0.5, label="hollow")
    axes.legend(title="legend")


def areas(axes: Axes) -> None:
    """Areas, hatches, points of several sizes, patches in a collection, and a clip that is no rectangle."""
    axes.fill_between(X, X, 1 - X, alpha=0.3)
    axes.bar(X, 0.2 * X, width=0.1, hatch="///", edgecolor="#444444")
    axes.scatter(X, X**2, s=100 * X + 4, c=X, edgecolors="black")
    axes.add_collection(PatchCollection([Rectangle((x, 0.8), 0.05, x / 5) for x in X], facecolor="#009e73"))
    (clipped,) = axes.plot(X, 0.9 * X, linewidth=5)
    clipped.set_clip_path(Circle((0.5, 0.5), 0.2, transform=axes.transData))


def texts(axes: Axes) -> None:
    """Turned and many-line texts, formulas, and strokes around them."""
    axes.text(0.2, 0.3, "turned\nand long", rotation=35, ha="center", bbox={"facecolor": "#eeeeee"})
    axes.annotate(r"$\sum x^2 / \lambda$", (0.5, 0.5), (20, 30), textcoords="offset points",
                  arrowprops={"arrowstyle": "->"})  # fmt: skip
    around = [patheffects.withStroke(linewidth=3, foreground="white")]
    axes.plot(X, X, color="#cc79a7", path_effects=around)
    axes.text(0.6, 0.2, "around ✓", path_effects=around)
    axes.set_ylabel("of an axis")


def meshes(axes: Axes) -> None:
    """An image, a mesh, and shades."""
    axes.imshow(np.add.outer(X, X), extent=(0, 0.4, 0, 0.4), origin="lower", aspect="auto")
    axes.pcolormesh(0.5 + X / 2, X, np.outer(X, X)[1:, 1:])
    axes.tripcolor([0.0, 0.4, 0.2], [0.6, 0.6, 0.9], [0.0, 0.5, 1.0], shading="gouraud")


KINDS: dict[str, Callable[[Axes], None]] = {"lines": lines, "areas": areas, "texts": texts, "meshes": meshes}


def figure_of(kind: str) -> Figure:
    """Return a figure of an odd size, whose pixels are no whole numbers."""
    figure = Figure(figsize=(4.123, 2.917), layout="constrained")
    KINDS[kind](figure.subplots())
    style.put_headline(figure, "A headline")
    style.put_note(figure, "A note below")
    return figure


def shape_and_numbers(text: str) -> tuple[list[str], np.ndarray]:
    """Return what stands between the numbers of a file, and the numbers."""
    number = r"[-+]?(?:\d+\.\d*|\.\d+|\d+)"
    return re.split(number, text), np.array([float(found) for found in re.findall(number, text)])


def of_svg(file: Path) -> str:
    """Return an SVG with its ids and clips counted, as they are hashes of coordinates, and without pixels."""
    text = re.sub(r'(xlink:href="data:image/png;base64,)[^"]*', r"\1", file.read_text(encoding="utf-8"))
    ids: dict[str, str] = {}
    return re.sub(
        r"\b[mphC][0-9a-f]{10}\b(?:_\w+)?", lambda found: ids.setdefault(found[0], f"id{len(ids)}"), text
    )


def of_pdf(file: Path) -> str:
    """Return the drawing on the first page of a PDF."""
    found = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", file.read_bytes(), re.DOTALL)
    pages = [zlib.decompress(one) for one in found if one[:1] == b"x"]
    return next(page for page in pages if b" Tf\n" in page).decode("latin-1")


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_from_one_drawing_are_those_of_a_drawing_of_their_own(kind: str, tmp_path: Path) -> None:
    with style.styled():
        written = style.save(figure_of(kind), tmp_path / "once", "figure")
        again = figure_of(kind)
        again.set_dpi(style.DPI)
        again.get_layout_engine().execute(again)  # type: ignore[union-attr]
        again.set_layout_engine(None)
        for file in written:
            drawn_anew = tmp_path / file.name
            kept = {"Date": None, "Creator": None} if file.suffix == ".svg" else None
            again.savefig(drawn_anew, metadata=kept)
            if file.suffix == ".png":
                continue
            read = of_svg if file.suffix == ".svg" else of_pdf
            shape, numbers = shape_and_numbers(read(file))
            shape_anew, numbers_anew = shape_and_numbers(read(drawn_anew))
            assert shape == shape_anew
            assert numbers == pytest.approx(numbers_anew, abs=2 * PIXEL)
            assert np.median(np.abs(numbers - numbers_anew)) < 1e-3


def test_a_figure_is_laid_out_and_drawn_once_for_all_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    plain = Text.draw
    monkeypatch.setattr(Text, "draw", lambda text, *rest: drawn.append(text) or plain(text, *rest))
    with style.styled():
        figure = figure_of("texts")
        laid_out = []
        engine = figure.get_layout_engine()
        assert engine is not None
        execute = engine.execute
        monkeypatch.setattr(engine, "execute", lambda whole: laid_out.append(whole) or execute(whole))
        files = style.save(figure, tmp_path, "figure")
    assert all(file.stat().st_size for file in files)
    assert laid_out == [figure]
    assert len(drawn) == len(set(drawn)) > 10


def test_a_title_gives_way_to_the_power_of_ten_of_all_labels(tmp_path: Path) -> None:
    with style.styled():
        figure = Figure(figsize=(6, 2.5), layout="constrained")
        plain, power = figure.subplots(1, 2)
        power.set_ylim(0, 3e7)
        for axes in (plain, power):
            axes.set_title("A title")
        style.save(figure, tmp_path, "figure")
        text = power.yaxis.get_offset_text()
        assert text.get_text() == "1e7"
        assert title(plain).y0 < title(power).y0
        assert not title(power).overlaps(text.get_window_extent())
        assert title(power).y1 < figure.bbox.y1


def test_a_title_gives_way_to_ticks_on_the_upper_side(tmp_path: Path) -> None:
    with style.styled():
        figure = Figure(figsize=(3, 2.5), layout="constrained")
        axes = figure.subplots()
        axes.xaxis.tick_top()
        axes.set_title("A title")
        style.save(figure, tmp_path, "figure")
        assert title(axes).y0 > max(one.get_window_extent().y1 for one in axes.get_xticklabels())
        assert title(axes).y1 < figure.bbox.y1


def title(axes: Axes) -> Bbox:
    """Return where the title of a plot is, in pixels."""
    (found,) = (one for one in axes.get_children() if isinstance(one, Text) and one.get_text() == "A title")
    return found.get_window_extent()

"""One style for every figure, and files that are the same bytes whenever a figure is the same."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatter, LogLocator, NullFormatter, ScalarFormatter
from matplotlib.typing import LineStyleType

from analysis.errors import DrawingError
from sweep.store.writing import private

FORMATS = ("pdf", "svg", "png")

SHEET = mpl.rc_params_from_file(Path(__file__).with_name("schedsweep.mplstyle"), use_default_template=False)

SESSION = ("backend", "backend_fallback", "interactive", "timezone", "toolbar")
"""Settings of a user's session that stay unchanged: they concern windows, not the style."""

NEUTRAL = "#5b6770"
"""For data that belong to no policy."""

ACCENT = "#0072b2"
"""For the most important data of a figure without policies."""

THOUSANDS = FuncFormatter(lambda value, _: f"{value:,.10f}".rstrip("0").rstrip(".").replace("-", "−"))
"""Labels of ticks: commas from a thousand on, and never an exponent."""

UNTESTED = "not tested"
"""In place of a verdict where no comparison could be made."""

VERDICT_COLORS = {
    "holds": "#117733",
    "direction holds": "#8a6d1f",
    "fails": "#b3361c",
    "inconclusive": "#6b7280",
    UNTESTED: "#b4b9c2",
}
VERDICT_SIGNS = {"holds": "✓", "direction holds": "≈", "fails": "✗", "inconclusive": "?", UNTESTED: "–"}


@dataclass(frozen=True)
class SchemeStyle:
    """The style of a policy in every figure.

    Parameters
    ----------
    label : str
        Name in legends and tables.
    marker : str
        Distinguishes policies in grey print.
    dashes : str
        Line style.
    """

    label: str
    color: str
    marker: str
    dashes: LineStyleType = "-"

    def legend_handle(self) -> Line2D:
        """Return a legend entry."""
        return Line2D([], [], color=self.color, marker=self.marker, linestyle=self.dashes, label=self.label)


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the style of this project, whatever the user's own matplotlib settings are.

    `matplotlib.rcdefaults` does the same, but first reads all style sheets: the longest import of a drawing.
    """
    with mpl.rc_context(_settings()):
        yield


@cache
def _settings() -> dict[Any, Any]:
    """Return matplotlib's defaults, overridden by this project's."""
    return {name: value for name, value in mpl.rcParamsDefault.items() if name not in SESSION} | dict(SHEET)


def save(figure: Figure, folder: Path, name: str, sources: str = "") -> list[Path]:
    """Save a figure as PDF, SVG and PNG; the same figure gives the same bytes.

    Parameters
    ----------
    folder : Path
        Folder of the files; it is made if it does not exist.
    name : str
        File name without its ending.
    sources : str
        The code that computed the data, for the metadata of the PNG.

    Returns
    -------
    list of Path
        The files, in the order of `FORMATS`.

    Raises
    ------
    DrawingError
        If the figure shows nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    undated: dict[str, dict[str, str | None]] = {
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "svg": {"Date": None, "Creator": None},
        "png": {"Source": sources or None},
    }
    figure.set_dpi(SHEET["savefig.dpi"])
    put_commas(figure)
    put_letters(figure)
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)  # one layout for all formats
    if figure.axes and not any(map(shows, figure.axes)):
        raise DrawingError("none of its points lies within the axes")
    files = [folder / f"{name}.{ending}" for ending in FORMATS]
    for file in files:
        with private(file) as made:
            figure.savefig(made, metadata=undated.get(file.suffix[1:]))
    return files


def described(figure: Figure) -> str:
    """Return the axes of a figure and the names in its legends in words."""
    axes = [(one.get_ylabel(), one.get_xlabel()) for one in figure.axes if one.get_visible()]
    plots = dict.fromkeys(f"{y} over {x}" if y and x else y or x for y, x in axes if x or y)
    legends = [*figure.legends, *(one for axes in figure.axes if (one := axes.get_legend()))]
    texts = [text for legend in legends for text in legend.get_texts()]
    names = ", ".join(dict.fromkeys(text.get_text() for text in texts))
    return " ".join("; ".join(filter(None, ["; ".join(plots), names])).split()) + "." * bool(plots or names)


def shows(axes: Axes) -> bool:
    """Whether axes have anything but names and points outside their frame; a table has no frame."""
    (left, right), (bottom, top) = map(sorted, (axes.get_xlim(), axes.get_ylim()))
    points = [one.get_xydata() for one in axes.lines if one.get_transform() is axes.transData]
    inside = (
        ((left <= x) & (x <= right) & (bottom <= y) & (y <= top)).any()
        for x, y in (np.asarray(one, float).T for one in points)
    )
    drawn = axes.patches or axes.collections or axes.images or (axes.texts and not axes.axison)
    return bool(drawn) or any(inside)


def put_letters(figure: Figure) -> None:
    """Put a letter at each of several panels; a strip above a panel belongs to it."""
    places = [
        (one, spec.rowspan.start, spec.colspan.start)
        for one in figure.axes
        if one.get_visible() and one.axison and (spec := one.get_subplotspec())
    ]
    under = {(row + 1, column) for one, row, column in places if not one.xaxis.get_visible()}
    panels = [one for one, *place in places if tuple(place) not in under and one.get_label() != "<colorbar>"]
    if len(panels) < 2 or any(one.get_title(loc="left").startswith("(a)") for one in panels):
        return
    for letter, one in zip(ascii_lowercase, panels, strict=False):
        one.annotate(
            letter, (0, 1), xycoords="axes fraction", xytext=(-8, 5), textcoords="offset points",
            ha="right", va="bottom", fontweight="bold", annotation_clip=False,
        )  # fmt: skip


def put_commas(figure: Figure) -> None:
    """Label axes alike: 10,000, not 10000 or 1e4, and no exponents on logarithmic ones."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        formatter = axis.get_major_formatter()
        if isinstance(formatter, LogFormatter):
            plain_ticks(axis)
        elif isinstance(formatter, ScalarFormatter) and np.abs(axis.get_view_interval()).max() >= 1000:
            axis.set_major_formatter(THOUSANDS)


def text_on(color: str) -> str:
    """Return black or white, whichever is easier to read on a colour: at least 4.5 to 1.

    Examples
    --------
    >>> text_on("#0072b2"), text_on("#e69f00")
    ('white', 'black')
    """
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)]
    return "white" if np.dot((0.2126, 0.7152, 0.0722), linear) < 0.18 else "black"


def mark(axes: Axes, x: np.ndarray, y: np.ndarray, marker: str, **properties: Any) -> None:
    """Draw markers; the frame clips markers outside it, but not half of a marker at 0."""
    for some, clipped in ((y != 0, True), (y == 0, False)):
        if some.any():
            axes.plot(x[some], y[some], marker, clip_on=clipped, **properties)


def begin_at_0(axes: Axes, shows: bool = True) -> None:
    """Let the vertical axis begin at 0, with space for its content."""
    if shows:
        # Margins are a share of the shown range: a share of the values alone would leave no space for a
        # marker if the values are close to each other and far from 0.
        axes.update_datalim([(0.0, 0.0)], updatex=False)
        axes.autoscale_view(scalex=False)
    axes.set_ylim(bottom=0)


def hollow(text: str) -> Line2D:
    """Return the legend's entry of hollow points."""
    return Line2D([], [], linestyle="none", marker="o", color="white", mec="#444444", label=text)


def outlines(axes: Axes, owner: np.ndarray, **properties: Any) -> None:
    """Draw lines between cells of different owners, and around all; the first dimension is horizontal."""
    framed = np.pad(owner, 1, constant_values=-1)
    for x, y in np.argwhere(np.diff(framed[:, 1:-1], axis=0)):
        axes.plot([x, x], [y, y + 1], **properties)
    for x, y in np.argwhere(np.diff(framed[1:-1], axis=1)):
        axes.plot([x, x + 1], [y, y], **properties)


def shade(color: str, light: float) -> str:
    """Return a colour mixed with white: 0 is the colour itself, 1 is white.

    Examples
    --------
    >>> shade("#000000", 0.5)
    '#808080'
    """
    return mixed(color, "#ffffff", light)


def mixed(color: str, other: str, share: float) -> str:
    """Return a colour with a share of another one."""
    pairs = [(int(color[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def page(width: float, height: float, *shape: int, **shared: Any) -> tuple[Figure, Any]:
    """Return a figure of a size in inches, and its axes as `Figure.subplots` returns them."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(*shape, **shared)


def key_below(figure: Figure, handles: Sequence[Artist], n_columns: int, notes: Sequence[str] = ()) -> None:
    """Write a legend below all plots, and notes above it at the left."""
    title: dict[str, Any] = {"title": "\n".join(notes), "title_fontsize": 7.5, "alignment": "left"}
    legend = figure.legend(
        handles=list(handles),
        loc="outside lower left" if notes else "outside lower center",
        ncols=n_columns,
        **(title if notes else {}),
    )
    legend.get_title().set_color("#666666")


def put_headline(figure: Figure, title: str) -> None:
    """Write the title of a figure of several plots."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")


def put_note(figure: Figure, text: str) -> None:
    """Write a line below all plots."""
    figure.supxlabel(text, fontsize=7.5, color="#666666", x=0.01, ha="left")


def guide(axes: Axes, value: float, name: str, *, vertical: bool = False, below: bool = False) -> None:
    """Draw a dashed line across axes, with its name at the right end or the upper one.

    Parameters
    ----------
    below : bool
        Whether the name is below the line, or left of it.
    """
    draw = axes.axvline if vertical else axes.axhline
    draw(value, color="#888888", linewidth=0.8, linestyle=(0, (5, 3)), zorder=1)
    place = axes.get_xaxis_transform() if vertical else axes.get_yaxis_transform()
    along, across = ("left", "bottom") if vertical else ("bottom", "right")
    if below:
        along = "right" if vertical else "top"
    away = -2 if below else 2
    axes.annotate(
        name, (value, 1) if vertical else (1, value), xycoords=place, textcoords="offset points",
        xytext=(away, 1) if vertical else (-2, away), ha=along if vertical else across,
        va=across if vertical else along, fontsize=7, color="#666666", annotation_clip=False, zorder=5,
    )  # fmt: skip


def plain_ticks(axis: Axis, decades: float = 300) -> None:
    """Label a logarithmic axis without exponents: 1, 2, 5 of each decade up to a ratio of `decades`, else 1.

    Within less than a decade also 1.5, 3 and 7, so that a curve has labels on both sides.
    """
    low, high = axis.get_view_interval()
    few = (1, 1.5, 2, 3, 5, 7) if high < 10 * low else (1, 2, 5)
    axis.set_major_locator(LogLocator(subs=few if high < decades * low else (1,)))
    axis.set_major_formatter(THOUSANDS)
    axis.set_minor_formatter(NullFormatter())


def bare(axes: Axes) -> None:
    """Remove the grid, the frame and the ticks, but not their labels."""
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)

"""Parts of pictures: panels with a row for each policy or group, differences with intervals, their axes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from analysis.figures import style
from analysis.figures.style import SchemeStyle
from analysis.operators.labels import AS_IT_WAS, VERDICTS
from sweep.numbers import Unit, number
from sweep.statistics import Comparison
from sweep.statistics.confidence import Floats

WIDTH = 7.4
"""Width of a picture, inches, as in the report."""

NARROW = 4.6
"""Width of the main picture, which is read on a phone as well."""

TRADED = 6.0
"""Width of a picture of three narrow panels."""

ROW = 0.21
"""Height of a row, inches."""

RECORD: Mapping[str, Any] = {"color": "#222222", "linestyle": (0, (1.5, 1.5)), "linewidth": 1.3}
"""Style of the values that the log recorded: black and dotted."""

NAME = 28
"""Most characters of a name in one line."""

LEGEND = 96
"""Most characters in a line of a legend."""

HOLLOW = ("no ", "mostly", "mixed")
"""Beginnings of verdicts that are drawn hollow."""

OUTLYING = 8.0
"""Multiple of the median above which a value would compress the axis for all others."""


def page(n_rows: int, n_columns: int, n_items: int, width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """Return axes for panels with a number of rows each, which share the names at their left."""
    height = n_rows * (ROW * n_items + 0.62) + 0.55
    figure, places = style.page(width, height, n_rows, n_columns, squeeze=False, sharey=True)
    return figure, list(places.ravel())


def draw_record(axes: Axes, value: float) -> None:
    """Draw the recorded value as a line across all rows; at the end of the axis, if it lies beyond."""
    right = axes.get_xlim()[1]
    axes.axvline(min(value, right), **RECORD, zorder=4)
    if value > right:
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
        text = f"{number(value)} →"
        axes.text(0.98 * right, -0.55, text, ha="right", va="bottom", fontsize=7.5, zorder=5, bbox=box)


def record_handle() -> Line2D:
    """Return the legend's entry of the recorded value."""
    return Line2D([], [], **RECORD, label=AS_IT_WAS)


def in_lines(name: str, most: int = 2) -> str:
    """Return a name in lines that fit a panel; the middle of a much longer name is left out.

    Examples
    --------
    >>> in_lines("lxf_w_backfill"), in_lines("a_policy_of_mine_with_a_longer_name").splitlines()
    ('lxf_w_backfill', ['a_policy_of_mine_with_a_', 'longer_name'])
    """
    if len(name) <= NAME:
        return name
    if len(name) > most * (NAME - 4):
        kept = most * (NAME - 4) // 2
        name = f"{name[:kept]}…{name[-kept:]}"
    lines = [""]
    for part in re.split(r"(?<=[_ …])", name):
        for piece in (part[i : i + NAME] for i in range(0, len(part), NAME)):
            if len(lines[-1]) + len(piece) > NAME:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)


def legend_columns(names: Sequence[str]) -> int:
    """Return the number of columns of a legend."""
    return max(1, min(4, LEGEND // (max(map(len, names), default=1) + 8)))


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write a name at each row, the first at the top."""
    texts = [in_lines(name) for name in names]
    broken = any("\n" in text for text in texts)
    small: dict[str, Any] = {"fontsize": 6.0, "linespacing": 1.1} if broken else {}
    axes.set_yticks(np.arange(len(names))[::-1], texts, **small)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(axis="y", visible=False)


def name_panel(axes: Axes, title: str, unit: Unit) -> None:
    """Write what a panel shows, and its unit."""
    name = unit.name.strip()
    title = in_lines(title, most=3)
    axes.set_title(f"{title} ({name})" if name else title, fontsize=9, fontweight="normal")


def draw_differences(axes: Axes, found: Sequence[Comparison], unit: Unit) -> None:
    """Draw differences, one per row, with their intervals and the colour of their verdict."""
    rows = np.arange(len(found))[::-1]
    means, low, high = (
        np.array([getattr(one, end) for one in found]) / unit.size for end in ("mean", "low", "high")
    )
    near = np.abs(means) <= axis_end(means, np.fmax(high - means, means - low))
    axes.axvline(0, color="#222222", lw=0.8)
    for place in np.flatnonzero(near).tolist():
        sign = VERDICTS[found[place].verdict]
        ends = np.array([[means[place] - low[place]], [high[place] - means[place]]])
        bar = None if np.isnan(ends).any() else np.maximum(ends, 0)
        axes.errorbar(
            means[place], rows[place], xerr=bar, color=sign.color, marker=sign.marker, mfc=_face(sign),
            lw=1.0, linestyle="",
        )  # fmt: skip
    colors = [VERDICTS[one.verdict].color for one in found]
    mark_beyond(axes, rows, np.where(near, np.nan, means), colors, inside=True)


def _face(sign: SchemeStyle) -> str:
    """Return the colour inside a marker: filled where a difference is shown."""
    return "white" if sign.label.startswith(HOLLOW) else sign.color


def put_headline(figure: Figure, title: str, shown: Sequence[Comparison]) -> None:
    """Write the title, and a legend of the verdicts that occur."""
    style.put_headline(figure, title)
    there: Mapping[str, None] = dict.fromkeys(one.verdict for one in shown if not np.isnan(one.mean))
    handles = []
    for verdict, sign in VERDICTS.items():
        if verdict in there:
            handles.append(
                Line2D([], [], color=sign.color, marker=sign.marker, mfc=_face(sign), ls="", label=sign.label)
            )
    style.key_below(figure, handles, 3)


def make_logarithmic(axes: Axes, values: Floats) -> None:
    """Set a logarithmic axis, linear below the smallest positive value where some values are 0."""
    positive = values[values > 0]
    if not positive.size:
        return
    if (values == 0).any():
        axes.set_yscale("symlog", linthresh=positive.min())
        axes.set_ylim(bottom=0)
    else:
        axes.set_yscale("log")
        if positive.max() < 100 * positive.min():
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(style.THOUSANDS)
    axes.yaxis.set_minor_formatter(NullFormatter())


def axis_end(values: Floats, half_widths: Floats) -> float:
    """Return the end of an axis that begins at 0; values far beyond all others are cut off."""
    if np.isnan(values).all():
        return 1.0
    near = np.abs(values) <= OUTLYING * np.nanmedian(np.abs(values))
    reach = np.abs(values) + np.nan_to_num(half_widths)
    end = float(reach[near].max() if near.any() else np.nanmax(reach))
    return 1.15 * end if end > 0 else 1.0


def mark_beyond(
    axes: Axes, rows: np.ndarray, values: Floats, colors: Sequence[str], *, inside: bool = False
) -> None:
    """Write values beyond the axis outside of its end, or inside where their row is empty."""
    left, right = axes.get_xlim()
    for row, value, color in zip(rows, values, colors, strict=True):
        if value > right or value < left:
            text, at, side = (
                (f"{number(value)} →", right, "left")
                if value > right
                else (f"← {number(value)}", left, "right")
            )
            axes.annotate(
                text, (at, row), (3 if (side == "left") != inside else -3, 0), textcoords="offset points",
                ha=side if not inside else "right" if side == "left" else "left",
                va="center", fontsize=7.5, color=color, annotation_clip=False,
            )  # fmt: skip

"""What a user asks of a drawing, read from text; and the page on which several are laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import AnalysisError

P = ParamSpec("P")
T = TypeVar("T")

MOST = 4096
"""Processors beyond which a picture would take minutes and show nothing."""


WIDTH, SINGLE = 7.4, 4.6
"""Width of a page, and of one with a single drawing, inches."""


def mesh_of(settings: Mapping[str, str]) -> tuple[int, int]:
    """Return rows and columns of ``processors=16x32``.

    Raises
    ------
    AnalysisError
        If it is something else.
    """
    parts = settings["processors"].lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdecimal() and int(part) for part in parts):
        raise AnalysisError(f"processors={settings['processors']}: give rows and columns, e.g. 16x32")
    rows, columns = map(int, parts)
    if rows * columns > MOST:
        raise AnalysisError(f"processors={settings['processors']}: too many to draw; give up to {MOST}")
    return rows, columns


def whole(settings: Mapping[str, str], key: str) -> int:
    """Return a positive whole number, or raise `AnalysisError`."""
    text = settings[key]
    if not text.isdecimal() or not int(text):
        raise AnalysisError(f"{key}={text}: give a positive whole number")
    return int(text)


def numbers(settings: Mapping[str, str], key: str) -> list[int]:
    """Return the whole numbers of ``requirements=2,2,4``, or raise `AnalysisError`."""
    parts = settings[key].replace(" ", "").strip("[]").split(",")
    if not all(part.isdecimal() and int(part) for part in parts):
        raise AnalysisError(f"{key}={settings[key]}: give positive whole numbers, e.g. {key}=2,2,4,8")
    return [int(part) for part in parts]


def valid(model: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Call a model; what it says of parameters that it refuses, in one line, is an `AnalysisError`."""
    try:
        return model(*arguments, **keywords)
    except ValueError as error:
        raise AnalysisError(str(error)) from None


def pages(n: int, n_columns: int, ratio: float, title: float = 0.25) -> tuple[Figure, Sequence[Axes]]:
    """Return a page as wide as the report with so many places for drawings; a single one is smaller.

    Parameters
    ----------
    n, n_columns : int
        Drawings, and how many side by side.
    ratio : float
        Height of a drawing over its width.
    title : float, inches
        Height of a title above each.
    """
    n_rows = -(-n // n_columns)
    width = WIDTH / n_columns if n_columns > 1 else SINGLE
    figure = Figure(
        figsize=(n_columns * width, n_rows * (0.92 * width * ratio + title) + 0.5), layout="constrained"
    )
    places = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes in places[n:]:
        axes.set_visible(False)
    return figure, list(places[:n])

"""What a user asks of a drawing, read from text."""

import math
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from analysis.errors import AnalysisError
from sweep.config.settings import too_high

P = ParamSpec("P")
T = TypeVar("T")

MOST = 4096
"""Processors beyond which a picture would take minutes and show nothing."""


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


def whole(settings: Mapping[str, str], key: str, least: int = 1) -> int:
    """Return a whole number, or raise `AnalysisError`."""
    text = settings[key]
    if not text.isdecimal() or int(text) < least:
        raise AnalysisError(f"{key}={text}: give a {'positive ' * (least > 0)}whole number")
    return int(text)


def positive(
    settings: Mapping[str, str], key: str, advice: str = "a positive number", most: float = math.inf
) -> float:
    """Return a finite number above 0, up to `most`; else raise `AnalysisError` with advice what to give."""
    try:
        value = float(settings[key])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and 0 < value <= most):
        raise AnalysisError(f"{key}={settings[key]}: give {advice}")
    if key == "load" and (why := too_high(value)) is not None:
        raise AnalysisError(f"load={value:g} is {why}")
    return value


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

"""The points of a plot as one table: estimates, states, notes; and the table that a reader saves."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.explorer import choice as chosen
from analysis.explorer.choice import PARALLEL, Choice
from analysis.figures.load_plot import Line
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED, FAILED, SATURATED, UNFINISHED, Curve, across
from models.counting import counted
from sweep.statistics import MIN_REPLICATIONS
from sweep.statistics.capacity import undecided

SAVED = (
    "metric", "unit", "relative_to", "mean", "half_width", "low", "high", "confidence", "status",
    "replications_done", "replications", "expected_bias", "seed",
)  # fmt: skip
"""Columns that a reader saves, after the axes."""

UNDECIDED = "undecided"
"""State of a point whose load lies within the standard error of the capacity."""

ASIDE = (SATURATED, UNDECIDED)
"""States of points that the plot shows above its axis: their queue may grow without limit."""

COLUMNS = ("line", "value", "x", "place", *SAVED, "exact", "solid", "note")


def points(study: Study, choice: Choice) -> pd.DataFrame:
    """Return the points of all lines, line by line along the axis, without those that the grid excludes.

    With parallel coordinates, these are the points at all values of all other axes. If one axis is both, each
    of its values is a line of one point.

    Returns
    -------
    DataFrame
        ``line``, ``value`` and ``x`` (where the point is placed on the axis), ``place`` (dict: axis ->
        value), then `SAVED` in the metric's own unit (a saturated point has no mean), ``exact`` (solved, not
        simulated), ``solid`` (without limitations) and ``note`` (its limitations in words).
    """
    lines = choice.shown[:1] if choice.lines == choice.along else choice.shown
    slices = [choice]
    if choice.kind == PARALLEL:
        every = itertools.product(*(chosen.values(study, axis) for axis in choice.at))
        slices = [replace(choice, at=dict(zip(choice.at, at, strict=True))) for at in every]
    rows = [row for one in slices for line in lines for row in _of_line(study, one, line)]
    kept = [row for row in rows if row["status"] != EXCLUDED and row["line"] in choice.shown]
    return pd.DataFrame(kept, columns=list(COLUMNS))


def table(found: pd.DataFrame, axes_shown: Sequence[str]) -> pd.DataFrame:
    """Return the table that a reader saves: the axes, and the columns `SAVED`."""
    axes = pd.DataFrame(found["place"].tolist())[list(axes_shown)]
    return pd.concat([axes, found[list(SAVED)]], axis=1)


def _of_line(study: Study, choice: Choice, line: str) -> Iterator[dict[str, Any]]:
    along = chosen.values(study, choice.along)
    curve = _curve(study, choice, line, along)
    found = Line.of(curve)
    if choice.reference:
        found = Line.ratio(curve, _curve(study, choice, line, along, choice.reference))
    unit = "1" if choice.reference else str(study.data[choice.metric].attrs.get("units", "1"))
    for i, value in enumerate(along):
        place = chosen.place(study, choice, line, value)
        at = {axis: study.values_of(axis).index(place[axis]) for axis in map(str, study.status.dims)}
        mean, half, low, high = (
            float(one[i]) for one in (found.mean, found.half_width, found.low, found.high)
        )
        limits = study.capacity(at)
        is_near = curve.status[i] == DONE and bool(undecided(float(study.data["load"][at["load"]]), *limits))
        row = {
            "line": value if choice.lines == choice.along else line,
            "value": value,
            "x": float(curve.x[i]),
            "place": place,
            "metric": choice.metric,
            "unit": unit,
            "relative_to": choice.reference,
            "mean": mean,
            "half_width": half,
            "low": low,
            "high": high,
            "confidence": study.confidence,
            "status": UNDECIDED if is_near else curve.status[i],
            "replications_done": int((study.plain("tasks").at(at, "replication") == DONE).sum()),
            "replications": int(study.data.sizes["replication"]),
            "expected_bias": curve.bias[i] if curve.bias else math.nan,
            "seed": study.settings.get("seed", ""),
            "exact": bool(study.plain("exact").at(at)),
        }
        is_estimated = math.isfinite(mean) and math.isfinite(half)
        row["solid"] = is_estimated and row["status"] == DONE and not math.isfinite(row["expected_bias"])
        row["note"] = note(row)
        yield row


def note(row: Mapping[str, Any]) -> str:
    """Return the limitations of a point in words; empty if there are none."""
    runs = row["replications"]
    if row["status"] == SATURATED:
        return "saturated: the policy does not keep up with the load, so there is no mean"
    if row["status"] == UNDECIDED:
        return "undecided: the load is too close to the capacity to decide whether the policy keeps up"
    if row["status"] == FAILED:
        return "failed: a replication raised an error; action=status shows it"
    if row["status"] == UNFINISHED:
        return f"not finished: {counted(row['replications_done'], 'replication', 'is', of=runs)} done"
    if math.isfinite(row["expected_bias"]):
        off = 100 * row["expected_bias"]
        size = f"{off:+.0f} %" if abs(off) >= 1 else "less than 1 %"
        return f"too short: the mean is expected to be {size} off the long-run mean"
    if not math.isfinite(row["mean"]):
        return "no such jobs"
    if not math.isfinite(row["half_width"]):
        return f"interval withheld: fewer than {MIN_REPLICATIONS} replications, and too few batches to judge"
    return "exact: solved, not simulated" if row["exact"] else ""


def _curve(study: Study, choice: Choice, line: str, along: Sequence[str], policy: str = "") -> Curve:
    """Return the samples of a line at all values of the axis, or of another policy at the same places."""
    places = [chosen.place(study, choice, line, value) for value in along]
    if policy:
        places = [{**place, chosen.reference_axis(study, choice): policy} for place in places]
    if chosen.is_scale(study, choice.along):
        return _along(study, choice.metric, choice.along, places[0])
    parts = [_at(study, choice.metric, place) for place in places]
    return across(parts, range(len(parts)), choice.along)


def _along(study: Study, metric: str, along: str, place: Mapping[str, str]) -> Curve:
    rest = {axis: value for axis, value in place.items() if axis not in (along, "policy")}
    return study.curve(metric, place["policy"], along=along, **rest)


def _at(study: Study, metric: str, place: Mapping[str, str]) -> Curve:
    """Return the samples of one point, as a curve of it."""
    curve = _along(study, metric, "load", place)
    return curve.part(np.array(chosen.values(study, "load")) == place["load"])

"""Names of axes, lines and points on the page, and the numbers of a point in words."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.compare.labels import NAMELESS, panel_word, title
from analysis.explorer import rerun
from analysis.explorer.choice import Choice, axes, is_scale, reference_axis
from analysis.figures import policies
from analysis.figures.load_plot import LOAD
from analysis.figures.style import SchemeStyle
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED
from models.counting import counted
from sweep import numbers, policy_names
from sweep.numbers import Unit, estimate, number

NOTHING = "–"


def axis_name(axis: str) -> str:
    """Return the name of an axis in a list."""
    return "Offered load" if axis == "load" else axis.replace("_", " ").capitalize()


def value_name(study: Study, axis: str, value: str, at: Mapping[str, str] | None = None) -> str:
    """Return the name of a value of an axis."""
    if axis == "policy":
        return policy_names.label(value)
    if axis == "user_rank":
        return study.user_label(value, at)
    return "unscaled" if axis == "load" and value == "null" else value


def line_styles(study: Study, choice: Choice) -> dict[str, SchemeStyle]:
    """Return the style of each line; a policy has the same style as in every figure."""
    axis = choice.lines
    found = policies.apart({one: policies.style_of(one) for one in study.values_of(axis)})
    if axis == "policy":
        return found
    name = value_name if axis in ("user_rank", "load") else lambda study, axis, value: panel_word(axis, value)
    return {value: replace(own, label=name(study, axis, value)) for value, own in found.items()}


def unit_of(study: Study, choice: Choice, points: pd.DataFrame) -> Unit:
    """Return the unit of the vertical axis."""
    units = "1" if choice.reference else str(study.data[choice.metric].attrs.get("units", "1"))
    return numbers.unit_of(units, points["mean"])


def measure(study: Study, choice: Choice) -> str:
    """Return the name of the metric, and of the policy that it is relative to."""
    relative = (
        f", relative to {value_name(study, reference_axis(study, choice), choice.reference)}"
        if choice.reference
        else ""
    )
    return title(study, choice.metric) + relative


def value_label(study: Study, choice: Choice, unit: Unit) -> str:
    """Return the label of the vertical axis."""
    return measure(study, choice) + (f" ({unit.name.strip()})" if unit.name else "")


def along_label(study: Study, choice: Choice) -> str:
    """Return the label of the horizontal axis, with the key that it sets."""
    if choice.along == "load":
        return LOAD
    key = str(study.data[choice.along].attrs.get("long_name", ""))
    return axis_name(choice.along) + (f" ({key})" if "." in key else "")


def where(study: Study, at: Mapping[str, str]) -> str:
    """Return values of axes in words."""
    return ", ".join(
        ("" if axis in NAMELESS else f"{axis_name(axis).lower()} ") + value_name(study, axis, value, at)
        for axis, value in at.items()
    )


def described(study: Study, choice: Choice, points: pd.DataFrame) -> pd.DataFrame:
    """Return the points with columns of text for the page.

    Returns
    -------
    DataFrame
        With ``heading`` (which point it is), ``estimate``, ``interval``, ``runs``, ``seeds`` and ``command``
        (which reruns the point).
    """
    unit, styles = unit_of(study, choice, points), line_styles(study, choice)
    texts = [
        {
            "heading": _heading(study, choice, row, styles),
            "estimate": _estimate(row, unit),
            "interval": _interval(row, unit),
            "runs": f"{row.replications_done} of {row.replications} done",
            "seeds": rerun.seeds(study, row.place),
            "command": rerun.command(study, row.place),
        }
        for row in points.itertuples()
    ]
    columns = ["heading", "estimate", "interval", "runs", "seeds", "command"]
    return points.join(pd.DataFrame(texts, index=points.index, columns=columns))


def listed(study: Study, choice: Choice, points: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the points as a table of numbers to sort, and what the header of each column filters by."""
    unit, columns, filters = unit_of(study, choice, points), {}, {}
    for axis in axes(study, choice.metric) or ["policy"]:
        given = [place[axis] for place in points["place"]]
        is_number = is_scale(study, axis)
        name = axis_name(axis)
        columns[name] = [float(one) if is_number else value_name(study, axis, one) for one in given]
        filters[name] = {"type": "list", "func": "=", "valuesLookup": True, "clearable": True}
    mean = f"Mean ({unit.name.strip()})" if unit.name else "Mean"
    for name, key, digits in ((mean, "mean", 4), ("±", "half_width", 2)):
        columns[name] = [float(f"{one / unit.size:.{digits}g}") for one in points[key]]
        filters[name] = {"type": "number", "func": "<=", "placeholder": "at most"}
    columns |= {"Replications": points["runs"], "Note": points["note"]}
    filters |= {name: {"type": "input", "func": "like"} for name in ("Replications", "Note")}
    return pd.DataFrame(columns, index=points.index), filters


def _heading(study: Study, choice: Choice, row: Any, styles: Mapping[str, SchemeStyle]) -> str:
    own = {choice.along: row.value} if choice.along != choice.lines else {}
    rest = {
        axis: value
        for axis, value in row.place.items()
        if study.varies(axis) and axis not in (choice.lines, choice.along)
    }
    return ", ".join(filter(None, [styles[row.line].label, where(study, own), where(study, rest)]))


def _estimate(row: Any, unit: Unit) -> str:
    """Return the mean with its half-width, or the state of a point without a mean."""
    if not math.isfinite(row.mean):
        return NOTHING if row.status == DONE else row.status
    return estimate(row.mean / unit.size, row.half_width / unit.size) + unit.name


def _interval(row: Any, unit: Unit) -> str:
    if not 0 < row.half_width < math.inf:
        return NOTHING
    return f"{number(row.low / unit.size)} to {number(row.high / unit.size)}{unit.name}"


def tally(study: Study) -> str:
    """Return the number of points in each state."""
    counts = {state: n for state, n in study.tally().items() if state != EXCLUDED}
    total = sum(counts.values())
    states = ", ".join(f"{n:,} {'finished' if state == DONE else state}" for state, n in counts.items() if n)
    return f"{counted(total, 'point')}: {states}"

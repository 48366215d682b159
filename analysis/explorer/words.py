"""What axes, lines and points are called on the page."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.compare.labels import NAMELESS, panel_word, title
from analysis.explorer.choice import Choice
from analysis.explorer.points import Spot
from analysis.figures import policies
from analysis.figures.load_plot import LOAD
from analysis.figures.style import SchemeStyle
from analysis.report.numbers import PURE, Unit, number, time_unit
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED

NOTHING = "–"


def axis_name(axis: str) -> str:
    """Return what an axis is called in a list."""
    return "Offered load" if axis == "load" else axis.replace("_", " ").capitalize()


def value_name(study: Study, axis: str, value: str, at: Mapping[str, str] | None = None) -> str:
    """Return what a value of an axis is called by itself."""
    if axis == "policy":
        return policies.label(value)
    if axis == "user_rank":
        return study.user_label(value, at)
    return "as it is" if axis == "load" and value == "null" else value


def line_looks(study: Study, choice: Choice) -> dict[str, SchemeStyle]:
    """Return how each line looks; a policy as in every figure."""
    names = study.values_of(choice.lines)
    found = policies.apart(names)
    if choice.lines != "policy":
        found = {name: replace(look, label=_named(study, choice.lines, name)) for name, look in found.items()}
    return found


def _named(study: Study, axis: str, value: str) -> str:
    return value_name(study, axis, value) if axis in ("user_rank", "load") else panel_word(axis, value)


def metric_name(study: Study, metric: str) -> str:
    """Return what a metric is called: its words in the dataset."""
    return title(study, metric)


def unit_of(study: Study, choice: Choice, spots: Sequence[Spot]) -> Unit:
    """Return the unit in which the values of a plot are told."""
    unit = "1" if choice.reference else str(study.data[choice.metric].attrs.get("units", "1"))
    if unit == "s":
        return time_unit(spot.mean for spot in spots)
    return PURE if unit == "1" else Unit(f" {unit}", 1.0)


def value_label(study: Study, choice: Choice, unit: Unit) -> str:
    """Return the label of the vertical axis."""
    name = metric_name(study, choice.metric)
    if choice.reference:
        return f"{name}, relative to {policies.label(choice.reference)}"
    return f"{name} ({unit.name.strip()})" if unit.name else name


def along_label(study: Study, choice: Choice) -> str:
    """Return the label of the horizontal axis."""
    if choice.along == "load":
        return LOAD
    name = axis_name(choice.along)
    told = str(study.data[choice.along].attrs.get("long_name", ""))
    return f"{name} ({told})" if "." in told else name


def where(study: Study, at: Mapping[str, str]) -> str:
    """Return values of axes in words."""
    parts = [
        value_name(study, axis, value, at)
        if axis in NAMELESS
        else f"{axis_name(axis).lower()} {value_name(study, axis, value, at)}"
        for axis, value in at.items()
    ]
    return ", ".join(parts)


def estimate(spot: Spot, unit: Unit) -> str:
    """Return mean and interval of a point."""
    if not spot.is_drawn:
        return NOTHING
    found = number(spot.mean / unit.size)
    if math.isfinite(spot.half_width) and spot.half_width > 0:
        found += f" ± {number(spot.half_width / unit.size)}"
    return found + unit.name


def facts(study: Study, choice: Choice, spot: Spot, unit: Unit) -> list[tuple[str, str]]:
    """Return the numbers of a point in words: what is told of it, and what it is."""
    name = metric_name(study, choice.metric)
    if choice.reference:
        name += f", relative to {policies.label(choice.reference)}"
    found = [(name, estimate(spot, unit))]
    if math.isfinite(spot.half_width) and spot.half_width > 0 and spot.is_drawn:
        low, high = (number((spot.mean + sign * spot.half_width) / unit.size) for sign in (-1, 1))
        found.append((f"{study.confidence:.0%} interval", f"{low} to {high}{unit.name}"))
    found.append(("Replications", f"{spot.done} of {spot.of} done"))
    return [*found, *([("Note", spot.remark)] if spot.remark else [])]


def heading(study: Study, choice: Choice, spot: Spot) -> str:
    """Return which point it is."""
    rest = {
        axis: value
        for axis, value in spot.place.items()
        if study.varies(axis) and axis not in (choice.lines, choice.along)
    }
    line = line_looks(study, choice)[spot.line].label
    along = {choice.along: spot.value} if choice.along != choice.lines else {}
    return ", ".join(filter(None, [line, where(study, along), where(study, rest)]))


def tally(study: Study) -> str:
    """Return how many points there are, in which states."""
    counts = {state: n for state, n in study.tally().items() if state != EXCLUDED}
    total = sum(counts.values())
    states = ", ".join(f"{n:,} {'finished' if state == DONE else state}" for state, n in counts.items() if n)
    return f"{total:,} point{'s' * (total != 1)}: {states}"


def escaped(text: str) -> str:
    """Return text for HTML."""
    return html.escape(text)

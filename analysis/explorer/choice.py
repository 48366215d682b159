"""A reader's choice: a metric, its axes, the values of all other axes, a reference, a scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.compare import labels
from analysis.compare.layout import MOST_LINES, Layout, is_numeric
from analysis.study import Study
from analysis.study.curve import DONE
from analysis.study.view import ALL, View

AUTO = "auto"
"""A logarithmic vertical axis where the values are far apart, else a linear one."""

TEXTS = ("metric", "along", "lines", "reference", "scale", "kind")
"""Fields of a choice that are plain text."""

LINES, HEAT_MAP, PARALLEL = "Lines", "Heat map", "Parallel coordinates"
"""Kinds of plots. The map has the values of one axis in columns and of the other in rows; with parallel
coordinates, every point of the study, at all values of all axes, is a line."""


@dataclass(frozen=True)
class Choice:
    """The part of a study that the page shows.

    Parameters
    ----------
    along : str
        The axis of the plot; an axis of the grid or of the metric.
    lines : str
        The axis whose values are lines; equal to `along` (one line) if nothing else varies.
    at : dict of str to str
        Every other axis with several values, and the value at which the study is shown.
    reference : str
        Policy whose mean divides all others; empty for the values themselves.
    shown : tuple of str
        Lines that are drawn; empty for the first `layout.MOST_LINES`.
    scale : str
        Of the vertical axis: ``auto``, ``linear`` or ``log``.
    kind : str
        `LINES`, `HEAT_MAP` or `PARALLEL`.
    """

    metric: str
    along: str
    lines: str
    at: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""
    shown: tuple[str, ...] = ()
    scale: str = AUTO
    kind: str = LINES

    @classmethod
    def first(cls, study: Study) -> Choice:
        """Return the choice with which the page opens: the headline metric, as reports draw it."""
        layout = Layout.of(study)
        along = layout.along or layout.lines
        rest = [axis for axis in layout.facets if axis != along]
        lines = layout.lines if layout.lines != along else (rest or [along])[0]
        metric = str(study.headline)
        # The slice with most results.
        there = (study.status == DONE).sum([dim for dim in study.status.dims if dim in (along, lines)])
        best = there.argmax(...) if there.dims else {}
        at = {str(axis): study.values_of(str(axis))[int(place)] for axis, place in best.items()}
        return normal(study, cls(metric, along, lines, at))

    @classmethod
    def of_query(cls, study: Study, query: Mapping[str, str]) -> Choice:
        """Return the choice that an address holds, see `query`; other fields have their defaults."""
        first = cls.first(study)
        fields = {key: query[key] for key in TEXTS if key in query}
        shown = tuple(filter(None, query.get("shown", "").split(",")))
        return normal(study, replace(first, **fields, at={**first.at, **query}, shown=shown))

    @property
    def query(self) -> dict[str, str]:
        """The choice as parts of an address, for a link that shows the same."""
        return {key: getattr(self, key) for key in TEXTS} | {**self.at, "shown": ",".join(self.shown)}


def metrics(study: Study) -> dict[str, list[str]]:
    """Return the metrics in two lists: the ones that reports draw, and all others that have a value."""
    drawn, others = labels.metrics(replace(study, view=View()))
    known = [name for name in others if bool(study.data[name].notnull().any())]
    return {"In reports": drawn, "More": known} if known else {"In reports": drawn}


def axes(study: Study, metric: str) -> list[str]:
    """Return the axes of a metric that have several values: first the grid's, then the metric's own."""
    dims = [*map(str, study.status.dims), *study.own_axes(metric)]
    return [axis for axis in dims if study.varies(axis)]


def values(study: Study, axis: str) -> list[str]:
    """Return the values of an axis as text, numbers in ascending order."""
    found = study.values_of(axis)
    numbers = study.data[axis].values
    if numbers.dtype.kind in "iuf":
        return [found[i] for i in np.argsort(numbers, kind="stable")]
    return found


def is_scale(study: Study, axis: str) -> bool:
    """Whether the points of an axis are placed at its numbers, and not side by side as categories."""
    if axis not in study.status.dims or not is_numeric(study, axis):
        return False
    return bool(np.isfinite(study.data[axis].values.astype(float)).all())


def normal(study: Study, choice: Choice) -> Choice:
    """Return the choice with each value that the study lacks replaced by a default.

    After a change of the metric, or of the dataset itself, most of a choice stays as it is.
    """
    metric = choice.metric if choice.metric in study.data else str(study.headline)
    varied = axes(study, metric)
    usual = [axis for axis in ("load", "policy") if axis in varied]
    along = choice.along if choice.along in varied else next(iter([*usual, *varied]), "policy")
    rest = [axis for axis in varied if axis != along]
    lines = choice.lines
    if lines not in rest:
        lines = "policy" if "policy" in rest else rest[0] if rest else along
    at = {}
    for axis in (axis for axis in varied if axis not in (along, lines)):
        known = study.values_of(axis)
        # The default is the first value, except for loads: there it is the middle one.
        default = ALL if ALL in known else known[len(known) // 2] if axis == "load" else known[0]
        at[axis] = choice.at[axis] if choice.at.get(axis) in known else default
    others = references(study, replace(choice, along=along, lines=lines))
    reference = choice.reference if choice.reference in others else ""
    known = values(study, lines)
    shown = tuple(known if lines == along else (name for name in known if name in choice.shown))
    shown = shown or tuple(known[:MOST_LINES])
    scale = choice.scale if choice.scale in (AUTO, "linear", "log") else AUTO
    kind = choice.kind if choice.kind in (HEAT_MAP, PARALLEL) and lines != along else LINES
    return Choice(metric, along, lines, at, reference, shown, scale, kind)


def reference_axis(study: Study, choice: Choice) -> str:
    """Return the axis of which one value may divide all others: the policies, else a program's lines."""
    return choice.lines if study.is_program else "policy"


def references(study: Study, choice: Choice) -> list[str]:
    """Return the values that may divide all others."""
    if not study.is_program:
        return study.policies if study.varies("policy") else []
    axis = reference_axis(study, choice)
    return (
        study.values_of(axis) if study.varies(axis) and study.has_pairs(axis) and axis != choice.along else []
    )


def place(study: Study, choice: Choice, line: str, value: str) -> dict[str, str]:
    """Return the place of a point: every axis of the grid and of the metric with its value."""
    every = [*map(str, study.status.dims), *study.own_axes(choice.metric)]
    first = {axis: study.values_of(axis)[0] for axis in every}
    return first | dict(choice.at) | {choice.lines: line} | {choice.along: value}

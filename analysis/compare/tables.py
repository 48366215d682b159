"""The numbers of the figures: each metric at every point, and its difference from the reference."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.compare.labels import compared, is_better_smaller, metrics, title
from analysis.compare.layout import Cell as Place
from analysis.compare.layout import Layout
from analysis.report import cells
from analysis.report.declared import Row, declared
from analysis.report.table import Cell, Table, room
from analysis.study import Study
from analysis.study.alternatives import Alternatives
from analysis.study.curve import DONE, EXCLUDED
from models.counting import counted
from sweep.numbers import Unit, unit_of

MOST_ROWS = 60

DIFFERENCE = {"difference": "mean", "difference_low": "low", "difference_high": "high"}
"""Column of ``table.csv`` -> value of a comparison."""


Point = tuple[Place, Alternatives[str]]
"""Values on the panels' axes and on the axis of numbers; and all lines there."""


def rows_of(layout: Layout, metric: str) -> Iterator[Point]:
    """Yield all points of a metric that the grid has, including points of panels that were left out."""
    axes = [*layout.facets, *layout.study.own_axes(metric)]
    reference = layout.reference if layout.compared else ""
    for cell in layout.every_cell(metric, axes):
        curves = {name: layout.curve(metric, name, cell) for name in layout.names}
        if layout.along:
            x = next(iter(curves.values())).x
            places = [({layout.along: f"{value:g}"}, place) for place, value in enumerate(x)]
        else:
            places = [({}, layout.place(cell))]
        for at, place in places:
            samples = {name: curve.sample(place) for name, curve in curves.items()}
            if any(one.status != EXCLUDED for one in samples.values()):
                yield {**cell, **at}, Alternatives(samples, reference, layout.study.confidence)


def tables(study: Study) -> Sequence[Table]:
    """Return, for each metric that is compared, its means and their differences."""
    layout = Layout.of(study)
    drawn, _ = metrics(study)
    return [_table(layout, metric) for metric in compared(study, drawn)]


def _table(layout: Layout, metric: str) -> Table:
    rows = list(rows_of(layout, metric))
    shown, study = rows[:MOST_ROWS], layout.study
    pairs = layout.compared
    unit = _unit(layout, metric, shown)
    axes = [axis for axis in shown[0][0] if len({at[axis] for at, _ in rows}) > 1] if shown else []
    names = [layout.reference, *layout.others] if pairs else layout.names
    found: list[Row] = [
        [*(at[axis] for axis in axes), *(_cell(layout, metric, lines, name, unit) for name in names)]
        for at, lines in shown
    ]
    name = title(study, metric)
    parts = {
        "pairs": pairs, "means": not pairs, "no pairs": not pairs and len(names) > 1,
        "cut": len(rows) > MOST_ROWS,
    }  # fmt: skip
    heads = [layout.word(name) for name in names]
    heads[0] += " (reference)" * pairs
    if not axes:
        # If there is one point, policies below each other are easier to read.
        found = [list(pair) for pair in zip(heads, found[0] if found else [], strict=True)]
        heads = [name.lower()]
        axes = [layout.lines]
    made = declared(
        "compare", "metric", found, (*(axis.replace("_", " ") for axis in axes), *heads),
        parts=parts, metric=name, level=study.level,
        shared=study.shared, against=f" against {layout.against}" if pairs else "",
        reference=layout.against if pairs else "",
        lines=layout.lines, most=MOST_ROWS, total=f"{len(rows):,}",
    )  # fmt: skip
    return replace(made, name=metric.replace("_", "-"))


def _unit(layout: Layout, metric: str, rows: Sequence[Point]) -> Unit:
    means = (lines.mean(name).mean for _, lines in rows for name in lines.samples)
    return unit_of(layout.study.data[metric].attrs.get("units", "1"), means)


def _cell(layout: Layout, metric: str, lines: Alternatives[str], name: str, unit: Unit) -> Cell:
    """Return the mean of a line, or its change where lines are compared."""
    status, usual = (lines.samples[one].status for one in (name, lines.reference or name))
    if status != DONE:
        return Cell("–" if status == EXCLUDED else status, "open")
    if name == (lines.reference or name):
        found = lines.mean(name)
        return Cell(cells.level(found.mean, found.half_width, unit))
    if usual != DONE:
        return Cell(f"{layout.against} {'not run' if usual == EXCLUDED else usual}", "open")
    cell = cells.marked(lines.difference(name), unit)
    return cell if is_better_smaller(metric) or cell.tone == "open" else replace(cell, tone="")


def numbers(study: Study) -> pd.DataFrame:
    """Return every mean of the drawn metrics, one row for each point and line.

    Returns
    -------
    DataFrame
        ``metric``, ``unit``, the grid's axes and the metric's own (empty where it has none), ``status``,
        ``mean``, ``half_width``; and, where lines are compared, ``reference``, ``difference`` (of the
        policy minus the reference) and the ends of its interval, ``difference_low`` and ``difference_high``.
    """
    layout = Layout.of(study)
    drawn, _ = metrics(study)
    found: list[dict[str, Any]] = []
    alike = {axis: values[0] for axis in study.axes_shown if len(values := study.values_of(axis)) == 1}
    for metric in drawn:
        head = {"metric": metric, "unit": study.data[metric].attrs.get("units", "")}
        for at, lines in rows_of(layout, metric):
            for name, sample in lines.samples.items():
                if sample.status == EXCLUDED:
                    continue
                mean = lines.mean(name)
                line = {layout.lines: name} if layout.lines in study.axes_shown else {}
                one = {
                    **head, **alike, **line, **at, "status": sample.status,
                    "mean": mean.mean, "half_width": mean.half_width,
                }  # fmt: skip
                if layout.compared:
                    both = sample.status == lines.samples[lines.reference].status == DONE
                    pair = lines.difference(name) if both else None
                    one["reference"] = lines.reference
                    for column, end in DIFFERENCE.items():
                        one[column] = np.nan if pair is None else getattr(pair, end)
                found.append(one)
    frame = pd.DataFrame(found)
    order = ["metric", "unit", *map(str, study.status.dims)]
    last = ["status", "mean", "half_width", "reference", *DIFFERENCE]
    own = [column for column in frame.columns if column not in (*order, *last)]
    return frame.reindex(columns=[column for column in (*order, *own, *last) if column in frame.columns])


def brief(study: Study) -> Sequence[str]:
    """Return the headline's table for the terminal, and what was left out."""
    layout = Layout.of(study)
    drawn, _ = metrics(study)
    lines: list[str] = []
    for metric in compared(study, drawn)[:1]:
        made = _table(layout, metric)
        lines += ["", f"{made.title}, ± {study.level} intervals", *made.as_lines(room())[: BRIEF + 1]]
        if len(made.rows) > BRIEF:
            lines.append(f"... {counted(len(made.rows) - BRIEF, 'more row')} in the report")
    omitted = left_out(study)
    return [*lines, "", *(f"not drawn: {line}" for line in omitted)] if lines or omitted else []


BRIEF = 12
"""Rows of the terminal's table."""


def left_out(study: Study) -> list[str]:
    """Return sentences on points and metrics that are not drawn, with the keys that draw them."""
    layout, (_, others) = Layout.of(study), metrics(study)
    found = layout.left_out()
    if others:
        named = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
        found.append(f"{named}: metrics={others[0]} draws one of them, metrics=all draws all")
    return found

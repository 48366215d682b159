"""The numbers of the figures: each metric at every point, and its difference from the reference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.compare.labels import compared, is_better_smaller, metrics, title
from analysis.compare.layout import Cell, Layout
from analysis.operators import labels
from analysis.report import table
from analysis.report.table import Table, room
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED, Curve
from sweep.numbers import Unit, unit_of
from sweep.statistics import Comparison, Intervals

MOST_ROWS = 60

DIFFERENCE = {"difference": "mean", "difference_low": "low", "difference_high": "high"}
"""Column of ``table.csv`` -> value of a comparison."""


@dataclass(frozen=True, eq=False)
class Row:
    """One point, and all lines at it.

    Parameters
    ----------
    at : dict of str to str
        Values on the panels' axes, and on the axis of numbers.
    curves : dict of str to Curve
        Of each line.
    intervals : dict of str to Intervals
        Of each line, at all points of its curve.
    place : int
        Of the point on those curves.
    """

    at: Cell
    curves: dict[str, Curve]
    intervals: dict[str, Intervals]
    place: int

    def status(self, name: str) -> str:
        """Return the state of a line's point."""
        return self.curves[name].status[self.place]

    def difference(self, name: str, reference: str, confidence: float) -> Comparison | None:
        """Return a line's mean minus that of the reference, None where one of them has none."""
        mine, other = self.curves[name], self.curves[reference]
        if not self.status(name) == self.status(reference) == DONE:
            return None
        return mine.sample(self.place).against(other.sample(self.place)).comparison(confidence)


def rows_of(layout: Layout, metric: str) -> Iterator[Row]:
    """Yield all points of a metric that the grid has, also those of panels that were left out."""
    axes = [*layout.facets, *layout.study.own_axes(metric)]
    loads = layout.study.values_of("load")
    for cell in layout.every_cell(metric, axes):
        curves = {name: layout.curve(metric, name, cell) for name in layout.names}
        intervals = {name: curve.intervals() for name, curve in curves.items()}
        first = next(iter(curves.values()))
        if layout.along:
            places = [({layout.along: f"{x:g}"}, place) for place, x in enumerate(first.x)]
        else:
            order = [loads[i] for i in np.argsort(layout.study.data["load"].values)]
            places = [({}, order.index(cell.get("load", order[0])))]
        for at, place in places:
            row = Row({**cell, **at}, curves, intervals, place)
            if any(row.status(name) != EXCLUDED for name in layout.names):
                yield row


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
    axes = [axis for axis in shown[0].at if len({row.at[axis] for row in rows}) > 1] if shown else []
    names = [layout.reference, *layout.others] if pairs else layout.names
    found = [
        [
            *(table.Cell(row.at[axis]) for axis in axes),
            *(
                _change(layout, metric, row, name, unit)
                if pairs and name != layout.reference
                else _level(layout, row, name, unit)
                for name in names
            ),
        ]
        for row in shown
    ]
    name = title(study, metric)
    if pairs:
        caption = (
            f"The mean under {layout.against}, and its change under each other, paired under the same "
            "jobs. ▼ lower, ▲ higher, ▽ △ in most batches, no mark: no difference is shown, each by its own "
            f"{study.level} interval. reference=NAME compares with another."
        )
    else:
        caption = f"Means with {study.level} intervals."
        if len(layout.names) > 1:
            caption += f" Values of {layout.lines} have different jobs, so there are no pairs."
    if len(rows) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(rows):,} points; table.csv has all."
    heads = [layout.word(name) for name in names]
    heads[0] += " (reference)" * pairs
    if not axes:
        # One point: policies one below the other are easier to read.
        cells = found[0] if found else []
        found = [[table.Cell(head), cell] for head, cell in zip(heads, cells, strict=True)]
        heads = [name.lower()]
        axes = [layout.lines]
    return Table(
        f"{metric.replace('_', '-')}",
        f"{name} against {layout.against}" if pairs else name,
        caption,
        (*(axis.replace("_", " ") for axis in axes), *heads),
        found,
    )


def _unit(layout: Layout, metric: str, rows: Sequence[Row]) -> Unit:
    means = (float(row.intervals[line].mean[row.place]) for row in rows for line in layout.names)
    return unit_of(layout.study.data[metric].attrs.get("units", "1"), means)


def _level(layout: Layout, row: Row, name: str, unit: Unit) -> table.Cell:
    status, found = row.status(name), row.intervals[name]
    if status != DONE:
        return table.Cell("–" if status == EXCLUDED else status, "open")
    return table.Cell(labels.level(found.mean[row.place], found.half_width[row.place], unit))


def _change(layout: Layout, metric: str, row: Row, name: str, unit: Unit) -> table.Cell:
    if row.status(name) != DONE:
        return table.Cell("–" if row.status(name) == EXCLUDED else row.status(name), "open")
    found = row.difference(name, layout.reference, layout.study.confidence)
    if found is None:
        status = row.status(layout.reference)
        return table.Cell(f"{layout.against} {'not there' if status == EXCLUDED else status}", "open")
    cell = labels.marked(found, unit)
    return cell if is_better_smaller(metric) or cell.tone == "open" else replace(cell, tone="")


def numbers(study: Study) -> pd.DataFrame:
    """Return every mean of the metrics that are drawn, one row a point and line.

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
    alike = {
        axis: values[0] for axis in map(str, study.status.dims) if len(values := study.values_of(axis)) == 1
    }
    for metric in drawn:
        head = {"metric": metric, "unit": study.data[metric].attrs.get("units", "")}
        for row in rows_of(layout, metric):
            for name, made in row.intervals.items():
                status = row.status(name)
                if status == EXCLUDED:
                    continue
                one = {
                    **head, **alike, layout.lines: name, **row.at, "status": status,
                    "mean": made.mean[row.place], "half_width": made.half_width[row.place],
                }  # fmt: skip
                if layout.compared:
                    pair = row.difference(name, layout.reference, study.confidence)
                    one["reference"] = layout.reference
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
        lines += [
            "",
            f"{made.title}, ± {study.level} intervals",
            *made.as_lines(room())[: BRIEF + 1],
        ]
        if len(made.rows) > BRIEF:
            lines.append(f"... {len(made.rows) - BRIEF} more rows in the report")
    omitted = left_out(study)
    return [*lines, "", *(f"not drawn: {line}" for line in omitted)] if lines or omitted else []


BRIEF = 12
"""Rows of the terminal's table."""


def left_out(study: Study) -> list[str]:
    """Return in words what is not drawn, and the key that draws it."""
    layout, (_, others) = Layout.of(study), metrics(study)
    found = layout.left_out()
    if others:
        named = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
        found.append(f"{named}: metrics={others[0]} draws one, metrics=all all")
    return found

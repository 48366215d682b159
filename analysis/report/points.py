"""All points of a study: a table for the report, limited to a page, and all numbers as CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.study import Study
from analysis.study.curve import EXCLUDED
from analysis.study.study import SAMPLES
from sweep.numbers import PURE, estimate, time_unit
from sweep.policy_names import label

if TYPE_CHECKING:
    import pandas as pd

MOST = 2000
"""Most rows in the report, about one megabyte; the CSV has all of them."""

OPEN = 60
"""Most rows that a report shows unfolded."""

SHOWN = 8
"""Columns in the report: axes, the status, and some metrics, the headline first."""

USUAL = ("wait", "response_time", "bounded_slowdown", "slowdown", "utilization", "jobs_in_system")
"""The common measures, in the order in which they are shown."""


@dataclass(frozen=True)
class Column:
    """A heading: its title, and whether a reader can filter by its values."""

    title: str
    is_axis: bool
    is_number: bool = False


@dataclass(frozen=True)
class Entry:
    """The text of a cell, and its key for sorting."""

    text: str
    key: str


@dataclass(frozen=True)
class Points:
    """The table of a report.

    Parameters
    ----------
    rows : sequence of sequence of Entry
        At most `MOST`, in the order of the grid.
    total : int
        Points that the study has.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Entry]]
    total: int

    @property
    def is_open(self) -> bool:
        """Whether it is short enough to be shown unfolded."""
        return len(self.rows) <= OPEN


def frame(study: Study) -> pd.DataFrame:
    """Return every point of the grid: axes, status, and mean and half-width of each metric of all jobs.

    Metrics of groups of jobs have further dimensions and are omitted; the dataset has them.
    """
    import pandas as pd

    status, axes = study.status, [str(dim) for dim in study.status.dims]
    kept = np.flatnonzero(status.values.ravel() != EXCLUDED)
    where = np.unravel_index(kept, status.shape)
    columns: dict[str, object] = {
        axis: np.array(list(map(plain, study.values_of(axis))), dtype=object)[places]
        for axis, places in zip(axes, where, strict=True)
        if axis in study.axes_shown
    }
    columns["status"] = status.values.ravel()[kept]
    for name in metrics(study):
        for suffix in ("mean", "ci"):
            values = study.data[f"{name}_{suffix}"].transpose(*axes).values
            columns[f"{name}_{suffix}"] = values.ravel()[kept]
    return pd.DataFrame(columns)


def plain(text: str) -> str:
    """Return a text that a spreadsheet does not interpret as a formula: names come from the dataset.

    Examples
    --------
    >>> plain("easy"), plain("-1"), plain("=HYPERLINK(1)")
    ('easy', '-1', "'=HYPERLINK(1)")
    """
    return f"'{text}" if re.match(r"[=@\t\r]|[+-](?![\d.])", text) else text


def metrics(study: Study) -> list[str]:
    """Return the metrics that have one mean at each point, the headline and the common measures first."""
    axes = set(map(str, study.status.dims))
    found = [
        name
        for name, dims in study.dims.items()
        if dims.issuperset(SAMPLES)
        and all(study.dims.get(f"{name}_{suffix}") == axes for suffix in ("mean", "ci"))
    ]
    first = [name for name in (study.headline, *USUAL) if name in found]
    return list(dict.fromkeys([*map(str, first), *found]))


def points(study: Study, found: pd.DataFrame) -> Points:
    """Return the part of a frame of points that the report shows.

    Parameters
    ----------
    found : DataFrame
        See `frame`.
    """
    axes = [str(dim) for dim in study.status.dims if study.varies(str(dim))] or study.axes_shown[:1]
    rows = found.head(MOST)
    has_states = len(set(rows["status"])) > 1
    informative = [name for name in metrics(study) if found[f"{name}_mean"].nunique() > (len(found) > 1)]
    shown = informative[: max(1, SHOWN - len(axes) - has_states)]
    columns = [Column(axis.replace("_", " "), True, study.data[axis].dtype.kind in "iuf") for axis in axes]
    columns += [Column("status", True)] * has_states
    cells = [
        [Entry(label(value) if axis == "policy" else value, value) for value in rows[axis]] for axis in axes
    ]
    cells += [[Entry(value, value) for value in rows["status"]]] * has_states
    for name in shown:
        title, texts = _of_metric(study, name, rows)
        columns.append(Column(title, False, True))
        cells.append(texts)
    return Points(columns, list(zip(*cells, strict=True)), len(found))


def _of_metric(study: Study, name: str, rows: pd.DataFrame) -> tuple[str, list[Entry]]:
    """Return a heading with its unit, and the cells below it."""
    means, widths = rows[f"{name}_mean"].to_numpy(float), rows[f"{name}_ci"].to_numpy(float)
    attributes = study.data[name].attrs
    unit = time_unit(means) if attributes.get("units") == "s" else PURE
    title = str(attributes.get("long_name", name.replace("_", " ")))
    texts = []
    for mean, width in zip((means / unit.size).tolist(), (widths / unit.size).tolist(), strict=True):
        texts.append(Entry(estimate(mean, width), "" if np.isnan(mean) else f"{mean:.9g}"))
    return f"{title}{f',{unit.name}' if unit is not PURE else ''}", texts

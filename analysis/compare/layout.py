"""The layout of a study's figures: its horizontal axis, its lines, its panels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from analysis.compare.labels import panel_word
from analysis.errors import AnalysisError
from analysis.figures import policies
from analysis.figures.style import SchemeStyle
from analysis.study import Study
from analysis.study.curve import EXCLUDED, Curve, Sample

MOST_PANELS = 12
MOST_LINES = 14

Cell = Mapping[str, str]
"""Values on the axes that distinguish panels."""


@dataclass(frozen=True, eq=False)
class Layout:
    """A study of any axes.

    Parameters
    ----------
    along : str
        The axis of numbers that figures are drawn over; empty where there is none.
    lines : str
        The axis whose values are lines: the policies, or another axis if there is only one policy.
    facets : tuple of str
        All other axes of the grid with several values.
    """

    study: Study
    along: str
    lines: str
    facets: tuple[str, ...]

    @classmethod
    def of(cls, study: Study) -> Layout:
        """Choose the axes, or take those that the user chose.

        Raises
        ------
        AnalysisError
            If ``along=`` does not name an axis of numbers.
        """
        varied = [axis for axis in _grid(study) if study.varies(axis)]
        numbers = [axis for axis in varied if is_numeric(study, axis)]
        numbers.sort(key=lambda axis: axis != "load")
        along = study.view.along
        if along and along not in numbers:
            offered = f"give one of {', '.join(numbers)}" if numbers else "this study has none: omit along="
            raise AnalysisError(f"along={along}: not an axis with several numeric values; {offered}")
        # A reference that is named makes its axis the lines, even one of numbers.
        named = study.view.reference
        wanted = [axis for axis in varied if study.has_pairs(axis) and named in study.values_of(axis)]
        along = along or next((axis for axis in numbers if axis not in wanted[:1]), "")
        rest = [axis for axis in varied if axis != along]
        lines = "policy" if "policy" in rest or not rest else rest[0]
        lines = next((axis for axis in wanted if axis in rest), lines)
        return cls(study, along, lines, tuple(axis for axis in rest if axis != lines))

    @cached_property
    def names(self) -> list[str]:
        """The lines that are drawn."""
        return self.study.values_of(self.lines)[:MOST_LINES]

    @cached_property
    def styles(self) -> dict[str, SchemeStyle]:
        """The style of each line, with its name in text."""
        found = policies.apart({name: policies.style_of(name) for name in self.names})
        return {name: replace(own, label=panel_word(self.lines, name)) for name, own in found.items()}

    def measured(self, metric: str) -> list[str]:
        """Return the lines that have a metric: some metrics belong to one family."""
        data = self.study.data[metric]
        there = data.notnull().any([dim for dim in data.dims if dim != self.lines]).values
        known = dict(zip(self.study.values_of(self.lines), there.tolist(), strict=True))
        return [name for name in self.names if known[name]]

    @property
    def compared(self) -> bool:
        """Whether lines can be compared pair by pair: there are several, with the same jobs.

        They have the same jobs if they differ in the policy or in its keys: other workloads have other jobs.
        """
        return len(self.names) > 1 and self.study.has_pairs(self.lines)

    @property
    def reference(self) -> str:
        """The line with which all others are compared."""
        return self.study.view.reference_among(self.names)

    @property
    def against(self) -> str:
        """The reference's name in text."""
        return self.word(self.reference)

    def word(self, name: str) -> str:
        """Return a line's name in text."""
        return self.styles[name].label

    @property
    def others(self) -> list[str]:
        """The lines that are compared with it."""
        return [name for name in self.names if name != self.reference]

    def values(self, metric: str, axis: str) -> list[str]:
        """Return the values of an axis that have results; of groups, the values that have jobs."""
        values = self.study.values_of(axis)
        if axis not in self.study.own_axes(metric):
            return values
        data = self.study.data[metric]
        there = data.notnull().any([dim for dim in data.dims if dim != axis]).values
        return [value for value, known in zip(values, there, strict=True) if known]

    def cells(self, metric: str, axes: Sequence[str]) -> tuple[list[Cell], str]:
        """Return the panels of a metric along these axes, and a sentence on panels that are left out.

        If there are too many panels, the grid's last axes keep only their first value, then groups of jobs.
        """
        cells, left = self.every_cell(metric, axes), []
        for axis in sorted(axes, key=lambda axis: (axis in self.study.own_axes(metric), -axes.index(axis))):
            if len(cells) <= MOST_PANELS:
                break
            every = list(dict.fromkeys(cell[axis] for cell in cells))
            keep = max(1, MOST_PANELS * len(every) // len(cells))
            if every[keep:]:
                more = ", ..." if len(every) > keep + 3 else ""
                left.append(f"{axis}={','.join(every[keep : keep + 3])}{more}")
            cells = [cell for cell in cells if cell[axis] in every[:keep]]
        if not left:
            return cells, ""
        return (cells, f"Not all panels fit; add one of these to draw the others: {'; '.join(left)}.")

    def every_cell(self, metric: str, axes: Sequence[str]) -> list[Cell]:
        """Return all combinations of values of these axes that the grid has."""
        status, on_grid = self.study.status, [axis for axis in axes if axis in _grid(self.study)]
        there = (status != EXCLUDED).any([dim for dim in status.dims if dim not in on_grid])
        values = [self.values(metric, axis) for axis in axes]
        cells = [dict(zip(axes, one, strict=True)) for one in itertools.product(*values)]
        return [cell for cell in cells if there.isel(self._places(cell, on_grid)).item()]

    def _places(self, cell: Cell, axes: Sequence[str]) -> dict[str, int]:
        return {axis: self.study.values_of(axis).index(cell[axis]) for axis in axes}

    def label(self, cell: Cell) -> str:
        """Return the label of a panel."""
        return ", ".join(
            self.study.user_label(value, cell) if axis == "user_rank" else panel_word(axis, value)
            for axis, value in cell.items()
        )

    def curve(self, metric: str, name: str, cell: Cell) -> Curve:
        """Return a line along the axis of numbers; if there is none, along the load."""
        point: dict[str, Any] = {**cell, self.lines: name}
        policy = point.pop("policy", self.study.policies[0])
        along = self.along or "load"
        found = self.study.curve(metric, policy, along=along, **point)
        return found.part(~np.isnan(found.x)) if self.along else found

    def sample(self, metric: str, name: str, cell: Cell) -> Sample:
        """Return a value at one point, if there is no axis of numbers."""
        return self.curve(metric, name, cell).sample(self.place(cell))

    def place(self, cell: Cell) -> int:
        """Return the index of a point on its curve over the load, where there is no axis of numbers."""
        loads = [self.study.values_of("load")[i] for i in np.argsort(self.study.data["load"].values)]
        return loads.index(cell.get("load", loads[0]))

    def left_out(self) -> list[str]:
        """Return sentences on the points that are missing from all figures."""
        found = []
        if self.along and "null" in self.study.values_of(self.along):
            found.append(f"{self.along}=null has no place on a numeric axis; {self.along}=null draws it")
        if more := self.study.values_of(self.lines)[MOST_LINES:]:
            found.append(
                f"{len(more)} of {self.lines} ({', '.join(more[:3])}{', ...' * (len(more) > 3)}): "
                f"{self.lines}={','.join(more[:2])} draws two of them"
            )
        return found


def _grid(study: Study) -> list[str]:
    return [str(dim) for dim in study.status.dims]


def is_numeric(study: Study, axis: str) -> bool:
    """Whether a line can be drawn over an axis: some line has points at several numbers (except null).

    An axis that ``zip`` ties to another one has a single number for each value of that one.
    """
    values = study.data[axis].values
    if values.dtype.kind not in "iuf":
        return False
    there = (study.status != EXCLUDED).isel({axis: np.flatnonzero(np.isfinite(values.astype(float)))})
    return bool((there.sum(axis) > 1).any())

"""What a reader chose to see of a study: a metric, over what, which lines, at which values, against what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.compare import labels
from analysis.compare.layout import MOST_LINES, Layout, is_numeric
from analysis.study import Study
from analysis.study.study import SAMPLES
from analysis.study.view import ALL, View


@dataclass(frozen=True)
class Choice:
    """What is seen.

    Parameters
    ----------
    metric : str
    along : str
        The axis of the plot; an axis of the grid or of the metric.
    lines : str
        The axis whose values are lines; equal to `along` where nothing else varies: one line then.
    at : dict of str to str
        Every other axis with several values, and the value at which the study is seen.
    reference : str
        Policy whose mean all others are divided by; empty for the values themselves.
    shown : tuple of str
        Lines that are drawn; none stands for the first `layout.MOST_LINES`.
    """

    metric: str
    along: str
    lines: str
    at: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""
    shown: tuple[str, ...] = ()

    @classmethod
    def first(cls, study: Study) -> Choice:
        """Return what is seen at the beginning: the headline, as reports draw it."""
        layout = Layout.of(study)
        along = layout.along or layout.lines
        rest = [axis for axis in layout.facets if axis != along]
        lines = layout.lines if layout.lines != along else (rest or [along])[0]
        return normal(study, cls(str(study.headline), along, lines))


def metrics(study: Study) -> dict[str, list[str]]:
    """Return all metrics in two lists: those that reports draw, and the others.

    Metrics of which nothing is known yet are left out.
    """
    everything = replace(study, view=View())
    drawn, others = labels.metrics(everything)
    known = [name for name in others if bool(study.data[name].notnull().any())]
    return {"In reports": drawn, "More": known} if known else {"In reports": drawn}


def axes(study: Study, metric: str) -> list[str]:
    """Return the axes of a metric that have several values: the grid's, then the metric's own."""
    dims = [*map(str, study.status.dims), *own(study, metric)]
    return [axis for axis in dims if study.varies(axis)]


def own(study: Study, metric: str) -> list[str]:
    """Return a metric's own dimensions: groups of jobs and the like."""
    dims = map(str, study.data[metric].dims)
    return [dim for dim in dims if dim not in study.status.dims and dim not in SAMPLES]


def values(study: Study, axis: str) -> list[str]:
    """Return the values of an axis as text, numbers in ascending order."""
    found = study.values_of(axis)
    numbers = study.data[axis].values
    if numbers.dtype.kind in "iuf":
        return [found[i] for i in np.argsort(numbers, kind="stable")]
    return found


def is_scale(study: Study, axis: str) -> bool:
    """Tell whether points stand at an axis' numbers, and not one beside the other."""
    if axis not in study.status.dims or not is_numeric(study, axis):
        return False
    return bool(np.isfinite(study.data[axis].values.astype(float)).all())


def normal(study: Study, choice: Choice) -> Choice:
    """Return the choice as the study can show it: what it does not have is replaced by what comes first.

    After a change of the metric, or of the dataset below it, most of a choice stays as it is.
    """
    metric = choice.metric if choice.metric in study.data else str(study.headline)
    varied = axes(study, metric)
    usual = [axis for axis in ("load", "policy") if axis in varied]
    along = choice.along if choice.along in varied else next(iter([*usual, *varied]), "policy")
    rest = [axis for axis in varied if axis != along]
    lines = choice.lines
    if lines not in rest:
        lines = "policy" if "policy" in rest else rest[0] if rest else along
    fixed = [axis for axis in varied if axis not in (along, lines)]
    at = {}
    for axis in fixed:
        known = study.values_of(axis)
        at[axis] = choice.at[axis] if choice.at.get(axis) in known else _usual(axis, known)
    reference = choice.reference if choice.reference in references(study) else ""
    known = values(study, lines)
    shown = tuple(name for name in known if name in choice.shown)
    if lines == along:
        shown = tuple(known)
    return Choice(metric, along, lines, at, reference, shown or tuple(known[:MOST_LINES]))


def _usual(axis: str, known: Sequence[str]) -> str:
    """Return where a study is seen on an axis if nobody says: the first value, of loads the middle."""
    return ALL if ALL in known else known[len(known) // 2] if axis == "load" else known[0]


def references(study: Study) -> list[str]:
    """Return the policies that others can be compared with, pair by pair: there have to be several."""
    return study.policies if len(study.policies) > 1 else []


def place(study: Study, choice: Choice, line: str, value: str) -> dict[str, str]:
    """Return where a point of the plot is: every axis of the metric with its value."""
    found = {str(axis): study.values_of(str(axis))[0] for axis in study.status.dims}
    found |= {axis: study.values_of(axis)[0] for axis in own(study, choice.metric)}
    return found | dict(choice.at) | {choice.lines: line} | {choice.along: value}

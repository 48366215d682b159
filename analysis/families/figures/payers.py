"""Groups of jobs that gain and lose: slowdowns relative to EASY's, by runtime, size and user."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.families import labels
from analysis.families.contestants import Contestant, Field
from analysis.families.figures.styles import style_of
from analysis.figures import category_plot
from analysis.figures.category_plot import CategoryPlot, Estimates
from analysis.study.axes import USER, Group, Grouping
from analysis.study.curve import Curve, ends
from sweep import statistics

USUAL = 0.8
"""The load of the comparison: the highest up to this at which all contestants are stable."""


def contestants(field: Field) -> list[Contestant]:
    """Return the contestants that are compared with the reference."""
    levels = [field.find(field.scheme, level, labels.BACKFILL_QUEUE) for level in field.levels[:2]]
    wanted = [field.find(labels.LXF_W), *levels, field.find(field.scheme), field.find(labels.EQUI_PLUS)]
    return [one for one in wanted if one is not None and one != field.reference]


def load_of(field: Field, name: str) -> float | None:
    """Return the load at which the contestants are compared under a workload."""
    return highest_common(
        [field.curve(labels.SLOWDOWN, one, name) for one in (*contestants(field), field.reference)]
    )


def highest_common(curves: Sequence[Curve]) -> float | None:
    """Return the highest load up to `USUAL` at which all curves are stable; None if there is none."""
    if not all(curve.x.size for curve in curves):
        return None
    x = curves[0].x
    shared = np.all([curve.stable for curve in curves], axis=0)
    chosen = x[shared & ((x <= USUAL + 1e-9) | np.isnan(x))]
    return float(chosen[-1]) if chosen.size else None


def groups(field: Field, grouping: Grouping, name: str, load: float) -> list[Group]:
    """Return the groups that have jobs in most replications."""
    found = []
    for group in map(grouping.of, field.study.values_of(grouping.dim)):
        curve = field.curve(group.metric(labels.SLOWDOWN), field.reference, name, **group.place)
        values = curve.values[curve.place(load)]
        if np.isfinite(values).any(axis=1).mean() > 0.5:
            found.append(group)
    return found


def plot(
    field: Field, categories: Sequence[str], ratios: Mapping[Contestant, Sequence[statistics.Interval]],
    measure: str, title: str, *, joined: bool = True,
) -> CategoryPlot:  # fmt: skip
    """Return a plot of contestants' ratios to the reference, one for each category."""
    series = {one.label: Estimates(*ends(found), np.ones(len(found), bool)) for one, found in ratios.items()}
    return CategoryPlot(
        categories, series, {one.label: style_of(field, one) for one in ratios},
        f"{measure}\n/ {field.reference.label}'s", title=title, yscale="log", guides={1.0: ""}, least=None,
        joined=joined, any_names=True,
    )  # fmt: skip


def draw(field: Field, grouping: Grouping) -> Figure:
    """Draw the ratios of all groups, a panel for each workload."""
    plots = []
    for name in field.workloads:
        load = load_of(field, name)
        if load is None:
            continue
        named = groups(field, grouping, name, load)
        if not named or named == [USER.of("others")]:
            continue
        title = f"{labels.workload(field.study, name)}{labels.at_load(load)}"
        among = contestants(field)
        every = (*among, field.reference)
        each = [field.beside(labels.SLOWDOWN, every, name, load, group=group) for group in named]
        found = {one: [beside.ratio(one) for beside in each] for one in among}
        joined = grouping.dim.endswith("_range")
        shorts = [_short(group.value) for group in named]
        plots.append(plot(field, shorts, found, "Mean bounded slowdown", title, joined=joined))
    if not plots:
        raise DrawingError(
            f"no workload has groups by {grouping.title} at a load at which all contestants are stable"
        )
    return category_plot.panels(
        plots, f"Groups of jobs that gain and lose, by {grouping.title}", 1, height=2.6
    )


def _short(group: str) -> str:
    return group.replace(" min", "′").replace("under ", "< ").replace(" and more", "+").replace(" to ", "–")

"""From a study to plots: a metric of each scheduler over time, and its difference to gang scheduling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.panels import grid
from analysis.figures.policies import TASKS
from analysis.silva1999.labels import GANG, HORIZON, MACHINE, WORKLOAD, YLABELS, size
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED, Curve
from sweep import statistics

TIME = "Simulated time (1,000 s)"
THOUSAND = 1000.0
DODGE = 0.35
"""Sideways distance of two neighbouring lines, 1,000 s."""


def schedulers(study: Study) -> list[str]:
    """Return the schedulers of the grid, the paper's first and in its order."""
    return [name for name in TASKS if name in study.policies] + [
        name for name in study.policies if name not in TASKS
    ]


def over_time(study: Study, metric: str, workload: str, title: str) -> Figure:
    """Draw a metric over the horizon on each machine, and below it the paired difference to gang scheduling.

    Raises
    ------
    DrawingError
        If the grid has no such points, or none of them has run.
    """
    machines = study.values_of(MACHINE)
    label, scale = YLABELS[metric]
    rows: list[list[LoadPlot]] = [[], []]
    for name in machines:
        curves = {one: _curve(study, metric, one, workload, name) for one in schedulers(study)}
        curves = {
            one: curve for one, curve in curves.items() if len(curve.x) and not curve.where(EXCLUDED).all()
        }
        lines = {one: Line.of(curve) for one, curve in curves.items()}
        beside = bool(rows[0])  # another machine, whose axes have their label
        rows[0].append(_plot(lines, "" if beside else label, size(study, name), scale, floor=True))
        gang = curves.get(GANG)
        less = {
            one: difference(curve, gang) for one, curve in curves.items() if gang is not None and one != GANG
        }
        rows[1].append(_plot(less, "" if beside else "Difference to gang", "", scale))
    check([plot for row in rows for plot in row], workload)
    return grid([row for row in rows if any(plot.lines for plot in row)], title)


def _curve(study: Study, metric: str, policy: str, workload: str, name: str) -> Curve:
    found = study.curve(metric, policy, along=HORIZON, **{WORKLOAD: workload, MACHINE: name})
    return replace(found, x=found.x / THOUSAND)


def _plot(lines: dict[str, Line], label: str, title: str, scale: float, *, floor: bool = False) -> LoadPlot:
    x = next(iter(lines.values())).x if lines else np.array([0.0, 1.0])
    air = 0.06 * (x.max() - x.min()) + 1
    return LoadPlot(
        lines, label, title, (0 if floor else None, None), scale=scale, xlabel=TIME, dodge=DODGE,
        xlim=(float(x.min() - air), float(x.max() + air)), xticks=x.tolist(),
        guides={} if floor else {0.0: ""},
    )  # fmt: skip


def difference(curve: Curve, reference: Curve) -> Line:
    """Return a metric minus that of a reference, paired run by run, where both can be drawn."""
    mean, half = np.full((2, len(curve.x)), np.nan)
    for place in np.flatnonzero(curve.shown & reference.shown):
        found = statistics.paired_difference(curve.values[place], reference.values[place], curve.confidence)
        mean[place], half[place] = found.mean, found.half_width
    finished = curve.where(DONE) & reference.where(DONE)
    return Line(curve.x, mean, half, np.zeros(len(curve.x), bool), finished)


def check(plots: Sequence[LoadPlot], what: str) -> None:
    """Raise `DrawingError` where there is nothing to draw."""
    if not any(plot.lines for plot in plots):
        raise DrawingError(f"its points are not in this grid: {what}")
    if not any(line.drawn.any() for plot in plots for line in plot.lines.values()):
        raise DrawingError("none of its points has been run yet: run the sweep to its end")

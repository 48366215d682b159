"""From a study to plots: a metric of each scheduler over time, and its ratio to that of gang scheduling."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError, require_points
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.panels import grid
from analysis.silva1999.labels import (
    GANG,
    HORIZON,
    MACHINE,
    MEASURES,
    OF_THE_PAPER,
    SCHEDULERS,
    WORKLOAD,
    YLABELS,
    size,
)
from analysis.study import Study
from analysis.study.curve import EXCLUDED, Curve

TIME = "Simulated time (1,000 s)"
THOUSAND = 1000.0
DODGE = 0.3
"""Sideways distance of two neighbouring lines, 1,000 s: schedulers that hardly differ stand side by side."""


def schedulers(study: Study) -> list[str]:
    """Return the schedulers of the grid, the paper's first and in its order."""
    return [name for name in SCHEDULERS if name in study.policies] + [
        name for name in study.policies if name not in SCHEDULERS
    ]


def over_time(study: Study, metric: str, workload: str, title: str) -> Figure:
    """Draw a metric of the paper's schedulers on its smaller machine, and below it their ratio to gang.

    Raises
    ------
    DrawingError
        If the grid has no such points, or none of them has run.
    """
    name = study.values_of(MACHINE)[0]
    there = [one for one in OF_THE_PAPER if one in study.policies] or schedulers(study)
    curves = _curves(study, metric, workload, name, there)
    label, scale = YLABELS[metric]
    lines = {one: Line.of(curve) for one, curve in curves.items()}
    plots = [_plot(lines, label, size(study, name), scale, floor=True), _relative(metric, curves, "")]
    check(plots, workload)
    return grid([[plot] for plot in plots if plot.lines], title)


def relative(study: Study, metrics: Sequence[str], workload: str, title: str) -> Figure:
    """Draw metrics of all schedulers on every machine relative to gang scheduling, a row for each."""
    rows: list[list[LoadPlot]] = [[] for _ in metrics]
    for name in study.values_of(MACHINE):
        for row, metric in zip(rows, metrics, strict=True):
            curves = _curves(study, metric, workload, name, schedulers(study))
            heading = size(study, name) if row is rows[0] else ""
            row.append(_relative(metric, curves, heading, labelled=not row))
    check([plot for row in rows for plot in row], workload)
    return grid([row for row in rows if any(plot.lines for plot in row)], title)


def _curves(study: Study, metric: str, workload: str, name: str, of: Sequence[str]) -> dict[str, Curve]:
    """Return a metric over the horizon of the schedulers that the grid has."""
    curves = {
        one: study.curve(metric, one, along=HORIZON, **{WORKLOAD: workload, MACHINE: name}) for one in of
    }
    return {
        one: replace(curve, x=curve.x / THOUSAND)
        for one, curve in curves.items()
        if len(curve.x) and not curve.where(EXCLUDED).all()
    }


def _relative(metric: str, curves: dict[str, Curve], title: str, labelled: bool = True) -> LoadPlot:
    lines = {
        one: Line.ratio(curve, curves[GANG])
        for one, curve in curves.items()
        if GANG in curves and one != GANG
    }
    label = f"{MEASURES[metric].capitalize()} / gang's" if labelled else ""
    return _plot(lines, label, title, 1.0)


def _plot(lines: dict[str, Line], label: str, title: str, scale: float, *, floor: bool = False) -> LoadPlot:
    x = next(iter(lines.values())).x if lines else np.array([0.0, 1.0])
    air = 0.06 * (x.max() - x.min()) + 1
    return LoadPlot(
        lines, label, title, (0 if floor else None, None), scale=scale, xlabel=TIME, dodge=DODGE,
        xlim=(float(x.min() - air), float(x.max() + air)), xticks=x.tolist(),
        guides={} if floor else {1.0: ""},
    )  # fmt: skip


def check(plots: Sequence[LoadPlot], what: str) -> None:
    """Raise `DrawingError` where there is nothing to draw."""
    if not any(plot.lines for plot in plots):
        raise DrawingError(f"its points are not in this grid: {what}")
    require_points(any(line.drawn.any() for plot in plots for line in plot.lines.values()))

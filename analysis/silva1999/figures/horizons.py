"""Figs. 3 to 10: metrics over the length of the simulation, and their ratios to gang scheduling's."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError, require_points
from analysis.figures.captions import captioned
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.panels import grid
from analysis.paper import Picture
from analysis.silva1999 import labels
from analysis.silva1999.labels import workload
from analysis.study import Study
from analysis.study.curve import Curve

TIME = "Simulated time (1,000 s)"
THOUSAND = 1000.0
DODGE = 0.003
"""Sideways distance of two neighbouring lines, as a share of the axis: markers show, and equal curves lie on
each other."""


def schedulers(study: Study) -> list[str]:
    """Return the schedulers of the grid, the paper's first and in its order."""
    return study.ordered("policy", labels.SCHEDULERS)


def over_time(study: Study, metric: str, workload: str, title: str) -> Figure:
    """Draw a metric of the paper's schedulers on its smaller machine, and below it their ratio to gang."""
    name = study.values_of(labels.MACHINE)[0]
    there = [one for one in labels.OF_THE_PAPER if one in study.policies] or schedulers(study)
    curves = _curves(study, metric, workload, name, there)
    label, scale = labels.YLABELS[metric]
    lines = {one: Line.of(curve) for one, curve in curves.items()}
    plots = [_plot(lines, label, labels.size(study, name), scale, floor=True), _relative(metric, curves, "")]
    check(plots, workload)
    return grid([[plot] for plot in plots if plot.lines], title)


def relative(study: Study, metrics: Sequence[str], workload: str, title: str) -> Figure:
    """Draw metrics of all schedulers on every machine relative to gang scheduling, a row for each."""
    rows: list[list[LoadPlot]] = [[] for _ in metrics]
    for name in study.values_of(labels.MACHINE):
        for row, metric in zip(rows, metrics, strict=True):
            curves = _curves(study, metric, workload, name, schedulers(study))
            heading = labels.size(study, name) if row is rows[0] else ""
            row.append(_relative(metric, curves, heading, labelled=not row))
    check([plot for row in rows for plot in row], workload)
    return grid([row for row in rows if any(plot.lines for plot in row)], title)


def _curves(study: Study, metric: str, workload: str, name: str, of: Sequence[str]) -> dict[str, Curve]:
    """Return a metric over the horizon of the schedulers that the grid has."""
    curves = study.curves(metric, of, labels.HORIZON, **{labels.WORKLOAD: workload, labels.MACHINE: name})
    return {one: replace(curve, x=curve.x / THOUSAND) for one, curve in curves.items()}


def _relative(metric: str, curves: dict[str, Curve], title: str, labelled: bool = True) -> LoadPlot:
    lines = {
        one: Line.ratio(curve, curves[labels.GANG])
        for one, curve in curves.items()
        if labels.GANG in curves and one != labels.GANG
    }
    label = f"{labels.MEASURES[metric].capitalize()} / gang's" if labelled else ""
    return _plot(lines, label, title, 1.0)


def _plot(lines: dict[str, Line], label: str, title: str, scale: float, *, floor: bool = False) -> LoadPlot:
    x = next(iter(lines.values())).x if lines else np.array([0.0, 1.0])
    range_ = float(np.ptp(x))
    air = 0.06 * range_ + 1
    return LoadPlot(
        lines, label, title, (0 if floor else None, None), scale=scale, xlabel=TIME, dodge=DODGE * range_,
        xlim=(float(x.min() - air), float(x.max() + air)), xticks=x.tolist(),
        guides={} if floor else {1.0: ""},
    )  # fmt: skip


def check(plots: Sequence[LoadPlot], missing: str) -> None:
    """Raise `DrawingError` where there is nothing to draw."""
    if not any(plot.lines for plot in plots):
        raise DrawingError(f"this grid lacks the figure's points: {missing}")
    require_points(any(line.drawn.any() for plot in plots for line in plot.lines.values()))


FIGURES = {
    3: (labels.IO, labels.JOBS),
    4: (labels.IO, labels.IDLE),
    5: (labels.COMPUTATION, labels.JOBS),
    6: (labels.COMPUTATION, labels.IDLE),
    7: (labels.COMMUNICATION, labels.JOBS),
    8: (labels.COMMUNICATION, labels.IDLE),
    9: (labels.SYNCHRONIZATION, labels.JOBS),
    10: (labels.SYNCHRONIZATION, labels.IDLE),
}
"""The paper's number -> workload and metric."""

OF = {labels.JOBS: "throughput", labels.IDLE: "total idle time"}

SHOWS = {
    labels.JOBS: "Jobs completed from an empty machine to the time on the axis.",
    labels.IDLE: "PE seconds in which a PE neither computes nor switches: its slot is empty, or the task of "
    "the slot waits and no other task takes its place.",
    labels.IDLE_OF_TASKS: "The other reading of “the time which a particular task was waiting” (section "
    "3.1): the time of empty slots, and the time that tasks wait, even if their PE runs another task.",
}


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the paper's figures, with its machine and schedulers, and figures of further sentences."""
    there = study.values_of(labels.WORKLOAD)
    for number, (name, metric) in FIGURES.items():
        if name in there:
            title = f"Fig. {number}: {workload(name)}: {OF[metric]}"
            drawn = {f"fig{number}": partial(over_time, metric=metric, workload=name, title=title)}
            yield from captioned(labels.KEY, study, drawn, "over-time", title=title, shows=SHOWS[metric])
    for name in there:
        kind = name.removesuffix("_intensive")
        title = f"All schedulers, relative to gang scheduling: {workload(name)}"
        drawn = {
            f"all-{kind}": partial(relative, metrics=(labels.JOBS, labels.IDLE), workload=name, title=title)
        }
        yield from captioned(labels.KEY, study, drawn, "all-schedulers", title=title)
        # Without blocking statements no task waits, and both readings are one.
        if name != labels.COMPUTATION:
            title = f"Other reading of idle time: {workload(name)}: empty slots and waiting of tasks"
            one = partial(over_time, metric=labels.IDLE_OF_TASKS, workload=name, title=title)
            shows, drawn = SHOWS[labels.IDLE_OF_TASKS], {f"idle-of-tasks-{kind}": one}
            yield from captioned(labels.KEY, study, drawn, "idle-of-tasks", title=title, shows=shows)

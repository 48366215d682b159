"""A measure over the load: one of each family, and the levels of gang scheduling."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import require_points
from analysis.families import labels
from analysis.families.contestants import Contestant, Field
from analysis.families.figures.styles import style_of
from analysis.figures import load_plot
from analysis.figures.load_plot import Line, LoadPlot
from sweep.numbers import PURE, time_unit

Shown = tuple[Contestant, str]
"""A contestant, and its cost of a switch."""


def of_each_family(field: Field) -> list[Shown]:
    """Return the contestants that represent each family, if the grid has them."""
    find, free, dear, scheme = field.find, labels.FREE, field.costs[-1], field.scheme
    gang, middle = find(scheme), field.levels[len(field.levels) // 2] if field.levels else ""
    wanted = [
        (find(labels.FCFS), free), (find(labels.EASY), free), (find(labels.CONSERVATIVE), free),
        (find(labels.LXF_W), free), (gang, free), (find(scheme, middle, labels.BACKFILL_QUEUE), free),
        (gang if gang in field.costly else None, dear), (find(labels.EQUI_PLUS), free),
        (find(labels.EQUI_PLUS, speedup=labels.DOWNEY), free),
        (find(labels.SHARING, speedup=labels.UNLIMITED), free),
    ]  # fmt: skip
    return [(one, cost) for one, cost in wanted if one is not None]


def of_levels(field: Field) -> list[Shown]:
    """Return EASY and every level of the scheme that represents gang scheduling."""
    wanted = [field.find(labels.EASY), field.find(field.scheme)]
    wanted += [
        field.find(field.scheme, level, queue)
        for level in field.levels
        for queue in (labels.FCFS_QUEUE, labels.BACKFILL_QUEUE)
    ]
    return [(one, labels.FREE) for one in wanted if one is not None]


def draw(field: Field, metric: str, shown: Sequence[Shown], title: str) -> Figure:
    """Draw a measure over the load, a panel for each workload."""
    every = []
    for name in field.workloads:
        lines = {}
        for one, cost in shown:
            curve = field.curve(metric, one, name, cost=cost)
            if curve.there:
                lines[style_of(field, one, field.share(cost)).label] = Line.of(curve)
        every.append(lines)
    means = np.concatenate([line.mean for lines in every for line in lines.values()] or [np.zeros(0)])
    known = means[np.isfinite(means)]
    require_points(known.size)
    is_time = field.study.data[metric].attrs.get("units") == "s"
    unit = time_unit(known.tolist()) if is_time else PURE
    label = labels.MEASURES.get(metric, metric)
    label = f"{label[0].upper()}{label[1:]}{f' ({unit.name.strip()})' if unit.name else ''}"
    styles = {one.label: one for one in (style_of(field, one, field.share(cost)) for one, cost in shown)}
    low, high = known.min() / unit.size, known.max() / unit.size
    ticks = [d * 10.0**p for p in range(-4, 7) for d in ((1, 2, 5) if high < 50 * low else (1,))]
    ticks = [tick for tick in ticks if low / 2 <= tick <= high * 2]
    plots = [
        LoadPlot(
            lines, label, labels.workload(field.study, name), scale=1 / unit.size, yscale="log",
            ylim=(low / 1.4, high * 1.3), yticks=ticks, styles=styles, note=load_plot.bars(field.study),
            xlabel="Offered load", xlim=_limits(field.study.loads),
        )
        for name, lines in zip(field.workloads, every, strict=True)
        if lines
    ]  # fmt: skip
    n_columns = 1 if len(plots) == 1 else 2 if len(plots) in (2, 4) else 3
    return load_plot.draw_panels(plots, title, n_columns, legend_columns=3)


def _limits(loads: np.ndarray) -> tuple[float, float] | None:
    if np.isnan(loads).all():  # a workload at its own load
        return None
    return float(np.nanmin(loads)) - 0.03, float(np.nanmax(loads)) + 0.03

"""A metric over two axes of numbers, as colours: means by one in columns, by the other in rows."""

from functools import partial

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from analysis.compare.labels import title
from analysis.compare.layout import Layout, is_numeric
from analysis.errors import require_points
from analysis.figures.style import text_on
from analysis.paper import Picture
from sweep.numbers import estimate, unit_of

LEAST = 3
"""Values of each axis from which colours show more than lines."""

MOST_TEXTS = 8
"""Most columns whose cells have room for the number."""


def fits(layout: Layout) -> bool:
    """Whether both the horizontal axis and the lines are axes of several numbers."""
    axes = (layout.along, layout.lines)
    return all(
        axis and is_numeric(layout.study, axis) and len(layout.study.values_of(axis)) >= LEAST
        for axis in axes
    )


def picture(layout: Layout, metric: str) -> Picture:
    """Return the map of a metric; of axes beyond the two the first values."""
    along, lines = (axis.replace("_", " ") for axis in (layout.along, layout.lines))
    caption = f"Mean over {along} and {lines}, with the half-width of its {layout.study.level} interval."
    rest = [axis for axis in (*layout.facets, *layout.study.own_axes(metric)) if layout.study.varies(axis)]
    caption += f" The first value of {' and '.join(rest)}." if rest else ""
    return Picture(
        f"{metric}-map", f"{title(layout.study, metric)}, map", caption, partial(draw, layout, metric)
    )


def draw(layout: Layout, metric: str) -> Figure:
    """Draw a cell for each pair of values; it is empty where the point has no mean."""
    study = layout.study
    cell = layout.every_cell(metric, [*layout.facets, *study.own_axes(metric)])[0]
    names = sorted(study.values_of(layout.lines), key=float)
    curves = [layout.curve(metric, name, cell) for name in names]
    means, halves = (
        np.array([getattr(one.intervals(), part) for one in curves]) for part in ("mean", "half_width")
    )
    require_points(bool(np.isfinite(means).any()))
    unit = unit_of(study.data[metric].attrs.get("units", "1"), means.ravel().tolist())
    figure = Figure(figsize=(6.6, 1.6 + 0.4 * len(names)), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(means / unit.size, aspect="auto", origin="lower", cmap="viridis")
    x = curves[0].x
    axes.set_xticks(range(len(x)), [f"{value:g}" for value in x])
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(layout.along.replace("_", " "))
    axes.set_ylabel(layout.lines.replace("_", " "))
    axes.grid(visible=False)
    name = title(study, metric)
    axes.set_title(", ".join([name, *(f"{axis} {value}" for axis, value in cell.items())]))
    figure.colorbar(image, label=f"{name} ({unit.name.strip()})" if unit.name.strip() else name)
    for (row, column), mean in np.ndenumerate(means / unit.size):
        if np.isfinite(mean) and len(x) <= MOST_TEXTS:
            words = estimate(float(mean), float(halves[row, column]) / unit.size)
            color = text_on(to_hex(tuple(np.ravel(image.cmap(image.norm(np.atleast_1d(mean)))))))
            axes.text(column, row, words, ha="center", va="center", fontsize=7.5, color=color)
    return figure

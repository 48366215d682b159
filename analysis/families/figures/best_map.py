"""The map of load and cost of switches: the best policy, and the cells in which it is not significant."""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from analysis.errors import DrawingError, require_points
from analysis.families import best
from analysis.families.best import Best
from analysis.families.contestants import Contestant, Field
from analysis.families.figures.looks import look
from analysis.families.labels import LXF_W_IMMEDIATE, MEASURES, workload
from analysis.figures import style

EMPTY = "#f2f2f2"
NOT_OTHER, NOT_OWN = "////", "..."
"""Hatches: not significant against others, and not significant within its own."""


def contestants(field: Field) -> list[Contestant]:
    """Return the contestants of the map: rigid, and with points at every cost if they switch."""
    return [
        one
        for one in field.rigid
        if (not one.slices or one in field.costly) and one.policy != LXF_W_IMMEDIATE
    ]


def draw(field: Field, metric: str) -> Figure:
    """Draw the map of a measure, a panel for each workload.

    Raises
    ------
    DrawingError
        If the grid has one cost only, or nothing has been run.
    """
    if not field.costly:
        raise DrawingError(
            "the grid has one cost of switches only: give several, grid.switch_cost=[0,5,10,20]"
        )
    among = contestants(field)
    loads, costs = [float(x) for x in field.study.loads], field.costs
    cells = {
        (name, x, y): best.at(field, metric, name, load, cost, among)
        for name in field.workloads for x, load in enumerate(loads) for y, cost in enumerate(costs)
    }  # fmt: skip
    require_points(any(cells.values()))
    n_columns = min(2, len(field.workloads))
    n_rows = -(-len(field.workloads) // n_columns)
    figure = Figure(figsize=(7.4, 0.44 * len(costs) * n_rows + 0.8 * n_rows + 1.3), layout="constrained")
    places = figure.subplots(n_rows, n_columns, squeeze=False)
    for axes, name in zip(places.ravel(), field.workloads, strict=False):
        for x in range(len(loads)):
            for y in range(len(costs)):
                _cell(axes, x, y, cells[name, x, y])
        axes.set(xlim=(-0.5, len(loads) - 0.5), ylim=(-0.5, len(costs) - 0.5))
        axes.set_xticks(
            range(len(loads)), ["as it is" if math.isnan(load) else f"{load:g}" for load in loads]
        )
        axes.set_yticks(range(len(costs)), [f"{field.share(cost):g} %" for cost in costs])
        axes.set_title(workload(name), fontsize=9, fontweight="normal")
        style.bare(axes)
    for axes in places.ravel()[len(field.workloads) :]:
        axes.set_visible(False)
    for row in places:
        row[0].set_ylabel("A switch takes,\nof a slice")
    for axes in places[-1]:
        axes.set_xlabel("Offered load")
    style.put_headline(figure, f"Lowest {MEASURES[metric]} of rigid jobs")
    _legend(figure, among, [cell for cell in cells.values() if cell is not None], None in cells.values())
    return figure


def _cell(axes: Axes, x: int, y: int, cell: Best | None) -> None:
    if cell is None:
        axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, fc=EMPTY, ec="none"))
        return
    hatch = "" if cell.beats_all else NOT_OWN if cell.beats_family else NOT_OTHER
    color = style.shade(look(cell.one).color, 0.35)
    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, fc=color, ec="white", lw=0, hatch=hatch))
    if not math.isnan(cell.probability):
        axes.text(
            x, y, f"{min(99, round(100 * cell.probability))}", ha="center", va="center_baseline", fontsize=7,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75},
        )  # fmt: skip


def _legend(figure: Figure, among: list[Contestant], cells: list[Best], empty: bool) -> None:
    there = [one for one in among if any(cell.one == one for cell in cells)]
    handles = [Patch(fc=style.shade(look(one).color, 0.35), label=one.label) for one in there]
    if any(not cell.beats_family for cell in cells):
        handles.append(
            Patch(
                fc="#bbbbbb",
                ec="white",
                lw=0,
                hatch=NOT_OTHER,
                label="not significant against others",
            )
        )
    if any(cell.beats_family and not cell.beats_all for cell in cells):
        handles.append(
            Patch(fc="#bbbbbb", ec="white", lw=0, hatch=NOT_OWN, label="not significant within its family")
        )
    if empty:
        handles.append(Patch(fc=EMPTY, label="all are saturated, or not run"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)

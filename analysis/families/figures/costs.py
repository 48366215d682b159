"""Over the load and the cost of a switch: the map of the best policy, and break-evens for gang scheduling."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from analysis.errors import require_points
from analysis.families.break_even import Outcome
from analysis.families.contestants import Contestant, Field
from analysis.families.figures.styles import style_of
from analysis.families.labels import COST, LXF_W_IMMEDIATE, MEASURES, workload
from analysis.figures import style
from analysis.study.alternatives import Alternatives

EMPTY = "#f2f2f2"
NOT_OTHER, NOT_OWN = "////", "..."
"""Hatches: not significant against other families, and not significant within the own family."""


@dataclass(frozen=True)
class Best:
    """The best at a point of the map.

    Parameters
    ----------
    probability : float
        Probability that its mean is the lowest of all; NaN if the sample is too small.
    beats_family : bool
        Whether it is significantly better than all contestants of other families.
    beats_all : bool
        Whether it is significantly better than all others.
    """

    one: Contestant
    probability: float
    beats_family: bool
    beats_all: bool


def best_at(
    field: Field, metric: str, workload: str, load: float, cost: str, among: Sequence[Contestant]
) -> Best | None:
    """Return the best contestant at a load and a cost of switches; None if none has a mean.

    Each comparison is judged by its own interval, paired by the same jobs.
    """
    done = {
        one: sample
        for one, sample in field.beside(metric, among, workload, load, cost=cost).samples.items()
        if not sample.reason
    }
    if not done:
        return None
    best = min(done, key=lambda one: float(np.nanmean(done[one].values)))
    found = Alternatives(done, best, field.study.confidence)
    beaten = {other: found.difference(best, other).high < 0 for other in done if other != best}
    return Best(
        best,
        found.probabilities[best] if beaten else 1.0,
        all(is_beaten for one, is_beaten in beaten.items() if one.family != best.family),
        all(beaten.values()),
    )


def contestants(field: Field) -> list[Contestant]:
    """Return the contestants of the map: rigid, and with points at every cost if they switch."""
    return [
        one
        for one in field.rigid
        if (not one.slices or one in field.costly) and one.policy != LXF_W_IMMEDIATE
    ]


def draw_map(field: Field, metric: str) -> Figure:
    """Draw the map of a measure, a panel for each workload."""
    among = contestants(field)
    loads, costs = [float(x) for x in field.study.loads], field.costs
    cells = {
        (name, x, y): best_at(field, metric, name, load, cost, among)
        for name in field.workloads for x, load in enumerate(loads) for y, cost in enumerate(costs)
    }  # fmt: skip
    require_points(any(cells.values()))
    n_columns = min(2, len(field.workloads))
    n_rows = -(-len(field.workloads) // n_columns)
    figure, places = style.page(
        7.4, 0.44 * len(costs) * n_rows + 0.8 * n_rows + 1.3, n_rows, n_columns, squeeze=False
    )
    for axes, name in zip(places.ravel(), field.workloads, strict=False):
        for x in range(len(loads)):
            for y in range(len(costs)):
                _cell(field, axes, x, y, cells[name, x, y])
        axes.set(xlim=(-0.5, len(loads) - 0.5), ylim=(-0.5, len(costs) - 0.5))
        axes.set_xticks(
            range(len(loads)), ["unscaled" if math.isnan(load) else f"{load:g}" for load in loads]
        )
        axes.set_yticks(range(len(costs)), [f"{field.share(cost):g} %" for cost in costs])
        axes.set_title(workload(field.study, name), fontsize=9, fontweight="normal")
        style.bare(axes)
    for axes in places.ravel()[len(field.workloads) :]:
        axes.set_visible(False)
    for row in places:
        row[0].set_ylabel("Cost of a switch,\nshare of a slice")
    for axes in places[-1]:
        axes.set_xlabel("Offered load")
    style.put_headline(figure, f"Lowest {MEASURES[metric]} of rigid jobs")
    _legend(
        figure, field, among, [cell for cell in cells.values() if cell is not None], None in cells.values()
    )
    return figure


def _cell(field: Field, axes: Axes, x: int, y: int, cell: Best | None) -> None:
    if cell is None:
        axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, fc=EMPTY, ec="none"))
        return
    hatch = "" if cell.beats_all else NOT_OWN if cell.beats_family else NOT_OTHER
    color = style.shade(style_of(field, cell.one).color, 0.35)
    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, fc=color, ec="white", lw=0, hatch=hatch))
    if not math.isnan(cell.probability):
        axes.text(
            x, y, f"{min(99, round(100 * cell.probability))}", ha="center", va="center_baseline", fontsize=7,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75},
        )  # fmt: skip


def _legend(figure: Figure, field: Field, among: list[Contestant], cells: list[Best], empty: bool) -> None:
    there = [one for one in among if any(cell.one == one for cell in cells)]
    handles = [Patch(fc=style.shade(style_of(field, one).color, 0.35), label=one.label) for one in there]
    for shown, hatch, label in (
        (any(not cell.beats_family for cell in cells), NOT_OTHER, "not significant against others"),
        (
            any(cell.beats_family > cell.beats_all for cell in cells),
            NOT_OWN,
            "not significant within its family",
        ),
    ):
        handles += [Patch(fc="#bbbbbb", ec="white", lw=0, hatch=hatch, label=label)] * shown
    if empty:
        handles.append(Patch(fc=EMPTY, label="all are saturated, or not run"))
    style.key_below(figure, handles, 3)


DODGE = 0.0045


def outcomes(field: Field, metric: str, one: Contestant, name: str) -> list[tuple[float, Outcome]]:
    """Return at each load the comparison of a gang scheduler with the reference over the cost of a switch."""

    return [
        (load, field.outcome(COST, metric, one, field.reference, name, load))
        for load in map(float, field.study.loads)
    ]


def draw_break_evens(field: Field) -> Figure:
    """Draw the break-evens of every gang scheduler with costs: measures in rows, workloads in columns."""
    metrics = [metric for metric in MEASURES if metric in field.study.data]
    every = (
        outcome
        for metric in metrics
        for name in field.workloads
        for one in field.costly
        for _, outcome in outcomes(field, metric, one, name)
    )
    require_points(any(outcome.is_known for outcome in every))
    shape = (len(metrics), len(field.workloads))
    figure, places = style.page(7.4, 2.1 * shape[0] + 0.9, *shape, squeeze=False, sharey=True, sharex=True)
    top = field.share(field.costs[-1])
    for row, metric in zip(places, metrics, strict=True):
        for axes, name in zip(row, field.workloads, strict=True):
            for number, one in enumerate(field.costly):
                _line(axes, field, metric, one, name, DODGE * (number - (len(field.costly) - 1) / 2), top)
            axes.set_ylim(-0.08 * top, 1.12 * top)
            axes.axhspan(top, 1.12 * top, color="#eeeeee", lw=0, zorder=0)
            axes.axhspan(-0.08 * top, 0, color="#eeeeee", lw=0, zorder=0)
        row[0].set_ylabel(f"{MEASURES[metric]}:\nbreak-even, % of a slice")
    for axes, name in zip(places[0], field.workloads, strict=True):
        axes.set_title(workload(field.study, name), fontsize=9, fontweight="normal")
    for axes in places[-1]:
        axes.set_xlabel("Offered load")
    style.put_headline(figure, f"Cost of a switch up to which gang scheduling beats {field.reference.label}")
    style.key_below(figure, [style_of(field, one).legend_handle() for one in field.costly], 2)
    return figure


def _line(
    axes: Axes, field: Field, metric: str, one: Contestant, name: str, shift: float, top: float
) -> None:
    """Draw the break-evens of one contestant; a marker in a strip: better at every cost, or at none."""
    mine = style_of(field, one)
    x, y = [], []
    for load, outcome in outcomes(field, metric, one, name):
        x.append((0.0 if math.isnan(load) else load) + shift)
        y.append(math.nan)
        if outcome.crossings:
            found = outcome.crossings[0]
            y[-1] = found.value
            low, high = max(found.low, 0.0), min(found.high, top)
            axes.errorbar(
                x[-1], found.value, [[found.value - low], [high - found.value]], color=mine.color, fmt="none",
                elinewidth=0.9, zorder=3,
            )  # fmt: skip
        elif not math.isnan(outcome.lost) and outcome.x.size and outcome.means[-1] < 0:
            # Better until it saturates, somewhere between two costs of the grid.
            axes.plot(
                [x[-1]] * 2, [outcome.x[-1], outcome.lost], color=mine.color, lw=3, alpha=0.45, zorder=2
            )
            y[-1] = (outcome.x[-1] + outcome.lost) / 2
        elif outcome.x.size or not math.isnan(outcome.left):
            wins = not outcome.x.size or outcome.means[0] < 0
            axes.plot(
                x[-1],
                1.06 * top if wins else -0.04 * top,
                mine.marker,
                color="white",
                mec=mine.color,
                zorder=4,
            )
        elif not math.isnan(outcome.lost):
            axes.plot(x[-1], -0.04 * top, mine.marker, color="white", mec=mine.color, zorder=4)
    axes.plot(x, y, mine.marker, color=mine.color, ls=mine.dashes, lw=1.0, mec="white", mew=0.4, zorder=4)
    loads = np.unique(field.study.loads)
    named = ["unscaled" if np.isnan(load) else f"{load:g}" for load in loads]
    axes.set_xticks(np.nan_to_num(loads), named)

"""Break-even cost of a switch for gang scheduling, over the load."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import DrawingError, require_points
from analysis.families import break_even
from analysis.families.break_even import Outcome
from analysis.families.contestants import Contestant, Field
from analysis.families.figures.looks import look
from analysis.families.labels import MEASURES, workload
from analysis.figures import style

DODGE = 0.0045


def outcomes(field: Field, metric: str, one: Contestant, name: str) -> list[tuple[float, Outcome]]:
    """Return at each load the comparison of a gang scheduler with the reference over the cost of a switch."""

    def at(load: float) -> Outcome:
        curves = (field.over_cost(metric, contestant, name, load) for contestant in (one, field.reference))
        return break_even.compare(*curves)

    return [(float(load), at(float(load))) for load in field.study.loads]


def draw(field: Field) -> Figure:
    """Draw the break-evens of every gang scheduler with costs: measures in rows, workloads in columns.

    Raises
    ------
    DrawingError
        If the grid has one cost only.
    """
    if not field.costly:
        raise DrawingError(
            "the grid has one cost of switches only: give several, grid.switch_cost=[0,5,10,20]"
        )
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
    figure = Figure(figsize=(7.4, 2.1 * shape[0] + 0.9), layout="constrained")
    places = figure.subplots(*shape, squeeze=False, sharey=True, sharex=True)
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
        axes.set_title(workload(name), fontsize=9, fontweight="normal")
    for axes in places[-1]:
        axes.set_xlabel("Offered load")
    style.put_headline(figure, f"Cost of a switch up to which gang scheduling beats {field.reference.label}")
    figure.legend(
        handles=[look(one).legend_handle() for one in field.costly], loc="outside lower center", ncols=2
    )
    return figure


def _line(
    axes: Axes, field: Field, metric: str, one: Contestant, name: str, shift: float, top: float
) -> None:
    """Draw the break-evens of one contestant; a marker in a strip: better at every cost, or at none."""
    mine = look(one)
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
    named = ["as it is" if np.isnan(load) else f"{load:g}" for load in loads]
    axes.set_xticks(np.nan_to_num(loads), named)

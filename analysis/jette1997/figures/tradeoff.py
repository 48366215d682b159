"""The effect of a minimum time-slice on responsiveness and utilization, over the cost of a switch."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.errors import require_points
from analysis.figures import style
from analysis.jette1997 import derived
from analysis.jette1997.claims import costs, multipliers
from analysis.jette1997.labels import GANG, MULTIPLIER, NEVER, SWITCH_COST, UTILIZATION, reported
from analysis.study import Study
from analysis.study.curve import Sample

LIGHT, DARK = "#9ecae1", "#08306b"


def point(multiplier: str, cost: str) -> dict[str, str]:
    """Return a point of the map."""
    return {MULTIPLIER: multiplier, SWITCH_COST: cost}


def slowdown(study: Study, multiplier: str, cost: str) -> Sample:
    """Return the aggregate interactive slowdown at a point."""
    return derived.interactive_slowdown(study, GANG, reported(study), **point(multiplier, cost))


def gain(study: Study, multiplier: str, cost: str) -> tuple[float, float]:
    """Return the utilization minus the utilization without preemption, in points, and its half-width.

    NaN where it is not known, or has no interval.
    """
    a, b = (study.sample(UTILIZATION, GANG, **point(value, cost)) for value in (multiplier, NEVER))
    if not (a.shown and b.shown):
        return float("nan"), float("nan")
    found = a.against(b).difference(study.confidence)
    return 100 * float(found.mean), 100 * float(found.half_width)


def table(study: Study) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return slowdowns in percent over the runtimes, gains in points, and their half-widths.

    Each has the shape (costs, multipliers).
    """
    shape = (len(costs(study)), len(multipliers(study)))
    excess, gained, half = np.full((3, *shape), np.nan)
    for row, cost in enumerate(costs(study)):
        for column, multiplier in enumerate(multipliers(study)):
            one = slowdown(study, multiplier, cost)
            if one.shown:
                excess[row, column] = 100 * (np.nanmean(one.values) - 1)
            gained[row, column], half[row, column] = gain(study, multiplier, cost)
    return excess, gained, half


def draw_map(study: Study) -> Figure:
    """Draw slowdowns and gains in utilization over the multiplier and the cost of a switch."""
    excess, gained, half = table(study)
    require_points(np.isfinite(excess).any())
    figure, (left, right) = style.page(7.4, 0.42 * excess.shape[0] + 1.8, 1, 2, sharey=True)
    shown = np.maximum(excess, 0.01)
    norm = LogNorm(np.nanmin(shown), max(np.nanmax(shown), 1.01 * np.nanmin(shown)))
    _cells(left, study, shown, [[f"{one:.3g}" for one in row] for row in excess], "viridis_r", norm)
    limit = max(float(np.nanmax(np.abs(gained))) if np.isfinite(gained).any() else 1.0, 0.1)
    wording = [list(map(_gain_in_words, *rows)) for rows in zip(gained.tolist(), half.tolist(), strict=True)]
    _cells(right, study, gained, wording, "PuOr", Normalize(-limit, limit))
    left.set_title("Interactive slowdown (% over the runtimes)", fontsize=8.5, fontweight="normal")
    right.set_title("Utilization minus no preemption (points)", fontsize=8.5, fontweight="normal")
    left.set_ylabel("Cost of a switch (s per processor)")
    for axes in (left, right):
        axes.set_xlabel("Do-not-disturb multiplier (s per processor)")
    style.put_headline(figure, "Do-not-disturb multiplier and cost of a switch")
    return figure


def _gain_in_words(gained: float, half: float) -> str:
    """Return a gain, in parentheses if its interval includes zero, or there is none.

    Examples
    --------
    >>> _gain_in_words(-3.14, 1.0), _gain_in_words(0.3, 0.9), _gain_in_words(2.0, float("nan"))
    ('-3.1', '(+0.3)', '(+2.0)')
    """
    return f"{gained:+.1f}" if abs(gained) > half else f"({gained:+.1f})"


def _cells(
    axes: Axes, study: Study, values: np.ndarray, wording: list[list[str]], colors: str, norm: Normalize
) -> None:
    image = axes.imshow(values, cmap=colors, aspect="auto", origin="lower", norm=norm)
    for row, column in np.ndindex(*values.shape):
        if np.isfinite(values[row, column]):
            color = style.text_on(to_hex(image.to_rgba(values[row : row + 1])[0, column]))
            axes.text(column, row, wording[row][column], ha="center", va="center", fontsize=6.8, color=color)
    axes.set_xticks(range(values.shape[1]), multipliers(study))
    axes.set_yticks(range(values.shape[0]), costs(study))
    style.bare(axes)


def draw_curves(study: Study) -> Figure:
    """Draw utilization over slowdown, a line for each cost of a switch."""
    figure, axes = style.page(7.4, 4.2)
    handles, drawn = [], 0
    names = costs(study)
    for number, cost in enumerate(names):
        color = style.mixed(LIGHT, DARK, number / max(len(names) - 1, 1))
        xs, ys = [], []
        for value in (*multipliers(study), NEVER):
            used, slow = study.sample(UTILIZATION, GANG, **point(value, cost)), slowdown(study, value, cost)
            if not (used.shown and slow.shown):
                continue
            x, y = slow.mean(study.confidence), used.mean(study.confidence)
            star = value == NEVER
            if star and number:
                continue  # without preemption there is no cost of a switch
            hollow = value == multipliers(study)[0]
            axes.errorbar(
                100 * (x.mean - 1), 100 * y.mean, 100 * np.nan_to_num(y.half_width), fmt="*" if star else "o",
                color="#111111" if star else color, mfc="white" if hollow else None, ms=11 if star else 4.5,
                elinewidth=0.7, zorder=3,
            )  # fmt: skip
            drawn += 1
            if not star:
                xs.append(100 * (x.mean - 1))
                ys.append(100 * y.mean)
        axes.plot(xs, ys, color=color, linewidth=1.2, zorder=2)
        handles.append(Line2D([], [], color=color, marker="o", label=f"{cost} s per processor"))
    require_points(drawn)
    handles.append(
        Line2D([], [], color="#111111", marker="*", ms=10, linestyle="none", label="no preemption")
    )
    axes.set_xscale("log")
    style.plain_ticks(axes.xaxis)
    axes.set(xlabel="Slowdown of the interactive workload (% over the runtimes)", ylabel="Utilization (%)")
    style.put_headline(figure, "Responsiveness against utilization")
    style.key_below(figure, handles, 4)
    return figure

"""The content of a plot: estimates as lines over the load or another axis, and the axes' settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.errors import DrawingError, require_points
from analysis.figures import policies
from analysis.figures.style import SchemeStyle
from analysis.study.curve import DONE, SATURATED, UNFINISHED, Curve
from sweep.statistics import Interval, Paired

DODGE = 0.0016
"""Sideways distance of two neighbouring policies over the unit interval, far below a step of loads."""

WIDE = 0.3
"""Range of loads from which the axis shows the whole unit interval."""

LOAD = "Offered load (fraction of capacity)"

ENDS = "A curve that ends early was not run at higher loads."

CAPACITY = "A tick on the load axis: the load up to which the policy keeps up."


@dataclass(frozen=True)
class LoadPlot:
    """The content of a plot.

    Parameters
    ----------
    lines : dict of str to Line
        Scheme -> estimates, in the legend's order.
    ylim : (float, float), optional
        Curves that leave it are clipped at its edge.
    note : str
        A line below the axes.
    guides : dict of float to str
        Horizontal lines, in the axis's scale, with their labels.
    scale : float
        Values are drawn times this.
    xlim : (float, float), optional
        By default a range that suits offered loads.
    xscale, yscale : {"linear", "log"}
    xticks, yticks : sequence of float, optional
        For logarithmic axes, where matplotlib's own are powers of ten.
    styles : dict of str to SchemeStyle
        Styles of lines that differ from the style of the policy of their name.
    dodge : float
        Sideways distance of two neighbouring schemes.
    spacing : float
        Markers are at least this fraction of the axis apart, where points are many and close.
    """

    lines: Mapping[str, Line]
    ylabel: str
    title: str
    ylim: tuple[float | None, float | None] = (None, None)
    note: str = ""
    guides: Mapping[float, str] = field(default_factory=dict)
    scale: float = 1.0
    xlabel: str = LOAD
    xlim: tuple[float, float] | None = None
    xscale: str = "linear"
    yscale: str = "linear"
    xticks: Sequence[float] = ()
    yticks: Sequence[float] = ()
    styles: Mapping[str, SchemeStyle] = field(default_factory=dict)
    dodge: float = DODGE
    spacing: float = 0.0

    @property
    def has_capacities(self) -> bool:
        """Whether the horizontal axis is the load, and the loads up to which policies keep up are known."""
        return self.xlabel == LOAD and any(np.isfinite(line.capacity) for line in self.lines.values())

    @property
    def ends_early(self) -> bool:
        """Whether the horizontal axis is the load and a line ends before others do."""
        beyond = [np.flatnonzero(line.drawn | line.saturated) for line in self.lines.values()]
        ends = {int(one[-1]) for one in beyond if one.size}
        return self.xlabel.startswith(LOAD.partition(" (")[0]) and len(ends) > 1

    @property
    def notes(self) -> list[str]:
        """The lines of the note, with the one on bars only if bars are drawn, and the meaning of ticks."""
        lines = self.lines.values()
        has_bars = any((line.half_width[line.drawn] > 0).any() for line in lines)
        kept = [one for one in self.note.splitlines() if has_bars or not one.startswith("Bars: ")]
        return kept + [CAPACITY] * self.has_capacities + [ENDS] * self.ends_early

    def style_of(self, name: str) -> SchemeStyle:
        """Return the style of a line."""
        return self.styles.get(name) or policies.style_of(name)

    @property
    def limits(self) -> tuple[float, float]:
        """The horizontal range: by default the unit interval, or a narrow grid's loads and a margin."""
        if self.xlim is not None:
            return self.xlim
        loads = next(iter(self.lines.values())).x
        low, high = float(np.nanmin(loads)), float(np.nanmax(loads))
        return (min(0.0, low), max(1.0, high + 0.02)) if high - low > WIDE else (low - 0.05, high + 0.05)

    def places(self, number: int, line: Line) -> np.ndarray:
        """Return where the points of a line are on the horizontal axis, moved aside by its number."""
        return line.x + (number - (len(self.lines) - 1) / 2) * self.dodge

    def check(self) -> None:
        """Raise `DrawingError` where there is nothing to draw."""
        if all(np.isnan(line.x).all() for line in self.lines.values()):
            raise DrawingError(
                "its workload was run only at its own load: give several loads, grid.load=[0.5,0.7,0.9]"
            )
        require_points(any(line.saturated.any() or line.drawn.any() for line in self.lines.values()))


@dataclass(frozen=True)
class Line:
    """Estimates over an axis; every array has the shape (n_points,).

    Parameters
    ----------
    x, mean, low, high : ndarray
        Ends of intervals are NaN where they are withheld, and all are where nothing is drawn.
    saturated, finished : ndarray of bool
        Saturated points, and points with all replications done.
    too_short : ndarray of bool, optional
        Points whose runs are too short for the mean of the long run.
    capacity : float
        The load up to which the policy keeps up; NaN where it is not known.
    """

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    saturated: np.ndarray
    finished: np.ndarray
    too_short: np.ndarray | None = None
    capacity: float = np.nan

    @classmethod
    def of(cls, curve: Curve) -> Line:
        """Return the intervals of a metric."""
        found = curve.intervals()
        full, finished = curve.where(SATURATED), ~curve.where(UNFINISHED)
        ends = found.mean - found.half_width, found.mean + found.half_width
        return cls(curve.x, found.mean, *ends, full, finished, curve.too_short, curve.capacity.mean)

    @classmethod
    def delivered(cls, curve: Curve, offered: np.ndarray) -> Line:
        """Return the intervals of a utilization minus the offered load, run by run.

        Saturated points are drawn as well, hollow: they deliver the capacity.
        """
        full = curve.where(SATURATED)
        status = tuple(DONE if at else state for at, state in zip(full, curve.status, strict=True))
        less = curve.changed(curve.values - offered, status)
        return replace(cls.of(less), saturated=full)

    @classmethod
    def ratio(cls, curve: Curve, reference: Curve) -> Line:
        """Return the ratio of two metrics under the same jobs, where both can be drawn."""
        return cls.paired(Paired.ratio, curve, reference)

    @classmethod
    def paired(cls, compare: Callable[[Paired, float], Interval], curve: Curve, reference: Curve) -> Line:
        """Return a comparison of two metrics under the same jobs, where both can be drawn."""
        mean, low, high = np.full((3, len(curve.x)), np.nan)
        for place in np.flatnonzero(curve.shown & reference.shown).tolist():
            found = compare(curve.sample(place).against(reference.sample(place)), curve.confidence)
            mean[place], low[place], high[place] = found.mean, found.low, found.high
        finished = curve.where(DONE) & reference.where(DONE)
        short = curve.too_short | reference.too_short
        return cls(curve.x, mean, low, high, curve.where(SATURATED), finished, short, curve.capacity.mean)

    @property
    def half_width(self) -> np.ndarray:
        """The half-widths of the intervals."""
        return (self.high - self.low) / 2

    @property
    def drawn(self) -> np.ndarray:
        """Where there is a point."""
        return np.isfinite(self.mean)

    @property
    def short(self) -> np.ndarray:
        """Where a point is drawn whose runs are too short."""
        return np.zeros(len(self.x), bool) if self.too_short is None else self.too_short & self.drawn

    @property
    def solid(self) -> np.ndarray:
        """Where a point without any limitation is drawn."""
        return self.drawn & np.isfinite(self.half_width) & self.finished & ~self.short & ~self.saturated

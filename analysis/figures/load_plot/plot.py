"""What is drawn: lines over the load or another axis, and the axes' own words and limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.errors import DrawingError, require_points
from analysis.figures import policies
from analysis.figures.load_plot.line import Line
from analysis.figures.style import SchemeStyle

DODGE = 0.0016
"""Sideways distance of two neighbouring schemes over the unit interval: far below that of two loads."""

WIDE = 0.3
"""Range of loads from which the axis shows the whole unit interval."""

LOAD = "Offered load (fraction of capacity)"

CAPACITY = "A tick on the load axis: the load up to which the policy keeps up."


@dataclass(frozen=True)
class LoadPlot:
    """What is drawn.

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
        By default what suits offered loads.
    xscale, yscale : {"linear", "log"}
    xticks, yticks : sequence of float, optional
        For logarithmic axes, where matplotlib's own are powers of ten.
    looks : dict of str to SchemeStyle
        Of lines that do not look like the scheme of their name.
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
    looks: Mapping[str, SchemeStyle] = field(default_factory=dict)
    dodge: float = DODGE
    spacing: float = 0.0

    @property
    def has_capacities(self) -> bool:
        """Whether the horizontal axis is the load, and the loads up to which policies keep up are known."""
        return self.xlabel == LOAD and any(np.isfinite(line.capacity) for line in self.lines.values())

    @property
    def notes(self) -> list[str]:
        """The lines of the note, without that on bars where there are none, and the meaning of ticks."""
        lines = self.lines.values()
        has_bars = any((line.half_width[line.drawn] > 0).any() for line in lines)
        kept = [one for one in self.note.splitlines() if has_bars or not one.startswith("Bars: ")]
        return kept + [CAPACITY] * self.has_capacities

    def look(self, name: str) -> SchemeStyle:
        """Return the style of a line."""
        return self.looks.get(name) or policies.look(name)

    @property
    def limits(self) -> tuple[float, float]:
        """The horizontal axis's range: by default the unit interval, or a narrow grid's loads with air."""
        if self.xlim is not None:
            return self.xlim
        loads = next(iter(self.lines.values())).x
        low, high = float(np.nanmin(loads)), float(np.nanmax(loads))
        return (min(0.0, low), max(1.0, high + 0.02)) if high - low > WIDE else (low - 0.05, high + 0.05)

    def places(self, number: int, line: Line) -> np.ndarray:
        """Return where the points of a line are on the horizontal axis, moved aside by its number."""
        found: np.ndarray = line.x + (number - (len(self.lines) - 1) / 2) * self.dodge
        return found

    def check(self) -> None:
        """Raise `DrawingError` where there is nothing to draw."""
        if all(np.isnan(line.x).all() for line in self.lines.values()):
            raise DrawingError(
                "its workload runs at one load of its own: give several, grid.load=[0.5,0.7,0.9]"
            )
        require_points(any(line.saturated.any() or line.drawn.any() for line in self.lines.values()))

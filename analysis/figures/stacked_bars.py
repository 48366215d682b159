"""Shares of a whole as stacked horizontal bars, one row for each policy."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from analysis.figures.style import ACCENT
from sweep.policy_names import label

PartStyle = tuple[str, str, str]
"""Name, colour and hatches of a part."""

Shares = Mapping[str, float]
"""Part -> share of the whole; empty where nothing is drawn."""


def draw(axes: Axes, rows: Mapping[str, Shares], styles: Mapping[str, PartStyle]) -> None:
    """Draw a bar for each policy, its parts from the left, in percent."""
    for row, found in enumerate(rows.values()):
        begin = 0.0
        for part, share in found.items():
            _, color, hatch = styles[part]
            edge = ACCENT if hatch else color
            axes.barh(
                row, 100 * share, 0.72, 100 * begin, color=color, hatch=hatch, linewidth=0.0, edgecolor=edge
            )
            begin += share
    axes.set_yticks(range(len(rows)), [label(name) for name in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def key(styles: Mapping[str, PartStyle], used: Sequence[str]) -> list[Patch]:
    """Return the legend of some parts."""
    return [
        Patch(facecolor=color, hatch=hatch, edgecolor=ACCENT if hatch else color, linewidth=0, label=name)
        for name, color, hatch in (styles[part] for part in used)
    ]

"""``python -m benchmarks.pictures``: draw docs/performance.svg.

All numbers are from the newest run of `python -m benchmarks scaling`; whole runs count before quick ones.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from analysis.figures import style
from benchmarks.record import FOLDER

PICTURE = Path(__file__).parent.parent / "docs" / "performance.svg"

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
MARKERS = ("o", "s", "^", "D")


Kept = Mapping[str, Any]


def main() -> int:
    """Draw, or report that there is no run."""
    kept = newest("scaling")
    if kept is None:
        print("error: no run of scaling: python -m benchmarks scaling", file=sys.stderr)
        return 2
    with style.styled():
        figure = drawn(kept["benchmarks"]["scaling"]["tables"])
        if (engine := figure.get_layout_engine()) is not None:
            engine.execute(figure)
        figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})
    print(PICTURE)
    return 0


def newest(benchmark: str, folder: Path = FOLDER) -> Kept | None:
    """Return the newest kept run of a benchmark; a quick one only where there is no other."""
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    found = [run for run in runs if benchmark in run["benchmarks"]]
    return max(found, key=lambda run: (not run["quick"], run["created"]), default=None)


def drawn(tables: Sequence[Kept]) -> Figure:
    """Return the picture: cost against each length."""
    figure = Figure(figsize=(9.2, 6.2), layout="constrained")
    for number, table in enumerate(tables):
        _grows(figure.add_subplot(2, 3, number + 1), table)
    style.put_headline(figure, "How cost grows")
    return figure


def _grows(axes: Axes, table: Kept) -> None:
    x, _, title = table["title"].partition(": ")
    lengths = [int(column) for column in table["columns"][1:-1]]
    for i, (name, *costs, exponent) in enumerate(table["rows"]):
        points = [(n, cost) for n, cost in zip(lengths, costs, strict=True) if cost is not None]
        label = f"{name}: {exponent:.2f}"
        axes.plot(*zip(*points, strict=True), color=COLORS[i], marker=MARKERS[i], label=label)
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=title.partition(" of CPU")[0])
    low, high = axes.get_ylim()  # at least a decade, so that there are two numbers
    axes.set_ylim(10 ** np.floor(np.log10(low)), 10 ** np.ceil(np.log10(high)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    shown = lengths[:: 1 if len(lengths) < 5 else 2]
    axes.set_xticks(shown, [f"{n:,}" for n in shown])
    axes.set_title(title.partition(" for ")[2], fontsize=7)
    axes.legend(title="exponent", fontsize=7, title_fontsize=7)


if __name__ == "__main__":
    sys.exit(main())

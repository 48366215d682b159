"""``python -m benchmarks.pictures``: run the benchmark ``scaling``, and draw docs/performance.svg of it."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from rich.console import Console

from analysis.figures import style
from benchmarks import scaling
from benchmarks.record import Table, show

PICTURE = Path(__file__).parent.parent / "docs" / "performance.svg"

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
MARKERS = ("o", "s", "^", "D")


def main() -> int:
    """Run and draw."""
    found = scaling.run(quick=False)
    show(found, Console())
    with style.styled():
        figure = drawn(found.tables)
        if (engine := figure.get_layout_engine()) is not None:
            engine.execute(figure)
        figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})
    print(PICTURE)
    return 0


def drawn(tables: Sequence[Table]) -> Figure:
    """Return the picture: cost against each length."""
    figure = Figure(figsize=(9.2, 6.2), layout="constrained")
    for number, table in enumerate(tables):
        _grows(figure.add_subplot(2, 3, number + 1), table)
    style.put_headline(figure, "How cost grows")
    return figure


def _grows(axes: Axes, table: Table) -> None:
    x, _, title = table.title.partition(": ")
    lengths = [int(column) for column in table.columns[1:-1]]
    for i, (name, *costs, exponent) in enumerate(table.rows):
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

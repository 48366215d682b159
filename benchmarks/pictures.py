"""``python -m benchmarks.pictures``: draw docs/performance.svg and the table of docs/performance.md.

All numbers are from the newest run of `python -m benchmarks scaling`; whole runs count before quick ones.
"""

from __future__ import annotations

import json
import re
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

DOCS = Path(__file__).parent.parent / "docs"
PAGE, PICTURE = "performance.md", "performance.svg"

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
MARKERS = ("o", "s", "^", "D")


Kept = Mapping[str, Any]


def main() -> int:
    """Draw and write, or report that there is no run."""
    kept = newest("scaling")
    if kept is None:
        print("error: no run of scaling: python -m benchmarks scaling", file=sys.stderr)
        return 2
    with style.styled():
        figure = drawn(kept["benchmarks"]["scaling"]["tables"])
        if (engine := figure.get_layout_engine()) is not None:
            engine.execute(figure)
        figure.savefig(DOCS / PICTURE, metadata={"Date": None, "Creator": None})
    page = DOCS / PAGE
    begin, end = "<!-- growth -->", "<!-- end of growth -->"
    filled = f"{begin}\n{growth(kept)}\n{end}"
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(f"{begin}.*?{end}", lambda _: filled, text, flags=re.DOTALL), encoding="utf-8")
    print(f"{DOCS / PICTURE}\n{page}")
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


def growth(kept: Kept) -> str:
    """Return the exponents, and costs at both ends, as a table."""
    lines = ["| against | | from | to | exponent |", "|---|---|---|---|---|"]
    for table in kept["benchmarks"]["scaling"]["tables"]:
        x, _, title = table["title"].partition(": ")
        unit = title.partition(" of CPU")[0]
        for name, *costs, exponent in table["rows"]:
            ends = [
                f"{cost:,.3g} {unit} at {int(n):,}"
                for n, cost in zip(table["columns"][1:-1], costs, strict=True)
                if cost is not None
            ]
            lines.append(f"| {x} | {name} | {ends[0]} | {ends[-1]} | {exponent:.2f} |")
    machine, quick = kept["machine"], ", quick" if kept["quick"] else ""
    made = f"({machine['processor']}, {machine['cores']} cores, {kept['created'][:10]}{quick}.)"
    return "\n".join([*lines, "", made])


if __name__ == "__main__":
    sys.exit(main())

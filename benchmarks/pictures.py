"""``python -m benchmarks.pictures``: draw docs/performance.svg, fill in the tables of docs/performance.md.

All numbers come from what `python -m benchmarks scaling counters messages` has kept; of each benchmark the
newest run counts, and whole runs before quick ones.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from analysis.figures import style
from benchmarks.fleet import COSTS, Executor, Fitted, fitted
from benchmarks.record import FOLDER

DOCS = Path(__file__).parent.parent / "docs"
PAGE, PICTURE = "performance.md", "performance.svg"

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
MARKERS = ("o", "s", "^", "D")
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048)
TASK_LENGTHS = {0.0016: "1.6 ms", 0.02: "20 ms", 0.3: ".3 s", 3.0: "3 s"}
EACH = 10
"""Messages for each worker, where workers are simulated."""

FLEET = 1_000
"""Workers of the machine that is not here."""

Kept = Mapping[str, Any]


def main() -> int:
    """Draw and write, or say what is missing."""
    kept = {name: newest(name) for name in ("scaling", "counters", "messages")}
    if kept["scaling"] is None:
        print(
            "error: nothing kept of scaling: python -m benchmarks scaling counters messages", file=sys.stderr
        )
        return 2
    measured = kept["messages"]
    executors = {} if measured is None else fitted(measured["benchmarks"]["messages"]["tables"])
    with style.styled():
        figure = drawn(kept["scaling"]["benchmarks"]["scaling"]["tables"], executors)
        if (engine := figure.get_layout_engine()) is not None:
            engine.execute(figure)
        figure.savefig(DOCS / PICTURE, metadata={"Date": None, "Creator": None})
    page = DOCS / PAGE
    text = page.read_text(encoding="utf-8")
    blocks = {
        "growth": growth(kept["scaling"]),
        "counters": counters(kept["counters"]),
        "fleet": fleet(executors, kept["messages"]),
    }
    for name, block in blocks.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        filled = f"{begin}\n{block}\n{end}"
        text = re.sub(f"{begin}.*?{end}", lambda _, made=filled: made, text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")
    print(f"{DOCS / PICTURE}\n{page}")
    return 0


def newest(benchmark: str, folder: Path = FOLDER) -> Kept | None:
    """Return the newest kept run of a benchmark; a quick one only where there is no other."""
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    found = [run for run in runs if benchmark in run["benchmarks"]]
    return max(found, key=lambda run: (not run["quick"], run["created"]), default=None)


def drawn(tables: Sequence[Kept], executors: Mapping[str, Fitted]) -> Figure:
    """Return the picture: cost against each length, and simulated workers."""
    figure = Figure(figsize=(9.2, 6.2), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    for one, table in zip(axes, tables, strict=False):
        _grows(one, table)
    if "dask" in executors:
        _workers(axes[-1], executors["dask"].executor)
    else:
        axes[-1].set_visible(False)
    style.put_headline(figure, "How cost grows")
    return figure


def _grows(axes: Axes, table: Kept) -> None:
    x, _, told = table["title"].partition(": ")
    lengths = [int(column) for column in table["columns"][1:-1]]
    for i, (name, *costs, exponent) in enumerate(table["rows"]):
        points = [(n, cost) for n, cost in zip(lengths, costs, strict=True) if cost is not None]
        label = f"{name}: {exponent:.2f}"
        axes.plot(*zip(*points, strict=True), color=COLORS[i], marker=MARKERS[i], label=label)
    _logarithmic(axes, x, told.partition(" of CPU")[0])
    shown = lengths[:: 1 if len(lengths) < 5 else 2]
    axes.set_xticks(shown, [f"{n:,}" for n in shown])
    axes.set_title(told.partition(" for ")[2], fontsize=7)
    axes.legend(title="exponent", fontsize=7, title_fontsize=7)


def _workers(axes: Axes, executor: Executor) -> None:
    for i, (task_s, label) in enumerate(TASK_LENGTHS.items()):
        axes.plot(
            WORKERS,
            [_busy(executor, task_s, workers) for workers in WORKERS],
            color=COLORS[i],
            marker=MARKERS[i],
            label=label,
        )
    axes.plot(WORKERS, WORKERS, color="#999999", linewidth=0.8, zorder=0)
    _logarithmic(axes, "workers (simulated)", "busy workers")
    axes.set_title(f"Dask, {EACH} messages a worker", fontsize=7)
    axes.legend(title="tasks of", fontsize=7, title_fontsize=7)


def _busy(executor: Executor, task_s: float, workers: int) -> float:
    """Return the workers that simulate, on average over a run; its start is left out."""
    n, _, _ = executor.per_message(task_s, workers)
    tasks = n * EACH * workers
    return tasks * task_s / (executor.makespan(task_s, tasks, workers) - executor.start_s)


def _logarithmic(axes: Axes, x: str, y: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    low, high = axes.get_ylim()  # at least a decade, so that there are two numbers
    axes.set_ylim(10 ** np.floor(np.log10(low)), 10 ** np.ceil(np.log10(high)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(FuncFormatter(lambda *_: ""))


def growth(kept: Kept) -> str:
    """Return the exponents, and costs at both ends, as a table."""
    lines = ["| against | | from | to | exponent |", "|---|---|---|---|---|"]
    for table in kept["benchmarks"]["scaling"]["tables"]:
        x, _, told = table["title"].partition(": ")
        unit = told.partition(" of CPU")[0]
        for name, *costs, exponent in table["rows"]:
            ends = [
                f"{cost:,.3g} {unit} at {int(n):,}"
                for n, cost in zip(table["columns"][1:-1], costs, strict=True)
                if cost is not None
            ]
            lines.append(f"| {x} | {name} | {ends[0]} | {ends[-1]} | {exponent:.2f} |")
    return "\n".join([*lines, "", _made(kept)])


def counters(kept: Kept | None) -> str:
    """Return what a job costs the processor as a table."""
    if kept is None or not kept["benchmarks"]["counters"]["tables"]:
        return "(Not counted: `python -m benchmarks counters` needs valgrind.)"
    (table,) = kept["benchmarks"]["counters"]["tables"]
    lines = ["| " + " | ".join(table["columns"]) + " |", "|---" * len(table["columns"]) + "|"]
    for name, *numbers in table["rows"]:
        lines.append(f"| {name} | " + " | ".join(_number(number) for number in numbers) + " |")
    return "\n".join([*lines, "", _made(kept)])


def fleet(executors: Mapping[str, Fitted], kept: Kept | None) -> str:
    """Return the fitted costs, how good the model is, and what 1,000 workers would take."""
    if kept is None:
        return "(Not measured: `python -m benchmarks messages`.)"
    cores = kept["machine"]["cores"]
    lines = ["| | " + " | ".join(COSTS) + " | start, s |", "|---" * (len(COSTS) + 2) + "|"]
    for name, one in executors.items():
        costs = " | ".join(" ± ".join(map(_two_digits, one.interval(number))) for number in COSTS.values())
        lines.append(f"| {name} | {costs} | {one.executor.start_s:.1f} |")
    lines += ["", *(f"- {name}: {one.verdict(cores)}." for name, one in executors.items())]
    lines += [
        "",
        "| tasks of | of 1,000 workers it keeps busy | of that in simulations | an hour of work for each |",
        "|---|---|---|---|",
    ]
    for name, one in executors.items():
        for task_s, label in TASK_LENGTHS.items():
            busy, low, high = one.within(partial(_busy_of_all, task_s))
            share = one.executor.share(task_s)
            shown = f"{busy:,.0f} ({low:,.0f} to {min(high, FLEET):,.0f}) | {share:.3f}"
            lines.append(f"| {name}, {label} | {shown} | {FLEET / busy / share:,.2f} h |")
    return "\n".join([*lines, "", _made(kept)])


def _number(value: float) -> str:
    """Return a number with three digits, large ones with all of them before the point.

    Examples
    --------
    >>> _number(7335.8), _number(5.471)
    ('7,336', '5.47')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _two_digits(value: float) -> str:
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def _busy_of_all(task_s: float, executor: Executor) -> float:
    return executor.busy(task_s, FLEET)


def _made(kept: Kept) -> str:
    quick = ", quick" if kept["quick"] else ""
    return (
        f"({kept['machine']['processor']}, {kept['machine']['cores']} cores, {kept['created'][:10]}{quick}.)"
    )


if __name__ == "__main__":
    sys.exit(main())

"""A Gantt chart: time from left to right, processors upwards, a colour is a job, and hosts apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.drawings.matrix import JOB_COLORS
from analysis.drawings.packing import pack
from analysis.drawings.scene import UNITS, Scene, scene, unit_of, window
from analysis.errors import AnalysisError
from analysis.figures import style

LONGEST_DEFAULT = 3 * UNITS["d"]
MOST = 30000
"""Largest number of pieces in a legible picture."""

EDGED = 1500
"""Up to this number of pieces are drawn with edges; edges of more would hide them."""

NAMED = 400
PROMISED, PREEMPTED, HELD = "#111111", "#c0143c", "#9aa1a8"


PIECE = [
    ("job", int), ("begin", float), ("end", float), ("processors", float), ("starts", bool), ("cut", bool),
    ("resumed", bool),
]  # fmt: skip
"""Pieces that run on a host or keep it idle (a negative job): seconds, processors; whether the full execution
begins with the piece, whether it ends with a preemption, and whether it begins after one."""

BOX = [*PIECE, ("low", float), ("high", float)]
"""Its rectangles: from which processor to which."""


def gantt(settings: Mapping[str, str]) -> Figure:
    """Draw a window of a schedule."""
    shown = scene(settings)
    return draw_gantt(shown, *window(settings, shown, LONGEST_DEFAULT))


def draw_gantt(shown: Scene, first: float, last: float) -> Figure:
    """Draw the jobs that run between two times, in seconds, and processors that are kept idle."""
    machine = shown.schedule.machine
    hosts = [boxes(shown, host, first, last) for host in range(len(machine.names))]
    if (n := sum(one.job.size for one in hosts)) > MOST:
        raise AnalysisError(
            f"{n:,} rectangles are too many to draw: give a shorter period with from= and to="
        )
    heights = 0.35 + np.sqrt(machine.processors / machine.processors.max())
    figure = Figure(figsize=(7.4, 1.3 + max(2.6, 0.85 * heights.sum())), layout="constrained")
    places = figure.subplots(len(hosts), 1, sharex=True, squeeze=False, height_ratios=heights).ravel()
    unit, length = unit_of(last - first)
    signs: set[str] = set()
    for host, (axes, one) in enumerate(zip(places[::-1], hosts[::-1], strict=True), start=1):
        capacity = int(machine.processors[-host])
        axes.set(xlim=(first / length, last / length), ylim=(0, capacity))
        if len(hosts) > 1:
            axes.set_ylabel(machine.names[-host], fontsize=8)
            axes.set_yticks([0, capacity // 2, capacity])
        signs |= _draw(axes, one, shown, length, last, n)
    places[-1].set_xlabel(f"Time since the first submission ({unit})")
    places[0].set_title(shown.title)
    figure.supylabel("Processors of each host" if len(hosts) > 1 else "Processors", fontsize=9)
    if signs:
        style.key_below(figure, [sign for name, sign in SIGNS.items() if name in signs], 3)  # fmt: skip
    return figure


SIGNS: dict[str, Artist] = {
    "promised": Line2D([], [], color=PROMISED, linewidth=1.6, marker="|", ms=7, mew=1.2,
                       label="had a reservation: from its actual to its reserved start"),
    "preempted": Line2D([], [], color=PREEMPTED, linewidth=1.8, label="preempted, resumed"),
    "held": Patch(facecolor="white", edgecolor=HELD, hatch="////", label="kept idle for a reservation"),
}  # fmt: skip


def boxes(shown: Scene, host: int, first: float, last: float) -> np.recarray:
    """Return the rectangles of a host between two times, of `BOX`; a job may have several."""
    made = shown.schedule
    runs, held = made.runs, made.held
    gaps = _gaps(runs.job, runs.begin, runs.end, made.preempted)
    starts = runs.begin == made.full_start[runs.job]
    fields = [runs.job, runs.begin, runs.end, runs.processors, starts, *gaps]
    pieces = np.rec.fromarrays(fields, dtype=PIECE)[runs.host == host]
    if held is not None:
        never = np.zeros(held.host.size, bool)
        fields = [-1 - np.arange(held.host.size), held.begin, held.end, held.processors, *[never] * 3]
        idle = np.rec.fromarrays(fields, dtype=PIECE)[held.host == host]
        pieces = np.concatenate([pieces, idle]).view(np.recarray)
    pieces = pieces[(pieces.begin < last) & (pieces.end > first) & (pieces.end > pieces.begin)]
    capacity = float(made.machine.processors[host])
    placed = pack(pieces.begin, pieces.end, pieces.processors, pieces.job, capacity)
    found = np.zeros(len(placed), dtype=BOX).view(np.recarray)
    for field, _ in PIECE:
        found[field] = pieces[field][[one.piece for one in placed]]
    found.low, found.high = (np.array([one.run[i] for one in placed], float) for i in (0, 1))
    return found


def _gaps(
    job: np.ndarray, begin: np.ndarray, end: np.ndarray, preempted: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return which pieces of preempted jobs end before, and begin after, a time without processors."""
    cut, resumed = np.zeros((2, job.size), bool)
    if preempted is None:
        return cut, resumed
    order = np.lexsort((begin, job))
    here, there = order[:-1], order[1:]
    apart = (job[here] == job[there]) & (begin[there] > end[here]) & preempted[job[here]].astype(bool)
    cut[here[apart]] = True
    resumed[there[apart]] = True
    return cut, resumed


def _draw(axes: Axes, one: np.recarray, shown: Scene, unit: float, last: float, n: int) -> set[str]:
    """Draw the rectangles of a host; return the special signs among them."""
    axes.grid(visible=False)
    corners = np.array([one.begin, one.end]) / unit
    box = np.stack(
        [corners[[0, 0, 1, 1]].T, np.stack([one.low, one.high, one.high, one.low], axis=1)], axis=2
    )
    runs = one.job >= 0
    edge = 0.35 if n <= EDGED else 0.0
    colors = [JOB_COLORS[number % len(JOB_COLORS)] for number in one.job[runs].tolist()]
    axes.add_collection(
        PolyCollection(list(box[runs]), facecolors=colors, edgecolors="#333333", linewidths=edge)
    )
    if (~runs).any():
        axes.add_collection(
            PolyCollection(
                list(box[~runs]), facecolors="white", edgecolors=HELD, hatch="////", linewidths=0.3
            )
        )
    signs = {"held"} if (~runs).any() else set()
    promised = shown.schedule.promised
    if promised is not None:
        signs |= _promises(axes, one, promised, unit, last)
    for at, marked in ((one.end, one.cut), (one.begin, one.resumed)):
        if marked.any():
            axes.vlines(
                at[marked] / unit, one.low[marked], one.high[marked], PREEMPTED, linewidths=1.4, zorder=4
            )
            signs.add("preempted")
    if n <= NAMED:
        _names(axes, one, unit)
    return signs


def _promises(axes: Axes, one: np.recarray, promised: np.ndarray, unit: float, last: float) -> set[str]:
    """Draw a line from each start to the first reserved start, across the job's rectangle, below its name."""
    jobs = np.where(one.job >= 0, one.job, 0)
    marked = one.starts & (one.job >= 0) & np.isfinite(promised[jobs])
    if not marked.any():
        return set()
    starts = one.begin[marked] / unit
    axes.vlines(starts, one.low[marked], one.high[marked], PROMISED, linewidths=1.3, zorder=3)
    widest = _widest(one, marked)
    begin, until = one.begin[widest] / unit, promised[jobs[widest]] / unit
    height = 0.8 * one.low[widest] + 0.2 * one.high[widest]
    axes.hlines(height, begin, until, PROMISED, linewidths=0.7, zorder=3)
    apart = until <= last / unit
    axes.plot(until[apart], height[apart], "|", color=PROMISED, ms=5, mew=0.9, zorder=3, scalex=False)
    return {"promised"}


def _widest(one: np.recarray, chosen: np.ndarray) -> np.ndarray:
    """Return the places of one rectangle of each job among the chosen ones, the one with most processors."""
    places = np.flatnonzero(chosen)
    order = places[np.lexsort((one.low[places] - one.high[places], one.job[places]))]
    first: np.ndarray = np.concatenate([[True], np.diff(one.job[order]) != 0])
    return order[first]


def _names(axes: Axes, one: np.recarray, unit: float) -> None:
    """Write the job's number into each rectangle that is large enough."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for place in np.flatnonzero(one.job >= 0):
        begin, end = (np.clip(x / unit, left, right) for x in (one.begin[place], one.end[place]))
        text = str(one.job[place] + 1)
        wide = (end - begin) / (right - left) * 6.6 * 72 / max(len(text), 1)
        high = (one.high[place] - one.low[place]) / (top - bottom) * 72
        if wide > 4.5 and high > 7:
            axes.text(
                (begin + end) / 2, (one.low[place] + one.high[place]) / 2, text, ha="center", va="center",
                fontsize=6, clip_on=True,
            )  # fmt: skip

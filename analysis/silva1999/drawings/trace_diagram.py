"""The trace diagram over some slices, as in Fig. 1: ``python -m analysis draw trace_diagram``."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from analysis.drawings.matrix import JOB_COLORS
from analysis.drawings.scene import MOST, instant, positive, valid, whole
from analysis.drawings.views import Request, View, counted
from analysis.errors import AnalysisError
from analysis.figures import style
from analysis.silva1999.engine import SOURCE, Diagram, diagram, point, title
from analysis.silva1999.labels import BUSY, EMPTY, STATES, SWITCHING
from models.point import Point

TRACE_DIAGRAM = {**SOURCE, "time": "2000", "slices": "12"}

MOST_SLICES = 60
"""Most slices that can be distinguished on a page."""

WAITING = {
    "communication": ("waits for a message", "#cc79a7", "xxxx"),
    "io": ("waits for I/O", "#e69f00", "...."),
    "synchronization": ("waits at a barrier", "#009e73", "||||"),
}
"""Cause -> name, colour and hatches."""

NAMED = 48
"""Machines of up to this number of PEs have space for the numbers of jobs."""

LOCAL_HEIGHT = 0.42
"""Height of a local slot, as a share of a PE's lane; a gang slot has `GANG_HEIGHT`."""

GANG_HEIGHT = 0.86

IDLE = "#f2f2f2"
CHANGE = "#b3361c"


def trace_diagram(settings: Mapping[str, str]) -> Figure:
    """Draw what every PE does in some slices of a simulation."""
    time, n_slices = positive(settings, "time"), whole(settings, "slices")
    if n_slices > MOST_SLICES:
        raise AnalysisError(f"slices={n_slices}: too many to distinguish; give up to {MOST_SLICES}")
    made = point(settings)
    return of_point(made, time, n_slices, title(settings, made.policy["name"]))


def of_point(made: Point, time: float, n_slices: int, wording: str) -> Figure:
    """Draw some slices of a point's own run from a time in seconds on; `wording` is its title."""
    if not made.policy["coordinated"]:
        raise AnalysisError(
            f"policy={made.policy['name']}: an uncoordinated scheduler has no slots; give gang, "
            "concurrent_gang_rr or concurrent_gang"
        )
    found = valid(diagram, made, time, n_slices)
    if found.n_pes > MOST:
        raise AnalysisError(f"machine={made.machine['name']}: too many PEs to draw; the limit is {MOST}")
    if not (found.n_rows > 0).any():
        raise AnalysisError(f"no job is in the system at time {time:g}: try another time=, or a higher load=")
    height = min(0.24 * found.n_pes, 9.0)
    figure, axes = style.page(max(7.4, 0.62 * n_slices + 1), height + 2.3)
    _draw_lanes(axes, found)
    _draw_slices(axes, found)
    _name_parts(axes, found, height)
    style.put_headline(figure, f"Trace diagram: {wording}")
    style.key_below(figure, _key(), 4)
    return figure


def _colors(found: Diagram, shown: np.ndarray) -> dict[int, str]:
    """Return a colour for each job that differs from its neighbours'.

    Neighbours are jobs on the same PE or the next one in a slice, and on the same PE in the next slice.
    """
    line, width = found.timeline, found.signals[1] - found.signals[0]
    cells: dict[tuple[int, int], set[int]] = defaultdict(set)
    for place in shown[line.job[shown] >= 0]:
        for number in range(int(line.begin[place] // width), int(line.end[place] // width) + 1):
            cells[number, int(line.pe[place])].add(int(line.job[place]))
    beside: dict[int, set[int]] = defaultdict(set)
    for (number, pe), jobs in list(cells.items()):
        near = jobs.union(cells.get((number, pe + 1), ()), cells.get((number + 1, pe), ()))
        for job in jobs:
            beside[job] |= near
            for other in near:
                beside[other].add(job)
    colors: dict[int, str] = {}
    palette = [*JOB_COLORS, *(style.shade(color, 0.5) for color in JOB_COLORS)]
    for n, job in enumerate(sorted(beside, key=lambda one: (-len(beside[one]), one))):
        taken = {colors.get(other) for other in beside[job]}
        turns = palette[n % len(JOB_COLORS) :] + palette
        colors[job] = next((color for color in turns if color not in taken), turns[0])
    return colors


def _draw_lanes(axes: Axes, found: Diagram) -> None:
    """Draw the state of each PE: gang slots high, local ones low, waiting hatched."""
    begin, end = found.signals[0], found.signals[-1]
    line = found.timeline
    shown = np.flatnonzero((line.end > begin) & (line.begin < end))
    colors = _colors(found, shown)
    for place in shown:
        state, owns = STATES[line.state[place]], bool(line.owns[place])
        first, last = max(line.begin[place], begin), min(line.end[place], end)
        tall, hatch, width, edge = GANG_HEIGHT, None, 0.0, "none"
        if state == EMPTY:
            color = IDLE
        elif state in WAITING:
            color, (_, edge, hatch) = "white", WAITING[state]
        else:
            tall, width = GANG_HEIGHT if owns else LOCAL_HEIGHT, 0.4
            color = "#111111" if state == SWITCHING else colors[int(line.job[place])]
            edge = "#333333" if owns and state == BUSY else "none"
        corner = (first, int(line.pe[place]) + GANG_HEIGHT / 2 - tall)
        axes.add_patch(
            Rectangle(
                corner, last - first, tall, facecolor=color, edgecolor=edge, hatch=hatch, linewidth=width
            )
        )
    if found.n_pes <= NAMED:
        _name_jobs(axes, found, shown)


def _name_jobs(axes: Axes, found: Diagram, shown: np.ndarray) -> None:
    """Write the number of a job into the longest piece of each of its slots, and of local work."""
    line, width = found.timeline, found.signals[1] - found.signals[0]
    slots: dict[tuple[int, int, int, bool], tuple[float, float]] = {}
    for place in shown:
        if STATES[line.state[place]] != BUSY:
            continue
        first = max(line.begin[place], found.signals[0])
        while first < min(line.end[place], found.signals[-1]) - 1e-9:
            number = int((first - found.signals[0]) / width + 1e-9)
            last = min(line.end[place], found.signals[number + 1])
            key = (int(line.pe[place]), number, int(line.job[place]), bool(line.owns[place]))
            if last - first > slots.get(key, (0.0, 0.0))[1]:
                slots[key] = ((first + last) / 2, last - first)
            first = last
    share = 0.62 * len(found.rows) / (0.62 * len(found.rows) + 1)
    letter = 0.09 * width * max(1.0, len(found.rows) / 12) * share
    for (pe, _, job, owns), (middle, length) in slots.items():
        text = str(job + 1)
        if length < letter * len(text):
            continue
        y = pe if owns else pe + (GANG_HEIGHT - LOCAL_HEIGHT) / 2
        axes.text(
            middle, y, text, ha="center", va="center_baseline", fontsize=6 if owns else 5.5, color="#222222"
        )


def _draw_slices(axes: Axes, found: Diagram) -> None:
    """Draw the clock signals, and arrivals and ends of jobs."""
    begin, end = found.signals[0], found.signals[-1]
    for signal in found.signals:
        axes.axvline(signal, color="#555555", linewidth=0.8, zorder=3)
    changes = found.changes[(found.changes >= begin) & (found.changes <= end)]
    axes.plot(
        changes, np.full(len(changes), found.n_pes - 0.35), "^", ms=5, color=CHANGE, clip_on=False, zorder=5
    )
    axes.set_xlim(begin, end)
    axes.set_ylim(found.n_pes - 0.5, -0.5)
    step = 1 if found.n_pes <= 32 else found.n_pes // 16
    axes.set_yticks(range(0, found.n_pes, step))
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="Time (s)", ylabel="PE")
    axes.grid(visible=False)


def _name_parts(axes: Axes, found: Diagram, inches: float) -> None:
    """Name slice, slot, period and cycle, and each slice's row, above axes of a height in inches."""
    place, line = axes.get_xaxis_transform(), 0.23 / inches
    width = found.signals[1] - found.signals[0]
    for number, row in enumerate(found.rows):
        wording = f"row {row + 1}" if row >= 0 else "no row"
        axes.text(
            found.signals[number] + width / 2,
            1 + 0.2 * line,
            wording,
            transform=place,
            ha="center",
            fontsize=6,
            color="#666666",
        )
    _bracket(axes, found.signals[0], found.signals[1], 1 + line, line, "slice", "#222222")
    if (period := found.period) is not None:
        first, n = period
        ends = found.signals[first], found.signals[first + n]
        _bracket(
            axes,
            *ends,
            1 + (1 if first > 0 else 2) * line,
            line,
            f"period: {n} slice{'s' * (n > 1)}",
            "#0072b2",
        )
    begin, end, whole_one = found.cycle
    wording = "cycle: time between two workload changes" if whole_one else "part of a cycle"
    _bracket(axes, begin, end, 1 + 3 * line, line, wording, CHANGE)
    slot = len(found.rows) - 1
    axes.add_patch(
        Rectangle(
            (found.signals[slot], -0.5), width, 1.0, facecolor="none", edgecolor="#111111", linewidth=1.8,
            zorder=6, clip_on=False,
        )
    )  # fmt: skip
    axes.annotate(
        "slot", (found.signals[slot + 1], 0.0), xytext=(6, 0), textcoords="offset points", va="center",
        fontsize=8, annotation_clip=False,
    )  # fmt: skip


def _bracket(axes: Axes, begin: float, end: float, height: float, line: float, text: str, color: str) -> None:
    place = axes.get_xaxis_transform()
    axes.plot(
        [begin, begin, end, end], [height - 0.25 * line, height, height, height - 0.25 * line], color=color,
        linewidth=1.0, transform=place, clip_on=False,
    )  # fmt: skip
    axes.text(
        (begin + end) / 2, height + 0.15 * line, text, transform=place, ha="center", fontsize=7.5, color=color
    )


def _key() -> list[Artist]:
    found: list[Artist] = [
        Patch(
            facecolor=JOB_COLORS[0],
            edgecolor="#333333",
            linewidth=0.6,
            label="gang slot: its own task (job's number)",
        ),
        Patch(facecolor=JOB_COLORS[1], edgecolor="none", label="local: another task in its place (low)"),
        Patch(facecolor="#111111", label="switching"),
        Patch(facecolor=IDLE, label="idle slot"),
    ]
    found += [
        Patch(facecolor="white", edgecolor=color, hatch=hatch, linewidth=0.0, label=name)
        for name, color, hatch in WAITING.values()
    ]
    change = Line2D(
        [], [], linestyle="none", marker="^", ms=5, color=CHANGE, label="workload change: a job comes or ends"
    )
    return [*found, change]


BEGIN_S = 2000.0
"""Time at which the explorer's diagram begins by default: the machine is full by then."""

SLICES = 12
"""Slices of the explorer's diagram."""


def of_request(request: Request) -> Figure:
    """Draw the state of each PE in some slices."""
    begin = instant(request.begin, "from") if request.begin else BEGIN_S
    return of_point(counted(request.point), begin, SLICES, f"{request.title}, from {begin:,.0f} s on")


VIEWS = {
    "trace_diagram": View(
        "Trace diagram of the PEs",
        lambda policy: policy.get("family") == "models.concurrent_gang" and bool(policy.get("coordinated")),
        of_request,
        window=False,
    )
}

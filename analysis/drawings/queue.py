"""Utilization and queue length of a schedule over time."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.drawings.scene import Scene, scene, steps, unit_of, window
from analysis.figures.style import ACCENT, NEUTRAL

HELD = "#e0a030"


def queue(settings: Mapping[str, str]) -> Figure:
    """Draw a schedule, by default the period that experiments measure and what is before and after it."""
    shown = scene(settings)
    whole = {"from": settings["from"] or "0", "to": settings["to"] or f"{shown.schedule.end.max():.0f}s"}
    return draw_queue(shown, *window(whole, shown))


def draw_queue(shown: Scene, first: float, last: float) -> Figure:
    """Draw the share of processors at work and the number of waiting jobs between two times, seconds."""
    made, runs = shown.schedule, shown.schedule.runs
    unit, length = unit_of(last - first)
    figure = Figure(figsize=(7.4, 4.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    total = made.machine.total
    busy = steps(np.concatenate([runs.begin, runs.end]), np.concatenate([runs.processors, -runs.processors]))
    _step(above, busy, 100 / total, length, ACCENT, "at work")
    if made.held is not None and made.held.begin.size:
        held = made.held
        idle = steps(
            np.concatenate([held.begin, held.end]), np.concatenate([held.processors, -held.processors])
        )
        _step(above, idle, 100 / total, length, HELD, "kept idle for reservations")
        figure.legend(loc="outside lower center", ncols=2)
    ones = np.ones(len(made.jobs))
    waiting = steps(np.concatenate([made.jobs.submit, made.full_start]), np.concatenate([ones, -ones]))
    _step(below, waiting, 1.0, length, NEUTRAL, "waiting")
    above.set(ylabel="Processors (%)", ylim=(0, 102))
    below.set(ylabel="Waiting jobs", ylim=(0, None), xlabel=f"Time since the first submission ({unit})")
    below.set_xlim(first / length, last / length)
    edges = [edge for edge in (shown.begin, shown.until) if first < edge < last]
    measured = bool(edges) and shown.measured != slice(None)
    for axes in (above, below):
        for edge in edges if measured else ():
            axes.axvline(edge / length, color="#888888", linewidth=0.8, linestyle=(0, (5, 3)))
    above.set_title(f"{shown.title}{' (measured between the dashed lines)' if measured else ''}")
    return figure


def _step(
    axes: Axes, function: tuple[np.ndarray, np.ndarray], scale: float, unit: float, color: str, label: str
) -> None:
    times, values = function
    axes.fill_between(times / unit, values * scale, step="post", color=color, alpha=0.25, linewidth=0)
    axes.plot(times / unit, values * scale, color=color, drawstyle="steps-post", linewidth=0.8, label=label)

"""Utilization and queue length of a schedule over time, and its largest waits over the actual runtime."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from analysis.drawings.scene import Scene, positive, scene, steps, unit_of, window
from analysis.errors import DrawingError
from analysis.figures import style
from analysis.figures.style import ACCENT, NEUTRAL
from models.counting import counted

HELD = "#e0a030"


def queue(settings: Mapping[str, str]) -> Figure:
    """Draw a schedule, by default with the times before and after the period that experiments measure."""
    shown = scene(settings)
    whole = {"from": settings["from"] or "0", "to": settings["to"] or f"{shown.schedule.end.max():.0f}s"}
    return draw_queue(shown, *window(whole, shown))


def draw_queue(shown: Scene, first: float, last: float) -> Figure:
    """Draw the share of processors at work and the number of waiting jobs between two times, seconds."""
    made, runs = shown.schedule, shown.schedule.runs
    unit, length = unit_of(last - first)
    figure, (above, below) = style.page(7.4, 4.6, 2, 1, sharex=True)
    total = made.machine.total
    busy = steps(runs.begin, runs.end, runs.processors)
    _step(above, busy, 100 / total, length, ACCENT, "at work")
    if made.held is not None and made.held.begin.size:
        idle = steps(made.held.begin, made.held.end, made.held.processors)
        _step(above, idle, 100 / total, length, HELD, "kept idle for reservations")
        figure.legend(loc="outside lower center", ncols=2)
    waiting = steps(made.jobs.submit, made.full_start, np.ones(len(made.jobs)))
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


MINUTE, HOUR = 60.0, 3600.0


def waits(settings: Mapping[str, str]) -> Figure:
    """Draw the measured jobs of a schedule that wait for longest."""
    share = positive(settings, "share", "a share of the jobs, e.g. 0.05", most=1.0)
    shown = scene(settings)
    made = shown.schedule
    return draw_largest_waits(
        made.delay[shown.measured], made.jobs.runtime[shown.measured], share, shown.title
    )


def draw_largest_waits(wait: np.ndarray, runtime: np.ndarray, share: float, title: str) -> Figure:
    """Draw wait over actual runtime, both in seconds, of the jobs with the largest waits.

    Parameters
    ----------
    wait, runtime : ndarray, shape (n_jobs,)
    share : float
        Share of the jobs, the longest waits first.
    """
    n = round(share * len(wait))
    if not n:
        raise DrawingError(
            f"{share:.3g} of {counted(len(wait), 'job')} is less than one job: give a larger "
            "share= or more jobs"
        )
    chosen = np.argsort(-wait, kind="stable")[:n]
    figure, axes = style.page(6.6, 3.7)
    axes.set_xscale("log")
    axes.scatter(runtime[chosen] / MINUTE, wait[chosen] / HOUR, s=9, color=ACCENT, alpha=0.6, linewidths=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.12g}"))
    axes.set(xlabel="Actual runtime (min)", ylabel="Wait (h)")
    least = (
        f"{wait[chosen].min() / HOUR:.1f} h" if wait[chosen].min() >= HOUR else f"{wait[chosen].min():.0f} s"
    )
    axes.set_title(f"{title}: {counted(n, 'job', of=len(wait))}, waits from {least}")
    return figure

"""Pictures of what happens at a point: its schedule, its queue, its Ousterhout matrix, its trace diagram.

A dataset has none of that: the run of one replication is made anew from the dataset's config and seed.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.drawings.gantt import EDGED, LONGEST_DEFAULT, draw_gantt
from analysis.drawings.matrix import FREE, draw_matrix
from analysis.drawings.queue import draw_queue
from analysis.drawings.scene import Scene, instant, run, window
from analysis.errors import AnalysisError, DrawingError
from analysis.figures import style
from analysis.figures.policies import label
from models.point import Batches, Point
from sweep import compiling
from sweep.errors import SweepError
from sweep.plan import families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 130
JOBS = 120
"""Of a workload without end, so many jobs are submitted in the time that is drawn if nobody says."""

TASKS = "models.concurrent_gang"
BEGIN = 2000.0
"""Seconds at which a trace diagram begins if nobody says: the machine is full by then."""

SLICES = 12
"""Of a trace diagram."""

MOST_SLOTS = 60
"""Of a matrix: more are no picture."""


@dataclass(frozen=True)
class Request:
    """What is to be drawn.

    Parameters
    ----------
    sight : str
        A name of `SIGHTS`.
    point : Point
    begin, end : str
        Times as they are typed, ``90m``, ``36h``; empty for what suits.
    """

    sight: str
    point: Point
    begin: str = ""
    end: str = ""

    @property
    def title(self) -> str:
        """Policy, workload, load and replication."""
        return f"{label(self.point.policy['name'])}, {self._rest}, replication {self.point.seed[-1]}"

    @property
    def _rest(self) -> str:
        load = self.point.load
        return str(self.point.workload["name"]) + ("" if load is None else f", load {load:g}")


@dataclass(frozen=True)
class Sight:
    """A kind of picture.

    Parameters
    ----------
    title : str
        In a list.
    fits : callable
        Tells of a policy's parameters whether there is such a picture.
    draw : callable
    window : bool
        Whether it is of a stretch of time and not of a moment.
    """

    title: str
    fits: Callable[[Mapping[str, object]], bool]
    draw: Callable[[Request], Figure]
    window: bool = True


_last: list[tuple[Point, Scene]] = []
"""The latest schedule: another stretch of it needs no other simulation."""


def _counted(point: Point) -> Point:
    """Return a point whose run is told in jobs: with tasks that block, some end at a horizon instead."""
    if point.batches.size is None and _family(point.policy) == TASKS:
        return replace(point, batches=Batches(1000, 0, (1,)))
    return point


def _scene(point: Point) -> Scene:
    point = _counted(point)
    if not _last or _last[0][0] != point:
        _last[:] = [(point, run(point))]
    return _last[0][1]


def gantt(request: Request) -> Figure:
    """Draw who runs where, over some time."""
    shown = _scene(request.point)
    given = {"from": request.begin, "to": request.end}
    if request.begin or request.end:
        first, last = window(given, shown, LONGEST_DEFAULT)
    else:
        first, last = suiting(shown)
    return draw_gantt(_titled(shown, request), first, last)


def suiting(shown: Scene) -> tuple[float, float]:
    """Return a stretch of time of which a Gantt chart can be read.

    Of a log its first days; of an endless workload the time in which some jobs arrive, from the middle of the
    run on, when the machine is as full as it gets.
    """
    made = shown.schedule
    if made.trace is not None:
        first, last = shown.begin, min(shown.until, shown.begin + LONGEST_DEFAULT)
    else:
        submitted = np.sort(made.jobs.submit[shown.measured])
        middle = len(submitted) // 2
        first, last = float(submitted[middle]), float(submitted[min(middle + JOBS, len(submitted) - 1)])
        last = last if last > first else float(made.end.max())
    runs = made.runs
    while ((runs.begin < last) & (runs.end > first)).sum() > 2 * EDGED and last - first > 1e-6:
        last = first + (last - first) / 2
    return first, last


def queue(request: Request) -> Figure:
    """Draw processors at work and waiting jobs, over the whole run."""
    shown = _scene(request.point)
    whole = {"from": request.begin or "0", "to": request.end or f"{math.ceil(shown.schedule.end.max())}s"}
    return draw_queue(_titled(shown, request), *window(whole, shown))


def matrix(request: Request) -> Figure:
    """Draw the Ousterhout matrix at a moment."""
    from matplotlib.figure import Figure

    from analysis.feitelson1996.drawings.engine import state_of

    state, time = state_of(request.point, instant(request.begin, "from") if request.begin else None)
    n_slots, n_pes = state.mapped.shape
    if not n_slots:
        raise AnalysisError(f"no job is in the system at {time:g} s: give another time")
    if n_slots > MOST_SLOTS:
        raise AnalysisError(f"{n_slots} slots at {time:g} s are too many to see: give an earlier time")
    figure = Figure(figsize=(8.4, 0.3 * n_slots + 1.4), layout="constrained")
    jobs = len(set(state.mapped[state.mapped != FREE].tolist()))
    draw_matrix(
        figure.subplots(),
        state,
        f"{request.title}, at {time:,.0f} s: {jobs} jobs in {n_slots} slot{'s' * (n_slots != 1)} on "
        f"{n_pes} PEs (hatched: runs here too)",
    )
    return figure


def trace_diagram(request: Request) -> Figure:
    """Draw what each PE does in some slices."""
    from analysis.silva1999.drawings.trace_diagram import of_point

    begin = instant(request.begin, "from") if request.begin else BEGIN
    return of_point(_counted(request.point), begin, SLICES, f"{request.title}, from {begin:,.0f} s on")


def _titled(shown: Scene, request: Request) -> Scene:
    return Scene(shown.schedule, shown.measured, shown.begin, shown.until, request.title)


def _family(policy: Mapping[str, object]) -> str:
    return str(policy.get("family", ""))


def _schedules(policy: Mapping[str, object]) -> bool:
    try:
        return families.find(_family(policy)).schedules
    except SweepError:  # a family of somebody's own that is not here
        return False


SIGHTS = {
    "matrix": Sight(
        "Ousterhout matrix at a moment", lambda one: _family(one) == "models.gang", matrix, window=False
    ),
    "trace_diagram": Sight(
        "Trace diagram: what each PE does",
        lambda one: _family(one) == TASKS and bool(one.get("coordinated")),
        trace_diagram,
        window=False,
    ),
    "gantt": Sight("Schedule (Gantt chart)", _schedules, gantt),
    "queue": Sight("Busy processors and waiting jobs over time", _schedules, queue),
}


def offered(policy: Mapping[str, object]) -> list[str]:
    """Return the names of the pictures that there are of a policy, the one to begin with first."""
    return [name for name, sight in SIGHTS.items() if sight.fits(policy)]


def drawn(request: Request) -> bytes:
    """Return a picture as PNG.

    Raises
    ------
    AnalysisError
        With one line, if it cannot be drawn.
    """
    try:
        compiling.ready(request.point)
        with style.styled():
            figure, file = SIGHTS[request.sight].draw(request), io.BytesIO()
            figure.savefig(file, format="png", dpi=DPI)
    except (ValueError, SweepError, DrawingError, OSError) as error:  # what models refuse, in one line
        raise AnalysisError(str(error).partition("\n")[0]) from None
    return file.getvalue()

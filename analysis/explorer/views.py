"""Pictures of one point: its schedule, its queue, its Ousterhout matrix, its trace diagram.

A dataset has none of these: one replication is simulated again with the dataset's config and seed.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.drawings.gantt import EDGED, LONGEST_DEFAULT, boxes, draw_gantt
from analysis.drawings.matrix import FREE, JOB_COLORS, draw_matrix
from analysis.drawings.queue import draw_queue
from analysis.drawings.scene import Scene, instant, run, window
from analysis.errors import AnalysisError, DrawingError
from analysis.figures import style
from models import dotted
from models.point import Batches, Point
from sweep import compiling, plugins
from sweep.errors import SweepError
from sweep.plan import families
from sweep.policy_names import label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 130
JOBS = 120
"""Jobs that are submitted in the default period of a Gantt chart, of a workload without end."""

TASKS = "models.concurrent_gang"
BEGIN = 2000.0
"""Seconds at which a trace diagram begins by default: the machine is full by then."""

SLICES = 12
"""Slices of a trace diagram."""

MOST_SLOTS = 60
"""Slots of an Ousterhout matrix that can be drawn."""


@dataclass(frozen=True)
class Request:
    """A picture that is requested.

    Parameters
    ----------
    view : str
        A name of `VIEWS`.
    begin, end : str
        Times as they are typed, ``90m``, ``36h``; empty for the default.
    """

    view: str
    point: Point
    begin: str = ""
    end: str = ""

    @property
    def title(self) -> str:
        """Policy, workload, load and replication."""
        point = self.point
        load = "" if point.load is None else f", load {point.load:g}"
        name = label(point.policy["name"])
        return f"{name}, {point.workload['name']}{load}, replication {point.seed[-1]}"


@dataclass(frozen=True)
class View:
    """A kind of picture.

    Parameters
    ----------
    fits : callable
        Parameters of a policy -> whether there is such a picture of it.
    window : bool
        Whether it shows a period of time and not a moment.
    """

    title: str
    fits: Callable[[Mapping[str, object]], bool]
    draw: Callable[[Request], Figure | pd.DataFrame]
    window: bool = True


_last: list[tuple[Point, Scene]] = []
"""The latest schedule: another period of it needs no further simulation."""


def _counted(point: Point) -> Point:
    """Return a point whose run ends after a number of jobs; with tasks that block, some end at a horizon."""
    if point.batches.size is None and _family(point.policy) == TASKS:
        return replace(point, batches=Batches(1000, 0, (1,)))
    return point


def _scene(point: Point) -> Scene:
    point = _counted(point)
    if not _last or _last[0][0] != point:
        _last[:] = [(point, run(point))]
    return _last[0][1]


def gantt(request: Request) -> Figure:
    """Draw the processors of each job over some time."""
    shown = _scene(request.point)
    return draw_gantt(replace(shown, title=request.title), *_period(request, shown))


def rectangles(request: Request) -> pd.DataFrame:
    """Return the rectangles of a Gantt chart: job, hours, processors of all hosts one above the other."""
    shown = _scene(request.point)
    first, last = _period(request, shown)
    machine, parts, below = shown.schedule.machine, [], 0.0
    for host in range(len(machine.names)):
        one = boxes(shown, host, first, last)
        parts.append(
            pd.DataFrame(
                {"job": one.job + 1, "begin": one.begin / 3600, "end": one.end / 3600,
                 "low": one.low + below, "high": one.high + below}
            )[one.job >= 0]
        )  # fmt: skip
        below += float(machine.processors[host])
    found = pd.concat(parts, ignore_index=True)
    return found.assign(color=[JOB_COLORS[(job - 1) % len(JOB_COLORS)] for job in found["job"].tolist()])


def _period(request: Request, shown: Scene) -> tuple[float, float]:
    if not (request.begin or request.end):
        return default_period(shown)
    return window({"from": request.begin, "to": request.end}, shown, LONGEST_DEFAULT)


def default_period(shown: Scene) -> tuple[float, float]:
    """Return a period of which a Gantt chart can be read.

    Of a log its first days; of an endless workload the time in which `JOBS` jobs arrive, from the middle of
    the run on, when the machine is as full as it gets.
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
    return draw_queue(replace(shown, title=request.title), *window(whole, shown))


def matrix(request: Request) -> Figure:
    """Draw the Ousterhout matrix at a moment."""
    from matplotlib.figure import Figure

    from analysis.feitelson1996.drawings import state_of

    state, time = state_of(request.point, instant(request.begin, "from") if request.begin else None)
    n_slots, n_pes = state.mapped.shape
    if not n_slots:
        raise AnalysisError(f"no job is in the system at {time:g} s: give another time")
    if n_slots > MOST_SLOTS:
        raise AnalysisError(f"{n_slots} slots at {time:g} s are too many for a picture: give an earlier time")
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
    """Draw the state of each PE in some slices."""
    from analysis.silva1999.drawings.trace_diagram import of_point

    begin = instant(request.begin, "from") if request.begin else BEGIN
    return of_point(_counted(request.point), begin, SLICES, f"{request.title}, from {begin:,.0f} s on")


def _family(policy: Mapping[str, object]) -> str:
    return str(policy.get("family", ""))


def _schedules(policy: Mapping[str, object]) -> bool:
    try:
        with dotted.only(plugins.trusted()):  # the dataset may be a stranger's
            return families.find(_family(policy)).schedules
    except SweepError:  # a user's own family
        return False


VIEWS = {
    "matrix": View(
        "Ousterhout matrix at a moment", lambda one: _family(one) == "models.gang", matrix, window=False
    ),
    "trace_diagram": View(
        "Trace diagram of the PEs",
        lambda one: _family(one) == TASKS and bool(one.get("coordinated")),
        trace_diagram,
        window=False,
    ),
    "gantt": View("Schedule (Gantt chart)", _schedules, gantt),
    "zoom": View("Schedule to zoom into", _schedules, rectangles),
    "queue": View("Busy processors and waiting jobs over time", _schedules, queue),
}


def offered(policy: Mapping[str, object]) -> list[str]:
    """Return the names of a policy's pictures, the default first."""
    return [name for name, view in VIEWS.items() if view.fits(policy)]


def drawn(request: Request) -> bytes | pd.DataFrame:
    """Return a picture as PNG, or the rectangles of one that can be zoomed.

    Raises
    ------
    AnalysisError
        With one line, if it cannot be drawn.
    """
    try:
        compiling.ready(request.point)
        with style.styled():
            figure, file = VIEWS[request.view].draw(request), io.BytesIO()
            if isinstance(figure, pd.DataFrame):
                return figure
            figure.savefig(file, format="png", dpi=DPI)
    except (ValueError, SweepError, DrawingError, OSError) as error:  # errors of models, in one line
        raise AnalysisError(str(error).partition("\n")[0]) from None
    return file.getvalue()

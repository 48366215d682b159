"""Pictures of one point: its schedule, its queue, its Ousterhout matrix, its trace diagram.

A dataset has none of these: one replication is simulated again with the dataset's config and seed.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.drawings.gantt import EDGED, LONGEST_DEFAULT, boxes, draw_gantt
from analysis.drawings.matrix import JOB_COLORS
from analysis.drawings.queue import draw_queue
from analysis.drawings.scene import Scene, run, window
from analysis.drawings.views import Request, View, counted
from analysis.errors import AnalysisError, DrawingError
from analysis.figures import style
from analysis.registry import papers
from models import dotted
from models.point import Point
from sweep import compiling, plugins
from sweep.errors import SweepError
from sweep.plan import families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 130
JOBS = 120
"""Jobs submitted in the default period of a Gantt chart, for an endless workload."""

_last: list[tuple[Point, Scene]] = []
"""The latest schedule, so that another period of it needs no further simulation."""


def _scene(point: Point) -> Scene:
    point = counted(point)
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
    """Return a period for which a Gantt chart is legible.

    For a log, its first days; for an endless workload, the time in which `JOBS` jobs arrive from the middle
    of the run on, when the machine is fullest.
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


def _schedules(policy: Mapping[str, object]) -> bool:
    try:
        with dotted.only(plugins.trusted()):  # the dataset may be a stranger's
            return families.find(str(policy.get("family", ""))).schedules
    except SweepError:  # a user's own family
        return False


VIEWS = {
    "gantt": View("Schedule (Gantt chart)", _schedules, gantt),
    "zoom": View("Schedule to zoom into", _schedules, rectangles),
    "queue": View("Busy processors and waiting jobs over time", _schedules, queue),
}


@cache
def known() -> Mapping[str, View]:
    """Return all kinds of pictures by name: papers' pictures, of single families, come first."""
    return {name: view for paper in papers().values() for name, view in paper.views.items()} | VIEWS


def offered(policy: Mapping[str, object]) -> list[str]:
    """Return the names of a policy's pictures, the default first."""
    return [name for name, view in known().items() if view.fits(policy)]


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
            figure, file = known()[request.view].draw(request), io.BytesIO()
            if isinstance(figure, pd.DataFrame):
                return figure
            figure.savefig(file, format="png", dpi=DPI)
    except (ValueError, SweepError, DrawingError, OSError) as error:  # errors of models, in one line
        raise AnalysisError(str(error).partition("\n")[0]) from None
    return file.getvalue()

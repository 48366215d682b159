"""The demand of users at terminals, and the use of the Cray T3D in working hours.

Jette (1997) has the demand in words ("typically ranges from 64 to 256 processors during working hours", with
peaks of 320), and one moment of a typical day in Fig. 2.
"""

from collections.abc import Callable, Sequence

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.calendar import DAY
from models.jobs.job_classes import DEBUG, EXPRESS, INTERACTIVE
from models.production_gang.metrics import USUAL_DEMAND, WORKDAYS, WORKING_HOURS
from models.production_gang.systems import Run, area, steps

HOUR = 3600.0

DISPLAYED = ("day_free", "day_jobs", "day_processors", "day_batch", "day_paged_out")
"""Metrics of data that only the T3D records."""


def of_day(run: Run, edges: Floats) -> dict[str, Floats]:
    """Return the demand of terminals and the use of the machine in working hours, shape (n_batches,).

    Metrics of data that only the T3D records are NaN for other systems, and so are means without working
    hours.
    """
    jobs = run.jobs
    assert jobs.job_class is not None
    at_terminal = (jobs.job_class == INTERACTIVE) | (jobs.job_class == DEBUG)
    first, last = WORKING_HOURS
    cuts, batch, hour, weekday = parts_of_days(run.clock, edges, WORKING_HOURS)
    inside = (first <= hour) & (hour < last) & (weekday < WORKDAYS)
    n = len(edges) - 1
    hours = np.bincount(batch[inside], np.diff(cuts)[inside], n).astype(np.float64)

    def mean(time: Floats, level: Floats) -> Floats:
        seconds = np.diff(area(time, level, cuts))
        with np.errstate(invalid="ignore"):
            return np.bincount(batch[inside], seconds[inside], n) / hours

    time, demand = steps(jobs.submit[at_terminal], run.end[at_terminal], jobs.size[at_terminal])
    low, high = USUAL_DEMAND
    usual = ((low <= demand) & (demand <= high)).astype(np.float64)
    found = {
        "working_hours": hours,
        "demand_usual": mean(time, usual),
        "demand_peak": _peaks(time, demand, edges),
    }
    return found | _display(run, at_terminal, mean)


def _display(
    run: Run, at_terminal: np.ndarray, mean: Callable[[Floats, Floats], Floats]
) -> dict[str, Floats]:
    """Return the means of the quantities in Fig. 2: processors by class, and batch jobs on disk."""
    stays, jobs = getattr(run.detail, "residencies", None), run.jobs
    if stays is None:
        return dict.fromkeys(DISPLAYED, np.full_like(mean(np.zeros(0), np.zeros(0)), np.nan))
    size = jobs.size[stays.job]
    is_batch = ~at_terminal & (jobs.job_class != EXPRESS)
    terminal, batch = at_terminal[stays.job], is_batch[stays.job]

    def held(chosen: np.ndarray, height: np.ndarray, since: Floats = stays.assigned) -> Floats:
        return mean(*steps(since[chosen], stays.stops[chosen], height[chosen]))

    begun = mean(*steps(run.start[is_batch], run.end[is_batch], jobs.size[is_batch]))
    in_memory = held(batch, size, np.maximum(stays.assigned, run.start[stays.job]))
    found = (
        run.machine.total - held(np.ones_like(batch), size),
        held(terminal, np.ones(len(size))),
        held(terminal, size),
        begun,
        begun - in_memory,
    )
    return dict(zip(DISPLAYED, found, strict=True))


def parts_of_days(
    clock: float, edges: Floats, hours: Sequence[float] = (0,)
) -> tuple[Floats, Ints, Floats, Floats]:
    """Divide batches at these hours of each day.

    Return when parts begin and the last one ends, and the batch, the hour and the day of the week of each.
    """
    days = np.arange(np.floor((edges[0] + clock) / DAY), np.ceil((edges[-1] + clock) / DAY) + 1)
    turns = np.concatenate([days * DAY + hour * HOUR for hour in hours]) - clock
    cuts = np.unique(np.concatenate([edges, np.clip(turns, edges[0], edges[-1])]))
    middle = (cuts[:-1] + cuts[1:]) / 2
    batch = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, max(len(edges) - 2, 0))
    return cuts, batch, (middle + clock) % DAY / HOUR, (middle + clock) // DAY % 7


def _peaks(time: Floats, level: Floats, edges: Floats) -> Floats:
    """Return the largest value of a step function between edges, without those that last for no time."""
    lasts = np.diff(time, append=np.inf) > 0
    time, level = time[lasts], level[lasts]
    first = np.maximum(np.searchsorted(time, edges[:-1], side="right") - 1, 0)
    last = np.searchsorted(time, edges[1:], side="left")
    return np.array([level[a:b].max(initial=0.0) for a, b in zip(first, last, strict=True)])

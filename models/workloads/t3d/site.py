"""Arrival rates: calendar, cycles of day and week, growth, and the published numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from models.arrays import Floats
from models.workloads.t3d.keys import HOUR, HOURS, Batch, Interactive, Keys
from models.workloads.t3d.runtimes import solved_scale

DAY = 86_400
SATURDAY = 5
MONTH_DAYS = 30.4375
"""Days of a month of growth: a twelfth of 365.25."""


@dataclass(frozen=True, eq=False)
class Site:
    """Rates and scales with which a reference period has its jobs and its work on average.

    Parameters
    ----------
    zero : date
        The Monday with which time begins.
    since, until : int, seconds
        The measured period.
    sessions, batch : ndarray of float, shape (n_hours,)
        Mean number of sessions that begin in each hour from 0 to `until`, and of batch jobs.
    interactive_scale, batch_scale : float
        See `models.workloads.t3d.runtimes.solved_scale`.
    expected_work : float, processor seconds
        Mean of the jobs of the measured period, where users are not closed.

    Notes
    -----
    A later job of a session is submitted some time after the session began. In whole weeks with a rate that
    repeats every week, as many jobs come in from before as are lost at the end, whatever that time is, so
    that the number of jobs is exact as well. Only growth within that time, some hours, is neglected: a few
    10^-4.
    """

    zero: date
    since: int
    until: int
    sessions: Floats
    batch: Floats
    interactive_scale: float
    batch_scale: float
    expected_work: float

    @property
    def seconds(self) -> int:
        """Length of the measured period."""
        return self.until - self.since

    @property
    def days(self) -> int:
        """Length of the measured period."""
        return self.seconds // DAY

    @classmethod
    def of(cls, keys: Keys) -> Site:
        """Return the rates and scales of a workload; ``ValueError`` with one line if there are none."""
        begin, end = keys.first_day, _end(keys)
        early = begin - timedelta(days=keys.warmup_days)
        zero = early - timedelta(days=early.weekday())
        since, until = ((day - zero).days * DAY for day in (begin, end))
        reference = keys.reference
        last = reference.first_day + timedelta(days=7 * reference.weeks)
        interactive_scale = solved_scale(
            keys.interactive.queues,
            keys.interactive.spread,
            reference.interactive.work / reference.interactive.jobs,
            "reference.interactive",
        )
        batch_scale = solved_scale(
            keys.batch.queues,
            keys.batch.spread,
            reference.batch.work / reference.batch.jobs,
            "reference.batch",
        )
        rates = []
        jobs: tuple[tuple[Interactive | Batch, float], ...] = (
            (keys.interactive, reference.interactive.jobs / keys.interactive.session_jobs),
            (keys.batch, reference.batch.jobs * keys.batch.demand),
        )
        for of, n in jobs:
            there = rate(of, keys.growth, reference.first_day, last, reference.first_day)
            rates.append(rate(of, keys.growth, zero, end, reference.first_day) * (n / there.sum()))
        sessions, batch = rates
        measured = slice(since // int(HOUR), None)
        work = (
            sessions[measured].sum()
            * keys.interactive.session_jobs
            * reference.interactive.work
            / reference.interactive.jobs
        )
        work += batch[measured].sum() * reference.batch.work / reference.batch.jobs
        return cls(zero, since, until, sessions, batch, interactive_scale, batch_scale, float(work))


def rate(of: Interactive | Batch, growth: float, first: date, last: date, reference: date) -> Floats:
    """Return the relative numbers of arrivals in each hour from one day until another, shape (n_hours,)."""
    n_days = (last - first).days
    hour = np.arange(n_days * HOURS)
    weekday = (first.weekday() + hour // HOURS) % 7
    level = of.by_hour[hour % HOURS] * np.where(weekday < SATURDAY, 1.0, of.weekend)
    months = ((first - reference).days + (hour + 0.5) / HOURS) / MONTH_DAYS
    return np.asarray(level * (1 + growth) ** months)


def _end(keys: Keys) -> date:
    if keys.weeks is not None:
        return keys.first_day + timedelta(days=7 * keys.weeks)
    assert keys.months is not None
    years, month = divmod(keys.first_day.month - 1 + keys.months, 12)
    first_of_month = date(keys.first_day.year + years, month + 1, 1)
    days = (first_of_month.replace(day=28) + timedelta(days=4)).replace(day=1) - first_of_month
    return first_of_month + timedelta(days=min(keys.first_day.day, days.days) - 1)

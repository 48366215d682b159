"""Random futures of a queue: runtimes from the history of users, and arrivals from earlier weeks."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.workloads.resampling import copied

Group = tuple[tuple[str, float], ...]

LEAST, MOST = 10, 200
"""Number of ended jobs that a group needs for draws, and of its latest ones that are drawn from."""

WEEK, DAY = 7 * 86_400.0, 86_400.0
MOST_WEEKS = 26
"""Weeks before the instant from which arrivals are drawn."""


@dataclass(frozen=True, eq=False)
class Past:
    """Jobs submitted before the instant 0, in order of submission.

    Parameters
    ----------
    jobs : Jobs
        Times in seconds from the instant. The runtime of a job that has not ended by then is not read.
    start : ndarray of float, shape (n_jobs,), seconds
        Infinite for a job that waits, NaN if no start is recorded.
    """

    jobs: Jobs
    start: Floats

    @cached_property
    def ended(self) -> np.ndarray:
        """Return which jobs have ended by the instant."""
        return self.start + self.jobs.runtime <= 0

    @cached_property
    def columns(self) -> tuple[Floats, Floats, dict[str, np.ndarray]]:
        """Runtime, limit and the features for similarity of the ended jobs, in order of their ends."""
        jobs, rows = self.jobs, np.flatnonzero(self.ended)
        rows = rows[np.argsort((self.start + jobs.runtime)[rows], kind="stable")]
        user = np.zeros(len(jobs)) if jobs.user is None else jobs.user
        keys = {"user": user, "limit": np.nan_to_num(jobs.requested), "size": jobs.size}
        return jobs.runtime[rows], jobs.requested[rows], {name: of[rows] for name, of in keys.items()}

    @cached_property
    def _found(self) -> dict[Group, Ints]:
        return {}

    def ended_of(self, group: "Group") -> Ints:
        """Return the positions of a group's jobs in `columns`. O(ended jobs), once for each group."""
        if group not in self._found:
            runtime, _, keys = self.columns
            same = [keys[name] == value for name, value in group]
            self._found[group] = np.flatnonzero(np.logical_and.reduce([np.ones(len(runtime), bool), *same]))
        return self._found[group]


def _similar(jobs: Jobs, job: int) -> list[Group]:
    """Return the groups that a job belongs to, those with the most similar jobs first."""
    user = ("user", 0.0 if jobs.user is None else float(jobs.user[job]))
    limit, size = ("limit", float(np.nan_to_num(jobs.requested[job]))), ("size", float(jobs.size[job]))
    return [(user, limit, size), (user, limit), (user,), (limit,), ()]


def runtimes(past: Past, jobs: Jobs, elapsed: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Return `n` draws of the runtime of each job, shape (n, n_jobs), seconds.

    A runtime is copied from an ended job: from the first group in `_similar` with `LEAST` jobs that ran
    longer than the job has run already; if the limits differ, the share of the limit is copied. The jobs of
    one user get consecutive runtimes from a random place on, because these resemble each other. None exceeds
    a limit that the job has not exceeded.
    """
    drawn = np.empty((n, len(jobs)))
    place: dict[Group, Floats] = {}
    count: dict[Group, int] = {}
    for job in range(len(jobs)):
        limit, least = float(jobs.requested[job]), float(elapsed[job])
        group, values = _values(past, jobs, job, least)
        if not len(values):  # no job ran that long
            most = limit if limit > least else 2 * least + DAY
            drawn[:, job] = rng.uniform(least, most, n)
            continue
        if group not in place:
            place[group] = rng.random(n)
        at = (place[group] * len(values)).astype(np.int64) + count.get(group, 0)
        count[group] = count.get(group, 0) + 1
        drawn[:, job] = values[at % len(values)]
        if limit > least:
            np.minimum(drawn[:, job], limit, out=drawn[:, job])
    return np.maximum(drawn, elapsed + 1.0)


def _values(past: Past, jobs: Jobs, job: int, least: float) -> tuple[Group, Floats]:
    """Return the group of a job, and the runtimes from which its own is drawn, in order of time."""
    ran, requested, _ = past.columns
    best: tuple[Group, Floats] = ((), np.empty(0))
    limit = float(jobs.requested[job])
    for group in _similar(jobs, job):
        rows = past.ended_of(group)
        values = ran[rows]
        if limit > 0 and "limit" not in dict(group):
            share = np.minimum(values / requested[rows], 1.0)
            values = np.where(np.isfinite(share), share * limit, values)
        values = values[values > least][-MOST:]
        if len(values) >= LEAST:
            return group, values
        if len(values) > len(best[1]):
            best = (group, values)
    return best


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Later submissions, which repeat earlier weeks at the same weekday and time of day.

    If the log is shorter than a week, they repeat earlier days.
    """

    jobs: Jobs
    period: float
    n_periods: int

    @classmethod
    def of(cls, past: Past, rng: np.random.Generator) -> "Arrivals":
        """Return the jobs of the past, with drawn runtimes for those not known at the instant."""
        jobs = past.jobs
        unknown = np.flatnonzero(~past.ended & ~np.isnan(past.start))
        runtime = jobs.runtime.copy()
        runtime[unknown] = runtimes(past, jobs.part(unknown), np.zeros(len(unknown)), 1, rng)[0]
        age = -float(jobs.submit[0]) if len(jobs) else 0.0
        period = WEEK if age >= WEEK else DAY
        return cls(replace(jobs, runtime=runtime), period, min(int(age / period), MOST_WEEKS))

    def until(self, horizon: float, key: tuple[int, ...]) -> Jobs:
        """Return the arrivals from the instant to a horizon; a longer horizon only adds later ones."""
        rng, chosen, shift = np.random.default_rng(key), [np.empty(0, np.int64)], [np.empty(0)]
        n_periods = -int(-horizon // self.period) if self.n_periods else 0
        for k in range(n_periods):
            ago = int(rng.integers(1, self.n_periods + 1))
            first, last = np.searchsorted(self.jobs.submit, (-ago * self.period, (1 - ago) * self.period))
            chosen.append(np.arange(first, last))
            shift.append(np.full(last - first, (k + ago) * self.period))
        copy = np.repeat(np.arange(n_periods), [len(rows) for rows in chosen[1:]])
        found = copied(self.jobs.part(np.concatenate(chosen)), copy)
        found = replace(found, submit=found.submit + np.concatenate(shift))
        return found.part(found.submit < horizon)

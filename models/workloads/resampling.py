"""Replications from one log: its users, or its weeks, are resampled (``workload.resample``).

A log is one sample of what a site's users might have submitted. Zakay and Feitelson decompose it by user and
recombine it: users are drawn, and each brings all of its jobs, moved by a whole number of weeks. This
preserves the cycles of the day and the week, and each user's sessions, sizes, runtimes and bursts, while
different users are active at the same time in each replication. More users mean more load.

Where the paper gives no formula, the following is assumed (`_users`):

- Users are drawn with replacement: the load of replications spreads, since the users are random too.
  ``with_replacement: false`` takes each user once: all replications have the log's load, and only the users'
  weeks are random.
- **Heavy users**, those with more than ``heavy_share`` of all work, are always taken exactly once. If drawn,
  a user with two fifths of the work would occur twice or not at all, which would dominate everything else.
- **Long-lasting users**, active for ``long_lasting_weeks`` or more from their first to their last submission,
  and **temporary** ones, all others, are drawn separately, as many of each as the log has, so that the
  composition of the population is kept. A user drawn twice counts as two users.
- Every user's activity begins in a week that is drawn from all weeks of the log. Time is circular:
  submissions after the log's end are moved to its beginning, at the same time of the week. A long-lasting
  user thus continues from its end to its beginning, and temporary users may be in the middle of their
  activity at the beginning, as on the log's first day. At any time of the week, the expected work is the
  log's own.

``weeks`` is for logs without users: each week is one of the log's calendar weeks, with all of its
submissions. The log's first and last weeks are seldom whole: if together they cover no time of the week
twice, they form one week, otherwise each is a week with a gap. So every job is in some week. Correlations
beyond a week are lost.

References
----------
N. Zakay and D. G. Feitelson, "Workload resampling for performance evaluation of parallel job schedulers",
Concurrency and Computation: Practice and Experience 26(12), 2014, 2079-2105.
"""

from dataclasses import dataclass, replace

import numpy as np

from models import checks, keys
from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.calendar import DAY, WEEK, monday
from models.jobs.jobs import Jobs
from models.jobs.swf import Log
from models.jobs.trace import Trace
from models.point import Parameters, Seed
from models.streams import stream

USERS, WEEKS = "users", "weeks"
LEAST_WEEKS = 2
"""Minimum length of a log that can be resampled: jobs are moved by whole weeks."""

NO_JOB = -1
"""Preceding job, and think time, of a job without a preceding job."""


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """Keys of a log, see conf/workload/_log.yaml."""

    BASE = "_log"

    resample: str | None = keys.choice(None, USERS, WEEKS)
    with_replacement: bool = keys.switch()
    population: float = keys.number(
        "users drawn for each one that the log has, above 0 to 100", above=0, most=100
    )
    heavy_share: float = keys.number(
        "a share of the work above 0 and up to 1 (1: all users are drawn)", above=0, most=1
    )
    long_lasting_weeks: int = keys.whole("a positive whole number of weeks")


def wanted(workload: Parameters) -> Resampling | None:
    """Return how a log is resampled, or None if it is not; ``ValueError`` with one line for other values."""
    if "resample" not in workload:
        return None
    found = Resampling(**keys.read(Resampling, workload, "workload"))
    if found.population != 1 and found.resample != USERS:
        allowed = "1; other populations need workload.resample=users"
        checks.refuse("workload.population", workload["population"], allowed)
    return None if found.resample is None else found


def resampled(read: Trace, workload: Parameters, seed: Seed) -> Trace:
    """Return another log of the same kind and length, or the log itself if it is not resampled.

    Raises
    ------
    ValueError
        With one line, if the log is too short, or has no users.
    """
    wish = wanted(workload)
    if wish is None:
        return read
    drawn = wish.resample
    name, jobs = read.name, read.jobs
    time = jobs.submit - jobs.submit[0]
    if time[-1] < LEAST_WEEKS * WEEK:
        raise ValueError(
            f"{name}: its jobs span {time[-1] / DAY:.1f} days, and workload.resample={drawn} moves whole "
            f"weeks: it needs at least {LEAST_WEEKS * 7} days; give a longer log, or workload.resample=null"
        )
    if drawn == WEEKS:
        zero = None if read.origin is None else read.origin.zero
        source, submit, copy, n_weeks = _weeks(time, 0.0 if zero is None else monday(zero), seed)
        user = None if jobs.user is None else jobs.user[source]
        begin = "at its first submission" if zero is None else "on Mondays at 0:00"
        notes = [f"{name}: each week of a replication is one of its {n_weeks} weeks, which begin {begin}"]
    else:
        if jobs.user is None:
            raise ValueError(
                f"{name}: its jobs name no users to draw (workload.resample=users); workload.resample=weeks "
                "draws its weeks instead"
            )
        work = jobs.size * jobs.runtime
        source, submit, user, strata = _users(time, jobs.user, work, wish, seed)
        copy = user
        notes = _notes(name, jobs.user, work, strata, wish)
    notes.append(
        f"{name}: waits of a resampled log do not predict the site's, which depend on which jobs coincide; "
        "compare policies with each other"
    )
    made = replace(copied(jobs.part(source), copy), submit=submit, user=user)
    log, rows = read.log, read.rows
    if log is not None and rows is not None:
        log, rows = _as_log(log, rows[source], made), np.arange(len(made))
    elif rows is not None:
        rows = rows[source]
    origin = read.origin
    if origin is not None and origin.zero is not None:
        origin = replace(origin, zero=origin.zero + float(submit[0]))
    # Recorded waits belong to the log's own jobs.
    return replace(
        read, jobs=made, notes=(*read.notes, *notes), log=log, rows=rows, origin=origin, waited=None
    )


def copied(jobs: Jobs, copy: Ints) -> Jobs:
    """Return jobs with a separate heterogeneous job in each copy of the jobs; `copy` has the shape (n_jobs,)
    and the number of the copy to which each job belongs."""
    if jobs.request is None:
        return jobs
    of_job = jobs.request.het_job
    number = of_job + (copy - copy.min(initial=0)) * (of_job.max(initial=-1) + 1)
    return replace(jobs, request=replace(jobs.request, het_job=np.where(of_job < 0, -1, number)))


def _users(
    time: Floats, user: Ints, work: Floats, wish: Resampling, seed: Seed
) -> tuple[Ints, Floats, Ints, list[Ints]]:
    """Draw users, and the weeks in which they begin; O(n log n) in the jobs.

    Parameters
    ----------
    time : ndarray of float, shape (n_jobs,), seconds
        Ascending from 0.
    user : ndarray of int, shape (n_jobs,)
    work : ndarray of float, shape (n_jobs,), processor-seconds

    Returns
    -------
    source : ndarray of int, shape (n_drawn,)
        Which job each job of the new log is, in order of submission.
    submit : ndarray of float, shape (n_drawn,), seconds
    user : ndarray of int, shape (n_drawn,)
        The first copy of a user keeps its number; each further copy gets an unused number.
    strata : list of ndarray of int
        The log's users, as indices into the sorted users: heavy, long-lasting, temporary.
    """
    draws = stream(seed, "users drawn")
    end = time[-1]
    by_user = np.argsort(user, kind="stable")
    number, begin, count = np.unique(user[by_user], return_index=True, return_counts=True)
    active = time[by_user[begin + count - 1]] - time[by_user[begin]]
    is_lasting = active >= WEEK * wish.long_lasting_weeks
    of_user = np.add.reduceat(work[by_user], begin)
    is_heavy = of_user > wish.heavy_share * of_user.sum()
    kinds = (is_heavy, is_lasting & ~is_heavy, ~(is_lasting | is_heavy))
    strata = [np.flatnonzero(kind) for kind in kinds]
    again = wish.with_replacement
    chosen = np.concatenate([_drawn(users, wish, draws, again and i > 0) for i, users in enumerate(strata)])
    moved = draws.integers(0, int(end // WEEK) + 1, chosen.size)

    source = by_user[_ranges(begin[chosen], count[chosen])]
    of_week = time[source] % WEEK
    week = np.rint((time[source] - of_week) / WEEK).astype(np.int64)
    # How often this time of the week occurs in the log: once more before its end than after it.
    n_weeks = ((end - of_week) // WEEK).astype(np.int64) + 1
    submit = of_week + WEEK * ((week + np.repeat(moved, count[chosen])) % n_weeks)

    called = number[chosen]
    copy = np.ones(chosen.size, bool)
    copy[np.unique(chosen, return_index=True)[1]] = False
    called[copy] = max(int(number[-1]), 0) + 1 + np.arange(int(copy.sum()))
    order = np.argsort(submit, kind="stable")
    return source[order], submit[order], np.repeat(called, count[chosen])[order], strata


def _drawn(users: Ints, wish: Resampling, draws: np.random.Generator, again: bool) -> Ints:
    """Draw users, a fixed number for each existing one, and at least one in total."""
    if not users.size:
        return users
    n_drawn = max(round(wish.population * users.size), 1)
    if again:
        return users[draws.integers(0, users.size, n_drawn)]
    whole, rest = divmod(n_drawn, users.size)
    return np.concatenate([np.tile(users, whole), draws.permutation(users)[:rest]])


def _weeks(time: Floats, phase: float, seed: Seed) -> tuple[Ints, Floats, Ints, int]:
    """Draw a week of the log for each of its weeks.

    Parameters
    ----------
    time : ndarray of float, shape (n_jobs,), seconds
        Ascending from 0.
    phase : float, seconds
        From the beginning of the first week to the first submission.

    Returns
    -------
    source : ndarray of int, shape (n_drawn,)
        Which job each job of the new log is, in order of submission.
    submit : ndarray of float, shape (n_drawn,), seconds
        Of the log's weeks the first begins before 0, so that these begin a week later.
    copy : ndarray of int, shape (n_drawn,)
        Week of the new log.
    n_weeks : int
    """
    week, of_week = np.divmod(time + phase, WEEK)
    week = week.astype(np.int64)
    if of_week[-1] < phase:  # the rest of the last week fits into the first week, before its own jobs
        week %= week[-1]
    n_weeks = int(week.max()) + 1
    by_week = np.lexsort((of_week, week))
    begin = np.searchsorted(week[by_week], np.arange(n_weeks + 1))
    drawn = stream(seed, "weeks drawn").integers(0, n_weeks, n_weeks)
    count = np.diff(begin)[drawn]
    source = by_week[_ranges(begin[drawn], count)]
    begins = WEEK * (np.arange(n_weeks) + (phase > 0)) - phase
    copy = np.repeat(np.arange(n_weeks, dtype=np.int64), count)
    return source, np.repeat(begins, count) + of_week[source], copy, n_weeks


def _ranges(begin: Ints, count: Ints) -> Ints:
    """Return begin[0], begin[0] + 1, … (count[0] of them), begin[1], …"""
    before = np.cumsum(count) - count
    return np.repeat(begin - before, count) + np.arange(int(count.sum()))


def _notes(name: str, user: Ints, work: Floats, strata: list[Ints], wish: Resampling) -> list[str]:
    """Return notes on how users are drawn, and on the variation of the load between replications."""
    population = wish.population
    heavy, lasting, _ = strata
    n_users = sum(users.size for users in strata)
    times = "" if population == 1 else f", {population:g} for each of them,"
    again = wish.with_replacement
    notes = [
        f"{name}: in each replication its {n_users:,} users{times} are drawn "
        f"{'again' if again else 'once (in other weeks)'}, long-lasting ones ({lasting.size:,}, active for "
        f"{wish.long_lasting_weeks} weeks or more) separately from the others"
    ]
    of_user = np.bincount(np.unique(user, return_inverse=True)[1], work)
    if again and heavy.size:
        share = of_user[heavy].sum() / of_user.sum()
        notes.append(
            f"{name}: {counted(heavy.size, 'user', 'has')} more than {wish.heavy_share:.0%} of its work each "
            f"({share:.0%} together): they are in every replication once, in other weeks "
            "(workload.heavy_share)"
        )
    if again:
        variance = sum(population * users.size * of_user[users].var() for users in strata[1:] if users.size)
        spread = np.sqrt(variance) / (population * of_user.sum())
        notes.append(
            f"{name}: the load of replications varies by ± {spread:.0%}, by the users that are drawn"
        )
    if unknown := int((user < 0).sum()):
        notes.append(f"{name}: {counted(unknown, 'job', 'has')} no known user: treated as jobs of one user")
    return notes


def _as_log(log: Log, rows: Ints, made: Jobs) -> Log:
    """Return the rows of the drawn jobs as a log, in the time base of the original one."""
    columns = {name: values[rows] for name, values in log.columns.items()}
    none = np.full(len(made), NO_JOB)
    columns |= {
        "job": np.arange(1, len(made) + 1),
        "submit": log.first_submit + made.submit,
        "preceding_job": none,
        "think_time": none.astype(np.float64),
    }
    if made.user is not None:
        columns["user"] = made.user
    return replace(log, columns=columns, line=log.line[rows])

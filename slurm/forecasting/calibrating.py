"""How accurate forecasts were at earlier instants of the log, and quantiles calibrated by that."""

from dataclasses import dataclass

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from slurm.forecasting.simulating import Futures, Scheduler
from slurm.forecasting.state import MOMENT_S, of_log

LEVELS = np.array([0.1, 0.5, 0.9])
"""Levels of the quantiles that are reported."""

NEAREST, LEAST = 50, 20
"""Earlier instants from which calibrated quantiles are taken, each with the most similar waiting job, at
most;
and the fewest."""

SHARE = 0.25
"""Share of the known instants that is used: quantiles of all would not depend on what a job asks for."""

LAST = 10
"""Number of latest starts whose mean wait a forecast is compared with."""

MOST_TRIES = 10
"""Instants that are tried for each one at which a job waits."""

OFFSET_S = 60.0
"""Seconds added to times before their logarithms are compared, so that a minute hardly matters."""

NEAR_S = 30.0
"""Seconds that schedulers take to notice that a job can start, and therefore the precision of logs."""

FIRST_SHARE, TESTED_SHARE = 0.05, 0.3
"""Share of a log before the first instant that is used, and before the first that is tested."""


def quantiles(starts: Floats) -> Floats:
    """Return the quantiles of simulated starts, shape (3, n_jobs); infinite starts come last."""
    return np.asarray(np.quantile(starts, LEVELS, axis=0, method="inverted_cdf"))


def features(jobs: Jobs, simulated: Floats) -> Floats:
    """Return the features by which waiting jobs are compared, shape (n_jobs, 4): logarithms of the simulated
    median, of the
    time waited, of the size and of the limit."""
    limit, median = np.nan_to_num(jobs.requested) + OFFSET_S, np.minimum(simulated[1], 1e9)
    return np.log(np.column_stack([median + OFFSET_S, OFFSET_S - jobs.submit, jobs.size, limit]))


@dataclass(frozen=True, eq=False)
class Cases:
    """Waiting jobs at instants of a log; arrays have the length n_cases, except `simulated`, (3, n_cases).

    Parameters
    ----------
    instant : ndarray of int
    at : ndarray of float, seconds
        The instant, in time from the first submission.
    start : ndarray of float, seconds
        The recorded start, in time from the instant.
    simulated, features
        See `quantiles` and `features`.
    last : ndarray of float, seconds
        The start if the job waited as long as the last ten jobs that started, on average.
    """

    instant: Ints
    at: Floats
    start: Floats
    simulated: Floats
    features: Floats
    last: Floats

    def n_known(self, at: float) -> int:
        """Return the number of instants with a case that had started by a given instant."""
        return len(np.unique(self.instant[self.at + self.start < at]))

    def calibrated(self, simulated: Floats, of: Floats, at: float) -> Floats:
        """Return quantiles of starts of other jobs, from the cases that had started by an instant.

        Only the most similar case of each earlier instant counts, so that cases are independent; the
        quantiles are taken of the starts at the most similar instants. With fewer than `LEAST` the simulated
        ones are returned.
        """
        known = self.at + self.start < at
        instant, start, features = self.instant[known], self.start[known], self.features[known]
        n = int(np.clip(SHARE * self.n_known(at), LEAST, NEAREST))
        if self.n_known(at) < LEAST:
            return simulated
        found, level = np.empty((len(LEVELS), len(of))), np.arange(1, n + 1) / (n + 1)
        for job, own in enumerate(of):
            order = np.argsort(((features - own) ** 2).sum(axis=1), kind="stable")
            first = np.sort(np.unique(instant[order], return_index=True)[1])[:n]
            found[:, job] = np.interp(LEVELS, level, np.sort(start[order[first]]))
        return found


def cases(
    trace: Trace,
    scheduler: Scheduler,
    n: int,
    replications: int,
    seed: int,
    period: tuple[float, float],
    new: bool = False,
) -> Cases:
    """Return the waiting jobs at random instants of a period at which some job waits.

    With `new` the instants are submissions, and the cases the jobs submitted then, whether they wait or not.
    """
    rng = np.random.default_rng((seed, 4))
    parts: list[tuple[np.ndarray, ...]] = []
    first, last = np.searchsorted(trace.jobs.submit, period)
    for _ in range(MOST_TRIES * n * (last > first)):
        at = float(trace.jobs.submit[rng.integers(first, last)] + MOMENT_S if new else rng.uniform(*period))
        state = of_log(trace, at)
        if not state.n_waiting or state.rows is None or trace.waited is None:
            continue
        watched = np.arange(state.n_running, len(state.jobs))[-1 if new else 0 :]
        rows, waiting = state.rows[watched], state.jobs.part(watched)
        simulated = quantiles(Futures(state, scheduler.at(state), replications, seed).starts(watched))
        true = np.maximum(trace.jobs.submit[rows] + trace.waited[rows] - at, 0.0)
        began = np.flatnonzero(state.past.start < 0)
        began = began[np.argsort(state.past.start[began])][-LAST:]
        mean = (state.past.start - state.past.jobs.submit)[began].mean() if len(began) else 0.0
        here, after_mean = np.full(len(rows), len(parts)), np.fmax(waiting.submit + mean, 0.0)
        parts.append((here, here * 0.0 + at, true, simulated.T, features(waiting, simulated), after_mean))
        if len(parts) == n:
            break
    if not parts:
        none = np.empty(0)
        return Cases(none.astype(np.int64), none, none, np.empty((len(LEVELS), 0)), np.empty((0, 4)), none)
    instant, instants, start, found, alike, mean_ = (np.concatenate(of) for of in zip(*parts, strict=True))
    return Cases(instant, instants, start, found.T, alike, mean_)


def scores(tested: Cases, found: Floats) -> dict[str, tuple[float, float]]:
    """Return scores of quantiles of starts, shape (3, n_cases): means over instants with 95 % half-widths.

    The mean over the waiting jobs of an instant counts once. An interval covers a start that is less than
    `NEAR_S` outside of it. `pinball` is the mean of the loss over `LEVELS`, `median` the absolute error of
    the median, both in seconds.
    """
    true, count = tested.start, np.bincount(tested.instant)
    off = true - found
    each = {
        "covered": (true >= found[0] - NEAR_S) & (true <= found[2] + NEAR_S),
        "too_early": true < found[0] - NEAR_S,
        "too_late": true > found[2] + NEAR_S,
        "median": np.abs(off[1]),
        "pinball": np.maximum(LEVELS[:, None] * off, (LEVELS[:, None] - 1) * off).mean(axis=0),
    }
    means = {name: np.bincount(tested.instant, values) / count for name, values in each.items()}
    half = 1.96 / np.sqrt(len(count))
    return {name: (float(of.mean()), float(half * of.std(ddof=1))) for name, of in means.items()}

"""Requested times as users choose them: the model of Tsafrir, Etsion and Feitelson (2005).

Users pick from few values: twenty take 89 % of all jobs, and the longest that is allowed is the most popular
of them. The model gives the distinct values and how many jobs ask for each, and assigns them so that no job
requests less than its runtime.

References
----------
D. Tsafrir, Y. Etsion and D. G. Feitelson, "Modeling user runtime estimates", in *Job Scheduling Strategies
for Parallel Processing*, LNCS 3834, 2005; the values are from the authors' program.
"""

import numpy as np

from models.arrays import Floats, Ints

HOUR, MINUTE = 3600, 60

POPULAR = 20
"""Values that nearly all users pick from: the "head" of the distribution."""

HEAD_SHARE = 0.89

SHORTEST_LIMIT = 2 * HOUR
"""Shortest limit: below it there are fewer than twenty round values."""

DISTINCT = ((0, 20, 200, 1000, 10_000, 70_000, 250_000), (0, 10, 20, 35, 90, 340, 565))
"""Numbers of jobs, and of distinct values that they request: linear between these points, constant beyond."""

COMMON = (
    *(minutes * MINUTE for minutes in (5, 10, 15, 20, 30)),
    *(hours * HOUR for hours in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18)),
)
"""Seconds that are among the twenty most popular in all four logs of the authors."""

ROUND = (200 * HOUR, 100 * HOUR, 50 * HOUR, 10 * HOUR, 5 * HOUR, 2 * HOUR, HOUR, 20 * MINUTE, 600, 300)
"""Multiples of these, the longest first, complete the twenty."""

POPULARITY_IN_LOGS = (
    (3, 1, 4, 17, 13, 7, 8, 18, 2, 6, 16, 10, 5, 15, 14, 19, 11, 12, 9, 20),  # SDSC
    (1, 3, 4, 2, 12, 9, 8, 18, 6, 7, 11, 20, 16, 5, 14, 13, 10, 15, 17, 19),  # CTC
    (1, 4, 10, 14, 20, 2, 3, 7, 12, 6, 19, 5, 18, 16, 9, 17, 15, 13, 8, 11),  # KTH
    (1, 6, 5, 3, 7, 2, 18, 19, 4, 11, 20, 9, 10, 14, 13, 16, 15, 17, 8, 12),  # Blue Horizon
)
"""Rank of popularity of the longest value of the twenty, then of the others from the shortest on."""

SHIFTS = (0, 30, -30, 20, -20, 10, -10)
"""Seconds by which a value is moved if it is already taken."""


def n_distinct(n_jobs: int) -> int:
    """Return how many distinct values a number of jobs asks for."""
    return int(np.floor(np.interp(n_jobs, *DISTINCT) + 0.5))


def head_times(longest: int) -> Ints:
    """Return the twenty popular values: the longest, then the others from the shortest on.

    Parameters
    ----------
    longest : int, seconds
        The longest allowed request, at least `SHORTEST_LIMIT`.
    """
    times = [longest, *(time for time in COMMON if time < longest)]
    for step in ROUND:
        multiples = range(longest // step * step, 0, -step)
        times += [time for time in multiples if time not in times][: POPULAR - len(times)]
    return np.array([longest, *sorted(times[1:])])


def head_shares() -> Floats:
    """Return the shares of jobs of the twenty popular values, the most popular first."""
    rank = np.arange(2, POPULAR + 1)
    others = (14.0491 * np.exp(-0.177531 * rank) + 0.462513) / 100
    return np.concatenate([[HEAD_SHARE - others.sum()], others])


def head_ranks(rng: np.random.Generator) -> Ints:
    """Draw the ranks of popularity (from 1 on) of the twenty values, in the order of `head_times`.

    A value may get any rank that one of the logs has had at it or at a shorter one; the more popular of two
    drawn ranks is taken. A rank that no log has at a later value goes first, the most popular first.
    """
    seen = np.array(POPULARITY_IN_LOGS)
    last_seen = {rank: int(np.max(np.nonzero(seen == rank)[1])) for rank in range(1, POPULAR + 1)}
    pool: list[int] = []
    ranks: list[int] = []
    for place in range(POPULAR):
        pool += [int(rank) for rank in seen[:, place] if rank not in ranks]
        due = [rank for rank, last in last_seen.items() if last <= place and rank not in ranks]
        if place == 0:
            rank = 1
        elif due:
            rank = min(due)
        else:
            rank = min(pool[k] for k in rng.integers(len(pool), size=2))
        ranks.append(rank)
        pool = [other for other in pool if other != rank]
    return np.array(ranks)


def tail_times(longest: int, n_values: int, taken: Ints) -> Ints:
    """Return about `n_values` more values, ascending: at full minutes, or seconds beside a taken value.

    The k-th of K distinct values is longest (a - 1) x / (a - x), with x = k / K, a = 1 + 12.1039 K^-0.6026;
    as in the authors' program x is counted in the values of the tail only.
    """
    a = 1 + 12.1039 * (n_values + POPULAR) ** -0.6026
    x = np.arange(1, n_values + 1) / n_values
    minutes = np.floor((a - 1) * x / (a - x) * longest / MINUTE + 0.5).astype(int)
    used = {int(time) for time in taken}
    times = []
    for time in (minutes * MINUTE).tolist():
        free = (time + s for s in SHIFTS if time + s not in used and 0 < time + s < longest)
        if (chosen := next(free, None)) is not None:
            used.add(chosen)
            times.append(chosen)
    return np.array(sorted(times))


def distribution(n_jobs: int, longest: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw the requests of a site's users, at most `longest` seconds (at least `SHORTEST_LIMIT`).

    More jobs request more distinct values.

    Returns
    -------
    times : ndarray of int, shape (n_values,), seconds, ascending
    shares : ndarray of float, shape (n_values,)
        Shares of the jobs; their sum is 1.
    """
    head = head_times(longest)
    tail = tail_times(longest, max(n_distinct(n_jobs) - POPULAR, 1), head)
    rank = np.arange(POPULAR + 1, POPULAR + 1 + tail.size)
    weight = rng.permutation(rank**-2.267)
    times = np.concatenate([head, tail])
    shares = np.concatenate([head_shares()[head_ranks(rng) - 1], (1 - HEAD_SHARE) * weight / weight.sum()])
    order = np.argsort(times)
    return times[order], shares[order]


def descending(times: Ints, shares: Floats, n_jobs: int) -> Ints:
    """Return `n_jobs` values in their shares, descending; the remainder goes to the largest fractions."""
    exact = shares * n_jobs
    count = np.floor(exact).astype(int)
    left = n_jobs - count.sum()
    count[np.argsort(count - exact, kind="stable")[:left]] += 1
    return np.repeat(times, count)[::-1]


def deal(runtime: Floats, values: Ints, uniforms: Floats) -> tuple[Ints, int]:
    """Assign values so that no job gets less than its runtime; all such assignments are equally likely.

    From the longest job to the shortest, each draws one of the values that are left and long enough.

    Parameters
    ----------
    runtime : ndarray, shape (n_jobs,), seconds
    values : ndarray of int, shape (n_jobs,), seconds, descending
    uniforms : ndarray, shape (n_jobs,), in [0, 1)

    Returns
    -------
    requested : ndarray of int, shape (n_jobs,), seconds
        Less than the runtime only if that is beyond the longest value.
    n_raised : int
        Values that were raised to the longest one, because there were more long jobs than long values. (The
        authors' program gives up there.)
    """
    order = np.argsort(-runtime, kind="stable")
    longest_first = np.minimum(runtime[order], values[0])
    short = values < longest_first
    if short.any():
        values = np.sort(np.where(short, values[0], values))[::-1]
    left: list[int] = values.tolist()
    n_enough = np.searchsorted(-values, -longest_first, side="right")
    place = np.arange(len(runtime))
    drawn: list[int] = (place + (uniforms * (n_enough - place)).astype(int)).tolist()
    for k, chosen in enumerate(drawn):
        left[k], left[chosen] = left[chosen], left[k]
    requested = np.empty(len(runtime), np.int64)
    requested[order] = left
    return requested, int(short.sum())

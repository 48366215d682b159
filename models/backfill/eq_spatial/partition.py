"""Dividing a host's processors among its jobs as equally as their requests allow (Chiang and Vernon 2001,
section 2.5).

As if processors were dealt out one at a time, in turns, to all who still want one. Where they do not come out
even, the first submitted have one more, or the last. Before that some jobs have a claim to what they ask for,
as long as every other job has a processor: those that catch up, those that have run for long (section 4.4),
and perhaps those in their quantum. Where that is too much, it is divided among them by the same rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, int64, types, void

from models.arrays import Ints
from models.backfill.eq_spatial.state import HOSTS, JOBS, SETTINGS, Hosts, JobTable, Settings
from models.kernels.compiling import part
from models.kernels.types import INTS, record

BOUNDLESS = 2**62


class Claims(NamedTuple):
    """What a division looks at: less than the whole tables, which would take longer to hand over than to use.

    Parameters
    ----------
    member : jobs of hosts in order of submission, those of one host together
    size, standing : of each job
    asks : room for a group of the jobs of a host, see `gather`
    favoured_from : standings from this one on have a claim to what they ask for
    last : whether odd processors go to the last submitted
    """

    member: Ints
    size: Ints
    standing: Ints
    asks: Ints
    favoured_from: int
    last: bool


CLAIMS = record(Claims)


@part(types.UniTuple(int64, 2)(CLAIMS, int64, int64, boolean))
def gather(claims: Claims, base: int, n: int, favoured: bool) -> tuple[int, int]:
    """Put side by side what those of the `n` jobs from `base` on ask for that are favoured, or the others.

    `asks` is `BOUNDLESS` for jobs of the other group. O(n).

    Returns
    -------
    int, int
        Jobs of the group, and the processors that the other group asks for.
    """
    n_group, asked = 0, 0
    for i in range(n):
        job = claims.member[base + i]
        size = claims.size[job]
        in_group = (claims.standing[job] >= claims.favoured_from) == favoured
        claims.asks[i] = size if in_group else BOUNDLESS
        asked += 0 if in_group else size
        n_group += int(in_group)
    return n_group, asked


@part(types.UniTuple(int64, 2)(INTS, int64, int64, int64))
def level_of(asks: Ints, n: int, n_sharing: int, budget: int) -> tuple[int, int]:
    """Divide a budget among a group of the `n` jobs of a host.

    O(n) for each level at which some jobs have all that they ask for.

    Parameters
    ----------
    asks : see `gather`
    n_sharing : jobs of the group; what they are more than there are ask for any number of processors
    budget : one for each of them at least

    Returns
    -------
    int, int
        Jobs that ask for no more than the level have what they ask for, and all others the level; so many of
        these have one more.
    """
    level = budget // n_sharing
    left = budget
    n_had_enough = 0
    while True:
        n_enough = 0
        left = budget
        for i in range(n):
            has_enough = asks[i] <= level
            left -= asks[i] if has_enough else 0
            n_enough += int(has_enough)
        if n_enough == n_sharing:
            return BOUNDLESS, 0
        if n_enough == n_had_enough:
            break
        n_had_enough = n_enough
        level = left // (n_sharing - n_enough)
    return level, left - level * (n_sharing - n_had_enough)


@part(void(CLAIMS, int64, int64, int64, int64, INTS))
def hand_out(claims: Claims, base: int, n: int, level: int, odd: int, target: Ints) -> None:
    """Fill in what the jobs that were gathered have at a level, with odd processors for some."""
    for k in range(n):
        i = n - 1 - k if claims.last else k
        asks = claims.asks[i]
        if asks == BOUNDLESS:
            continue
        job = claims.member[base + i]
        target[job] = asks
        if asks > level:
            target[job] = level + (1 if odd > 0 else 0)
            odd -= 1


@part(void(CLAIMS, int64, int64, int64, INTS), inline=False)
def divide(claims: Claims, base: int, n: int, processors: int, target: Ints) -> None:
    """Say how many processors each of the `n` jobs from `base` on shall have, at most as many as processors.

    Parameters
    ----------
    claims, base, n, processors : the jobs of a host
    target : filled in
    """
    n_others, asked = gather(claims, base, n, False)
    if n_others > 0:
        given = min(asked, processors - n_others)
        level, odd = level_of(claims.asks, n, n_others, processors - given)
        hand_out(claims, base, n, level, odd, target)
    if n_others < n:
        n_favoured, _ = gather(claims, base, n, True)
        level, odd = level_of(claims.asks, n, n_favoured, processors - n_others)
        hand_out(claims, base, n, level, odd, target)


@part(types.UniTuple(int64, 2)(CLAIMS, int64, int64, int64, int64))
def where_odd(claims: Claims, base: int, n: int, level: int, odd: int) -> tuple[int, int]:
    """Say after whom and before whom one more job has to be submitted to have an odd processor. O(n)."""
    if odd == 0:
        return -1, -1
    after, before = -1, BOUNDLESS
    # The last of the others that has an odd processor if the one more does not come before it.
    for k in range(n):
        i = n - 1 - k if claims.last else k
        if level < claims.asks[i] < BOUNDLESS:
            odd -= 1
            if odd == 0:
                if claims.last:
                    after = claims.member[base + i]
                else:
                    before = claims.member[base + i]
                break
    return after, before


@part(types.UniTuple(int64, 3)(CLAIMS, int64, int64, int64, int64), inline=False)
def place_beside(claims: Claims, base: int, n: int, n_sharing: int, budget: int) -> tuple[int, int, int]:
    """Say what one more job without a claim has of a budget beside those that were gathered, see `share_of`.

    O(n) for each level, see `level_of`.

    Parameters
    ----------
    claims, base, n : the jobs of a host, of which those without a claim were gathered
    n_sharing : how many these are, and one more
    budget : what those with a claim leave

    Returns
    -------
    int, int, int
        What it asks for but no more than a level; one more than that where it is submitted between the second
        and the third.
    """
    if budget <= n_sharing:
        return 1, -1, -1
    if n_sharing == 1:
        return budget, -1, -1
    level, odd = level_of(claims.asks, n, n_sharing, budget)
    after, before = where_odd(claims, base, n, level, odd)
    return level, after, before


@part(int64(int64, int64, int64, int64, int64))
def share_of(job: int, size: int, level: int, after: int, before: int) -> int:
    """Return how many processors a job has in the place that `place_beside` found."""
    if size <= level:
        return size
    return level + (1 if after < job < before else 0)


@part(void(HOSTS, int64))
def rank(hosts: Hosts, n: int) -> None:
    """Make ready to divide many budgets among those that were gathered and one more, see `level_beside`.

    O(n^2), of which there are few.
    """
    asks, enough, taken = hosts.asks, hosts.enough, hosts.taken
    n_group = 0
    for i in range(n):
        asked = asks[i]
        if asked == BOUNDLESS:
            continue
        at = n_group
        while at > 0 and enough[at - 1] > asked:
            enough[at] = enough[at - 1]
            at -= 1
        enough[at] = asked
        n_group += 1
    total = 0
    for k in range(n_group):
        asked = enough[k]
        taken[k] = total
        enough[k] = total + asked * (n_group + 1 - k)
        total += asked
    taken[n_group] = total


@part(types.UniTuple(int64, 2)(HOSTS, int64, int64))
def level_beside(hosts: Hosts, n_group: int, budget: int) -> tuple[int, int]:
    """Say at which level one more job has its part of a budget beside those that were ranked, and how many of
    the jobs at that level have one more. O(n_group), without branches.

    A job has all that it asks for if the budget is enough for the others to have as much, or all of theirs.
    """
    if budget <= n_group + 1:
        return 1, 0
    n_enough = 0
    for k in range(n_group):
        n_enough += int(hosts.enough[np.uint64(k)] <= budget)
    left = budget - hosts.taken[np.uint64(n_enough)]
    n_sharing = n_group + 1 - n_enough
    level = left // n_sharing
    return level, left - level * n_sharing


@part(CLAIMS(JOBS, HOSTS, SETTINGS))
def claims_of(jobs: JobTable, hosts: Hosts, settings: Settings) -> Claims:
    """Return what a division looks at."""
    last = settings.last
    return Claims(hosts.members, jobs.size, jobs.standing, hosts.asks, settings.favoured_from, last)


@part(void(int64, JOBS, HOSTS, SETTINGS))
def divide_host(h: int, jobs: JobTable, hosts: Hosts, settings: Settings) -> None:
    """Say how many processors each job of host `h` shall have, see `divide`."""
    claims = claims_of(jobs, hosts, settings)
    divide(claims, h * hosts.places, hosts.n_members[h], hosts.processors[h], jobs.target)


@part(types.UniTuple(int64, 2)(int64, JOBS, HOSTS, SETTINGS))
def gather_on_host(h: int, jobs: JobTable, hosts: Hosts, settings: Settings) -> tuple[int, int]:
    """Gather the jobs of host `h` without a claim, see `gather`."""
    return gather(claims_of(jobs, hosts, settings), h * hosts.places, hosts.n_members[h], False)


@part(types.UniTuple(int64, 3)(int64, int64, int64, JOBS, HOSTS, SETTINGS))
def place_on_host(
    h: int, n_sharing: int, asked: int, jobs: JobTable, hosts: Hosts, settings: Settings
) -> tuple[int, int, int]:
    """Say what one more job would have on host `h` beside claims of so many, see `place_beside`."""
    claims, base = claims_of(jobs, hosts, settings), h * hosts.places
    return place_beside(claims, base, hosts.n_members[h], n_sharing, hosts.processors[h] - asked)


@part(types.UniTuple(int64, 2)(int64, int64, int64, JOBS, HOSTS, SETTINGS))
def where_odd_on_host(
    h: int, level: int, odd: int, jobs: JobTable, hosts: Hosts, settings: Settings
) -> tuple[int, int]:
    """Say who has an odd processor on host `h`, see `where_odd`."""
    return where_odd(claims_of(jobs, hosts, settings), h * hosts.places, hosts.n_members[h], level, odd)

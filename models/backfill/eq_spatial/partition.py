"""Dividing a host's processors among its jobs as equally as their requests allow (Chiang and Vernon 2001,
section 2.5).

As if processors were dealt out one at a time, in turns, to all who still want one. Where they do not come out
even, the first submitted have one more, or the last. Before that some jobs have a claim to what they ask for,
as long as every other job has a processor: those that catch up, those that have run for long (section 4.4),
and perhaps those in their quantum. Where that is too much, it is divided among them by the same rule.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, types, void

from models.arrays import Ints
from models.backfill.eq_spatial.state import (
    HOSTS,
    LONG,
    SETTINGS,
    Hosts,
    Settings,
)
from models.kernels.bits import lowest_position, population, span
from models.kernels.compiling import part
from models.kernels.lanes import LANES
from models.kernels.masks import between, copy, deal, few, total
from models.kernels.types import INTS

BOUNDLESS = 2**62


@part(types.UniTuple(int64, 2)(int64, boolean, HOSTS, SETTINGS))
def gather(h: int, favoured: bool, hosts: Hosts, settings: Settings) -> tuple[int, int]:
    """Put side by side what those jobs of host `h` ask for that are favoured, or the others.

    `asks` is `BOUNDLESS` for jobs of the other group, and beyond them up to a full eight. O(n).

    Returns
    -------
    int, int
        Jobs of the group, and the processors that the other group asks for.
    """
    members, n = hosts.members, hosts.n_members[h]
    n_group, asked = 0, 0
    for k in range(0, n, LANES):
        at = np.uint64(h * hosts.places + k)
        present = span(min(n - k, LANES))
        group = between(members.standing, at, n - k, settings.favoured_from, LONG)
        if not favoured:
            group ^= present
        copy(members.size, at, group, BOUNDLESS, hosts.asks, np.uint64(k))
        asked += total(members.size, at, present ^ group)
        n_group += population(group)
    return n_group, asked


@part(types.UniTuple(int64, 2)(INTS, int64, int64, int64))
def level_of(asks: Ints, n: int, n_sharing: int, budget: int) -> tuple[int, int]:
    """Divide a budget among a group of the `n` jobs of a host.

    O(n) for each level at which some jobs have all that they ask for.

    Parameters
    ----------
    asks : see `gather`
    n_sharing : jobs of the group
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
        for k in range(0, n, LANES):
            at = np.uint64(k)
            have_enough = between(asks, at, LANES, 0, level)
            left -= total(asks, at, have_enough)
            n_enough += population(have_enough)
        if n_enough == n_sharing:
            return BOUNDLESS, 0
        if n_enough == n_had_enough:
            break
        n_had_enough = n_enough
        level = left // (n_sharing - n_enough)
    return level, left - level * (n_sharing - n_had_enough)


@part(void(INTS, int64, int64, int64, boolean, INTS, int64))
def hand_out(asks: Ints, n: int, level: int, odd: int, last: bool, shares: Ints, base: int) -> None:
    """Fill in what the jobs that were gathered have at a level, with odd processors for some.

    That of the first of all is at the place `base`; nothing changes for those that were not gathered.
    """
    first_of_last = (n - 1) & -LANES
    for k in range(0, n, LANES):
        i = first_of_last - k if last else k
        at = np.uint64(i)
        group = between(asks, at, LANES, 0, BOUNDLESS - 1)
        above = between(asks, at, LANES, level + 1, BOUNDLESS - 1)
        n_above = population(above)
        # The first of them, or all but the first.
        one_more = few(above, n_above - odd if last else odd)
        if last:
            one_more ^= above
        deal(asks, at, group, level, one_more, shares, np.uint64(base + i))
        odd -= n_above


@part(void(int64, HOSTS, SETTINGS))
def divide(h: int, hosts: Hosts, settings: Settings) -> None:
    """Say how many processors each job of host `h` shall have; there are at most as many as processors."""
    asks, shares, base = hosts.asks, hosts.members.target, h * hosts.places
    n, processors = hosts.n_members[h], hosts.processors[h]
    n_others, asked = gather(h, False, hosts, settings)
    if n_others > 0:
        level, odd = level_of(asks, n, n_others, processors - min(asked, processors - n_others))
        hand_out(asks, n, level, odd, settings.last, shares, base)
    if n_others < n:
        n_favoured, _ = gather(h, True, hosts, settings)
        level, odd = BOUNDLESS, 0
        if asked > processors - n_others:
            level, odd = level_of(asks, n, n_favoured, processors - n_others)
        hand_out(asks, n, level, odd, settings.last, shares, base)


@part(types.UniTuple(int64, 2)(int64, int64, int64, HOSTS, SETTINGS))
def where_odd(h: int, level: int, odd: int, hosts: Hosts, settings: Settings) -> tuple[int, int]:
    """Say after whom and before whom one more job of host `h` has to be submitted to have an odd processor.

    O(n).
    """
    if odd == 0:
        return -1, -1
    n = hosts.n_members[h]
    first_of_last = (n - 1) & -LANES
    # The last of the others that has an odd processor if the one more does not come before it.
    for k in range(0, n, LANES):
        i = first_of_last - k if settings.last else k
        above = between(hosts.asks, np.uint64(i), LANES, level + 1, BOUNDLESS - 1)
        n_above = population(above)
        if odd <= n_above:
            n_before = n_above - odd if settings.last else odd - 1
            i += lowest_position(above ^ few(above, n_before))
            job = hosts.members.job[np.uint64(h * hosts.places + i)]
            return (job, BOUNDLESS) if settings.last else (-1, job)
        odd -= n_above
    return -1, BOUNDLESS


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


@part(types.UniTuple(int64, 3)(int64, int64, int64, HOSTS, SETTINGS))
def place_beside(h: int, n_group: int, budget: int, hosts: Hosts, settings: Settings) -> tuple[int, int, int]:
    """Say what one more job of host `h` without a claim has of a budget beside those that were ranked, see
    `share_of`. O(jobs on the host).

    Returns
    -------
    int, int, int
        What it asks for but no more than a level; one more than that where it is submitted between the second
        and the third.
    """
    level, odd = level_beside(hosts, n_group, budget)
    after, before = where_odd(h, level, odd, hosts, settings)
    return level, after, before

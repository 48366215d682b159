"""Dividing a host's processors among its jobs as equally as their requests allow (Chiang and Vernon 2001,
section 2.5).

The result is the same as if processors were dealt out one at a time, in turns, to all jobs that request more.
If they cannot be divided evenly, the first submitted jobs have one more, or the last. Some jobs take
precedence with a claim to their full request, as long as every other job has a processor: jobs that catch up,
jobs that have run for long (section 4.4), and perhaps jobs in their quantum. If the claims exceed the
processors, these are divided among them by the same rule.
"""

import numpy as np
from numba import boolean, int64, types, void

from models.arrays import Ints
from models.backfill.eq_spatial.tables import HOSTS, SETTINGS, Hosts, Settings
from models.kernels.compiling import part
from models.kernels.types import INTS

BOUNDLESS = 2**62


@part(types.UniTuple(int64, 2)(int64, boolean, HOSTS, SETTINGS))
def gather(h: int, favoured: bool, hosts: Hosts, settings: Settings) -> tuple[int, int]:
    """Fill `asks` with the requests of the favoured jobs of host `h`, or of the others; jobs of the other
    group get `BOUNDLESS`. O(n), without branches.

    Returns
    -------
    int, int
        The number of jobs in the group, and the processors that the other group requests.
    """
    members, base = hosts.members, h * hosts.places
    n_group, asked = 0, 0
    for k in range(hosts.n_members[h]):
        at = np.uint64(base + k)
        size = members[at].size
        in_group = (members[at].standing >= settings.favoured_from) == favoured
        hosts.asks[np.uint64(k)] = size if in_group else BOUNDLESS
        asked += 0 if in_group else size
        n_group += int(in_group)
    return n_group, asked


@part(types.UniTuple(int64, 2)(INTS, int64, int64, int64))
def level_of(asks: Ints, n: int, n_sharing: int, budget: int) -> tuple[int, int]:
    """Divide a budget among a group of the `n` jobs of a host.

    O(n) for each level at which some jobs have their full request.

    Parameters
    ----------
    asks : see `gather`
    n_sharing : jobs of the group
    budget : at least one for each of them

    Returns
    -------
    int, int
        The level and a number of jobs: jobs that request at most the level have their request, all others
        have the level, and this number of the latter have one more.
    """
    level = budget // n_sharing
    n_had_enough = 0
    while True:
        n_enough = 0
        left = budget
        for k in range(n):
            ask = asks[np.uint64(k)]
            has_enough = ask <= level
            left -= ask if has_enough else 0
            n_enough += int(has_enough)
        if n_enough == n_sharing:
            return BOUNDLESS, 0
        if n_enough == n_had_enough:
            return level, left - level * (n_sharing - n_had_enough)
        n_had_enough = n_enough
        level = left // (n_sharing - n_enough)


@part(void(INTS, int64, int64, int64, boolean, INTS))
def hand_out(asks: Ints, n: int, level: int, odd: int, last: bool, shares: Ints) -> None:
    """Fill in the processors of the gathered jobs at a level, with odd processors for some. O(n).

    Jobs that were not gathered keep theirs.
    """
    for i in range(n):
        k = n - 1 - i if last else i
        at = np.uint64(k)
        ask = asks[at]
        is_above = (ask > level) & (ask < BOUNDLESS)
        share = level + int(odd > 0) if is_above else ask
        shares[at] = share if ask < BOUNDLESS else shares[at]
        odd -= int(is_above)


@part(void(int64, HOSTS, SETTINGS))
def divide(h: int, hosts: Hosts, settings: Settings) -> None:
    """Compute the target of each job of host `h`; there are at most as many jobs as processors."""
    asks, shares, base = hosts.asks, hosts.shares, h * hosts.places
    n, processors = hosts.n_members[h], hosts.processors[h]
    n_others, asked = gather(h, False, hosts, settings)
    if n_others > 0:
        level, odd = level_of(asks, n, n_others, processors - min(asked, processors - n_others))
        hand_out(asks, n, level, odd, settings.last, shares)
    if n_others < n:
        n_favoured, _ = gather(h, True, hosts, settings)
        level, odd = BOUNDLESS, 0
        if asked > processors - n_others:
            level, odd = level_of(asks, n, n_favoured, processors - n_others)
        hand_out(asks, n, level, odd, settings.last, shares)
    for k in range(n):
        hosts.members[np.uint64(base + k)].target = shares[np.uint64(k)]


@part(types.UniTuple(int64, 2)(int64, int64, int64, HOSTS, SETTINGS))
def where_odd(h: int, level: int, odd: int, hosts: Hosts, settings: Settings) -> tuple[int, int]:
    """Return after and before which job of host `h` another one must be submitted for an odd processor.

    O(n).
    """
    if odd == 0:
        return -1, -1
    n = hosts.n_members[h]
    # The last of the others with an odd processor, if the additional job does not precede it.
    for i in range(n):
        k = n - 1 - i if settings.last else i
        ask = hosts.asks[np.uint64(k)]
        if level < ask < BOUNDLESS:
            odd -= 1
            if odd == 0:
                job = hosts.members[np.uint64(h * hosts.places + k)].job
                return (job, BOUNDLESS) if settings.last else (-1, job)
    return -1, BOUNDLESS


@part(int64(int64, int64, int64, int64, int64))
def share_of(job: int, size: int, level: int, after: int, before: int) -> int:
    """Return the processors of a job in the place that `place_beside` returned."""
    if size <= level:
        return size
    return level + (1 if after < job < before else 0)


@part(void(HOSTS, int64))
def rank(hosts: Hosts, n: int) -> None:
    """Prepare to divide many budgets among the gathered jobs and an additional one, see `level_beside`.

    O(n^2), but n is small.
    """
    asks, enough, taken = hosts.asks, hosts.enough, hosts.taken
    n_group = 0
    for i in range(n):
        asked = asks[np.uint64(i)]
        if asked == BOUNDLESS:
            continue
        at = n_group
        while at > 0 and enough[np.uint64(at - 1)] > asked:
            enough[np.uint64(at)] = enough[np.uint64(at - 1)]
            at -= 1
        enough[np.uint64(at)] = asked
        n_group += 1
    total = 0
    for k in range(n_group):
        asked = enough[np.uint64(k)]
        taken[np.uint64(k)] = total
        enough[np.uint64(k)] = total + asked * (n_group + 1 - k)
        total += asked
    taken[np.uint64(n_group)] = total


@part(types.UniTuple(int64, 2)(HOSTS, int64, int64))
def level_beside(hosts: Hosts, n_group: int, budget: int) -> tuple[int, int]:
    """Return the level of an additional job's part of a budget beside the ranked jobs, and how many of the
    jobs at that level have one more. O(n_group), without branches.

    A job has its full request if the budget suffices for the others to have as much, or their full request.
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
    """Return the part of an additional job of host `h` without a claim in a budget beside the ranked jobs,
    see `share_of`. O(jobs on the host).

    Returns
    -------
    int, int, int
        Its request, or the level if that is less, and one more if it was submitted between the second and the
        third value.
    """
    level, odd = level_beside(hosts, n_group, budget)
    after, before = where_odd(h, level, odd, hosts, settings)
    return level, after, before


@part(types.UniTuple(int64, 3)(int64, HOSTS, SETTINGS))
def place_of_deferred(h: int, hosts: Hosts, settings: Settings) -> tuple[int, int, int]:
    """Return the part that a job outside host `h` would have there, see `place_beside`."""
    if hosts.n_members[h] >= hosts.processors[h]:
        return 0, -1, -1
    n_others, asked = gather(h, False, hosts, settings)
    rank(hosts, hosts.n_members[h])
    return place_beside(h, n_others, hosts.processors[h] - asked, hosts, settings)

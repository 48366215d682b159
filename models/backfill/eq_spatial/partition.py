"""Dividing a host's processors among its jobs as equally as their requests allow (Chiang and Vernon 2001,
section 2.5).

As if processors were dealt out one at a time, in turns, to all who still want one. Where they do not come out
even, the first submitted have one more, or the last. Before that some jobs have a claim to what they ask for,
as long as every other job has a processor: those that catch up, those that have run for long (section 4.4),
and perhaps those in their quantum. Where that is too much, it is divided among them by the same rule.
"""

from __future__ import annotations

from typing import NamedTuple

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
    favoured_from : standings from this one on have a claim to what they ask for
    last : whether odd processors go to the last submitted
    """

    member: Ints
    size: Ints
    standing: Ints
    favoured_from: int
    last: bool


CLAIMS = record(Claims)


@part(types.UniTuple(int64, 2)(CLAIMS, int64, int64, boolean, int64, int64, int64))
def level_of(
    claims: Claims, base: int, n: int, favoured: bool, without: int, n_sharing: int, budget: int
) -> tuple[int, int]:
    """Divide a budget among the favoured of the `n` jobs from `base` on, or the others.

    O(n) for each level at which some jobs have all that they ask for.

    Parameters
    ----------
    claims, base, n : the jobs of a host
    favoured : which group
    without : a job that is left out, or `NOBODY`
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
        for i in range(base, base + n):
            job = claims.member[i]
            in_group = (claims.standing[job] >= claims.favoured_from) == favoured and job != without
            if in_group and claims.size[job] <= level:
                left -= claims.size[job]
                n_enough += 1
        if n_enough == n_sharing:
            return BOUNDLESS, 0
        if n_enough == n_had_enough:
            break
        n_had_enough = n_enough
        level = left // (n_sharing - n_enough)
    return level, left - level * (n_sharing - n_had_enough)


@part(void(CLAIMS, int64, int64, boolean, int64, int64, INTS))
def hand_out(claims: Claims, base: int, n: int, favoured: bool, level: int, odd: int, target: Ints) -> None:
    """Fill in what the jobs of a group have at a level, with odd processors for some, see `level_of`."""
    for i in range(n):
        job = claims.member[base + (n - 1 - i if claims.last else i)]
        if (claims.standing[job] >= claims.favoured_from) != favoured:
            continue
        target[job] = claims.size[job]
        if claims.size[job] > level:
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
    n_others, asked = n, 0
    for i in range(base, base + n):
        job = claims.member[i]
        if claims.standing[job] >= claims.favoured_from:
            n_others -= 1
            asked += claims.size[job]
    n_favoured = n - n_others
    given = min(asked, processors - n_others)
    if n_favoured > 0:
        level, odd = level_of(claims, base, n, True, -1, n_favoured, processors - n_others)
        hand_out(claims, base, n, True, level, odd, target)
    if n_others > 0:
        level, odd = level_of(claims, base, n, False, -1, n_others, processors - given)
        hand_out(claims, base, n, False, level, odd, target)


@part(types.UniTuple(int64, 3)(CLAIMS, int64, int64, int64, int64), inline=False)
def place_for_one(claims: Claims, base: int, n: int, processors: int, job: int) -> tuple[int, int, int]:
    """Say what one more job without a claim would have beside the `n` jobs from `base` on, see `share_of`.

    It is the same for all jobs that are not on that host. O(n) for each level, see `level_of`.

    Parameters
    ----------
    claims, base, n, processors : the jobs of a host
    job : one of them that counts as that one more, or `NOBODY`

    Returns
    -------
    int, int, int
        What it asks for but no more than a level; one more than that where it is submitted between the second
        and the third.
    """
    asked = 0
    n_sharing = 1
    for i in range(base, base + n):
        other = claims.member[i]
        if other == job:
            continue
        if claims.standing[other] >= claims.favoured_from:
            asked += claims.size[other]
        else:
            n_sharing += 1
    if asked >= processors - n_sharing:
        return 1, -1, -1
    if n_sharing == 1:
        return processors - asked, -1, -1
    level, odd = level_of(claims, base, n, False, job, n_sharing, processors - asked)
    if odd == 0:
        return level, -1, -1
    after, before = -1, BOUNDLESS
    # The last of the others that has an odd processor if the one more does not come before it.
    for i in range(n):
        other = claims.member[base + (n - 1 - i if claims.last else i)]
        is_other = claims.standing[other] < claims.favoured_from and other != job
        if odd > 0 and is_other and claims.size[other] > level:
            odd -= 1
            if odd == 0 and claims.last:
                after = other
            elif odd == 0:
                before = other
    return level, after, before


@part(int64(int64, int64, int64, int64, int64))
def share_of(job: int, size: int, level: int, after: int, before: int) -> int:
    """Return how many processors a job has in the place that `place_for_one` found."""
    if size <= level:
        return size
    return level + (1 if after < job < before else 0)


@part(void(int64, JOBS, HOSTS, SETTINGS))
def divide_host(h: int, jobs: JobTable, hosts: Hosts, settings: Settings) -> None:
    """Say how many processors each job of host `h` shall have, see `divide`."""
    claims = Claims(hosts.members, jobs.size, jobs.standing, settings.favoured_from, settings.last)
    divide(claims, h * hosts.places, hosts.n_members[h], hosts.processors[h], jobs.target)


@part(types.UniTuple(int64, 3)(int64, int64, JOBS, HOSTS, SETTINGS))
def place_on_host(h: int, job: int, jobs: JobTable, hosts: Hosts, settings: Settings) -> tuple[int, int, int]:
    """Say what one more job would have on host `h`, see `place_for_one`."""
    claims = Claims(hosts.members, jobs.size, jobs.standing, settings.favoured_from, settings.last)
    return place_for_one(claims, h * hosts.places, hosts.n_members[h], hosts.processors[h], job)

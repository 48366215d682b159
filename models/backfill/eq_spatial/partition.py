"""Dividing a host's processors among its jobs as equally as their requests allow (Chiang and Vernon 2001,
section 2.5).

As if processors were dealt out one at a time, in turns, to all who still want one. Where they do not come out
even, the first submitted have one more, or the last. Before that some jobs have a claim to what they ask for,
as long as every other job has a processor: those that catch up, those that have run for long (section 4.4),
and perhaps those in their quantum. Where that is too much, it is divided among them by the same rule.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import boolean, int64, void

from models.arrays import Ints
from models.backfill.eq_spatial.state import HOSTS, JOBS, SETTINGS, Hosts, JobTable, Settings
from models.kernels.compiling import part
from models.kernels.types import INTS, record


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


@part(boolean(CLAIMS, int64, int64))
def is_favoured(claims: Claims, job: int, plain: int) -> bool:
    """Tell whether a job has a claim to what it asks for; job `plain` has none whatever its standing."""
    return claims.standing[job] >= claims.favoured_from and job != plain


@part(int64(CLAIMS, int64, int64, int64, boolean, int64, INTS), inline=False)
def pour(claims: Claims, base: int, n: int, plain: int, favoured: bool, budget: int, target: Ints) -> int:
    """Divide a budget among the favoured of the `n` jobs from `base` on, or the others; return what they got.

    O(n) for each level at which some jobs have all that they ask for.
    """
    n_open = 0
    for i in range(base, base + n):
        job = claims.member[i]
        if is_favoured(claims, job, plain) == favoured:
            target[job] = 0
            n_open += 1
    left = budget
    some_had_enough = True
    level = 0
    while n_open > 0 and some_had_enough:
        level = left // n_open
        some_had_enough = False
        for i in range(base, base + n):
            job = claims.member[i]
            in_group = is_favoured(claims, job, plain) == favoured
            if in_group and target[job] == 0 and claims.size[job] <= level:
                target[job] = claims.size[job]
                left -= claims.size[job]
                n_open -= 1
                some_had_enough = True
    if n_open == 0:
        return budget - left
    odd = left - level * n_open
    for i in range(n):
        job = claims.member[base + (n - 1 - i if claims.last else i)]
        in_group = is_favoured(claims, job, plain) == favoured
        if in_group and target[job] == 0:
            target[job] = level + (1 if odd > 0 else 0)
            odd -= 1
    return budget


@part(void(CLAIMS, int64, int64, int64, int64, INTS), inline=False)
def divide(claims: Claims, base: int, n: int, processors: int, plain: int, target: Ints) -> None:
    """Say how many processors each of the `n` jobs from `base` on shall have, at most as many as processors.

    Parameters
    ----------
    claims, base, n, processors : the jobs of a host
    plain : a job that is not favoured whatever its standing, or `NOBODY`
    target : filled in
    """
    n_others = 0
    for i in range(base, base + n):
        if not is_favoured(claims, claims.member[i], plain):
            n_others += 1
    given = 0
    if n_others < n:
        given = pour(claims, base, n, plain, True, processors - n_others, target)
    pour(claims, base, n, plain, False, processors - given, target)


@part(void(int64, int64, INTS, JOBS, HOSTS, SETTINGS))
def divide_host(h: int, plain: int, target: Ints, jobs: JobTable, hosts: Hosts, settings: Settings) -> None:
    """Say how many processors each job of host `h` shall have, see `divide`."""
    claims = Claims(hosts.members, jobs.size, jobs.standing, settings.favoured_from, settings.last)
    divide(claims, h * hosts.places, hosts.n_members[h], hosts.processors[h], plain, target)

"""Dividing a host's processors among its jobs as equally as their requests allow (Chiang and Vernon 2001,
section 2.5).

As if processors were dealt out one at a time, in turns, to all who still want one. Where they do not come out
even, the first submitted have one more, or the last. Before that some jobs have a claim to what they ask for,
as long as every other job has a processor: those that catch up, those that have run for long (section 4.4),
and perhaps those in their quantum. Where that is too much, it is divided among them by the same rule.
"""

from __future__ import annotations

from numba import boolean, int64, void

from models.arrays import Ints
from models.kernels.compiling import kernel
from models.kernels.types import INTS

PLAIN, TRIAL, CATCHING, CAUGHT, LONG = range(5)
"""Standings of a job: an equal part; in its quantum; catching up; done with that but not yet repartitioned;
running for long. Those from a given one on are favoured."""

NOBODY = -1


@kernel(int64(INTS, int64, int64, INTS, INTS, int64, int64, boolean, int64, boolean, INTS))
def pour(
    members: Ints, base: int, n: int, size: Ints, standing: Ints,
    favoured_from: int, plain: int, favoured: bool, budget: int, last: bool, target: Ints,
) -> int:  # fmt: skip
    """Divide a budget among the favoured, or among the others; return what they got.

    O(n) for each level at which some jobs have all that they ask for.
    """
    n_open = 0
    for i in range(base, base + n):
        job = members[i]
        if (standing[job] >= favoured_from and job != plain) == favoured:
            target[job] = 0
            n_open += 1
    left = budget
    some_had_enough = True
    level = 0
    while n_open > 0 and some_had_enough:
        level = left // n_open
        some_had_enough = False
        for i in range(base, base + n):
            job = members[i]
            in_group = (standing[job] >= favoured_from and job != plain) == favoured
            if in_group and target[job] == 0 and size[job] <= level:
                target[job] = size[job]
                left -= size[job]
                n_open -= 1
                some_had_enough = True
    if n_open == 0:
        return budget - left
    odd = left - level * n_open
    for i in range(n):
        job = members[base + (n - 1 - i if last else i)]
        in_group = (standing[job] >= favoured_from and job != plain) == favoured
        if in_group and target[job] == 0:
            target[job] = level + (1 if odd > 0 else 0)
            odd -= 1
    return budget


@kernel(void(INTS, int64, int64, int64, INTS, INTS, int64, int64, boolean, INTS))
def divide(
    members: Ints, base: int, n: int, processors: int, size: Ints, standing: Ints,
    favoured_from: int, plain: int, last: bool, target: Ints,
) -> None:  # fmt: skip
    """Say how many processors each job of a host shall have.

    Parameters
    ----------
    members : the `n` jobs from `base` on, in order of submission, at most as many as processors
    processors : of the host
    size : what each job asks for
    standing : of each job
    favoured_from : standings from this one on are favoured
    plain : a job that is not favoured whatever its standing, or `NOBODY`
    last : whether the odd processors go to the last submitted
    target : filled in for the members
    """
    n_others = 0
    for i in range(base, base + n):
        job = members[i]
        if standing[job] < favoured_from or job == plain:
            n_others += 1
    given = 0
    if n_others < n:
        given = pour(
            members, base, n, size, standing, favoured_from, plain, True, processors - n_others, last, target
        )  # fmt: skip
    pour(members, base, n, size, standing, favoured_from, plain, False, processors - given, last, target)

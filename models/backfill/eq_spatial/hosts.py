"""A host under spatial equipartitioning: who is placed on it, who has how many processors, and until when.

Work is accounted for where a job's processors change, and nowhere else: what a job has left is known as of
its last change, and so is its end.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.eq_spatial.partition import CATCHING, CAUGHT, LONG, NOBODY, PLAIN, TRIAL, divide
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS

NOWHERE = -1


@kernel(int64(int64, int64, INTS, INTS, INTS, INTS, INTS, INTS))
def find_host(
    size: int, need: int, processors: Ints, free: Ints, free_memory: Ints, n_members: Ints, asked: Ints,
    extra: Ints,
) -> int:  # fmt: skip
    """Return the host on which a job is placed, or `NOWHERE`. O(hosts).

    Of the hosts with enough unallocated memory that with the fewest unallocated processors that are enough;
    else that with the most processors (less those that catching-up jobs have extra) for each one that its
    jobs and this one ask for. A host with as many jobs as processors takes no more. The first of equals.
    """
    best = NOWHERE
    for h in range(processors.shape[0]):
        if free_memory[h] < need or free[h] < size or n_members[h] >= processors[h]:
            continue
        if best < 0 or free[h] < free[best]:
            best = h
    if best >= 0:
        return best
    for h in range(processors.shape[0]):
        if free_memory[h] < need or n_members[h] >= processors[h]:
            continue
        if best >= 0:
            here = (processors[h] - extra[h]) * (asked[best] + size)
            if here <= (processors[best] - extra[best]) * (asked[h] + size):
                continue
        best = h
    return best


@kernel(void(INTS, int64, int64, int64))
def insert(members: Ints, base: int, n: int, job: int) -> None:
    """Add a job to `n` sorted ones from `base` on. O(n)."""
    at = base + n
    while at > base and members[at - 1] > job:
        members[at] = members[at - 1]
        at -= 1
    members[at] = job


@kernel(void(INTS, int64, int64, int64))
def remove(members: Ints, base: int, n: int, job: int) -> None:
    """Take a job out of `n` from `base` on. O(n)."""
    at = base
    while members[at] != job:
        at += 1
    for i in range(at, base + n - 1):
        members[i] = members[i + 1]


@kernel(
    void(
        int64, int64, float64, int64, FLOATS, INTS, FLOATS, FLOATS, INTS, INTS, INTS, FLOATS, FLOATS, INTS,
    )
)  # fmt: skip
def give(
    job: int, h: int, now: float, new: int, left: Floats, q: Ints, since: Floats, ends: Floats,
    n_pieces: Ints, piece_job: Ints, piece_host: Ints, piece_begin: Floats, piece_end: Floats,
    piece_processors: Ints,
) -> None:  # fmt: skip
    """Change a job's processors: close its piece, account for its work, foresee its end.

    Pieces beyond the room that there is are counted, but not kept.
    """
    if q[job] > 0 and now > since[job]:
        at = n_pieces[0]
        if at < piece_job.shape[0]:
            piece_job[at] = job
            piece_host[at] = h
            piece_begin[at] = since[job]
            piece_end[at] = now
            piece_processors[at] = q[job]
        n_pieces[0] = at + 1
        left[job] = max(left[job] - q[job] * (now - since[job]), 0.0)
    since[job] = now
    q[job] = new
    ends[job] = now + left[job] / new if new > 0 else np.inf


@kernel(
    void(
        int64, float64, INTS, INTS, int64, int64, INTS, int64, int64, int64, boolean,
        INTS, FLOATS, INTS, FLOATS, INTS,
    )
)  # fmt: skip
def imagine(
    job: int, now: float, host: Ints, members: Ints, base: int, n: int, size: Ints, h: int, processors: int,
    favoured_from: int, last: bool,
    standing: Ints, lack: Floats, share: Ints, share_since: Floats, as_plain: Ints,
) -> None:  # fmt: skip
    """See how many processors a job without memory would have on host `h`, and what it missed so far.

    It would be one more job there, where it is not in its quantum on that very host. O(n).
    """
    is_member = standing[job] == TRIAL and host[job] == h
    n_then = n if is_member else n + 1
    new = 0
    if n_then <= processors:
        if not is_member:
            insert(members, base, n, job)
        divide(members, base, n_then, processors, size, standing, favoured_from, job, last, as_plain)
        new = as_plain[job]
        if not is_member:
            remove(members, base, n_then, job)
    if new != share[job]:
        lack[job] += share[job] * (now - share_since[job])
        share[job] = new
        share_since[job] = now


@kernel(
    void(
        int64, int64, float64, float64, float64, float64, int64, int64, boolean,
        INTS, INTS, INTS, INTS, INTS, INTS, INTS, FLOATS, FLOATS, FLOATS,
        INTS, INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, FLOATS, INTS, INTS,
        INTS, INTS, INTS, FLOATS, FLOATS, INTS,
    )
)  # fmt: skip
def settle(
    h: int, places: int, now: float,
    min_interval: float, long_after: float, quantum: float, quantum_memory: int,
    favoured_from: int, last: bool,
    size: Ints, used: Ints,
    processors: Ints, members: Ints, n_members: Ints, free: Ints, extra: Ints,
    divided: Floats, timer: Floats, due: Floats,
    standing: Ints, q: Ints, left: Floats, since: Floats, ends: Floats, turns: Floats,
    start: Floats, begun: Floats, lack: Floats, share: Ints, share_since: Floats,
    target: Ints, as_plain: Ints,
    n_pieces: Ints, piece_job: Ints, piece_host: Ints, piece_begin: Floats, piece_end: Floats,
    piece_processors: Ints,
) -> None:  # fmt: skip
    """Divide a host anew after a change, or put that off; foresee what happens next there.

    Within MinInterval of its last repartitioning, jobs without any processor take unallocated ones, the first
    submitted first, and the repartitioning comes when the interval is over. Several changes at one instant
    are one repartitioning; and it is none if no job's processors change but those of jobs that had none.
    O(jobs on the host), times one more than those that catch up.
    """
    base = h * places
    stop = base + n_members[h]
    if divided[h] == now or now >= divided[h] + min_interval:
        for i in range(base, stop):
            if standing[members[i]] == CAUGHT:
                standing[members[i]] = PLAIN
        divide(
            members, base, n_members[h], processors[h], size, standing, favoured_from, NOBODY, last, target
        )  # fmt: skip
        for i in range(base, stop):
            job = members[i]
            if q[job] > 0 and q[job] != target[job]:
                divided[h] = now
        timer[h] = np.inf
    else:
        unallocated = free[h]
        for i in range(base, stop):
            job = members[i]
            target[job] = q[job]
            if q[job] == 0:
                target[job] = min(size[job], unallocated)
                unallocated -= target[job]
        timer[h] = divided[h] + min_interval

    unallocated = processors[h]
    beyond = 0
    next_due = np.inf
    for i in range(base, stop):
        job = members[i]
        if standing[job] == CATCHING or standing[job] == CAUGHT:
            divide(
                members, base, n_members[h], processors[h], size, standing, favoured_from, job, last, as_plain
            )  # fmt: skip
            if as_plain[job] != share[job] or target[job] != q[job]:
                missed = lack[job] - (q[job] - share[job]) * (now - share_since[job])
                lack[job] = max(missed, 0.0)
                share[job] = as_plain[job]
                share_since[job] = now
            beyond += max(target[job] - share[job], 0)
        if target[job] != q[job]:
            give(
                job, h, now, target[job], left, q, since, ends,
                n_pieces, piece_job, piece_host, piece_begin, piece_end, piece_processors,
            )  # fmt: skip
            if np.isnan(start[job]):
                start[job] = now
            if standing[job] != TRIAL and np.isnan(begun[job]):
                begun[job] = now
        unallocated -= q[job]

        turn = np.inf
        if standing[job] == TRIAL:
            if not np.isnan(start[job]):
                turn = start[job] + quantum
                if used[job] > quantum_memory:
                    turn = min(turn, ends[job])
        else:
            if standing[job] != LONG and not np.isnan(begun[job]):
                turn = begun[job] + long_after
            if standing[job] == CATCHING and q[job] > share[job]:
                turn = min(turn, share_since[job] + lack[job] / (q[job] - share[job]))
        turns[job] = turn
        next_due = min(next_due, ends[job], turn)
    free[h] = unallocated
    extra[h] = beyond
    due[h] = next_due

"""The events of spatial equipartitioning, instant by instant; `eq_spatial` tells the rules."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.eq_spatial.hosts import NOWHERE, find_host, give, imagine, insert, remove, settle
from models.backfill.eq_spatial.partition import CATCHING, CAUGHT, LONG, NOBODY, PLAIN, TRIAL
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS


@kernel(
    void(
        float64, float64, float64, int64, boolean, boolean, boolean, int64, boolean, boolean,
        FLOATS, FLOATS, INTS, INTS, INTS, INTS,
        INTS, int64, INTS, INTS, INTS, INTS, INTS, FLOATS, FLOATS, FLOATS, INTS,
        FLOATS, FLOATS, INTS, FLOATS, FLOATS,
        INTS, INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, FLOATS, INTS,
        INTS, INTS, INTS, INTS,
        INTS, INTS, INTS, FLOATS, FLOATS, INTS,
    )
)  # fmt: skip
def run(
    min_interval: float, long_after: float, quantum: float, quantum_memory: int,
    catch_up: bool, last: bool, fcfs: bool, favoured_from: int, keeps: bool, instant: bool,
    submit: Floats, runtime: Floats, size: Ints, need: Ints, used: Ints, processors: Ints,
    members: Ints, places: int, n_members: Ints, free: Ints, free_memory: Ints, asked: Ints, extra: Ints,
    divided: Floats, timer: Floats, due: Floats, dirty: Ints,
    start: Floats, end: Floats, host: Ints, placed: Floats, begun: Floats,
    standing: Ints, q: Ints, left: Floats, since: Floats, ends: Floats, turns: Floats,
    lack: Floats, share: Ints, share_since: Floats, ghost: Ints,
    target: Ints, as_plain: Ints, queue: Ints, late: Ints,
    n_pieces: Ints, piece_job: Ints, piece_host: Ints, piece_begin: Floats, piece_end: Floats,
    piece_processors: Ints,
) -> None:  # fmt: skip
    """Simulate jobs to their last end.

    An event costs O(hosts + jobs on its host), and O(jobs on that host) more for each job that catches up
    there or would have been placed there if it needed no memory. Memory that becomes free costs
    O(waiting jobs x hosts).

    Parameters
    ----------
    min_interval, long_after, quantum : seconds; `long_after` inf is never, `quantum` 0 none at all
    quantum_memory : KB
    catch_up, keeps : see `EqSpatial`
    last : whether odd processors go to the last submitted
    fcfs : whether nobody gets memory before the first of those who wait
    favoured_from : standings from this one on have a claim to what they ask for
    instant : ends of an instant before its submissions
    submit, runtime, size, need, used : the jobs, in order of submission; `need` and `used` are KB
    processors : of each host
    members : `places` for each host, as many jobs as can be there
    n_members, asked, extra : 0 for each host: its jobs, what they ask for, what those catching up have extra
    free, free_memory : all processors and KB of each host
    divided, timer, due : -inf, inf, inf for each host: last repartitioning, the one put off, next event
    dirty : 0 for each host
    start, end, placed, begun : NaN for each job, filled in; `placed` is when it got its memory, `begun` its
        first processor after that
    host, standing, q, share : 0 for each job; `q` is its processors, `share` those it would have
    left : work of each job, processor-seconds
    since, ends, turns, share_since, target, as_plain, queue, late : room for each job
    lack : 0 for each job; processor-seconds that it missed for want of memory
    ghost : room for each job; the host where it would have been without its need of memory
    n_pieces : 0; counts on where the room is full
    piece_job, piece_host, piece_begin, piece_end, piece_processors : filled in
    """
    n_jobs = submit.shape[0]
    n_hosts = processors.shape[0]
    arrived = 0
    n_waiting = 0
    n_late = 0
    while True:
        next_submit = submit[arrived] if arrived < n_jobs else np.inf
        now = next_submit
        for h in range(n_hosts):
            now = min(now, due[h], timer[h])
        if now == np.inf:
            break

        # Who ends or changes his standing: everybody of this instant, or the first submitted alone.
        acted = False
        freed = False
        only = -1
        if not instant:
            only = n_jobs
            for h in range(n_hosts):
                if due[h] == now and next_submit > now:
                    for i in range(h * places, h * places + n_members[h]):
                        job = members[i]
                        if (ends[job] == now or turns[job] == now) and job < only:
                            only = job
        for h in range(n_hosts):
            if due[h] != now:
                continue
            base = h * places
            kept = base
            for i in range(base, base + n_members[h]):
                job = members[i]
                has_event = (ends[job] == now or turns[job] == now) and (instant or job == only)
                exceeds = standing[job] == TRIAL and used[job] > quantum_memory
                acted = acted or has_event
                if has_event:
                    dirty[h] = 1
                if not has_event or (ends[job] != now and standing[job] != TRIAL):
                    members[kept] = job
                    kept += 1
                    if has_event:
                        is_long = begun[job] + long_after == now
                        standing[job] = LONG if is_long else CAUGHT
                    continue
                free[h] += q[job]
                free_memory[h] += min(need[job], quantum_memory) if standing[job] == TRIAL else need[job]
                asked[h] -= size[job]
                freed = True
                has_ended = ends[job] == now and not exceeds
                give(
                    job, h, now, 0, left, q, since, ends,
                    n_pieces, piece_job, piece_host, piece_begin, piece_end, piece_processors,
                )  # fmt: skip
                if has_ended:
                    end[job] = now
                    if standing[job] == TRIAL:
                        remove(late, 0, n_late, job)
                        n_late -= 1
                else:
                    standing[job] = PLAIN
                    work = size[job] * runtime[job]
                    if exceeds or not keeps:
                        left[job] = work
                    lack[job] -= work - left[job]
                    insert(queue, 0, n_waiting, job)
                    n_waiting += 1
            n_members[h] = kept - base
        if instant or not (acted or next_submit == now):
            for h in range(n_hosts):
                if timer[h] == now:
                    dirty[h] = 1

        # Hosts that changed, then those who wait for memory, then those who come: each settles its host.
        next_host = 0
        at = 0
        n_seen = n_waiting if freed else 0
        may_come = True
        while True:
            h = NOWHERE
            job = NOBODY
            while h == NOWHERE and next_host < n_hosts:
                if dirty[next_host] == 1:
                    dirty[next_host] = 0
                    h = next_host
                next_host += 1
            while h == NOWHERE and at < n_seen:
                job = queue[at]
                h = find_host(size[job], need[job], processors, free, free_memory, n_members, asked, extra)
                if h == NOWHERE:
                    at = n_seen if fcfs else at + 1
                else:
                    remove(queue, 0, n_waiting, job)
                    n_waiting -= 1
                    n_seen -= 1
                    remove(late, 0, n_late, job)
                    n_late -= 1
                    if catch_up:
                        lack[job] += share[job] * (now - share_since[job])
                        share[job] = 0
                        share_since[job] = now
                        if lack[job] > 0:
                            standing[job] = CATCHING
            if h == NOWHERE and may_come and arrived < n_jobs and submit[arrived] == now:
                job = arrived
                arrived += 1
                may_come = instant
                if not (fcfs and n_waiting > 0):
                    h = find_host(
                        size[job], need[job], processors, free, free_memory, n_members, asked, extra
                    )  # fmt: skip
                if h == NOWHERE:
                    late[n_late] = job
                    n_late += 1
                    share_since[job] = now
                    ghost[job] = NOWHERE
                    if catch_up:
                        ghost[job] = find_host(
                            size[job], 0, processors, free, free_memory, n_members, asked, extra
                        )  # fmt: skip
                    if ghost[job] != NOWHERE:
                        g = ghost[job]
                        imagine(
                            job, now, host, members, g * places, n_members[g], size, g, processors[g],
                            favoured_from, last, standing, lack, share, share_since, as_plain,
                        )  # fmt: skip
                    if quantum > 0:
                        h = find_host(
                            size[job], min(need[job], quantum_memory),
                            processors, free, free_memory, n_members, asked, extra,
                        )  # fmt: skip
                    if h == NOWHERE:
                        queue[n_waiting] = job
                        n_waiting += 1
                        continue
                    standing[job] = TRIAL
            if h == NOWHERE:
                break
            if job != NOBODY:
                insert(members, h * places, n_members[h], job)
                n_members[h] += 1
                asked[h] += size[job]
                host[job] = h
                if standing[job] == TRIAL:
                    free_memory[h] -= min(need[job], quantum_memory)
                else:
                    free_memory[h] -= need[job]
                    placed[job] = now
                ends[job] = np.inf
            settle(
                h, places, now, min_interval, long_after, quantum, quantum_memory, favoured_from, last,
                size, used, processors, members, n_members, free, extra, divided, timer, due,
                standing, q, left, since, ends, turns, start, begun, lack, share, share_since,
                target, as_plain, n_pieces, piece_job, piece_host, piece_begin, piece_end, piece_processors,
            )  # fmt: skip
            for i in range(n_late):
                job = late[i]
                if ghost[job] == h:
                    imagine(
                        job, now, host, members, h * places, n_members[h], size, h, processors[h],
                        favoured_from, last, standing, lack, share, share_since, as_plain,
                    )  # fmt: skip

"""What late jobs miss: those without their memory, by the host where they would have been with it.

Whenever jobs come to a host or leave it, all of its late jobs would have other shares of it. So what each of
them would have had is not looked at then, but noted once for all of them; a job goes through the notes that
were taken since it became late when somebody wants to know what it missed. It adds up the same numbers in the
same order as if it had looked at each of them at once.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.backfill.eq_spatial.eight_late import reckon_eight
from models.backfill.eq_spatial.partition import share_of
from models.backfill.eq_spatial.state import (
    JOBS,
    LATE,
    NOBODY,
    NOTES_TOGETHER,
    NOWHERE,
    JobTable,
    Late,
)
from models.kernels.compiling import part
from models.kernels.lanes import LANES


@part(void(int64, JOBS, LATE))
def become_late(job: int, jobs: JobTable, late: Late) -> None:
    """Note that a job misses what it would have on its ghost's host, if it has one. O(1)."""
    h = jobs.ghost[job]
    if h == NOWHERE:
        return
    first = late.first[h]
    jobs.late_before[job] = NOBODY
    jobs.next_late[job] = first
    if first != NOBODY:
        jobs.late_before[first] = job
    late.first[h] = job
    jobs.told[job] = late.n_notes[h]


@part(void(int64, JOBS, LATE))
def be_late_no_more(job: int, jobs: JobTable, late: Late) -> None:
    """Take a job off the list of its ghost's host. O(1)."""
    h = jobs.ghost[job]
    if h == NOWHERE:
        return
    before, after = jobs.late_before[job], jobs.next_late[job]
    if before == NOBODY:
        late.first[h] = after
    else:
        jobs.next_late[before] = after
    if after != NOBODY:
        jobs.late_before[after] = before


@part(void(int64, int64, float64, JOBS))
def miss(job: int, share: int, now: float, jobs: JobTable) -> None:
    """Reckon what a late job missed so far, where it would have another number of processors from now on."""
    if share != jobs.share[job]:
        jobs.lack[job] += jobs.share[job] * (now - jobs.share_since[job])
        jobs.share[job] = share
        jobs.share_since[job] = now


@part(void(int64, JOBS, LATE))
def reckon(job: int, jobs: JobTable, late: Late) -> None:
    """Do for a late job what `miss` does, for each note that it has not been told of.

    O(those), and O(those / NOTES_TOGETHER) while it would have all that it asks for.
    """
    h = jobs.ghost[job]
    if h == NOWHERE:
        return
    begin, end = h * late.room + jobs.told[job], h * late.room + late.n_notes[h]
    jobs.told[job] = late.n_notes[h]
    size = jobs.size[job]
    had, since, lack = jobs.share[job], jobs.share_since[job], jobs.lack[job]
    i = begin
    while i < end:
        together = i // NOTES_TOGETHER
        stop = min((together + 1) * NOTES_TOGETHER, end)
        if had == size and size <= late.lowest[np.uint64(together)]:
            i = stop
            continue
        while i < stop:
            at = np.uint64(i)
            share = share_of(job, size, late.level[at], late.after[at], late.before[at])
            # Without a branch: nobody foresees which notes change a job's share. One note waits for another
            # with an addition alone, if only of nothing.
            missed = had * (late.time[at] - since)
            lack += missed if share != had else 0.0
            since = late.time[at] if share != had else since
            had = share
            i += 1
    jobs.share[job], jobs.share_since[job], jobs.lack[job] = had, since, lack


@part(void(int64, JOBS, LATE))
def tell_all(h: int, jobs: JobTable, late: Late) -> None:
    """Do what `reckon` does for all late jobs of host `h` that are not there in their quantum, and let the
    notes begin anew for all of them. O(notes) for each eight of them.
    """
    eight = late.eight
    job = late.first[h]
    while job != NOBODY:
        n = 0
        while job != NOBODY and n < LANES:
            if jobs.host[job] != h:
                at = np.uint64(n)
                eight.job[at], eight.told[at], eight.size[at] = job, jobs.told[job], jobs.size[job]
                eight.share[at], eight.share_since[at] = jobs.share[job], jobs.share_since[job]
                eight.lack[at] = jobs.lack[job]
                n += 1
            jobs.told[job] = 0
            job = jobs.next_late[job]
        for i in range(n, LANES):
            eight.told[np.uint64(i)] = late.room
        reckon_eight(
            eight.job, eight.told, eight.size, eight.share, eight.share_since, eight.lack,
            late.time, late.level, late.after, late.before, h * late.room, late.n_notes[h],
        )  # fmt: skip
        for i in range(n):
            at = np.uint64(i)
            told = eight.job[at]
            jobs.share[told], jobs.share_since[told] = eight.share[at], eight.share_since[at]
            jobs.lack[told] = eight.lack[at]


@part(void(int64, float64, int64, int64, int64, JOBS, LATE))
def note_share(h: int, now: float, level: int, after: int, before: int, jobs: JobTable, late: Late) -> None:
    """Take a note of what late jobs would have on host `h` from now on, see `partition.place_beside`.

    O(1); where there is no more room, O(notes) for each eight late jobs of the host, which are told of all.
    """
    if late.n_notes[h] == late.room:
        tell_all(h, jobs, late)
        late.n_notes[h] = 0
    n = late.n_notes[h]
    at = h * late.room + n
    late.time[at], late.level[at], late.after[at], late.before[at] = now, level, after, before
    together = at // NOTES_TOGETHER
    late.lowest[together] = level if n % NOTES_TOGETHER == 0 else min(level, late.lowest[together])
    late.n_notes[h] = n + 1

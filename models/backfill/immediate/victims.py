"""Whose processors a newcomer gets for its quantum, and how they get them back (Chiang and Vernon 2001,
section 2.4).

Eligible is who has been executing without interruption for long enough. On each host with enough unallocated
memory the eligible jobs with the smallest current slowdown (total time in the system so far, divided by the
total runtime so far) are chosen, until enough processors are free; of equal ones the first submitted. The
host that is left with the fewest idle processors is taken, of equal ones the first.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64

from models.arrays import Floats, Ints
from models.backfill.expected_ends import insert, remove
from models.kernels.compiling import kernel, written_out
from models.kernels.types import FLOATS, INTS

NOBODY = -1


@kernel(int64(FLOATS, INTS, int64, int64, float64, int64), inline=True)
def next_victim(slowdown: Floats, residents: Ints, at: int, n: int, above: float, after: int) -> int:
    """Return the position of the next resident by (slowdown, number), or `NOBODY`. O(residents)."""
    found = NOBODY
    for i in range(at, at + n):
        if slowdown[i] < above or (slowdown[i] == above and residents[i] <= after) or slowdown[i] == np.inf:
            continue
        if (
            found == NOBODY
            or slowdown[i] < slowdown[found]
            or (slowdown[i] == slowdown[found] and residents[i] < residents[found])
        ):
            found = i
    return found


@written_out
def host_with_victims(
    now: float, wanted: int, memory: int, uninterrupted: float,
    free: Ints, free_memory: Ints, residents: Ints, n_residents: Ints,
    submit: Floats, size: Ints, since: Floats, end: Floats, ran: Floats, slowdown: Floats,
) -> int:  # fmt: skip
    """Return the host where jobs are to be preempted, or `NOBODY`; sets its residents' `slowdown`.

    O(residents x victims) on each host.

    Parameters
    ----------
    now : this instant
    wanted, memory : what the newcomer needs
    uninterrupted : how long a job must have been executing to be eligible, above 0
    free, free_memory : of each host
    residents, n_residents : who is in execution on each host, as much room for each
    submit, size, since, end : of each job: since when it has been executing, and until when
    ran : of each job, runtime before that
    slowdown : of each resident, inf for those that are not eligible; filled in
    """
    n_hosts = free.shape[0]
    places = residents.shape[0] // n_hosts
    best = NOBODY
    least_idle = 0
    for h in range(n_hosts):
        if free_memory[h] < memory:
            continue
        at = h * places
        found = free[h]
        for i in range(at, at + n_residents[h]):
            job = residents[i]
            slowdown[i] = np.inf
            # Who is preempted goes on later than now; who is over at this very instant is left alone.
            if now - since[job] >= uninterrupted and end[job] > now:
                slowdown[i] = (now - submit[job]) / (ran[job] + (now - since[job]))
                found += size[job]
        if found < wanted:
            continue
        idle = free[h] - wanted
        above = -np.inf
        after = NOBODY
        while idle < 0:
            i = next_victim(slowdown, residents, at, n_residents[h], above, after)
            above = slowdown[i]
            after = residents[i]
            idle += size[after]
        if best == NOBODY or idle < least_idle:
            best = h
            least_idle = idle
    return best


@kernel(int64(INTS, INTS, FLOATS, FLOATS, int64, int64, int64, float64, float64), inline=True)
def record(
    jobs: Ints,
    hosts: Ints,
    begins: Floats,
    ends: Floats,
    n: int,
    job: int,
    host: int,
    begin: float,
    end: float,
) -> int:
    """Note that a job ran there and then, if there is room, and return how many pieces there are to note."""
    if n < jobs.shape[0]:
        jobs[n] = job
        hosts[n] = host
        begins[n] = begin
        ends[n] = end
    return n + 1


@written_out
def preempt(
    now: float, job: int, h: int, length: float, quantum: float,
    free: Ints, size: Ints, need: Ints, since: Floats, end: Floats, expected: Floats, ran: Floats,
    taken: Ints, preempted: Ints, displaced_by: Ints,
    due: Floats, due_size: Ints, due_need: Ints, n_due: Ints,
    residents: Ints, n_residents: Ints, slowdown: Floats,
    piece_job: Ints, piece_host: Ints, piece_begin: Floats, piece_end: Floats, n_pieces: int,
) -> int:  # fmt: skip
    """Preempt jobs until one has the processors for its quantum, and return how many pieces there are to
    note.

    All ends of the victims are put off: by `length` in fact, by `quantum` as far as anybody can tell. One
    that runs beyond its request is expected to end as soon as it goes on.

    Parameters
    ----------
    now : this instant
    job, h, length : whose quantum on which host, and how long it will take
    taken : set to the idle processors that the quantum takes; those of victims go first
    slowdown : as `host_with_victims` left it
    quantum, free, size, need, since, end, expected, ran, preempted, displaced_by, due, due_size, due_need,
    n_due, residents, n_residents, piece_job, piece_host, piece_begin, piece_end : as for `immediate_loop.run`
    """
    at = h * (due.shape[0] // free.shape[0])
    bed = h * (residents.shape[0] // free.shape[0])
    wanted = size[job]
    above = -np.inf
    victim = NOBODY
    while wanted > free[h]:
        i = next_victim(slowdown, residents, bed, n_residents[h], above, victim)
        above = slowdown[i]
        victim = residents[i]
        n_pieces = record(
            piece_job, piece_host, piece_begin, piece_end, n_pieces, victim, h, since[victim], now
        )  # fmt: skip
        remove(due, due_size, due_need, at, n_due[h], expected[victim], size[victim], need[victim])
        expected[victim] = max(expected[victim], now)
        insert(
            due, due_size, due_need, at, n_due[h] - 1, expected[victim] + quantum, size[victim], need[victim]
        )  # fmt: skip
        ran[victim] += now - since[victim]
        since[victim] = now + length
        end[victim] += length
        preempted[victim] = 1
        displaced_by[victim] = job
        wanted -= size[victim]
    taken[job] = max(wanted, 0)
    return n_pieces


@written_out
def give_back(
    now: float, job: int, h: int, quantum: float,
    since: Floats, size: Ints, need: Ints, expected: Floats, displaced_by: Ints,
    due: Floats, due_size: Ints, due_need: Ints, n_due: Ints, residents: Ints, n_residents: Ints,
) -> None:  # fmt: skip
    """Let those go on who were preempted for a quantum that is over now; all arguments as for `preempt`."""
    at = h * (due.shape[0] // n_due.shape[0])
    bed = h * (residents.shape[0] // n_due.shape[0])
    for i in range(bed, bed + n_residents[h]):
        victim = residents[i]
        if displaced_by[victim] == job:
            displaced_by[victim] = NOBODY
            remove(
                due, due_size, due_need, at, n_due[h], expected[victim] + quantum, size[victim], need[victim]
            )  # fmt: skip
            expected[victim] += now - since[job]
            insert(due, due_size, due_need, at, n_due[h] - 1, expected[victim], size[victim], need[victim])

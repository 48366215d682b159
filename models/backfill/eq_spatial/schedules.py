"""Spatial equipartitioning on hosts with processors and memory (Chiang and Vernon 2001, sections 2.5, 4.4).

Every job for which a host has the memory runs at once, on an equal part of that host's processors and on no
more than it asks for; on q of its p processors it progresses at the rate q / p. What the paper leaves open:

- A host has at most as many jobs as processors, so that each can have one; else it is as if without memory.
- A job that no host has the memory for gets its quantum on a host that has the quantum's memory, by the same
  rules of placement and division; if there is none, it gets none. The quantum lasts from its first processor
  on. A job that uses more memory is stopped when it is over, or when it would end, and begins anew.
- The processing time that a waiting job misses is what it would have on the host where it would have been
  placed on arrival if it needed no memory, as one more of the jobs there. Other waiting jobs do not count.
  While it catches up, it goes on missing what it would have without its claim to all that it asks for.
- The time that a job has been running for is reckoned from the first processor of its full execution. Once
  that is long (``long_after``), it no longer counts as catching up.
- At one instant (``ties: instant``) all jobs end or change their standing, then hosts are divided, then those
  who wait get memory in order of submission, then new jobs are placed; each placement divides its host. With
  ``ties: event`` new jobs are placed first, and all that follows an end comes before the next end.
- In its quantum a job is like its host's others: within MinInterval it may wait for its first processor.
"""

from __future__ import annotations

import numpy as np

from models.backfill.eq_spatial import engine as eq_spatial_events
from models.backfill.eq_spatial.partition import CATCHING, TRIAL
from models.backfill.eq_spatial.rules import FCFS, LAST, REQUESTED, EqSpatial
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine
from models.jobs.schedule import Pieces, Schedule


def simulate(jobs: Jobs, machine: Machine, rules: EqSpatial) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        Their `size` is the most processors that they can use.
    machine : Machine
    rules : EqSpatial

    Returns
    -------
    Schedule
        `start` is the first processor, if only for a quantum. `waited` is the time in the system less the
        runtime on all requested processors (section 4.4). `began` is when a host gave its memory for the full
        execution (the submission of most jobs, even where MinInterval keeps them from processors for a
        while), or the end of a job that ended in its quantum. `pieces` lie between changes of a job's
        processors.

    Raises
    ------
    ValueError
        See `EqSpatial.check`.
    """
    rules.check(jobs, machine)
    room = 4 * len(jobs) + 1024
    while True:
        made, n_pieces = _attempt(jobs, machine, rules, room)
        if n_pieces <= room:
            return made
        room = n_pieces


def _attempt(jobs: Jobs, machine: Machine, rules: EqSpatial, room: int) -> tuple[Schedule, int]:
    """Return the schedule and how many pieces it has, of which so many are kept as there is room for."""
    n, n_hosts, places = len(jobs), len(machine.names), machine.largest
    start, end, placed, begun = (np.full(n, np.nan) for _ in range(4))
    host, standing, q, share, target, as_plain, queue, late, ghost = (np.zeros(n, np.int64) for _ in range(9))
    since, ends, turns, lack, share_since = (np.zeros(n) for _ in range(5))
    n_members, extra, asked, dirty = (np.zeros(n_hosts, np.int64) for _ in range(4))
    timer, due = (np.full(n_hosts, np.inf) for _ in range(2))
    n_pieces = np.zeros(1, np.int64)
    piece_job, piece_host, piece_processors = (np.empty(room, np.int64) for _ in range(3))
    piece_begin, piece_end = (np.empty(room) for _ in range(2))
    eq_spatial_events.run(
        rules.min_interval,
        np.inf if rules.long_after is None else rules.long_after,
        0.0 if rules.quantum is None else rules.quantum,
        round(rules.quantum_memory_gb * KB_IN_GB),
        rules.catch_up, rules.odd_processors == LAST, rules.waiting == FCFS,
        TRIAL if rules.quantum_processors == REQUESTED else CATCHING, rules.keep_quantum,
        rules.ties == "instant",
        jobs.submit, jobs.runtime, jobs.size, jobs.memory, jobs.used, machine.processors,
        np.empty(n_hosts * places, np.int64), places, n_members, machine.processors.copy(),
        machine.memory.copy(), asked, extra, np.full(n_hosts, -np.inf), timer, due, dirty,
        start, end, host, placed, begun,
        standing, q, jobs.size * jobs.runtime, since, ends, turns, lack, share, share_since, ghost,
        target, as_plain, queue, late,
        n_pieces, piece_job, piece_host, piece_begin, piece_end, piece_processors,
    )  # fmt: skip
    kept = slice(int(n_pieces[0]))
    pieces = Pieces(
        piece_job[kept], piece_host[kept], piece_begin[kept], piece_end[kept], piece_processors[kept]
    )  # fmt: skip
    began = np.where(np.isnan(placed), end, placed)
    waited = np.maximum(end - jobs.submit - jobs.runtime, 0.0)
    made = Schedule(jobs, machine, start, end, host, began, waited, pieces=pieces)
    return made, int(n_pieces[0])

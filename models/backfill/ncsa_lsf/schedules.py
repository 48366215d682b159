"""The NCSA-LSF policy (Chiang and Vernon 2001, section 2.1): the driver of its engine.

Twelve static job classes, four time classes in each of three size classes (`o2k.job_classes`).
Each host takes waiting jobs by size class in an order of its own, by time class within it, and first come
first serve within that, under bounds on its executing jobs of a size class and on all hosts' executing jobs
of a time class. Who waits too long is given a special reservation, for which a host is kept idle.

The paper leaves open, and here it is so:

- After every event (an arrival, or an end) all hosts without a pending special reservation take waiting jobs
  in turn (``host_order``), until a whole round starts nobody: a start can lift a bar elsewhere.
- A size class of which no job waits holds nobody back, nor does a job that would not even fit on the empty
  host, nor one with a special reservation. Whether one barred by a system-wide or per-user limit does is
  ``barred_hold_back``.
- The waiting time is longer than the reserve wait time, not equal to it.
- An overdue job that a bound or limit bars from a host is not considered for a special reservation there: it
  is not among the jobs that host would schedule (those for which "within these constraints" there is a
  priority). The rule that nobody skips to a smaller size class does not apply among overdue jobs.
- A host holds one special reservation at a time. A job that has one waits for that host alone, and counts as
  executing in the system-wide and per-user limits, so that nothing can bar it from its start.
- When a job ends on a host, first the reserved job starts, if it now fits; then, if no reservation is
  pending, one overdue job starts or is given a reservation; then free resources are assigned. Several ends of
  one instant on a host are one such moment under ``ties: instant``.

Every job starts at last. While somebody runs, somebody ends. When nobody runs, no limit bars and no
reservation is pending (its job started with the last end on its host), so that every host starts the first
that waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from models.arrays import Ints
from models.backfill.ncsa_lsf import engine as ncsa_lsf_kernel
from models.backfill.ncsa_lsf.rules import HostRow, NcsaLsf
from models.backfill.ncsa_lsf.waiting import NOBODY
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, Schedule
from models.workloads.o2k.job_classes import CLASSES, SIZE_CLASSES, TIME_CLASSES, classify

NO_LIMIT = 2**62


def simulate(jobs: Jobs, machine: Machine, rules: NcsaLsf) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As they run: with a requested time, see `models.jobs.jobs.Jobs.under`.
    machine : Machine
    rules : NcsaLsf

    Returns
    -------
    Schedule
        With `held`: what was kept idle for special reservations. No start is ever promised.

    Raises
    ------
    ValueError
        With one line for jobs that could never run, see `NcsaLsf.check`.
    """
    rules.check(jobs, machine)
    n, n_hosts = len(jobs), len(machine.names)
    users, user = (
        _numbered(jobs.user) if rules.user_limit is not None and jobs.user is not None else _one_user(n)
    )
    levels = {name: rank for rank, group in enumerate(rules.time_order) for name in group}
    start, end, host = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.int64)
    held = Pieces(_room(n), _room(n), np.empty(n), np.empty(n), _room(n))
    n_held = ncsa_lsf_kernel.run(
        jobs.submit, jobs.runtime, jobs.size, jobs.memory,
        classify(jobs.requested, jobs.size, jobs.memory), user, machine.processors, machine.memory,
        np.array([rules.reserve_wait[name] for name in TIME_CLASSES]),
        np.array([levels[name] for name in TIME_CLASSES]), len(rules.time_order),
        np.array([rules.system_limits.get(name, NO_LIMIT) for name in TIME_CLASSES]),
        NO_LIMIT if rules.user_limit is None else rules.user_limit,
        *_by_host([rules.hosts[name] for name in machine.names]),
        rules.host_order == "fullest", rules.barred_hold_back, rules.ties == "instant",
        start, end, host, held.job, held.host, held.begin, held.end, held.processors,
        _room(n), _room(n), _room(n),
        _room(n_hosts), _room(n_hosts), _room(n_hosts), np.zeros(n_hosts, np.int64), _nobody(n_hosts),
        np.zeros(n_hosts * len(SIZE_CLASSES), np.int64), np.empty(n_hosts),
        np.zeros(len(TIME_CLASSES), np.int64), _room(len(TIME_CLASSES)),
        _nobody(len(CLASSES)), _nobody(len(CLASSES)), _nobody(n_hosts * len(CLASSES)),
        np.zeros(users, np.int64),
    )  # fmt: skip
    made = Pieces(*(getattr(held, field.name)[:n_held].copy() for field in fields(Pieces)))
    return Schedule(jobs, machine, start, end, host, held=made)


def _room(n: int) -> Ints:
    return np.empty(n, np.int64)


def _nobody(n: int) -> Ints:
    return np.full(n, NOBODY, np.int64)


def _by_host(rows: Sequence[HostRow]) -> tuple[Ints, Ints]:
    """Return size classes by priority and their limits, host by host."""
    number = {name: rank for rank, name in enumerate(SIZE_CLASSES)}
    order = _nobody(len(rows) * len(number))
    limit = np.full(len(rows) * len(number), NO_LIMIT, np.int64)
    for h, row in enumerate(rows):
        for rank, name in enumerate(row.sizes):
            order[h * len(number) + rank] = number[name]
        for name, most in row.limits.items():
            limit[h * len(number) + number[name]] = most
    return order, limit


def _one_user(n: int) -> tuple[int, Ints]:
    return 1, np.zeros(n, np.int64)


def _numbered(user: Ints) -> tuple[int, Ints]:
    """Return how many users there are, and the users of all jobs counted from 0."""
    known, numbers = np.unique(user, return_inverse=True)
    return known.size, numbers.astype(np.int64)

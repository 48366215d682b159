"""The computers of the cluster, the gangs on them, and the jobs that are not gang scheduled."""

from __future__ import annotations

from typing import NamedTuple

from models.arrays import Floats, Ints
from models.kernels.types import record

SPANS = -1
"""Instead of the computer of a gang that has several."""

CHANGED, PARTIAL, N_SPANNING, WAITING_FROM, ISSUED, REVOKED, N_COUNTS = range(7)
"""Positions in `AlphaCluster.counts`: whether gangs, or what they have, have changed since tickets were
looked at; gangs that span computers and have no ticket for some slice; gangs in `spanning`; where in
`SliceLists.waiting` those begin that have not been admitted; tickets issued and revoked so far."""

N_FREE, FREE_FROM, FREE_TO, N_FREE_COUNTS = range(4)
"""Positions in `AlphaFree.counts`: jobs in `there`; where those in `waiting` begin and end."""


class AlphaCluster(NamedTuple):
    """Computers, and the gangs on them.

    Parameters
    ----------
    processors, gang : ndarray of int, shape (n_hosts,)
        CPUs of each computer, and those that gangs may have.
    room : ndarray of int, shape (n_hosts,), KB
        What jobs may still have of its memory.
    memory : ndarray of int, shape (n_jobs,), KB
        Of each processor.
    home : ndarray of int, shape (n_jobs,)
        A gang's computer, or `SPANS`; filled in, but for those that span computers.
    row : ndarray of int, shape (n_jobs,)
        Row of `layout` and `tickets` of those.
    layout : ndarray of int, shape (n_rows * n_hosts,)
        CPUs on each computer, filled in.
    tickets : ndarray of int, shape (n_rows * frame,)
        Whether it has one for the slice.
    full : ndarray of int, shape (frame * n_hosts,)
        CPUs with tickets.
    ranks : ndarray of int, shape (frame,)
        Slices in the order in which they are taken, of equals.
    committed : ndarray of int, shape (n_priorities * n_hosts,)
        CPUs that gangs of each priority have.
    used, load, stopped : ndarray of int, shape (n_hosts,)
        CPUs that gangs use at the moment, that they have in the slice that is decided, that those had that
        were stopped at its beginning.
    spanning : ndarray of int, shape (n_rows,)
        Gangs that span computers, by priority, then number.
    counts : ndarray of int, shape (N_COUNTS,)
    gang_from : int
        Processors from which on a job is gang scheduled.
    """

    processors: Ints
    gang: Ints
    room: Ints
    memory: Ints
    home: Ints
    row: Ints
    layout: Ints
    tickets: Ints
    full: Ints
    ranks: Ints
    committed: Ints
    used: Ints
    load: Ints
    stopped: Ints
    spanning: Ints
    counts: Ints
    gang_from: int


class AlphaFree(NamedTuple):
    """Jobs that are not gang scheduled: all processes on a computer get equal shares, and have one clock.

    Parameters
    ----------
    there, waiting : ndarray of int, shape (n_jobs,)
        Those that are on some computer, in no order; all that were submitted, in order.
    target : ndarray of float, shape (n_jobs,), seconds
        Of its computer's clock, at which a job ends.
    processes : ndarray of int, shape (n_hosts,)
    clock, read, speed : ndarray of float, shape (n_hosts,), seconds
        CPU time that a process of the computer has had, when that was so, and what it gets a second.
    least, next_end : ndarray of float, shape (n_hosts,)
        The first target, and when it is reached at that speed.
    counts : ndarray of int, shape (N_FREE_COUNTS,)
    """

    there: Ints
    waiting: Ints
    target: Floats
    processes: Ints
    clock: Floats
    read: Floats
    speed: Floats
    least: Floats
    next_end: Floats
    counts: Ints


ALPHA_CLUSTER, ALPHA_FREE = map(record, (AlphaCluster, AlphaFree))

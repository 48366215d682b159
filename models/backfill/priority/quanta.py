"""The tables of quanta: the outcome of each job's quantum, and the jobs in execution on each host.

Immediate service (Chiang and Vernon 2001, sections 2.4 and 4.3): a job that cannot start when it is submitted
gets a short quantum: at once, on idle processors or on processors of jobs that are preempted for it; or as
soon as there are idle processors, without preemption. A preempted job stays in execution: its end is
postponed by the quantum, it keeps its memory, and its processors go to the new job, or stay idle, until it
gets them back.

A job is in one place at a time: in the queue, in its quantum (its only one), or in execution.
"""

from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.job_table import NO_JOB
from models.backfill.priority.rules import Immediate
from models.jobs.jobs import Jobs
from models.kernels.types import record

NO_QUANTUM, ENDS, LOST, COUNTED = range(4)
"""Outcomes of a job's quantum: it has none, it ends in it, it starts again later, or it continues later."""

NOT_IN_QUANTUM = -1


class Quanta(NamedTuple):
    """The columns that quanta add to the jobs; every array has the shape (n_jobs,).

    Parameters
    ----------
    runtime, requested : ndarray of float, seconds
        A job's remaining runtime and request: less if its quantum counts.
    lent : ndarray of int
        Memory in the quantum, KB.
    fate : ndarray of int
        Outcome of the quantum, see above.
    first : ndarray of float, seconds
        NaN until filled in with the first start, if only for a quantum.
    began : ndarray of float, seconds
        NaN until filled in when a full execution begins.
    end : ndarray of float, seconds
        The end as currently known: the final one, or a nearer one. `JobTable.end` is the key of the heap, an
        end that may have been postponed since; `JobTable.start` is when a job last got processors, or will
        get them back.
    expected : ndarray of float, seconds
        The end of each execution by its request, postponed by quanta that are over.
    ran : ndarray of float, seconds
        Time in execution before `JobTable.start` that counts.
    taken : ndarray of int
        Idle processors that the job's quantum takes, or `NOT_IN_QUANTUM`.
    displaced_by : ndarray of int
        The job in whose quantum a preempted one waits, or `NO_JOB`.
    preempted : ndarray of int
        Set to 1 where processors were taken away.
    bypassed : ndarray of int
        `UnorderedQueue.bypassed` of a job in its quantum.
    """

    runtime: Floats
    requested: Floats
    lent: Ints
    fate: Ints
    first: Floats
    began: Floats
    end: Floats
    expected: Floats
    ran: Floats
    taken: Ints
    displaced_by: Ints
    preempted: Ints
    bypassed: Ints


class Residents(NamedTuple):
    """The jobs in execution on each host, preempted ones too, in no order.

    Parameters
    ----------
    job : ndarray of int, shape (n_hosts * places,)
        Jobs of host `h` begin at ``h * places``.
    slowdown : ndarray of float, shape (n_hosts * places,)
        Slowdown of each of them while victims are chosen; inf marks a job that is not eligible.
    n : ndarray of int, shape (n_hosts,)
    places : int
        Number of places of each host.
    """

    job: Ints
    slowdown: Floats
    n: Ints
    places: int


class Quantum(NamedTuple):
    """How a quantum is given, see `models.backfill.priority.rules.Immediate`.

    Parameters
    ----------
    length : float, seconds
        0 disables immediate service.
    uninterrupted : float, seconds
    preempting : bool
        Whether it begins at the submission; otherwise as soon as there are idle processors.
    keeps_reservations : bool
        Whether it must not run into a reservation.
    """

    length: float
    uninterrupted: float
    preempting: bool
    keeps_reservations: bool


RESIDENTS = record(Residents)


def quanta_of(jobs: Jobs, how: Immediate | None) -> Quanta:
    """Return the quanta of jobs before the first is submitted."""
    n = len(jobs)
    lent, fate = np.zeros(n, np.int64), np.full(n, NO_QUANTUM)
    if how is not None:
        lent, fate = np.minimum(jobs.memory, how.memory), fates(jobs, how)
    first, began, end, expected = (np.full(n, np.nan) for _ in range(4))
    return Quanta(
        jobs.runtime.copy(), jobs.requested.copy(), lent, fate, first, began, end, expected,
        ran=np.zeros(n), taken=np.full(n, NOT_IN_QUANTUM), displaced_by=np.full(n, NO_JOB),
        preempted=np.zeros(n, np.int64), bypassed=np.zeros(n, np.int64),
    )  # fmt: skip


def fates(jobs: Jobs, how: Immediate) -> Ints:
    """Return the outcome of each job's quantum."""
    # A job that requests at most a quantum's memory gets all of its request, as in any execution.
    exceeds = (jobs.memory > how.memory) & (jobs.used > how.memory)
    fate = np.where(exceeds | (not how.keep_quantum), LOST, COUNTED)
    fate[(jobs.runtime <= how.quantum) & ~exceeds] = ENDS
    if how.beyond_memory == "leaves":
        fate[exceeds] = NO_QUANTUM
    return fate


def no_residents(n_hosts: int, places: int) -> Residents:
    """Return empty hosts with `places` places each."""
    n = n_hosts * places
    return Residents(np.empty(n, np.int64), np.empty(n), np.zeros(n_hosts, np.int64), places)


def quantum_of(how: Immediate | None) -> Quantum:
    """Return how a quantum is given."""
    if how is None:
        return Quantum(0.0, 0.0, False, False)
    preempting = how.kind == "preempt"
    # A preemption postpones all expected ends in any case.
    return Quantum(how.quantum, how.uninterrupted, preempting, how.keep_promises and not preempting)

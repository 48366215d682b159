"""What the kernel of immediate service works on besides the tuples of `models.backfill.priority.passing`.

A job is in one place at a time: it waits in the queue, is in its quantum (its only one), or is in execution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.immediate.rules import Immediate
from models.backfill.priority.passing import Columns
from models.backfill.priority.schedules import columns_of
from models.jobs.jobs import Jobs
from models.kernels.types import record

NO_QUANTUM, DONE, LOST, COUNTED = range(4)
"""What a job's quantum comes to: it gets none, it ends in it, it starts anew later, or it goes on later."""

NOT_IN_QUANTUM = -1
NOBODY = -1


class Served(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,).

    Parameters
    ----------
    columns : Columns
        What a pass knows. `runtime` and `requested` are less where a quantum counts: what a job has left to
        run, and is judged by. `start` is when it last got processors, or is to get them back. `end` is the
        key of the heap: an end, perhaps one that was put off since.
    submit, requested : seconds
    lent : memory in the quantum, KB
    fate : what the quantum comes to
    first : NaN, filled in with the first start, if only for a quantum
    began : NaN, filled in where a full execution begins
    end : when it ends, as far as is known: the last end, filled in, or a nearer one
    expected : end of each execution by its request, put off by quanta that are over
    ran : seconds before `columns.start` that count
    taken : idle processors that its quantum takes, or `NOT_IN_QUANTUM`
    displaced_by : the job in whose quantum a preempted one waits, or `NOBODY`
    preempted : filled in with 1 where processors were taken away
    """

    columns: Columns
    submit: Floats
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


class Residents(NamedTuple):
    """The jobs in execution on each host, preempted ones too, in no order.

    Parameters
    ----------
    job : ndarray of int, shape (n_hosts * room,)
        Those of host `h` begin at the position ``h * room``.
    slowdown : ndarray of float, shape (n_hosts * room,)
        Of each of them while victims are chosen; inf is not eligible.
    n : ndarray of int, shape (n_hosts,)
    room : int
        For the jobs of each host.
    """

    job: Ints
    slowdown: Floats
    n: Ints
    room: int


class Quantum(NamedTuple):
    """How a quantum is given, see `models.backfill.immediate.rules.Immediate`.

    Parameters
    ----------
    length, uninterrupted : seconds
    preempting : at the submission; otherwise as soon as there are idle processors
    keeps_starts : whether it must not run into a start that is given
    """

    length: float
    uninterrupted: float
    preempting: bool
    keeps_starts: bool


class Waiting(NamedTuple):
    """Those that wait, at the first places of arrays with room for all jobs.

    Parameters
    ----------
    job : who waits at a place
    submit, ran, requested, size, need, bypassed, key : of that job, as in `Served` and
        `priority.passing.Columns`; `bypassed` and `key` count here as long as it waits
    hours, units, shortness : of that job, see `priority.order.added_up`
    place : of each job by its number, or `NOBODY` where it has left
    """

    job: Ints
    submit: Floats
    ran: Floats
    requested: Floats
    size: Ints
    need: Ints
    bypassed: Ints
    key: Floats
    hours: Floats
    units: Floats
    shortness: Floats
    place: Ints


class Lists(NamedTuple):
    """Who waits and who runs, with room for all jobs.

    Parameters
    ----------
    waiting : see there
    chosen : places of some that wait
    n_behind : one number: so many at the first places go behind the first of them as long as that waits, by
        priorities that do not change; 0 is that it is not known
    heap : who runs, see `models.kernels.ends`
    """

    waiting: Waiting
    chosen: Ints
    n_behind: Ints
    heap: Ints


SERVED, RESIDENTS, QUANTUM, WAITING, LISTS = map(record, (Served, Residents, Quantum, Waiting, Lists))


def served(jobs: Jobs, how: Immediate) -> Served:
    """Return the jobs before the first is submitted."""
    n = len(jobs)
    columns = columns_of(jobs)._replace(
        runtime=jobs.runtime.copy(), requested=jobs.requested.copy(), host=np.full(n, -1)
    )
    first, began, end, expected = (np.full(n, np.nan) for _ in range(4))
    return Served(
        columns, jobs.submit, jobs.requested, np.minimum(jobs.memory, how.memory), fates(jobs, how),
        first, began, end, expected, ran=np.zeros(n), taken=np.full(n, NOT_IN_QUANTUM),
        displaced_by=np.full(n, NOBODY), preempted=np.zeros(n, np.int64),
    )  # fmt: skip


def fates(jobs: Jobs, how: Immediate) -> Ints:
    """Return what each job's quantum comes to."""
    # A job that asks for no more than there is in a quantum gets all that it asks for, as in any execution.
    exceeds = (jobs.memory > how.memory) & (jobs.used > how.memory)
    fate = np.where(exceeds | (not how.keep_quantum), LOST, COUNTED)
    fate[(jobs.runtime <= how.quantum) & ~exceeds] = DONE
    if how.beyond_memory == "leaves":
        fate[exceeds] = NO_QUANTUM
    return fate


def no_residents(n_hosts: int, room: int) -> Residents:
    """Return room for so many jobs on each host."""
    return Residents(
        np.empty(n_hosts * room, np.int64), np.empty(n_hosts * room), np.zeros(n_hosts, np.int64), room
    )


def quantum_of(how: Immediate) -> Quantum:
    """Return how a quantum is given."""
    preempting = how.kind == "preempt"
    # A preemption puts off all that was expected in any case.
    return Quantum(how.quantum, how.uninterrupted, preempting, how.keep_promises and not preempting)


def nobody_waits(n_jobs: int) -> Lists:
    """Return room for so many jobs."""
    job, size, need, bypassed, place, chosen, heap = (np.empty(n_jobs, np.int64) for _ in range(7))
    submit, ran, requested, key, hours, units, shortness = (np.empty(n_jobs) for _ in range(7))
    waiting = Waiting(
        job, submit, ran, requested, size, need, bypassed, key, hours, units, shortness, place
    )  # fmt: skip
    return Lists(waiting, chosen, np.zeros(1, np.int64), heap)

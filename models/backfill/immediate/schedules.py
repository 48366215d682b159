"""Backfilling with immediate service: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

import numpy as np

from models.backfill.immediate.engine import COUNTED, DONE, LOST, NO_QUANTUM, NOT_IN_QUANTUM, run
from models.backfill.immediate.victims import NOBODY
from models.backfill.priority.passing import NOT_HELD
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, Schedule


def simulate(jobs: Jobs, machine: Machine, rules: Rules) -> Schedule:
    """Run all jobs to their ends, each with a quantum of service if it cannot start at once.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules.
    machine : Machine
        With a host for each of them.
    rules : Rules
        With discipline ``backfill`` and its immediate service.

    Returns
    -------
    Schedule
        A job's wait is its time in the system less its runtime, so that a quantum that was lost counts as
        waiting. Whoever ended in its quantum began no full execution before its end.
    """
    room = 3 * len(jobs) + 16
    while True:
        made, n_pieces = _simulate(jobs, machine, rules, room)
        if n_pieces <= room:
            return made
        room = n_pieces


def _fate(jobs: Jobs, rules: Rules) -> np.ndarray:
    """Return what each job's quantum comes to."""
    how = rules.immediate
    assert how is not None
    # Who asks for no more than there is in a quantum gets all that it asks for, as in any execution.
    exceeds = (jobs.memory > how.memory) & (jobs.used > how.memory)
    fate = np.where(exceeds | (not how.keep_quantum), LOST, COUNTED)
    fate[(jobs.runtime <= how.quantum) & ~exceeds] = DONE
    if how.beyond_memory == "leaves":
        fate[exceeds] = NO_QUANTUM
    return fate


def _simulate(jobs: Jobs, machine: Machine, rules: Rules, pieces: int) -> tuple[Schedule, int]:
    how = rules.immediate
    assert how is not None
    n, n_hosts = len(jobs), len(machine.names)
    first, end, began, promised, since, wake, expected, key = (np.full(n, np.nan) for _ in range(8))
    host, taken, displaced_by = (np.full(n, value, np.int64) for value in (-1, NOT_IN_QUANTUM, NOBODY))
    preempted, bypassed, heap, queue = (np.zeros(n, np.int64) for _ in range(4))
    free, free_memory, n_due, n_steps, n_residents = (np.zeros(n_hosts, np.int64) for _ in range(5))
    # Each processor can belong to one execution, and work for one quantum at the same time.
    beds = min(n, machine.largest) + 1
    places = 2 * beds
    reservations = n if rules.reservations is None else min(rules.reservations, n)
    steps = 1 + 3 * places + 2 * reservations
    due, due_size, due_need = (np.empty(n_hosts * places, kind) for kind in (float, np.int64, np.int64))
    time, step_processors, step_memory = (
        np.empty(n_hosts * steps, kind) for kind in (float, np.int64, np.int64)
    )
    piece_job, piece_host = (np.empty(pieces, np.int64) for _ in range(2))
    piece_begin, piece_end = (np.empty(pieces) for _ in range(2))
    n_pieces = run(
        jobs.submit, jobs.runtime.copy(), jobs.requested, jobs.requested.copy(), jobs.size, jobs.memory,
        np.minimum(jobs.memory, how.memory), _fate(jobs, rules), machine.processors, machine.memory,
        np.array(rules.weights), rules.weights.change_with_time, reservations, rules.keep_start,
        rules.ties == "instant",
        how.quantum, how.uninterrupted, how.kind == "preempt", how.keep_promises,
        first, end, host, began, promised, preempted, since, wake, expected, np.zeros(n), taken, displaced_by,
        key, bypassed, np.full(n, NOT_HELD), heap, queue, free, free_memory,
        due, due_size, due_need, n_due, time, step_processors, step_memory, n_steps, np.empty(n_hosts),
        np.empty(n_hosts * beds, np.int64), n_residents, np.empty(n_hosts * beds),
        piece_job, piece_host, piece_begin, piece_end,
    )  # fmt: skip
    noted = slice(n_pieces)
    job = piece_job[noted]
    # Whoever ran in one piece has waited to the bit as without immediate service.
    whole = end == first + jobs.runtime
    made = Schedule(
        jobs, machine, first, end, host, np.where(np.isnan(began), end, began),
        waited=np.where(whole, first - jobs.submit, end - jobs.submit - jobs.runtime),
        preempted=preempted.astype(bool), promised=promised,
        pieces=Pieces(job, piece_host[noted], piece_begin[noted], piece_end[noted], jobs.size[job]),
    )  # fmt: skip
    return made, n_pieces

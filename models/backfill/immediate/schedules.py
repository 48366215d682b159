"""Backfilling with immediate service: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

import numpy as np

from models.backfill.immediate import kernel
from models.backfill.immediate.rules import WithImmediateService
from models.backfill.immediate.state import Served, no_residents, nobody_waits, quantum_of, served
from models.backfill.pieces import Noted, all_fit, pieces_of, room_for
from models.backfill.priority.schedules import hosts_of, order_of, places_on
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule


def simulate(jobs: Jobs, machine: Machine, rules: WithImmediateService) -> Schedule:
    """Run all jobs to their ends, each with a quantum of service if it cannot start at once.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules.
    machine : Machine
        With a host for each of them.
    rules : WithImmediateService

    Returns
    -------
    Schedule
        A job's wait is its time in the system less its runtime, so that a quantum that was lost counts as
        waiting. A job that ended in its quantum began no full execution before its end.
    """
    pieces = room_for(3 * len(jobs) + 16)
    found = _run(jobs, machine, rules, pieces)
    if not all_fit(pieces):
        pieces = room_for(int(pieces.n[0]))
        found = _run(jobs, machine, rules, pieces)
    # A job that ran in one piece has waited to the bit as without immediate service.
    whole = found.end == found.first + jobs.runtime
    waited = np.where(whole, found.first - jobs.submit, found.end - jobs.submit - jobs.runtime)
    return Schedule(
        jobs, machine, found.first, found.end, found.columns.host,
        began=np.where(np.isnan(found.began), found.end, found.began), waited=waited,
        preempted=found.preempted.astype(bool), promised=found.columns.promised, pieces=pieces_of(pieces),
    )  # fmt: skip


def _run(jobs: Jobs, machine: Machine, rules: WithImmediateService, pieces: Noted) -> Served:
    """Return what became of the jobs."""
    n, n_hosts, places = len(jobs), len(machine.names), places_on(machine, len(jobs))
    table = served(jobs, rules.immediate)
    order, priority, _ = order_of(rules, jobs, table.columns)
    kernel.run(
        table, hosts_of(machine, 2 * places, order.starts.reservations), no_residents(n_hosts, places),
        order, priority, quantum_of(rules.immediate),
        nobody_waits(n), pieces,
    )  # fmt: skip
    return table

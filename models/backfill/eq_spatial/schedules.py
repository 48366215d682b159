"""Spatial equipartitioning: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

import numpy as np

from models.backfill.eq_spatial import kernel
from models.backfill.eq_spatial.rules import EqSpatial
from models.backfill.eq_spatial.state import empty_hosts, job_table, nobody_waiting, settings_of
from models.backfill.pieces import pieces_of, room_for, twice
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule


def simulate(jobs: Jobs, machine: Machine, rules: EqSpatial) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        Their `size` is the most processors that they can use. A host has the memory of each, see
        `EqSpatial.check`.
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
    """
    table, hosts, waiting = (
        job_table(jobs),
        empty_hosts(machine),
        nobody_waiting(len(jobs), len(machine.names)),
    )
    pieces = room_for(4 * len(jobs) + 2 * hosts.members.job.size)
    while not kernel.run(table, hosts, waiting, settings_of(rules), pieces):
        pieces = twice(pieces)
    return Schedule(
        jobs, machine, table.start, table.end, table.host,
        began=np.where(np.isnan(table.placed), table.end, table.placed),
        waited=np.maximum(table.end - jobs.submit - jobs.runtime, 0.0), pieces=pieces_of(pieces),
    )  # fmt: skip

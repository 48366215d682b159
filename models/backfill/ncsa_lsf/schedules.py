"""NCSA-LSF: from jobs, a machine and rules to a schedule."""

from __future__ import annotations

from models.backfill.ncsa_lsf import kernel
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.backfill.ncsa_lsf.state import empty_hosts, empty_queue, job_table, limits_of, nobody_running
from models.backfill.pieces import pieces_of, room_for
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule


def simulate(jobs: Jobs, machine: Machine, rules: NcsaLsf) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules: with a requested time.
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
    n, n_hosts = len(jobs), len(machine.names)
    table = job_table(jobs, rules.user_limit is not None)
    n_users = int(table.user.max(initial=0)) + 1
    held = room_for(n)
    kernel.run(
        rules.instant, table, empty_hosts(machine, rules.hosts), limits_of(rules),
        empty_queue(n, n_hosts), nobody_running(n, n_users), held,
    )  # fmt: skip
    return Schedule(jobs, machine, table.start, table.end, table.host, held=pieces_of(held))

"""The machine at one moment of a run: the owner of each node and the state of each job."""

from dataclasses import dataclass

import numpy as np

from models.arrays import Floats, Ints
from models.production_gang.systems import Run
from models.production_gang.t3d.commands import CLASS, SUSPEND
from models.production_gang.t3d.nodes import shapes_of
from models.production_gang.t3d.simulation import Detail

QUEUED, NEW, ASSIGNED, LOADING, RUNNING, LEAVING, ON_DISK, SUSPENDED = "QNWiRoOS"
"""Letters of job states, as in Fig. 2 (Jette 1997): N is new, without nodes or barrier wire; W awaits
the begin of its execution, with both; i is loaded; R runs; o is written to disk; O is there. Q and S are not
in the paper: the job has not been admitted to the gang scheduler; an operator has suspended it."""


@dataclass(frozen=True, eq=False)
class Moment:
    """The state at a time; arrays of jobs have the shape (n_jobs,), for the jobs in the system.

    Parameters
    ----------
    time : float, seconds
        Seconds since the begin of the run; `clock` counts since Monday, 0:00, of its first week.
    clock : float, seconds
    sides : tuple of int
        Sides of the torus of nodes.
    owner : ndarray of int, shape sides
        Position in `job` of the job that has a node, -1 for none.
    leaving : ndarray of int, shape sides
        Position in `job` of the preempted job whose image is being written to disk there, -1 for none.
    job : ndarray of int
        Positions in the schedule, ascending.
    state : ndarray of str
        A letter each, see above.
    wire : ndarray of int
        -1 for a job that never had one.
    processors, job_class, user : ndarray of int
        User is -1 where the workload has none.
    ran : ndarray of float, seconds
        Time for which it has run so far.
    """

    time: float
    clock: float
    sides: tuple[int, ...]
    owner: Ints
    leaving: Ints
    job: Ints
    state: np.ndarray
    wire: Ints
    processors: Ints
    job_class: Ints
    user: Ints
    ran: Floats


def at(run: Run, time: float) -> Moment:
    """Return the moment of a run on the T3D, after all events at that time. O(jobs + residencies).

    Parameters
    ----------
    run : Run
    time : float, seconds
        Since the begin of the run.
    """
    detail = run.detail
    assert isinstance(detail, Detail)
    its = detail.residencies
    here = (run.jobs.submit <= time) & (time < run.end)
    job = np.flatnonzero(here)
    n_jobs = len(run.jobs)
    known = np.flatnonzero((its.assigned <= time) & here[its.job])
    last = np.full(n_jobs, -1)
    last[its.job[known]] = known  # in order of assignment, so that the last one stays
    state = np.where(detail.admitted <= time, NEW, QUEUED)
    wire = np.full(n_jobs, -1)
    ran = np.zeros(n_jobs)
    np.add.at(ran, its.job[known], np.clip(np.minimum(its.stops[known], time) - its.begins[known], 0.0, None))
    placed = np.flatnonzero(last >= 0)
    row = last[placed]
    wire[placed] = its.wire[row]
    state[placed] = np.select(
        [time >= its.gone[row], time >= its.stops[row], time >= its.begins[row], time >= its.ready[row]],
        [ON_DISK, LEAVING, RUNNING, LOADING],
        ASSIGNED,
    )
    assert run.jobs.job_class is not None
    job_class = run.jobs.job_class.copy()
    done = detail.commands.done
    for command in detail.commands[done > time][::-1]:
        if command.action == CLASS:
            job_class[command.job] = command.former
    suspended = {
        one.job: one.action == SUSPEND for one in detail.commands[done <= time] if one.action != CLASS
    }
    state[[number for number, is_suspended in suspended.items() if is_suspended]] = SUSPENDED
    owner, leaving = np.full((2, *detail.hardware.sides), -1)
    shapes = shapes_of(detail.hardware.sides)
    position = np.full(n_jobs, -1)
    position[job] = np.arange(job.size)
    for number, residency in zip(placed.tolist(), row.tolist(), strict=True):
        if time >= its.gone[residency]:
            continue
        nodes = run.jobs.size[number] // detail.hardware.node_processors
        block = _block(detail, its.corner[residency], shapes[int(nodes).bit_length() - 1])
        (owner if time < its.stops[residency] else leaving)[block] = position[number]
    users = np.full(n_jobs, -1) if run.jobs.user is None else run.jobs.user
    return Moment(
        time, run.clock + time, detail.hardware.sides, owner, leaving, job, state[job], wire[job],
        run.jobs.size[job], job_class[job], users[job], ran[job],
    )  # fmt: skip


def _block(detail: Detail, corner: int, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Return the nodes of a partition as an index, round the torus."""
    sides = detail.hardware.sides
    origin = np.unravel_index(corner, sides)
    spans = [
        (begin + np.arange(side)) % whole for begin, side, whole in zip(origin, shape, sides, strict=True)
    ]
    return np.ix_(*spans)

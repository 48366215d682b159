"""Simulations of tasks: the settings of a drawing, and the recorded states that it shows.

The kernels are imported inside the functions: a report whose figures need none does not wait for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.drawings.composition import is_file
from analysis.drawings.scene import asked, positive
from analysis.errors import AnalysisError
from analysis.silva1999.labels import PRIORITIES, SMALL, machine, workload
from models.point import Point
from sweep.policy_names import label

if TYPE_CHECKING:
    from models.concurrent_gang.simulation import Simulation
    from models.jobs.jobs import Jobs
    from models.jobs.stream import Stream
    from models.jobs.trace import Trace


@dataclass(frozen=True)
class Diagram:
    """The trace diagram over some slices.

    Parameters
    ----------
    timeline : recarray of `models.concurrent_gang.state.SLOT_USE`
        What PEs did, from the beginning on.
    signals : ndarray, shape (n_slices + 1,), seconds
        When slices begin, and the last one ends.
    rows : ndarray of int, shape (n_slices,)
        Row of the diagram that each slice is for, -1 where there is none.
    n_rows : ndarray of int, shape (n_slices,)
        Rows at the beginning of each slice: the length of a period, in slices.
    changes : ndarray, seconds
        Arrivals and ends of jobs.
    """

    timeline: Any
    signals: np.ndarray
    rows: np.ndarray
    n_rows: np.ndarray
    changes: np.ndarray
    n_pes: int

    @property
    def period(self) -> tuple[int, int] | None:
        """First slice and length of a period, one without a workload change first, then one of most rows."""
        found = []
        for first in range(len(self.rows)):
            n = int(self.n_rows[first])
            if n and self.rows[first] == 0 and first + n <= len(self.rows):
                whole = list(self.rows[first : first + n]) == list(range(n))
                begin, end = self.signals[first], self.signals[first + n]
                calm = not ((self.changes > begin) & (self.changes < end)).any()
                if whole:
                    found.append((calm, n, -first))
        if not found:
            return None
        _, n, first = max(found)
        return -first, n

    @property
    def cycle(self) -> tuple[float, float, bool]:
        """The longest time between two workload changes, and True; else a part of one, and False."""
        begin, end = self.signals[0], self.signals[-1]
        marks = np.unique(self.changes[(self.changes >= begin) & (self.changes <= end)])
        whole = len(marks) > 1
        if not whole:
            marks = np.unique([begin, *marks, end])
        longest = int(np.argmax(np.diff(marks)))
        return float(marks[longest]), float(marks[longest + 1]), whole


def diagram(point: Point, begin: float, n_slices: int) -> Diagram:
    """Simulate a coordinated scheduler to a time and for some slices beyond it.

    Parameters
    ----------
    begin : float, seconds
        A time in the first slice that is drawn.
    """
    from models import workloads
    from models.concurrent_gang.model import prepare
    from models.concurrent_gang.recording import Recorder

    recorder = Recorder()
    simulation = prepare(point, recorder)
    length = float(point.policy["slice"])
    first = int(begin // length)
    signals = np.arange(first, first + n_slices + 1) * length
    rows, n_rows = np.full((2, n_slices), -1)
    for number, signal in enumerate(signals[:-1]):
        simulation.run(1, until=signal)
        n_rows[number] = simulation.state.n_slots
        if simulation.state.n_slots and not simulation.state.void:
            rows[number] = simulation.state.row
    simulation.run(1, until=signals[-1])
    submitted = workloads.open_workload(point)
    arrivals = _first(submitted, simulation.n_submitted).submit
    changes = np.concatenate([arrivals, simulation.ended().end])
    n_pes = simulation.n_pes
    simulation.cut(float(signals[-1]))
    return Diagram(recorder.timeline(), signals, rows, n_rows, np.sort(changes), n_pes)


@dataclass(frozen=True)
class Grading:
    """Grades of membership of one task whose job has several phases.

    Parameters
    ----------
    change : float, seconds
        The first clock signal at which it is in its second phase.
    time, io, computation : ndarray, shape (n_measures,)
    """

    job: int
    task: int
    change: float
    time: np.ndarray
    io: np.ndarray
    computation: np.ndarray

    @property
    def before(self) -> np.ndarray:
        """Places of the grades up to the slice in which it changed."""
        return np.flatnonzero(self.time <= self.change)

    @property
    def after(self) -> np.ndarray:
        """Places of the grades whose last slice lies wholly in the second phase."""
        return np.flatnonzero(self.time > self.change)


def gradings(point: Point, until: float) -> list[Grading]:
    """Return the grades of all tasks that have come to their second phase in a simulation up to a time.

    Parameters
    ----------
    point : Point
        With a workload of at least two phases and a coordinated scheduler.
    until : float, seconds
    """
    from models.concurrent_gang.model import prepare
    from models.concurrent_gang.recording import Recorder

    recorder = Recorder()
    simulation = prepare(point, recorder)
    length = float(point.policy["slice"])
    changes: dict[tuple[int, int], float] = {}
    for number in range(1, int(until // length) + 1):
        simulation.run(1, until=number * length)
        for task in _in_second_phase(simulation):
            changes.setdefault(task, number * length)
    simulation.cut(until)
    grades = recorder.grades()
    order = np.lexsort((grades.time, grades.task, grades.job))
    tasks = np.column_stack([grades.job, grades.task])[order]
    edges = np.flatnonzero((np.diff(tasks, axis=0) != 0).any(axis=1)) + 1
    found = []
    for places in np.split(order, edges):
        key = (int(grades.job[places[0]]), int(grades.task[places[0]])) if len(places) else (-1, -1)
        if key in changes:
            found.append(
                Grading(
                    *key, changes[key], grades.time[places], grades.io[places], grades.computation[places]
                )
            )
    return found


def _in_second_phase(simulation: Simulation) -> Iterator[tuple[int, int]]:
    """Yield job and task of those that are in their second phase or beyond it, and have not ended."""
    from models.concurrent_gang.codes import ENDED

    system = simulation.system
    for place in simulation.places:
        job = system.jobs[place]
        tasks = system.tasks[job["first_task"] : job["first_task"] + job["n_tasks"]]
        for index in tasks["index"][(tasks["phase"] > 0) & (tasks["state"] != ENDED)]:
            yield int(system.table.jobs["number"][place]), int(index)


def _first(opened: Stream | Trace, n_jobs: int) -> Jobs:
    """Return the first jobs of a stream, or of a log."""
    from models.jobs.trace import Trace

    return opened.jobs.part(slice(0, n_jobs)) if isinstance(opened, Trace) else opened.first(n_jobs)


FAMILY = "models.concurrent_gang"

SOURCE = {
    "policy": PRIORITIES,
    "workload": "io_intensive",
    "load": "1.5",
    "machine": SMALL,
    "slice": "",
    "seed": "1",
    "replication": "0",
    "conf": "",
}
"""Settings that make a simulation; empty means the value in the files of conf."""


def point(settings: Mapping[str, str], **changed: Any) -> Point:
    """Return the point for some settings, with the same jobs as an experiment with that seed.

    Parameters
    ----------
    settings : dict of str to str
        With the keys of `SOURCE`.
    **changed
        Keys of the policy's file.

    Raises
    ------
    AnalysisError
        If they cannot be understood, or the models refuse them.
    """
    user, named = settings["conf"], settings["policy"]
    if settings["slice"]:
        changed["slice"] = positive(settings, "slice", "a positive number of seconds")
    # A short name is the family's policy, where there is one: `gang` is a family, too.
    full = f"{FAMILY.rpartition('.')[2]}/{named}"
    meant = full if "/" not in named and is_file("policy", full, user) else named
    made = asked({**settings, "policy": meant}, changed)
    if made.policy["family"] != FAMILY:
        raise AnalysisError(f"policy={named} has no tasks to draw; give gang, concurrent_gang, …")
    return made


def title(settings: Mapping[str, str], scheduler: str = "") -> str:
    """Return a description of the simulation."""
    size = settings.get("machine.torus") or settings.get("machine.processors") or settings["machine"]
    named = machine(size.replace("torus", "")) if size[-1].isdecimal() else machine(size)
    first = f"{label(scheduler)}, " if scheduler else ""
    jobs = workload(settings["workload"])
    return f"{first}{jobs if jobs.startswith('I/O') else jobs.lower()}, {named}, load {settings['load']}"

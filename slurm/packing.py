"""Divide tasks among the elements of an array by predicted time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slurm.answers import Limits
from slurm.profile import Profile
from sweep.executors import Assignment
from sweep.plan.data import Plan
from sweep.progress import duration
from sweep.store.costs import Costs, keys

UNMEASURED_ELEMENTS = 64
"""Elements if no task has a timing yet: enough to share the work evenly, but not enough to flood the
queue."""

FULL = 0.8
"""Share of the time limit that an element's predicted time may fill."""

USABLE = 0.9
"""The largest share of the cluster's limit on jobs that a submission takes: other users submit jobs, too."""


@dataclass(frozen=True)
class Packing:
    """Which tasks an element runs.

    Parameters
    ----------
    tasks : ndarray of int32, shape (n_tasks,)
        Task numbers, element after element.
    starts : ndarray of int64, shape (n_elements + 1,)
        Position of each element's first task, and the end of the last element's tasks.
    """

    tasks: np.ndarray
    starts: np.ndarray

    @property
    def n_elements(self) -> int:
        """Number of elements."""
        return len(self.starts) - 1

    def share(self, element: int) -> np.ndarray:
        """Return the task numbers of an element."""
        return self.tasks[self.starts[element] : self.starts[element + 1]]


@dataclass(frozen=True)
class Outline:
    """A planned submission.

    Parameters
    ----------
    profile : Profile
    packing : Packing
    seconds : ndarray, shape (n_tasks,)
        Predicted time of each task, NaN if no such task has been timed yet.
    """

    profile: Profile
    packing: Packing
    seconds: np.ndarray

    @property
    def array(self) -> str:
        """Value of sbatch's ``--array``."""
        at_a_time = self.profile.max_parallel
        return f"0-{self.packing.n_elements - 1}" + (f"%{at_a_time}" if at_a_time else "")

    @property
    def work_s(self) -> float | None:
        """Predicted work of all tasks, None if some kind has not been timed."""
        total = float(self.seconds.sum())
        return None if math.isnan(total) else total

    @property
    def element_s(self) -> float:
        """Predicted time of an element."""
        return float(self.seconds.sum()) / self.packing.n_elements / self.profile.cpus_per_task

    def cost(self) -> Iterator[str]:
        """Yield lines on the predicted cost."""
        if self.work_s is None:
            yield "core-h    unknown so far: run a few tasks of each kind with executor=dask, and plan again"
            return
        half, most = np.quantile(self.seconds, [0.5, 0.95])
        yield (
            f"core-h    {self.work_s / 3600:.3g}, by the measured cost of a task: {duration(half)} at the "
            f"median, 95 of 100 below {duration(most)}"
        )
        yield f"expected  {duration(self.element_s)} an element, on cores like those where that was measured"

    def notes(self) -> Iterator[str]:
        """Yield a note if a task or an element does not fit in its time limit."""
        if self.work_s is None:
            return
        asked, longest = self.profile, float(self.seconds.max())
        if longest > FULL * asked.time_s:
            yield (
                f"note      a task is expected to take {duration(longest)}, an element has {asked.time}: "
                "give it more, executor.time=..."
            )
        elif self.element_s > FULL * asked.time_s:
            yield (
                f"note      an element is expected to take {duration(self.element_s)}, and has {asked.time}: "
                "it is requeued and continues"
            )


def outlined(assignment: Assignment, profile: Profile, limits: Limits, max_elements: int) -> Outline:
    """Return the outline of a submission; `max_elements` is explained in conf/executor/slurm.yaml."""
    numbers = np.array(assignment.left, dtype=np.int64)
    seconds = predicted(assignment.plan, numbers, assignment.costs)
    most = min(limits.max_jobs, limits.max_submit or limits.max_jobs)
    # One job is the gathering job, hence - 1; array indices start at 0 and are below MaxArraySize.
    allowed = max(1, min(int(USABLE * most) - 1, limits.max_array_size))
    n_elements = elements(seconds, profile, max_elements, allowed)
    return Outline(profile, pack(numbers, seconds, n_elements), seconds)


def predicted(plan: Plan, numbers: np.ndarray, costs: Costs) -> np.ndarray:
    """Return the predicted seconds of tasks, shape (n,), by the measured cost of a job.

    NaN if no such task has been timed yet.
    """
    points, where = np.unique([plan.first(number) for number in numbers.tolist()], return_inverse=True)
    key, first = keys(plan), points.tolist()
    known = [costs.seconds_a_job(key(number)) for number in first]
    jobs = np.array([plan.measurement(number).jobs for number in first])
    seconds = np.array([math.nan if value is None else value for value in known], dtype=np.float64)
    return (seconds * jobs)[where]


def elements(seconds: np.ndarray, profile: Profile, wanted: int, allowed: int) -> int:
    """Return the number of elements to make.

    Parameters
    ----------
    seconds : ndarray, shape (n_tasks,)
        Predicted times of the tasks; NaN if not known.
    wanted, allowed : int
        Largest number of elements, wanted (to keep files few) and allowed by the cluster; the
        first is exceeded if elements would not end in time, the second never.
    """
    if np.isnan(seconds).any():
        count = min(UNMEASURED_ELEMENTS, wanted)
    else:
        work = float(seconds.sum()) / profile.cpus_per_task
        count = min(math.ceil(work / (profile.target_minutes * 60)), wanted)
        count = max(count, math.ceil(work / (FULL * profile.time_s)))
    return max(1, min(count, len(seconds), allowed))


def pack(numbers: np.ndarray, seconds: np.ndarray, n_elements: int) -> Packing:
    """Divide tasks among elements: the longest first, back and forth, so that elements are of even length.

    Every element gets some tasks of each kind, so a wrong prediction for one kind affects all elements alike.
    The lengths differ by at most the longest task. O(n log n).
    """
    # Without a timing all tasks count the same, and the stable sort keeps the plan's order.
    order = np.argsort(-np.nan_to_num(seconds, nan=1.0), kind="stable")
    row, column = np.divmod(np.arange(len(order)), n_elements)
    element = np.where(row % 2 == 0, column, n_elements - 1 - column)
    tasks = numbers[order][np.argsort(element, kind="stable")].astype(np.int32)
    starts = np.zeros(n_elements + 1, dtype=np.int64)
    np.cumsum(np.bincount(element, minlength=n_elements), out=starts[1:])
    return Packing(tasks, starts)

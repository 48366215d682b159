"""Tasks dealt out to array elements by predicted time, and elements to arrays that the cluster accepts."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from sweep.plan.plan import Plan
from sweep.store.costs import Costs, keys

UNMEASURED_ELEMENTS = 64
"""Elements where nothing is known of what a task takes: enough to be even, few enough to be polite."""

FULL = 0.8
"""Share of the time limit that an element's predicted time may fill."""


@dataclass(frozen=True)
class Packing:
    """Which tasks an element runs.

    Parameters
    ----------
    tasks : ndarray of int32, shape (n_tasks,)
        Task numbers, element after element.
    starts : ndarray of int64, shape (n_elements + 1,)
        Where each element's tasks begin, and where the last ones end.
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
class Chunk:
    """Elements that are submitted as one array.

    Parameters
    ----------
    first, size : int
        The first element, and how many there are; the array's indices are 0 to size - 1.
    parallel : int, optional
        How many of them may run at a time.
    after : int, optional
        Chunk that has to end before, where fewer may run at a time than there are chunks.
    """

    first: int
    size: int
    parallel: int | None
    after: int | None

    @property
    def array(self) -> str:
        """What sbatch's ``--array`` takes."""
        return f"0-{self.size - 1}" + (f"%{self.parallel}" if self.parallel else "")


def predicted(plan: Plan, numbers: np.ndarray, costs: Costs) -> np.ndarray:
    """Return what tasks are predicted to take by what was measured.

    Parameters
    ----------
    plan : Plan
    numbers : ndarray of int, shape (n,)
    costs : Costs

    Returns
    -------
    ndarray, shape (n,), seconds
        NaN where nothing like the task was ever measured.
    """
    replications = plan.replications
    points, where = np.unique(numbers // replications, return_inverse=True)
    key = keys(plan)
    first = (points * replications).tolist()
    known = [costs.seconds_a_job(key(number)) for number in first]
    jobs = np.array([plan.measurement(number).jobs for number in first])
    seconds = np.array([math.nan if value is None else value for value in known], dtype=np.float64)
    return (seconds * jobs)[where]


def elements(
    seconds: np.ndarray, cores: int, target_s: float, limit_s: float | None, wanted: int, allowed: int
) -> int:
    """Return how many elements to make.

    Parameters
    ----------
    seconds : ndarray, shape (n_tasks,)
        Predicted; NaN where not known.
    cores : int
        Of an element.
    target_s : float
        Time that an element shall take.
    limit_s : float, optional
        The longest that one may take.
    wanted, allowed : int
        Most elements, which leave few files; exceeded where elements would not end in time, but never beyond
        what the cluster allows.
    """
    n_tasks = len(seconds)
    if np.isnan(seconds).any():
        count = min(UNMEASURED_ELEMENTS, wanted)
    else:
        work = float(seconds.sum()) / cores
        count = min(math.ceil(work / target_s), wanted)
        if limit_s is not None:
            count = max(count, math.ceil(work / (FULL * limit_s)))
    return max(1, min(count, n_tasks, allowed))


def pack(numbers: np.ndarray, seconds: np.ndarray, n_elements: int) -> Packing:
    """Deal tasks out to elements: the longest first, to and fro, so that elements are of even length.

    Every element gets some of each kind, so a prediction that is wrong for one kind is wrong for all elements
    alike. The lengths differ by at most the longest task. O(n log n).
    """
    order = np.argsort(-np.nan_to_num(seconds, nan=1.0), kind="stable")
    row, column = np.divmod(np.arange(len(order)), n_elements)
    element = np.where(row % 2 == 0, column, n_elements - 1 - column)
    tasks = numbers[order][np.argsort(element, kind="stable")].astype(np.int32)
    starts = np.zeros(n_elements + 1, dtype=np.int64)
    np.cumsum(np.bincount(element, minlength=n_elements), out=starts[1:])
    return Packing(tasks, starts)


def chunks(n_elements: int, max_array_size: int, max_parallel: int | None) -> list[Chunk]:
    """Cut elements into arrays of even size, and divide among them how many may run at a time.

    Parameters
    ----------
    n_elements : int
    max_array_size : int
        Of the cluster: an array's indices must be below it.
    max_parallel : int, optional
        Elements of all arrays that may run at a time.
    """
    count = math.ceil(n_elements / max_array_size)
    bounds = [n_elements * number // count for number in range(count + 1)]
    made = []
    for number, (first, end) in enumerate(itertools.pairwise(bounds)):
        parallel = after = None
        if max_parallel is not None:
            share, rest = divmod(max_parallel, count)
            parallel = max(1, share + (number < rest))
            after = number - max_parallel if number >= max_parallel else None
        made.append(Chunk(first, end - first, parallel, after))
    return made

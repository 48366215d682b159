"""What a submission would be: how tasks are packed, what they will cost, and what does not fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slurm import packing
from slurm.answers import Limits
from slurm.packing import Chunk, Packing
from slurm.profile import Profile
from sweep.executors import Assignment
from sweep.progress import duration

USABLE = 0.9
"""Share of the cluster's limit on jobs that a submission takes at most: others submit, too."""


@dataclass(frozen=True)
class Outline:
    """What a submission would be.

    Parameters
    ----------
    profile : Profile
    packing : Packing
    chunks : list of Chunk
    seconds : ndarray, shape (n_tasks,)
        Predicted for each task, NaN where nothing was measured.
    """

    profile: Profile
    packing: Packing
    chunks: list[Chunk]
    seconds: np.ndarray

    @property
    def work_s(self) -> float | None:
        """Predicted work of all tasks, None if not all kinds were measured."""
        total = float(self.seconds.sum())
        return None if math.isnan(total) else total

    @property
    def element_s(self) -> float | None:
        """Predicted time of an element."""
        if self.work_s is None:
            return None
        return self.work_s / self.packing.n_elements / self.profile.cpus_per_task

    def cost(self) -> Iterator[str]:
        """Say what it will cost."""
        if self.work_s is None or self.element_s is None:
            yield "core-h    not measured yet: run a few tasks of each kind with executor=dask, and ask again"
            return
        half, most = np.quantile(self.seconds, [0.5, 0.95])
        yield (
            f"core-h    {self.work_s / 3600:.3g}, by the measured cost of a task: {duration(half)} at the "
            f"median, 95 of 100 below {duration(most)}"
        )
        yield f"expected  {duration(self.element_s)} an element, on cores like those where that was measured"

    def notes(self) -> Iterator[str]:
        """Say what will not fit in its time."""
        if self.element_s is None:
            return
        asked, longest = self.profile, float(self.seconds.max())
        if longest > packing.FULL * asked.time_s:
            yield (
                f"note      a task is expected to take {duration(longest)}, an element has {asked.time}: "
                "give it more, executor.time=..."
            )
        elif self.element_s > packing.FULL * asked.time_s:
            yield (
                f"note      an element is expected to take {duration(self.element_s)}, and has {asked.time}: "
                "it is queued again and goes on"
            )


def outlined(assignment: Assignment, profile: Profile, limits: Limits, max_elements: int) -> Outline:
    """Return what a submission would be.

    Parameters
    ----------
    assignment : Assignment
    profile : Profile
    limits : Limits
        Of the cluster.
    max_elements : int
        See conf/executor/slurm.yaml.
    """
    numbers = np.array(assignment.left, dtype=np.int64)
    seconds = packing.predicted(assignment.plan, numbers, assignment.costs)
    most = min(limits.max_jobs, limits.max_submit or limits.max_jobs)
    n_elements = packing.elements(
        seconds,
        profile.cpus_per_task,
        profile.target_minutes * 60,
        profile.time_s if profile.time_s < math.inf else None,
        max_elements,
        max(1, int(USABLE * most) - 1),  # one for the gathering job
    )
    chunks = packing.chunks(n_elements, limits.max_array_size, profile.max_parallel)
    return Outline(profile, packing.pack(numbers, seconds, n_elements), chunks, seconds)

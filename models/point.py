"""One point of a study in one replication: all inputs of a model in one frozen object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Parameters = Mapping[str, Any]
"""One resolved YAML file (a policy, a workload, a machine) as plain numbers, strings, lists and dicts.

The key ``name`` holds its name in the grid.
"""

Seed = tuple[int, ...]
"""The key of a replication's random numbers: (root seed, workload, replication), see `models.streams`."""


@dataclass(frozen=True)
class Batches:
    """The length of a measurement.

    Parameters
    ----------
    size : int or None
        Jobs in a batch; None divides the whole workload (a log, a month) into batches.
    warmup : int
        Leading batches that are run and discarded.
    checkpoints : tuple of int
        Declared numbers of measured batches, ascending. The run ends at the last one, or at an earlier
        one where `enough` returns true. The metrics are not tested between them: stopping is sequential at
        declared sizes only.
    enough : callable, optional
        Called with the metrics so far, each of shape (n_batches, ...), at every checkpoint but the last.
    weeks : bool
        Whether a batch holds the jobs submitted in a week instead of a fixed number; `size` is None then. See
        `models.jobs.calendar.periods`.
    overloaded : bool
        More work is offered than can be delivered, on purpose: only the delivered work is measured, and jobs
        are not followed to their ends.
    """

    size: int | None = 1000
    warmup: int = 1
    checkpoints: tuple[int, ...] = (30,)
    enough: Callable[[Mapping[str, np.ndarray]], bool] | None = None
    weeks: bool = False
    overloaded: bool = False

    @property
    def most(self) -> int:
        """Batches of a run that is not ended early, the warm-up included."""
        return self.warmup + self.checkpoints[-1]

    def jobs(self, n_batches: int) -> int:
        """Return the jobs of `n_batches` batches; only where a batch has a size."""
        assert self.size is not None
        return self.size * n_batches

    def is_enough(self, metrics: Mapping[str, np.ndarray]) -> bool:
        """Return the verdict of the stopping rule on the groups that have jobs in every batch."""
        if self.enough is None:
            return False
        known = {}
        for name, values in metrics.items():
            lacking = values != values  # NaN
            known[name] = values if values.ndim == 1 else values[:, ~lacking.any(axis=0)]
        return self.enough(known)


@dataclass(frozen=True)
class Point:
    """A policy, a workload, a machine and a load, how they are measured, and one replication's seed.

    Parameters
    ----------
    policy, workload, machine : mapping
        Resolved YAML files.
    load : float or None
        Offered load as a fraction of the machine's capacity; None leaves the workload as it is.
    measures : mapping
        ``bound`` and ``groups`` of the measures of jobs, see `models.jobs.measures.Measures`.
    fitting : callable, optional
        Reduces a log, a `Trace`, to the jobs that fit on a policy's own nodes, before the log is resampled; a
        family sets it where it opens a workload. Its ``repr`` states everything that its result depends on.
    """

    policy: Parameters
    workload: Parameters
    machine: Parameters
    load: float | None = None
    batches: Batches = field(default_factory=Batches)
    seed: Seed = (0,)
    measures: Parameters = field(default_factory=dict)
    fitting: Callable[[Any], Any] | None = None

    def __str__(self) -> str:
        parts = (self.policy, self.workload, self.machine)
        names = ", ".join(str(part["name"]) for part in parts if "name" in part)
        return names if self.load is None else f"{names}, load {self.load:g}"

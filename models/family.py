"""The contract between a scheduling family and the sweep.

A family is a package with the same files as every other: ``policies`` (the policies, with checks),
``metrics`` (measures beyond the common ones), ``engine`` (the event loop) and ``model``
(the pure functions that the sweep calls); its ``__init__`` holds the declaration ``FAMILY`` and loads no
kernel. A policy's YAML file names the package (``family: models.gang``); the sweep finds a family by this key
alone. docs/adding_a_family.md builds a small one.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.kernels import cache
from models.metric import Metric
from models.point import Parameters, Point

__all__ = ["Family", "Metric", "Outcome"]

if TYPE_CHECKING:
    import numpy as np

    from models.jobs.schedule import Schedule
    from models.jobs.trace import Trace


OVERLOAD, OVERLOAD_BATCHES = 1.25, 60
"""The load of an overload run, and its number of batches: thousands of jobs soon fill the system."""


@dataclass(frozen=True)
class Outcome:
    """The result of one simulation.

    Parameters
    ----------
    metrics : dict of str to ndarray, shape (n_batches, ...)
        Every metric that the family declares. `n_batches` is one of the checkpoints, or less if the workload
        (a log) or a saturated system ended the run early; then the values that exist are returned.
    jobs : int
        Jobs simulated, warm-up included; progress and benchmarks count jobs a second.
    overflowed : bool
        The system held more jobs than the model has places for, so the run ended early. For a point that is
        solved: no steady state exists.
    """

    metrics: dict[str, np.ndarray]
    jobs: int
    overflowed: bool = False


@dataclass(frozen=True)
class Family:
    """The declaration of a scheduling family.

    Parameters
    ----------
    package : str
        Dotted name of the package.
    name : str
        For messages.
    version : int
        Raised by hand whenever results change: finished tasks of an older version are rerun.
    metrics : tuple of Metric
        Measures beyond the common ones.
    headline : str
        The metric that tables and stopping rules use by default.
    common : tuple of str
        Names of the common measures that it has, from `models.jobs.measures.COMMON`.
    of_jobs : mapping of str to (unit, long name)
        Further measures of jobs, reported like the common ones: mean, 95th percentile, maximum, and by
        groups.
    coords : mapping of str to sequence
        Coordinates of its own metrics' dimensions.
    kernels : tuple of str
        Dotted names of modules: importing them loads every kernel, and compiles those that are not in
        the cache. The slowest first.
    delivered : str
        The metric that measures the work delivered, as a fraction of the machine: its mean in overload runs
        is what the policy can deliver. A family without such a metric (empty) has no overload runs.
    solves : bool
        Whether deterministic points are solved, as a Markov chain is: one batch has the exact value. (A log
        is deterministic as well, but its batches are samples.)
    schedules : bool
        Whether ``model`` has ``schedule(point)``, which returns the schedule that ``simulate`` measures.
    reads : frozenset of str, or function of a policy's file that returns one, optional
        Which keys the family reads, among those that every machine and every workload of rigid jobs has. A
        command that sets a key is refused if no policy of its study reads the key. By default a family may
        read all of them, and such a setting is never refused.
    functions : mapping of int to (str, str)
        Number of arguments of a compiled function that may stand for a policy in a notebook -> the policy's
        file that it changes, and the key that it sets there.
    validated : tuple of str
        Software whose schedules it was compared with, and versions; empty for none.
    policies, model : str
        Dotted names of these modules, unless they are ``policies`` and ``model`` of the package.

    Notes
    -----
    ``policies`` has ``check(point)`` and ``is_stochastic(point)``, ``model`` has ``simulate(point)``; see the
    methods of the same names here. All of them are pure functions of plain data. ``policies`` may also have
    ``kernels(point)``, which returns the subset of `kernels` that a point needs (without it, each point needs
    all of them), and ``digest(path)``, if policy files include further files, see `Family.digest`.
    """

    package: str
    name: str
    version: int
    metrics: tuple[Metric, ...]
    headline: str
    common: tuple[str, ...] = ()
    of_jobs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    coords: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()
    delivered: str = ""
    solves: bool = False
    schedules: bool = False
    reads: frozenset[str] | Callable[[Parameters], frozenset[str]] | None = None
    functions: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    validated: tuple[str, ...] = ()
    policies: str = ""
    model: str = ""

    def check(self, point: Point) -> Sequence[str]:
        """Check one combination before anything runs.

        Returns
        -------
        sequence of str
            Notes for the user, e.g. the rows dropped from a log.

        Raises
        ------
        ValueError
            With one line (given value, allowed values, remedy) if the combination cannot be simulated.
        """
        notes: Sequence[str] = self._policies().check(point)
        return notes

    @property
    def open_log(self) -> Callable[[Point], Trace | None] | None:
        """``open_log(point)`` of ``policies``, which opens a log on the policy's own nodes; None without it.

        In that case `models.workloads.open_log` opens the log on the point's machine.
        """
        found: Callable[[Point], Trace | None] | None = getattr(self._policies(), "open_log", None)
        return found

    def is_stochastic(self, point: Point) -> bool:
        """Return whether replications differ.

        If they do not (a log is deterministic), further replications are refused, because copies of one run
        are not independent samples.
        """
        return bool(self._policies().is_stochastic(point))

    def digest(self, path: Path) -> str | None:
        """Return the SHA-256 of a policy's file with all files that it includes; None if there are none.

        None as well if the files have faults, which `check` reports.
        """
        digest = getattr(self._policies(), "digest", None)
        try:
            return None if digest is None else str(digest(path))
        except ValueError:
            return None

    def is_exact(self, point: Point) -> bool:
        """Return whether a point is solved exactly; its outcome is then a single batch."""
        return self.solves and not self.is_stochastic(point)

    def simulate(self, point: Point) -> Outcome:
        """Run the model: the same call gives the same bits in any process."""
        outcome: Outcome = self._model().simulate(point)
        return outcome

    def schedule(self, point: Point) -> Schedule:
        """Return the schedule that `simulate` measures."""
        made: Schedule = self._model().schedule(point)
        return made

    def export(self, point: Point, path: str | os.PathLike[str]) -> None:
        """Write that schedule in the Standard Workload Format, compressed if the path ends in ``.gz``.

        Raises
        ------
        ValueError, OSError
            With one line, when the file cannot be written.
        """
        from models.jobs.swf_schedule import write_schedule

        write_schedule(path, self.schedule(point), [str(point)])

    def may_read(self, option: str, policy: Parameters) -> bool:
        """Return whether a key may change what a policy does, see `reads`."""
        reads = self.reads(policy) if callable(self.reads) else self.reads
        return reads is None or option in reads

    def measured(self, measures: Parameters) -> tuple[Metric, ...]:
        """Return all metrics of the family: the common measures, by groups as well, and its own."""
        from models.jobs.measures import Measures, declared

        return (*declared(self.common, Measures.of(measures), self.of_jobs), *self.metrics)

    def coordinates(self, measures: Parameters) -> Mapping[str, Sequence[Any]]:
        """Return the coordinates of all dimensions of the metrics that `measured` returns."""
        from models.jobs.measures import Measures
        from models.jobs.measures import coordinates as of_groups

        return {**of_groups(Measures.of(measures)), **self.coords}

    def needed(self, points: Iterable[Point]) -> tuple[str, ...]:
        """Return the subset of `kernels` that these points need, in the same order."""
        kernels = getattr(self._policies(), "kernels", None) if self.kernels else None
        if kernels is None:
            return self.kernels
        needed = {module for point in points for module in kernels(point)}
        return tuple(module for module in self.kernels if module in needed)

    def warm_up(self, points: Iterable[Point] | None = None) -> None:
        """Compile the kernels that some points need, or all kernels, unless they are in the cache.

        Called once before work is fanned out.
        """
        cache.complete(self.kernels if points is None else self.needed(points))

    def preload(self) -> None:
        """Load the kernels that are compiled already, so that workers are forked with them."""
        cache.preload(self.kernels)

    def _policies(self) -> Any:
        return importlib.import_module(self.policies or f"{self.package}.policies")

    def _model(self) -> Any:
        return importlib.import_module(self.model or f"{self.package}.model")

"""The one contract between a scheduling family and whatever runs it.

A family is a package with an attribute ``FAMILY``; a policy's YAML file names the package
(``family: models.gang``), and that is all the sweep ever knows of it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Parameters = Mapping[str, Any]
"""One resolved YAML file (a policy, a workload, a machine) as plain numbers, strings, lists and dicts.

The key ``name`` holds the name under which the grid knows it.
"""

Seed = tuple[int, ...]
"""What names a replication's random numbers: (root seed, workload, replication), see ``streams``."""


@dataclass(frozen=True)
class Metric:
    """A number that a simulation reports for each batch.

    Parameters
    ----------
    name : str
        Variable name in the dataset, e.g. ``slowdown``.
    unit : str
        Unit in the dataset's ``units`` attribute; ``1`` for pure numbers.
    long_name : str
        Axis label for figures.
    dims : tuple of str
        Dimensions beyond the batch, e.g. ``("job_class",)``; their coordinates are in `Family.coords`.
    """

    name: str
    unit: str
    long_name: str
    dims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batches:
    """How long a simulation is measured.

    Parameters
    ----------
    size : int
        Terminated jobs in a batch.
    warmup : int
        Leading batches that are run and discarded.
    looks : tuple of int
        Declared numbers of measured batches, ascending. The run ends at the last one, or at an earlier
        one where `enough` says so. Nothing is looked at between them, so that stopping is sequential
        only at declared sizes.
    enough : callable, optional
        Called with the metrics so far, each of shape (n_batches, ...), at every look but the last.
    """

    size: int = 1000
    warmup: int = 1
    looks: tuple[int, ...] = (30,)
    enough: Callable[[Mapping[str, np.ndarray]], bool] | None = None


@dataclass(frozen=True)
class Outcome:
    """What one simulation gives back.

    Parameters
    ----------
    metrics : dict of str to ndarray, shape (n_batches, ...)
        Every metric that the family declares. `n_batches` is one of the looks, or less where the workload
        (a log) or a saturated system ended the run early; then the values that exist are returned.
    saturated : bool
        The backlog grew through the measured batches: the means of this run mean nothing.
    jobs : int
        Jobs simulated, warm-up included; progress and benchmarks are told in jobs a second.
    """

    metrics: dict[str, np.ndarray]
    saturated: bool
    jobs: int


class Simulate(Protocol):
    """The model itself: a pure function. The same call gives the same bits in any process."""

    def __call__(
        self,
        policy: Parameters,
        workload: Parameters,
        machine: Parameters,
        load: float | None,
        batches: Batches,
        seed: Seed,
    ) -> Outcome: ...


def simulated_by(module: str) -> Simulate:
    """Return the function `simulate` of a module that is imported when it is first called.

    A family's declaration so loads no kernel, and a plan can be made and checked at once.

    Parameters
    ----------
    module : str
        Dotted name.
    """

    def simulate(
        policy: Parameters,
        workload: Parameters,
        machine: Parameters,
        load: float | None,
        batches: Batches,
        seed: Seed,
    ) -> Outcome:
        outcome: Outcome = importlib.import_module(module).simulate(
            policy, workload, machine, load, batches, seed
        )
        return outcome

    return simulate


class Export(Protocol):
    """Write the schedule of one point in one replication to a file: the one that `Simulate` measures.

    In a format that other programs read; compressed if the file's name ends with ``.gz``. Raises
    ``ValueError`` or ``OSError`` with one line when the file cannot be written.
    """

    def __call__(
        self,
        policy: Parameters,
        workload: Parameters,
        machine: Parameters,
        load: float | None,
        batches: Batches,
        seed: Seed,
        path: str | os.PathLike[str],
    ) -> None: ...


def exported_by(module: str) -> Export:
    """Return the function `export` of a module that is imported when it is first called.

    Parameters
    ----------
    module : str
        Dotted name.
    """

    def export(
        policy: Parameters,
        workload: Parameters,
        machine: Parameters,
        load: float | None,
        batches: Batches,
        seed: Seed,
        path: str | os.PathLike[str],
    ) -> None:
        importlib.import_module(module).export(policy, workload, machine, load, batches, seed, path)

    return export


class Check(Protocol):
    """Look at one combination before anything runs.

    Returns notes worth saying aloud (e.g. what was dropped from a log); raises ``ValueError`` with one clear
    line (what was given, what is allowed, what to do next) when the combination cannot be simulated.
    """

    def __call__(
        self, policy: Parameters, workload: Parameters, machine: Parameters, load: float | None
    ) -> Sequence[str]: ...


@dataclass(frozen=True)
class Family:
    """A scheduling family as the sweep sees it.

    Parameters
    ----------
    name : str
        For messages.
    version : int
        Raised by hand whenever results change: finished tasks of an older version are run anew.
    metrics : tuple of Metric
        All metrics, the headline first (the one that tables and stopping rules use by default).
    simulate : Simulate
    check : Check
    warm_up : callable
        Compiles every kernel that is not in the cache (`models.kernels.cache.complete`); called once before
        work is fanned out.
    coords : dict of str to sequence
        Coordinates of the metrics' own dimensions.
    chance : callable, (policy, workload, machine) -> bool
        Whether replications differ. Where they do not (a log has no chance in it) more than one is refused:
        copies of one run would pass for independent samples.
    preload : str, optional
        Dotted name of a module that loads what simulations need. Imported once where workers are forked from,
        instead of in each of them; must not compile.
    export : Export, optional
        Writes schedules to files (``schedule=FILE``), of the points and replications that are done, after the
        simulations and in the process that started them.
    """

    name: str
    version: int
    metrics: tuple[Metric, ...]
    simulate: Simulate
    check: Check
    warm_up: Callable[[], None]
    coords: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    chance: Callable[[Parameters, Parameters, Parameters], bool] = lambda policy, workload, machine: True
    preload: str | None = None
    export: Export | None = None

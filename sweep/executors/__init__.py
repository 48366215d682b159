"""Where tasks run. An executor is a module with a class ``Executor`` and one YAML file in ``conf/executor``.

The file's ``name`` is the module's, in this folder or (with a dot in it) anywhere; its other keys are the
arguments of the class, with ``modules`` added: what workers will have to import. There are two kinds.
`Attached` ones run the tasks while this process waits; `Detached` ones hand them over and return. What both
may rely on, and have to keep:

- `sweep.executors.work.work` runs one bundle anywhere: it needs nothing but the bundle, and logs the results
  itself.
- Running a bundle twice does no harm: the same task gives the same bits. So a bundle that got lost (its
  worker died) is run again, and an executor never has to find out how far it had got.
- The order of bundles is a wish (the longest first), not a condition.
- Bundles are taken from the iterator only when there is room for them: they are made when taken, to measure.
- Nothing is given to a worker behind a bundle that is not `brief`: it may take hours, and no worker can give
  back what waits while a kernel keeps its interpreter.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from sweep.config.settings import Config
    from sweep.plan.plan import Plan
    from sweep.plan.task import Bundle, Result
    from sweep.store.costs import Costs
    from sweep.store.folder import Folder
    from sweep.store.state import State


class Attached(Protocol):
    """Used as a context manager: leaving it, by whatever way, ends all workers quickly."""

    message_s: float
    """Seconds of work that a bundle shall have."""

    @property
    def workers(self) -> int:
        """Bundles that run at the same time (an estimate before the start)."""

    def __enter__(self) -> Self:
        """Start workers in the background and return at once: kernels are compiled in the meantime."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all workers; tasks in flight are dropped if an error is on its way."""

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run every bundle and yield what `sweep.executors.work.work` returned for each, in any order.

        Raises
        ------
        RunError
            If a worker could not log its results (`work` raises nothing else), or the workers are lost.
        """


@dataclass(frozen=True)
class Assignment:
    """What a detached executor is asked to have done.

    Parameters
    ----------
    config : Config
        Plain data from which `sweep.plan.plan.expand` makes the same plan anywhere.
    plan : Plan
    folder : Folder
    state : State
        What is done already.
    left : list of int
        Numbers of the tasks to run.
    costs : Costs
        What simulations were measured to take.
    arguments : sequence of str
        Command line, for the dataset's attributes.
    """

    config: Config
    plan: Plan
    folder: Folder
    state: State
    left: list[int]
    costs: Costs
    arguments: Sequence[str] = ()


@runtime_checkable
class Detached(Protocol):
    """Hands tasks over to a batch system. Every method returns lines to show, within seconds."""

    working: bool
    """Whether, when `status` was asked last, anything that was handed over was still on its way."""

    def submit(self, assignment: Assignment) -> Iterable[str]:
        """Hand over what is left; the results appear when this process has long ended."""

    def outlook(self, assignment: Assignment) -> Iterable[str]:
        """Say what `submit` would do (``action=plan``), and do nothing."""

    def status(self, assignment: Assignment) -> Iterable[str]:
        """Say what has become of what was handed over (``action=status``)."""

    def cancel(self, folder: Folder) -> Iterable[str]:
        """Cancel what is left of it (``action=cancel``)."""


def create(settings: Mapping[str, Any], modules: Sequence[str]) -> Attached | Detached:
    """Return the executor that ``executor`` in the config describes, for tasks that need `modules`."""
    arguments = dict(settings)
    name = str(arguments.pop("name"))
    module = importlib.import_module(name if "." in name else f"sweep.executors.{name}")
    executor: Attached | Detached = module.Executor(**arguments, modules=modules)
    return executor


def available_cores() -> int:
    """Return the cores that this process may use (a batch system or a container may leave fewer)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


NOTHING_TO_CANCEL = "nothing to cancel: this executor's workers end with the run; stop it with Ctrl-C"

"""Where tasks run. An executor is a module with a class ``Executor`` and one YAML file in ``conf/executor``.

The file's ``name`` is the module's, in this folder or (with a dot in it) anywhere; its other keys are the
arguments of the class, with ``modules`` added, the modules that workers need. There are two kinds: `Attached`
executors run the tasks while this process waits; `Detached` ones submit them and return. The contract:

- `sweep.executors.work.work` runs one bundle anywhere: it needs nothing but the bundle, and logs the results
  itself.
- Running a bundle twice does no harm: the same task gives the same bits. A bundle whose worker died is
  therefore run again as a whole.
- The order of bundles (the longest first) is a recommendation, not a condition.
- A bundle is taken from the iterator only when a worker can take it: it is made at that moment, from the
  latest timings.
- No bundle waits on a worker behind one that is not `brief`, which may take hours: a bundle does not move
  from a busy worker to an idle one.
- Executors that keep files in the results folder declare it in a module beside theirs, see `places`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from models import dotted
from sweep.config import choices, locate
from sweep.errors import SweepError, one_line
from sweep.plan import finding

if TYPE_CHECKING:
    from sweep.plan.data import Plan
    from sweep.plan.task import Bundle, Result
    from sweep.store.costs import Costs
    from sweep.store.folder import Folder
    from sweep.store.state import State


class Attached(Protocol):
    """An executor that runs tasks while this process waits.

    It is a context manager: its exit, normal or by an exception, ends all workers quickly.
    """

    message_s: float
    """Target length of a bundle, in seconds of work."""

    @property
    def workers(self) -> int:
        """Number of bundles that run at the same time (an estimate before the start)."""

    def __enter__(self) -> Self:
        """Start workers in the background and return at once: kernels are compiled in the meantime."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all workers; running tasks are dropped after an error."""

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run every bundle and yield what `sweep.executors.work.work` returned for each, in any order.

        A search calls it once for each of its studies, before the exit.
        An empty list every few seconds while nothing comes back lets the dataset be written meanwhile.

        Raises
        ------
        RunError
            If a worker could not log its results (`work` raises nothing else), or the workers are lost.
        """


@dataclass(frozen=True)
class Assignment:
    """Tasks for a detached executor."""

    plan: Plan
    folder: Folder
    state: State
    left: list[int]
    costs: Costs
    arguments: Sequence[str] = ()


@runtime_checkable
class Detached(Protocol):
    """Submits tasks to a batch system. Every method returns the lines to print within seconds."""

    working: bool
    """Whether a submitted task was still pending or running at the last call of `status`."""

    def submit(self, assignment: Assignment) -> Iterable[str]:
        """Submit the tasks that are left; the results appear after this process has ended."""

    def outlook(self, assignment: Assignment) -> Iterable[str]:
        """Describe what `submit` would do (``action=plan``); submit nothing."""

    def status(self, assignment: Assignment) -> Iterable[str]:
        """Describe the state of the submitted tasks (``action=status``)."""

    def cancel(self, folder: Folder) -> Iterable[str]:
        """Cancel the submitted tasks that are left (``action=cancel``)."""


def places(settings: Mapping[str, Any]) -> list[Any]:
    """Return the modules ``places`` of the executors in conf and of the one in use.

    Such a module has ``FOLDERS``, the names of their folders in a results folder, and the function
    ``remove_leftovers(results)``, which removes what a killed run has left there; it is called when no other
    run writes to the results folder.
    """
    folders = [locate.conf_folder()]
    files = [choices.path("executor", name, folders) for name in choices.names("executor", folders)]
    names = [
        found[1] for file in files if (found := re.search(r"^name: ([\w.]+)", file.read_text(), re.MULTILINE))
    ]
    packages = {name.rpartition(".")[0] for name in (*names, str(settings.get("name", "")))} - {""}
    modules = [f"{package}.places" for package in sorted(packages)]
    return [dotted.module(name) for name in modules if finding.find(name) is not None]


def create(settings: Mapping[str, Any], modules: Sequence[str]) -> Attached | Detached:
    """Return the executor that ``executor`` in the config describes, for tasks that need `modules`."""
    arguments = dict(settings)
    name = str(arguments.pop("name"))
    try:
        module = dotted.module(name if "." in name else f"sweep.executors.{name}")
        executor: Attached | Detached = module.Executor(**arguments, modules=modules)
    except (ImportError, AttributeError, TypeError) as error:
        raise SweepError(
            f"executor.name={name}: {one_line(error)}; give dask, serial, mpi, slurm.executor, or a module "
            "with a class Executor that takes the other keys"
        ) from error
    return executor


def available_cores() -> int:
    """Return the number of cores that this process may use, by its batch system or container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


NOTHING_TO_CANCEL = "nothing to cancel: this executor's workers end with the run; stop it with Ctrl-C"

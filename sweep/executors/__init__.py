"""Where tasks run. An executor is one module here and one YAML file in ``conf/executor``.

The file's ``name`` is the module's; its other keys are the arguments of the module's class ``Executor``, with
``modules`` added: what workers will have to import. What an executor may rely on, and has to keep:

- `sweep.work.work` runs one bundle anywhere: it needs nothing but the bundle, and logs the results itself.
- Running a bundle twice does no harm: the same task gives the same bits. So a bundle that got lost (its
  worker died) is run again, and an executor never has to find out how far it had got.
- The order of bundles is a wish (the longest first), not a condition.
- Bundles are taken from the iterator only when there is room for them: they are made when taken, to measure.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from sweep.task import Bundle, Result


class Executor(Protocol):
    """The contract. Used as a context manager: leaving it, by whatever way, ends all workers quickly."""

    message_s: float
    """Seconds of work that a bundle shall have."""

    detached: bool
    """Whether `run` only submits, and the results appear when this process has long ended."""

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
        """Run every bundle and yield what `sweep.work.work` returned for each, in any order.

        Raises
        ------
        RunError
            If a worker could not log its results (`work` raises nothing else), or the workers are lost.
        """

    def cancel(self) -> str:
        """Cancel what was submitted earlier (``action=cancel``) and return the line to show."""


def create(settings: Mapping[str, Any], modules: Sequence[str]) -> Executor:
    """Return the executor that ``executor`` in the config describes, for tasks that need `modules`."""
    arguments = dict(settings)
    module = importlib.import_module(f"sweep.executors.{arguments.pop('name')}")
    executor: Executor = module.Executor(**arguments, modules=modules)
    return executor


def available_cores() -> int:
    """Return the cores that this process may use (a batch system or a container may leave fewer)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


NOTHING_TO_CANCEL = "nothing to cancel: this executor's workers end with the run; stop it with Ctrl-C"

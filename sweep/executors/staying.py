"""An attached executor whose workers stay between the studies of a search."""

from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from sweep.executors import Attached
from sweep.plan.task import Bundle, Result


class Staying:
    """Starts workers with the first study, and ends them with `close` or an error; see `Attached`."""

    def __init__(self, executor: Attached) -> None:
        self._executor = executor
        self._started = ExitStack()
        self._is_started = False
        self.message_s = executor.message_s

    @property
    def workers(self) -> int:
        """Bundles that run at the same time."""
        return self._executor.workers

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles of a study."""
        return self._executor.run(bundles)

    def __enter__(self) -> Self:
        if not self._is_started:
            self._started.enter_context(self._executor)
            self._is_started = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._is_started = False
            self._started.__exit__(kind, error, trace)

    def close(self) -> None:
        """End the workers, if there are any."""
        self._is_started = False
        self._started.close()

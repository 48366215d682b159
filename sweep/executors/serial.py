"""One process, this one: for debugging, profiling, and single simulations."""

from collections.abc import Iterator, Sequence
from typing import Self

from sweep.executors.work import work
from sweep.plan.task import Bundle, Result


class Executor:
    """Runs each bundle as its results are taken; see `sweep.executors.Attached`."""

    message_s = 0.1  # shorter than elsewhere: a message costs nothing here, and progress is shown more often
    workers = 1

    def __init__(self, modules: Sequence[str] = ()) -> None:
        del modules  # the first task imports them

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles one after the other."""
        yield from map(work, bundles)

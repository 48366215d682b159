"""MPI: the ranks that ``mpiexec`` or ``srun`` started; rank 0 hands out bundles, all others work.

Rank 0 does not simulate: all other ranks would wait for the end of its simulation. Rank 0
needs a few per cent of a core: on dedicated nodes start one rank more than there are cores.
"""

import gc
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Self

from models.counting import counted
from sweep.errors import RunError, SweepError, one_line
from sweep.executors import preload, ranks
from sweep.executors.bundles import MESSAGE_S, finished
from sweep.executors.ranks import SILENCE_S, START_S, Watch
from sweep.executors.work import work
from sweep.plan import families
from sweep.plan.task import Bundle, Result

RANK_0_S = 0.001
"""Minimum seconds of work in a message for each rank: rank 0 needs half a millisecond for a message."""

WATCH = ".ranks-"
"""Beginning of the name of the file that the ranks lock. A random number follows, so that a run never meets
the locks or marks of an earlier one."""


class Executor:
    """Runs bundles on the other ranks; see `sweep.executors.Attached`.

    Raises
    ------
    SweepError
        If tasks are left and there is no other rank to run them.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        if ranks.world is None:
            raise SweepError(
                "executor=mpi has to be given on the command line, which every rank reads before it starts"
            )
        self._world = ranks.world
        if self._world.size == 1 and modules:  # without modules nothing is run
            raise SweepError(
                "executor=mpi: this is the only rank, and rank 0 only hands out tasks to the others; start "
                "mpiexec -n 3 python -m sweep ... (one more than there are cores) or srun -n 64 --mpi=pmi2"
            )
        self._others = range(1, self._world.size)
        self.workers = max(1, len(self._others))
        self.message_s = max(MESSAGE_S, RANK_0_S * self.workers)
        self._modules = list(modules)
        self._running: set[Future[Any]] = set()
        self._watched: list[Path] = []

    def __enter__(self) -> Self:
        print(
            f"MPI: {counted(self.workers, 'rank', 'works', of=self._world.size)}, rank 0 hands out the tasks",
            flush=True,
        )
        self._prepared = self._each(prepare, self._modules)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._world.dismiss(set(self._running))
        for path in self._watched:
            path.unlink(missing_ok=True)

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles, a few of them on their way at any time."""
        first = next(bundles, None)
        if first is None:
            return
        watch = self._start(first.shards.absolute())
        last_check = time.monotonic()
        last_result = dict.fromkeys(self._others, last_check)

        def check() -> None:
            nonlocal last_check
            if (now := time.monotonic()) - last_check <= SILENCE_S:
                return
            last_check = now
            for rank in self._others:
                # Only the locks of silent ranks are checked: on a network file system each check is a round
                # trip.
                if now - last_result[rank] > SILENCE_S and watch.has_died(rank):
                    raise RunError(
                        f"MPI: rank {rank} has died (killed, or out of memory?) during the task "
                        f"{watch.noted(rank)}; the same command continues from here"
                    )

        submit = partial(self._submit, run_bundle)
        for done in finished(chain([first], bundles), submit, lambda: self.workers, check, SILENCE_S):
            if done is None:
                yield []
                continue
            rank, results = done[1].result()
            last_result[rank] = time.monotonic()
            if isinstance(results, RunError):
                raise results
            yield results

    def _start(self, shards: Path) -> Watch:
        """Wait until all ranks have imported and are watched, and one rank of each node has compiled."""
        self._answers(self._prepared)
        path = shards / f"{WATCH}{secrets.token_hex(4)}"
        self._watched.append(path)
        # Rank 0 first: its lock has to be there before any other rank begins to watch it.
        hold(path, [], "")
        held = self._answers(self._each(hold, path, self._modules, ranks.node()))
        watch = self._world.watch
        assert watch is not None
        # All ranks are alive now: one that seems dead shows a file system that grants every lock.
        if not all([watch.works, *held]) or any(watch.has_died(rank) for rank in self._others):
            watch.works = False
            print(
                "MPI: the file system of the results has no locks between nodes: a rank that dies may not be "
                "noticed; with srun, add --kill-on-bad-exit",
                flush=True,
            )
        return watch

    def _submit(self, function: Callable[..., object], *arguments: object) -> Future[Any]:
        future: Future[Any] = self._world.pool.submit(function, *arguments)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def _each(self, function: Callable[..., object], *arguments: object) -> list[Future[Any]]:
        """Have every rank call a function once."""
        return [self._submit(once, function, *arguments) for _ in self._others]

    @staticmethod
    def _answers(calls: Iterable[Future[Any]]) -> list[Any]:
        try:
            return [call.result(START_S) for call in calls]
        except TimeoutError:
            raise RunError(f"MPI: a rank has not answered for {START_S / 60:g} minutes") from None


def once(function: Callable[..., object], *arguments: object) -> object:
    """Call a function in this rank, and wait for all others to do the same.

    The pool would give the next call to the rank that is free first; at the barrier none is free before all
    ranks have had one.
    """
    from mpi4py.futures import get_comm_workers

    answer = function(*arguments)
    get_comm_workers().Barrier()
    return answer


def prepare(modules: Sequence[str]) -> None:
    """Import the modules that tasks need."""
    preload.load(modules)
    gc.freeze()  # otherwise each collection would scan the imported modules


def hold(path: Path, modules: Sequence[str], compiled: str) -> bool:
    """Lock this rank's byte, by which it is watched, and return whether the file system has locks.

    Parameters
    ----------
    modules : sequence of str
        Modules of families whose kernels are compiled, or loaded if this node has them.
    compiled : str
        The node where rank 0 has compiled them. Where the cache is shared, the others only load them.
    """
    assert ranks.world is not None
    ranks.world.watch = Watch(path, ranks.world.rank)
    for name in modules if ranks.node() != compiled else ():
        families.find(name).warm_up()
    return ranks.world.watch.works


def run_bundle(bundle: Bundle) -> tuple[int, list[Result] | RunError]:
    """Run a bundle in this rank; return the rank, and the results or a line on the error."""
    world = ranks.world
    assert world is not None
    assert world.watch is not None
    point = ", ".join(f"{axis} {value}" for axis, value in bundle.tasks[0].at.items())
    others = len(bundle.tasks) - 1
    world.watch.note(point + (f" or one of {counted(others, 'other')}" if others else ""))
    try:
        return world.rank, work(bundle)
    except RunError as error:
        return world.rank, error
    except BaseException as error:  # any exception: rank 0 has to know which rank it was
        return world.rank, RunError(f"rank {world.rank} on {ranks.node()}: {one_line(error)}")

"""MPI: the ranks that ``mpiexec`` or ``srun`` started; rank 0 hands out bundles, all others work.

Rank 0 does not simulate: all other ranks would wait for the end of its simulation. Rank 0
needs a few per cent of a core: on dedicated nodes start one rank more than there are cores.
"""

import gc
import importlib
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Self

from models.family import Family
from sweep.errors import INTERRUPTED, RunError, SweepError
from sweep.executors import preload, ranks
from sweep.executors.bundles import MESSAGE_S, OUTSTANDING
from sweep.executors.ranks import ANSWER, CALL, SILENCE_S, START_S, Watch
from sweep.executors.work import work
from sweep.plan.task import Bundle, Result

RANK_0_S = 0.001
"""Seconds of work in a message at least, for each rank: rank 0 needs half a millisecond for a message."""

WATCH = ".ranks-"
"""Beginning of the name of the file that the ranks lock, one file a run."""


class Executor:
    """Runs bundles on the other ranks; see `sweep.executors.Attached`.

    Parameters
    ----------
    modules : sequence of str
        Modules that the ranks need.

    Raises
    ------
    SweepError
        If there is something to run and no other rank to run it.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        if ranks.world is None:
            raise SweepError(
                "executor=mpi has to be on the command line, where every rank sees it before anything else"
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

    def __enter__(self) -> Self:
        print(f"MPI: {self.workers} of {self._world.size} ranks work, rank 0 hands out the tasks", flush=True)
        self._call(self._others, prepare, self._modules)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            stopped = issubclass(kind, KeyboardInterrupt | GeneratorExit)
            self._world.dismiss(INTERRUPTED if stopped else RunError.status)
        if self._world.watch is not None:
            self._world.watch.path.unlink(missing_ok=True)

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles; every rank has the next one in its queue when it has finished one."""
        first = next(bundles, None)
        if first is None:
            return
        self._start(first.shards.absolute())
        bundles = chain([first], bundles)
        running: dict[int, deque[Bundle]] = {rank: deque() for rank in self._others}

        def hand_out(rank: int) -> int:
            """Send bundles to a rank until its queue is full, and return their number.

            No bundle waits behind one that may take long: another rank may be idle earlier.
            """
            given = 0
            while len(running[rank]) < OUTSTANDING and all(bundle.brief for bundle in running[rank]):
                if (bundle := next(bundles, None)) is None:
                    break
                running[rank].append(bundle)
                self._call([rank], work, bundle)
                given += 1
            return given

        outstanding = sum(map(hand_out, self._others))
        looked = time.monotonic()
        heard_of = dict.fromkeys(self._others, looked)
        while outstanding:
            answer = self._answer(SILENCE_S)
            now = time.monotonic()
            if answer is not None:
                rank, results = answer
                heard_of[rank] = now
                running[rank].popleft()
                outstanding += hand_out(rank) - 1
                yield results
            if now - looked > SILENCE_S:
                looked = now
                for rank, bundles_of_it in running.items():
                    if bundles_of_it and now - heard_of[rank] > SILENCE_S:
                        self._look_after(rank, bundles_of_it[0])

    def _start(self, shards: Path) -> None:
        """Wait until all ranks have imported and are watched, and one rank of each node has compiled."""
        nodes = self._answers(self._others)
        path = shards / f"{WATCH}{secrets.token_hex(4)}"
        hold(path)
        self._call(self._others, hold, path)
        watch = self._world.watch
        assert watch is not None
        held = all([watch.works, *self._answers(self._others).values()])
        if not held or any(watch.has_died(rank) for rank in self._others):
            watch.works = False
            print(
                "MPI: the file system of the results has no locks between nodes: a rank that dies may not be "
                "noticed; with srun, add --kill-on-bad-exit",
                flush=True,
            )
        # This rank has compiled for its own node; where the cache is shared, the others only load kernels.
        first_of = {name: rank for rank, name in reversed(nodes.items()) if name != ranks.node()}
        self._call(first_of.values(), compile_kernels, self._modules)
        self._answers(first_of.values())

    def _call(self, others: Iterable[int], function: Callable[..., object], *arguments: object) -> None:
        for rank in others:
            self._world.send(rank, CALL, (function, arguments))

    def _answer(self, limit_s: float) -> tuple[int, Any] | None:
        received = self._world.receive(None, ANSWER, limit_s)
        if received is None:
            return None
        rank, _, answer = received
        if isinstance(answer, RunError):
            raise answer
        return rank, answer

    def _answers(self, others: Iterable[int]) -> dict[int, Any]:
        """Wait for one answer of each rank."""
        missing = set(others)
        answers: dict[int, Any] = {}
        while missing:
            answer = self._answer(START_S)
            if answer is None:
                raise RunError(f"MPI: rank {min(missing)} has not answered for {START_S / 60:g} minutes")
            answers[answer[0]] = answer[1]
            missing.discard(answer[0])
        return dict(sorted(answers.items()))

    def _look_after(self, rank: int, bundle: Bundle) -> None:
        assert self._world.watch is not None
        if self._world.watch.has_died(rank):
            point = ", ".join(f"{axis} {value}" for axis, value in bundle.tasks[0].at.items())
            others = len(bundle.tasks) - 1
            raise RunError(
                f"MPI: rank {rank} has died (killed, or out of memory?) at the task {point}"
                + (f" or one of {others} others" if others else "")
                + "; the same command continues from here"
            )


def prepare(modules: Sequence[str]) -> str:
    """Import the modules that tasks need, and return this rank's node."""
    preload.load(modules)
    gc.freeze()  # the collector need not scan imported modules again and again
    return ranks.node()


def hold(path: Path) -> bool:
    """Lock this rank's byte, by which it is watched, and return whether the file system has locks."""
    assert ranks.world is not None
    ranks.world.watch = Watch(path, ranks.world.rank)
    return ranks.world.watch.works


def compile_kernels(modules: Sequence[str]) -> None:
    """Compile the kernels of the families among modules, or load them if this node has them."""
    for name in modules:
        family = getattr(importlib.import_module(name), "FAMILY", None)
        if isinstance(family, Family):
            family.warm_up()

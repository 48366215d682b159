"""Dask: worker processes of this run, or the workers of a scheduler that is running already.

Embedded workers are forked from a server process that has imported everything once, which makes a start
twice as fast as separate interpreters, and the restart of a killed worker a matter of a tenth of a second.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Self

from sweep.errors import RunError, SweepError, one_line
from sweep.executors import available_cores
from sweep.task import Bundle, Result
from sweep.work import give_up, work

if TYPE_CHECKING:
    from distributed import Client, LocalCluster
    from distributed import Future as Sent

OUTSTANDING = 2
"""Bundles a worker has at a time: one that it runs, and one so that it never waits for the next."""

CONNECT_S = 5
"""Seconds to wait for an existing scheduler's answer."""

SETTINGS = {
    # What Dask says about workers that end is said better by the run.
    "logging": dict.fromkeys(("distributed", "distributed.client", "tornado.application"), "critical"),
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.worker.preload": ["sweep.executors.dask_worker"],
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # A kernel that runs for minutes without giving the interpreter back is no reason to complain.
    "distributed.admin.tick.limit": "1h",
    # A bundle is tried twice before its tasks become suspects, see `run`.
    "distributed.scheduler.allowed-failures": 1,
}

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""A task is one thread of work on one core: libraries must not start more."""


class Executor:
    """Runs bundles on Dask workers; see `sweep.executors.Attached`.

    Parameters
    ----------
    workers : int, optional
        Embedded worker processes; one for each core that this process may use by default.
    address : str, optional
        Of an existing scheduler; `workers` then means nothing.
    modules : sequence of str
        What the workers will import, done once in the fork server.
    """

    message_s = 0.075

    def __init__(
        self, workers: int | None = None, address: str | None = None, modules: Sequence[str] = ()
    ) -> None:
        if workers is not None and (not isinstance(workers, int) or workers < 1):
            raise SweepError(f"executor.workers={workers}: give 1 or more, or null for one a core")
        self.workers = workers or available_cores()
        self._address = address
        self._modules = list(modules)
        self._cluster: LocalCluster | None = None
        self._client: Future[Client] | None = None
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="dask-start")

    def __enter__(self) -> Self:
        if self._address is None:
            self._start_fork_server()
        # In a thread: importing distributed and starting workers takes as long as compiling kernels.
        self._client = self._starter.submit(self._connect)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._client is not None
        with suppress(Exception):  # where the start failed, `run` has said so; there is nothing to close
            client = self._client.result()
            if self._cluster is not None and kind is not None:
                self._kill(self._cluster)
            client.close()
            if self._cluster is not None:
                self._cluster.close()
        self._starter.shutdown()

    def _start_fork_server(self) -> None:
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(
            ["sweep.executors.dask_worker", "distributed", "sweep.work", *self._modules]
        )
        forkserver.ensure_running()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

    def _connect(self) -> Client:
        import dask

        dask.config.set(SETTINGS)  # before distributed is imported, which reads some of them only then
        from distributed import Client, LocalCluster

        if self._address is not None:
            return Client(self._address, timeout=CONNECT_S)
        self._cluster = LocalCluster(
            n_workers=self.workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=None,  # a simulation that grows is the system's to judge, not a reason for a restart
            dashboard_address="127.0.0.1:0",  # any free port: two runs on one machine shall not meet
            silence_logs=logging.CRITICAL,
        )
        return Client(self._cluster, set_as_default=False)

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles, a few of them on their way at any time."""
        from distributed import as_completed

        client = self._ready()
        if self._address is not None:
            self.workers = max(1, sum(client.nthreads().values()))
        bundle_of = {}

        def submit(bundle: Bundle) -> Sent[list[Result]]:
            future = client.submit(work, bundle, pure=False)
            bundle_of[future] = bundle
            return future

        first = [submit(bundle) for bundle in islice(bundles, OUTSTANDING * self.workers)]
        pending = as_completed(first, loop=client.loop)
        suspects: list[Bundle] = []
        for future in pending:
            bundle = bundle_of.pop(future)
            results = _results(future)
            future.release()
            pending.update(submit(following) for following in islice(bundles, 1))
            if results is None:
                suspects.extend(Bundle((task,), bundle.shards) for task in bundle.tasks)
            else:
                yield results
        # A dying worker takes along bundles that wait for it; alone, a task shows whether it is the cause.
        for bundle in suspects:
            alone = client.submit(work, bundle, pure=False)
            yield _results(alone) or give_up(
                bundle, "the worker died each time it ran this task (out of memory?)"
            )

    def _ready(self) -> Client:
        assert self._client is not None
        try:
            return self._client.result()
        except Exception as error:
            where = f"executor.address={self._address}" if self._address else "the embedded workers"
            hint = "is a scheduler running there?" if self._address else "executor=serial runs without them"
            raise RunError(f"Dask: {where} did not start ({one_line(error)}); {hint}") from error

    @staticmethod
    def _kill(cluster: LocalCluster) -> None:
        """End the workers now, whatever they are doing: what they have logged is safe."""

        async def kill() -> None:
            # Closed one by one the last would go on meanwhile; killed but not closed, they would be replaced.
            await asyncio.gather(*(nanny.close(timeout=0.1) for nanny in cluster.workers.values()))

        cluster.sync(kill)


def _results(future: Sent[list[Result]]) -> list[Result] | None:
    """Wait for a bundle's results, None if workers died each time that it was with them."""
    from distributed import KilledWorker

    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, KilledWorker):
        return None
    if isinstance(error, RunError):
        raise error
    raise RunError(f"Dask lost its workers ({error!r}); the same command goes on from here") from error

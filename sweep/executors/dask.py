"""Dask: worker processes of this run, or the workers of a scheduler that is running already.

Embedded workers are forked from a server process that has imported everything once: a start is twice as fast
as with separate interpreters, and a killed worker is replaced within a tenth of a second. Modules that a
plan, which starts no workers, does not need are imported in functions.
"""

from __future__ import annotations

import logging
import math
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from models.counting import counted
from sweep.errors import RunError, SweepError, one_line
from sweep.executors import available_cores, preload
from sweep.executors.bundles import MESSAGE_S, finished
from sweep.executors.threads import ONE_THREAD
from sweep.executors.work import give_up, work
from sweep.plan.task import Bundle, Result

if TYPE_CHECKING:
    from distributed import Client, SpecCluster
    from distributed.security import Security

MOST_A_CORE, ALWAYS = 4, 16
"""Limit of embedded workers per core, and a number that is always allowed. Each worker is a process with its
own memory: far more workers than cores are a typing error."""

FILES, FILES_A_WORKER = 64, 16
"""Maximum of files and connections that this process opens for itself and for each worker."""

STARTS = 3
"""Attempts to start workers: if one is killed during the start, all of them end."""

CONNECT_S = 10
"""Seconds to wait for an existing scheduler's answer."""

START_S = 300
"""Seconds that embedded workers may take to start; usually one or two."""

REACH_S = 60
"""Seconds for a connection between embedded processes: on a busy machine a process may wait long to run."""

CLOSE_S = 20
"""Seconds for each step of closing."""

COUNT_EVERY_S = 2.0
"""Seconds between two counts of the workers."""

PATIENCE_S = 60.0
"""Seconds without any worker after which the run ends."""

SETTINGS = {
    "distributed.comm.timeouts.connect": f"{REACH_S} s",
    # The run itself reports workers that end.
    "logging": dict.fromkeys(("distributed", "distributed.client", "tornado.application"), "critical"),
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.worker.preload": ["sweep.executors.dask_worker"],
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # Code outside kernels, such as the reading of a log, may hold the interpreter for long: no warning.
    "distributed.admin.tick.limit": "1h",
    # A worker that does so sends no heartbeat and is not dead; a dead worker closes its connection.
    "distributed.scheduler.worker-ttl": None,
    # A nanny always replaces its dead worker, however recently another worker died.
    "distributed.deploy.lost-worker-timeout": "1000d",
    # Unused monitoring, fifty times a second: up to 2 % of a core in every process.
    **dict.fromkeys(("distributed.admin.tick.interval", "distributed.admin.tick.cycle"), "1h"),
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.client.scheduler-info-interval": "1h",
    "distributed.scheduler.active-memory-manager.start": False,
    # A bundle is tried twice before its tasks are run one by one, see `run`.
    "distributed.scheduler.allowed-failures": 1,
}


class Executor:
    """Runs bundles on Dask workers; see `sweep.executors.Attached`.

    Parameters
    ----------
    workers : int, optional
        Embedded worker processes; one for each core that this process may use by default.
    address : str, optional
        Address of an existing scheduler; `workers` is then ignored.
    """

    message_s = MESSAGE_S

    workers_are_here: ClassVar[bool] = True
    """Whether the workers are processes on this machine, whose cores limit their number."""

    def __init__(
        self, workers: int | None = None, address: str | None = None, modules: Sequence[str] = ()
    ) -> None:
        if workers is not None and (not isinstance(workers, int) or workers < 1):
            raise SweepError(f"executor.workers={workers}: give 1 or more, or null for one per core")
        cores = available_cores()
        if (
            workers is not None
            and self.workers_are_here
            and workers > (most := max(ALWAYS, MOST_A_CORE * cores))
        ):
            raise SweepError(
                f"executor.workers={workers}: each worker is a process, and this machine has "
                f"{counted(cores, 'core')}; give at most {most}, or null for one per core"
            )
        self.workers = workers or available_cores()
        self._address = address
        self._modules = list(modules)
        self._cluster: SpecCluster | None = None
        self._client: Future[Client] | None = None
        self._patience_s = PATIENCE_S
        self._counted_at = -math.inf
        self._last_seen: float | None = None

    def __enter__(self) -> Self:
        if self._address is None:
            allow_open_files(FILES + FILES_A_WORKER * self.workers)
            self._start_fork_server()
        # In a thread: importing distributed and starting workers takes as long as compiling kernels.
        self._client = Future()
        threading.Thread(target=self._start, args=(self._client,), name="dask-start", daemon=True).start()
        return self

    def _start(self, client: Future[Client]) -> None:
        try:
            client.set_result(self._connect())
        except BaseException as error:  # raised where the client is waited for
            client.set_exception(error)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Errors are dropped: `run` has reported a failed start, all results are in logs by now, and an error
        # while closing would hide the one that ended the run. Only processes must not be left behind.
        try:
            self._close(quickly=kind is not None)
        except Exception:
            if self._address is None:
                _end_fork_server()

    def _close(self, quickly: bool) -> None:
        """Close all parts in order, with at most `CLOSE_S` for each step.

        Raises
        ------
        Exception
            Any exception that Dask raises if a part does not close in time.
        """
        from distributed.deploy import Cluster

        assert self._client is not None
        client = self._client.result(CLOSE_S if quickly else START_S)
        cluster = self._cluster
        if cluster is not None and not quickly:
            with suppress(Exception):
                self._settle(cluster)
        # Before any worker is killed: otherwise the remaining workers would run its bundles again.
        with suppress(Exception):
            client.close(timeout=CLOSE_S)
        if cluster is not None:
            if quickly:
                with suppress(Exception):
                    self._kill(cluster)
            # Dask's scheduler fails to close while it connects to a worker, and `close` would hide that.
            with suppress(RuntimeError):
                cluster.sync(cluster._close, callback_timeout=CLOSE_S)
            cluster.sync(Cluster._close, cluster, callback_timeout=CLOSE_S)  # does nothing if all went well
            cluster.close()  # ends its thread

    def _start_fork_server(self) -> None:
        import multiprocessing
        from multiprocessing import forkserver, resource_tracker

        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(
            ["sweep.executors.dask_worker", "distributed", "sweep.executors.work", "sweep.executors.preload"]
        )
        # The server begins with Ctrl-C blocked: otherwise an interrupt during its imports prints a traceback.
        # The tracker is started before, as its start unblocks Ctrl-C.
        resource_tracker.ensure_running()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        # The server and its workers inherit these variables; this process, which may be a notebook, gets its
        # own ones back.
        before, inherited = dict(os.environ), {**ONE_THREAD, preload.MODULES: ",".join(self._modules)}
        try:
            os.environ.update(inherited)
            forkserver.ensure_running()
        finally:
            for name in inherited.keys() - before.keys():
                del os.environ[name]
            os.environ.update(before)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _connect(self) -> Client:
        import dask

        dask.config.set(SETTINGS)  # before distributed is imported, which reads some of them only then
        from distributed import Client
        from distributed.security import Security

        if self._address is not None:
            return Client(self._address, timeout=CONNECT_S)
        # Any client that connects may run code. TLS with keys made for this run keeps other users of this
        # machine out.
        self._cluster = self._make_cluster(Security.temporary())
        return Client(self._cluster, set_as_default=False)

    def _make_cluster(self, security: Security) -> SpecCluster:
        """Return the scheduler of this run, in this process, and its workers that have started so far."""
        from distributed import LocalCluster

        for attempt in range(1, STARTS + 1):
            try:
                return LocalCluster(
                    n_workers=self.workers,
                    threads_per_worker=1,
                    processes=True,
                    # Memory is limited by the system: Dask must not restart a worker that grows.
                    memory_limit=None,
                    security=security,
                    protocol="tls://",
                    dashboard_address="127.0.0.1:0",  # any free port, as several runs may share the machine
                    scheduler_kwargs={"dashboard": False},  # no pages: their libraries take a second to load
                    silence_logs=logging.CRITICAL,
                )
            # A worker was killed before it was ready, or was too late: Dask then gives up all workers.
            except (RuntimeError, OSError):
                if attempt == STARTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles, a few of them on their way at any time."""
        client = self._ready()
        suspects: list[Bundle] = []
        for done in self._finished(client, bundles):
            if done is None:
                yield []
                continue
            bundle, results = done
            if results is None:
                suspects.extend(replace(bundle, tasks=(task,)) for task in bundle.tasks)
            else:
                yield results
        # A dying worker loses the bundles that wait for it as well, which may not be the cause. Each task is
        # then run alone, after all others are done, to find the one that is.
        for suspect in suspects:
            for done in self._finished(client, iter([suspect])):
                yield (
                    []
                    if done is None
                    else done[1]
                    or give_up(suspect, "the worker died each time it ran this task (out of memory?)")
                )

    def _finished(
        self, client: Client, bundles: Iterator[Bundle]
    ) -> Iterator[tuple[Bundle, list[Result] | None] | None]:
        """Yield finished bundles with their results, which are None if every worker that ran the bundle died.

        Both are None when no bundle has finished for a while.
        """
        import asyncio

        loop = client.loop.asyncio_loop  # type: ignore[union-attr] # of a client that is connected

        def submit(bundle: Bundle) -> Future[list[Result]]:
            # The workers of an existing scheduler may have been started in another folder.
            there = replace(bundle, shards=bundle.shards.absolute())
            return asyncio.run_coroutine_threadsafe(_worked(client, there), loop)

        check = partial(self._count_workers, client)
        for done in finished(bundles, submit, lambda: self.workers, check, COUNT_EVERY_S):
            yield done and (done[0], _results(done[1]))

    def _count_workers(self, client: Client) -> None:
        """Count the workers, whose number may change, and give up after too long without any."""
        now = time.monotonic()
        # Called after every result, thousands of times a minute; a count is a message to the scheduler.
        if now - self._counted_at < COUNT_EVERY_S:
            return
        self._counted_at = now
        workers = sum(client.nthreads().values())
        if workers:
            self.workers, self._last_seen = workers, now
            return
        if self._last_seen is None:
            self._last_seen = now
        if now - self._last_seen > self._patience_s:
            raise RunError(self._without_workers())

    def _without_workers(self) -> str:
        what = f"executor.address={self._address}" if self._address else "the embedded workers"
        return (
            f"Dask: {what}: no worker for {self._patience_s:g} s; start workers, then the same command "
            "continues"
        )

    def _ready(self) -> Client:
        assert self._client is not None
        try:
            return self._client.result(START_S)
        except Exception as error:
            where = f"executor.address={self._address}" if self._address else "the embedded workers"
            hint = "is a scheduler running there?" if self._address else "executor=serial runs without them"
            raise RunError(f"Dask: {where} did not start ({one_line(error)}); {hint}") from error

    @staticmethod
    def _settle(cluster: SpecCluster) -> None:
        """Stop the replacement of workers, and wait for those that are being started.

        A nanny closes only after it has finished a start, which on a busy machine may take longer than the
        rest of closing.
        """
        import asyncio

        async def settle() -> None:
            nannies = list(cluster.workers.values())
            for nanny in nannies:
                nanny.close_gracefully()
            starting = [n.process for n in nannies if n.process and n.process.status.name == "starting"]
            await asyncio.gather(*(process.running.wait() for process in starting))

        cluster.sync(settle, callback_timeout=CLOSE_S)

    @staticmethod
    def _kill(cluster: SpecCluster) -> None:
        """End the workers now, whatever they are doing: their logs are safe."""
        import asyncio

        async def kill() -> None:
            # All at once, as the last would otherwise go on; the nannies are closed, as they replace killed
            # workers.
            await asyncio.gather(*(nanny.close(timeout=0.1) for nanny in cluster.workers.values()))

        cluster.sync(kill, callback_timeout=CLOSE_S)


def allow_open_files(needed: int) -> None:
    """Raise the limit of open files of this process and its children to at least this number.

    Raises
    ------
    SweepError
        If the system does not allow it: Dask would print one error after another.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= needed:
        return
    if hard != unlimited and hard < needed:
        raise SweepError(
            f"only {hard} files may be open at a time (ulimit -n), and workers need {needed}: raise it with "
            f"ulimit -n {max(needed, 1024)}, use fewer workers, executor.workers=1, or executor=serial"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _end_fork_server() -> None:
    """Kill the process from which workers are forked, and so its workers, see `dask_worker.dask_setup`.

    Used if closing takes too long: a server left behind in the middle of a request would print a traceback. A
    later run in this process starts another server.
    """
    from multiprocessing import forkserver

    pid = getattr(forkserver._forkserver, "_forkserver_pid", None)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def _worked(client: Client, bundle: Bundle) -> list[Result]:
    """Return the results of a bundle; runs in Dask's own thread, as switching threads takes longer."""
    results: list[Result] = await client.gather(client.submit(work, bundle, pure=False), asynchronous=True)
    return results


def _results(future: Future[list[Result]]) -> list[Result] | None:
    """Return a bundle's results, or None if every worker that ran it died."""
    from distributed import KilledWorker

    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, KilledWorker):
        return None
    if isinstance(error, RunError):
        raise error
    raise RunError(f"Dask lost its workers ({error!r}); the same command continues from here") from error

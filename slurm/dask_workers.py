"""``executor=dask_slurm``: Dask workers in Slurm jobs, which end with the run.

dask-jobqueue writes the jobs' script and starts the scheduler, in this process. Jobs are submitted and
cancelled by `slurm.commands`, which reports errors; while there is no worker, Slurm is asked for the reason.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from slurm import profile as profiles
from slurm import reasons, script
from slurm.answers import Job
from slurm.commands import Slurm, SlurmError, UnreachableError
from sweep.errors import RunError, SweepError
from sweep.executors import dask
from sweep.plan.task import Bundle, Result

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

ASK_EVERY_S = 10.0
"""Seconds between two queries to Slurm while there is no worker: its controller serves others, too."""

DEATH_TIMEOUT_S = 60
"""Seconds after which a worker ends that does not find the scheduler, e.g. of a run that was killed."""

TAIL = 3
"""Lines of a job's log that an error shows."""


class Executor(dask.Executor):
    """Runs bundles on Dask workers in Slurm jobs; see `sweep.executors.Attached`.

    Parameters
    ----------
    jobs : int
        Slurm jobs; each has a worker on every core.
    wait_minutes : float
        Time without any worker, pending in the queue included, after which the run ends.
    profile : str
        Name or path of a cluster's profile.
    overrides
        Keys of the profile that replace its own, where they are not None.
    """

    workers_are_here = False

    def __init__(
        self,
        jobs: int,
        wait_minutes: float,
        profile: str,
        modules: Sequence[str] = (),
        **overrides: Any,
    ) -> None:
        for key, value in {"jobs": jobs, "wait_minutes": wait_minutes}.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise SweepError(f"executor.{key}={value}: give a positive number")
        given = {key: value for key, value in overrides.items() if value is not None}
        self._profile = profiles.load(profile, given)
        super().__init__(workers=int(jobs) * self._profile.cpus_per_task, modules=modules)
        self._jobs = int(jobs)
        self._patience_s = 60.0 * wait_minutes
        self._slurm = Slurm()
        self._name = f"sweep-workers-{secrets.token_hex(4)}"
        self._ids: list[int] = []
        self._cancelled: set[int] = set()
        self._ended = False
        self._refusal: SweepError | None = None
        self._asked = -ASK_EVERY_S
        self._shown = ""
        self._logs = Path()

    def __enter__(self) -> Self:
        return self  # the jobs' logs are written to the results folder, which `run` finds in its bundles

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles, as soon as there is a first worker."""
        first = next(bundles, None)
        if first is None:
            return
        self._logs = first.shards.parent.absolute() / "dask_slurm" / self._name
        self._logs.mkdir(parents=True, exist_ok=True)
        self._client = Future()
        self._start(self._client)
        yield from super().run(chain([first], bundles))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended = True
        try:
            self._cancel()  # before the scheduler ends, which workers would look for
            if self._client is not None:
                super().__exit__(None)
        finally:
            self._cancel()  # jobs submitted in the meantime, or not cancelled before
            if kind is None and self._logs.name == self._name:  # after a success no log is needed
                shutil.rmtree(self._logs, ignore_errors=True)
                with suppress(OSError):
                    self._logs.parent.rmdir()

    def _cancel(self) -> None:
        """Cancel the jobs, also those without an id because sbatch's answer was lost: by their name."""
        # Other threads add ids and none removes one, so this copy misses no job that was submitted before.
        ids = [number for number in self._ids if number not in self._cancelled]
        if not ids and self._refusal is None:
            return
        try:
            self._slurm.cancel(ids)
            self._slurm.cancel(job.id for job in self._slurm.jobs(name=self._name) if not job.ended)
        except SlurmError as error:
            command = f"scancel --name={self._name}"
            print(f"error: jobs could not be cancelled ({error}): {command}", file=sys.stderr)
        else:
            self._cancelled.update(ids)

    def _connect(self) -> Client:
        import dask as dask_package

        dask_package.config.set(dask.SETTINGS)
        on_interrupt = signal.getsignal(signal.SIGINT)
        try:
            from dask_jobqueue import SLURMCluster
            from dask_jobqueue.slurm import SLURMJob
        except ImportError:
            raise ImportError("no dask-jobqueue: pip install schedsweep[slurm]") from None
        finally:
            # With dask-jobqueue imported, Ctrl-C would end this process at once, and as a success.
            signal.signal(signal.SIGINT, on_interrupt)
        from distributed import Client
        from distributed.core import Status
        from distributed.security import Security
        from distributed.utils import get_ip

        executor = self

        class Job(SLURMJob):
            """A job that `slurm.commands` submits and cancels."""

            async def _submit_job(self, script_filename: str) -> str:
                return str(await asyncio.to_thread(executor._submit, Path(script_filename)))

            @classmethod
            async def _close_job(cls, job_id: str, cancel_command: str) -> None:
                """Do nothing: the executor cancels all jobs at once."""

            async def close(self) -> None:
                """Close the job and mark it as closed: Dask checks each job that is not collected yet."""
                await super().close()
                self.status = Status.closed

        class Cluster(SLURMCluster):
            """A cluster whose workers find their keys by variables, in a folder of any name."""

            def _get_worker_security(self, security: Security) -> None:
                """Write no further files."""

        profile = self._profile
        # Any process that connects may run code: the keys of this run are files that only this user can read.
        security = Security.temporary()
        # Of several interfaces, the one by which others are reached.
        listening = {} if profile.interface else {"host": get_ip()}
        self._cluster = Cluster(
            job_cls=Job,  # type: ignore[arg-type] # a class, in spite of its annotation
            cores=profile.cpus_per_task,
            processes=profile.cpus_per_task,
            memory="1GB",  # required, but not used: options and limits are set below
            interface=profile.interface,
            python=shlex.quote(profile.python or sys.executable),
            job_directives_skip=["#SBATCH"],  # all options are arguments of sbatch, see `_submit`
            # The working folder hides no package, see `schedsweep.packages`.
            job_script_prologue=[*script.preamble(profile), "export PYTHONSAFEPATH=1", *self._keys(security)],
            worker_extra_args=["--memory-limit", "0", "--dashboard-address", "127.0.0.1:0"],
            security=security,
            protocol="tls://",
            death_timeout=DEATH_TIMEOUT_S,
            local_directory="${TMPDIR:-/tmp}",
            scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0", **listening},
            silence_logs=logging.CRITICAL,
        )
        self._cluster.scale(self._jobs)
        return Client(self._cluster, set_as_default=False)

    def _keys(self, security: Security) -> Iterator[str]:
        """Write a worker's keys beside the logs, and yield the shell lines by which it finds them."""
        yield "export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True"
        variables = {"ca_file": "CA_FILE", "cert": "WORKER__CERT", "key": "WORKER__KEY"}
        config = security.get_tls_config_for_role("worker")
        for name, variable in variables.items():
            file = self._logs / f"{name}.pem"
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w") as opened:
                opened.write(config[name])
            yield f"export DASK_DISTRIBUTED__COMM__TLS__{variable}={shlex.quote(str(file))}"

    def _submit(self, path: Path) -> int:
        """Submit a job and return its id, 0 where that failed or the run is over."""
        if self._ended:
            return 0
        options = [*self._profile.where(), *self._profile.resources(), f"--job-name={self._name}"]
        try:
            number = self._slurm.submit(path, [*options, script.log_option(self._logs, "%j.out")])
        except SweepError as error:
            self._refusal = error
            return 0
        self._ids.append(number)
        if self._ended:  # while sbatch ran: no other call would cancel the job
            self._cancel()
        return number

    def _look_after(self, client: Client) -> None:
        if self._refusal is not None:
            raise RunError(f"no Dask workers: {self._refusal}")
        super()._look_after(client)
        now = time.monotonic()
        if self._last_seen != self._looked and now - self._asked > ASK_EVERY_S:
            self._asked = now
            line = self._waiting_for()
            if line != self._shown:
                self._shown = line
                print(line, flush=True)

    def _waiting_for(self) -> str:
        """Return what the jobs wait for; raise `RunError` if no worker can start any more."""
        try:
            jobs = self._slurm.jobs(self._ids, ended=True)
        except UnreachableError as error:
            return f"no Dask workers yet, and Slurm does not answer: {error}"
        for job in jobs:
            if job.state == "PENDING" and (never := reasons.hopeless(job.reason)):
                raise RunError(f"no Dask workers: job {job.id} is pending ({job.reason}): {never}")
        if all(job.ended for job in jobs):
            raise RunError(f"no Dask workers: all jobs have ended ({_states(jobs)}); {self._tail()}")
        return f"waiting for Dask workers: {_states([job for job in jobs if not job.ended])}"

    def _why_none(self) -> str:
        none = f"no Dask worker for {self._patience_s / 60:g} minutes"
        with suppress(SlurmError):
            states = _states(self._slurm.jobs(self._ids, ended=True))
            return f"{none} (executor.wait_minutes): {states}; {self._tail()}"
        return f"{none}, and Slurm does not answer"

    def _tail(self) -> str:
        """Return the last lines of the newest log."""
        logs = sorted(self._logs.glob("*.out"), key=lambda log: log.stat().st_mtime)
        for log in reversed(logs):
            lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
            if lines:
                return f"{log}: {' | '.join(lines[-TAIL:])}"
        return f"all logs in {self._logs} are empty: can the workers reach this node (interface)?"


def _states(jobs: Sequence[Job]) -> str:
    texts = [
        f"job {job.id} {job.state.lower()}" + (f" ({job.reason})" if job.state == "PENDING" else "")
        for job in jobs
    ]
    return ", ".join(texts) or "Slurm has none of the jobs any more"

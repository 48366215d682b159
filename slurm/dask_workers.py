"""``executor=dask_slurm``: Dask workers in Slurm jobs, which end with the run.

Dask's scheduler is a part of this process. Jobs are submitted and cancelled by `slurm.commands`, which
reports errors; while there is no worker, Slurm is asked for the reason.
"""

from __future__ import annotations

import logging
import secrets
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from slurm import places, reasons, script
from slurm import profile as profiles
from slurm.answers import Job
from slurm.commands import Slurm, SlurmError, UnreachableError
from sweep.errors import RunError, SweepError
from sweep.executors import dask
from sweep.plan.task import Bundle, Result
from sweep.store.writing import inner, replace, write_new

if TYPE_CHECKING:
    from distributed import Client, SpecCluster
    from distributed.security import Security

QUERY_EVERY_S = 10.0
"""Seconds between two queries to Slurm while there is no worker: its controller serves others, too."""

DEATH_TIMEOUT_S = 60
"""Seconds after which a worker that does not find the scheduler ends, e.g. because the run was killed."""

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
        self, jobs: int, wait_minutes: float, profile: str, modules: Sequence[str] = (), **overrides: Any
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
        self._has_submitted = False
        self._queried_at = -QUERY_EVERY_S
        self._shown = ""
        self._logs = Path()

    def __enter__(self) -> Self:
        self._slurm.run("sbatch", "--version")  # raises an error if there is no Slurm here
        return self  # the jobs' logs are written to the results folder, which `run` finds in its bundles

    def run(self, bundles: Iterator[Bundle]) -> Iterator[list[Result]]:
        """Run the bundles as soon as there is a first worker."""
        first = next(bundles, None)
        if first is None:
            return
        self._logs = first.shards.parent.absolute() / places.WORKERS / self._name
        inner(self._logs.parent)
        inner(self._logs)
        self._client = Future()
        self._start(self._client)
        self._ready()
        self._submit()
        yield from super().run(chain([first], bundles))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._cancel()  # before the scheduler ends, because workers would try to reach it
            if self._client is not None:
                super().__exit__(None)
        finally:
            if self._logs.name == self._name:
                for key in self._logs.glob("*.pem"):
                    key.unlink(missing_ok=True)
                if kind is None:  # no log is needed after a success
                    shutil.rmtree(self._logs, ignore_errors=True)
                    with suppress(OSError):
                        self._logs.parent.rmdir()

    def _cancel(self) -> None:
        """Cancel the jobs by their name, also those whose ids were lost with sbatch's answer."""
        if not self._has_submitted:
            return
        try:
            self._slurm.cancel(self._ids)
            self._slurm.cancel(job.id for job in self._slurm.jobs(name=self._name) if not job.ended)
        except SlurmError as error:
            command = f"scancel --name={self._name}"
            print(f"error: jobs could not be cancelled ({error}): {command}", file=sys.stderr)

    def _make_cluster(self, security: Security) -> SpecCluster:
        from distributed import Scheduler, SpecCluster
        from distributed.utils import get_ip

        # If there are several interfaces, take the one by which other nodes are reached.
        interface = self._profile.interface
        listening = {"interface": interface} if interface else {"host": get_ip()}
        options = {"protocol": "tls://", "security": security, "dashboard": False, **listening}
        scheduler = {"cls": Scheduler, "options": {**options, "dashboard_address": "127.0.0.1:0"}}
        return SpecCluster(scheduler=scheduler, security=security, silence_logs=logging.CRITICAL)

    def _script(self) -> str:
        """Return a job's script; all options are given to sbatch as arguments."""
        profile, cluster = self._profile, self._cluster
        assert cluster is not None
        python = profile.interpreter
        interface = f" --interface {shlex.quote(profile.interface)}" if profile.interface else ""
        lines = [
            "#!/bin/bash",
            *script.preamble(profile),
            "export PYTHONSAFEPATH=1",  # the working folder must hide no package, see `schedsweep.packages`
            *self._keys(cluster.security),
            f"exec {python} -m distributed.cli.dask_worker {cluster.scheduler_address} --protocol tls://"
            f"{interface} --nworkers {profile.cpus_per_task} --nthreads 1 --memory-limit 0"
            f" --death-timeout {DEATH_TIMEOUT_S} --dashboard-address 127.0.0.1:0"
            ' --local-directory "${TMPDIR:-/tmp}"',
        ]
        return "\n".join(lines) + "\n"

    def _keys(self, security: Security) -> Iterator[str]:
        """Write a worker's keys beside the logs, and yield the shell lines by which it finds them."""
        yield "export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True"
        variables = {"ca_file": "CA_FILE", "cert": "WORKER__CERT", "key": "WORKER__KEY"}
        config = security.get_tls_config_for_role("worker")
        for name, variable in variables.items():
            file = self._logs / f"{name}.pem"
            write_new(file, config[name].encode(), 0o600)
            yield f"export DASK_DISTRIBUTED__COMM__TLS__{variable}={shlex.quote(str(file))}"

    def _submit(self) -> None:
        options = [*self._profile.where(), *self._profile.resources(), f"--job-name={self._name}"]
        path = self._logs / "job.sh"
        replace(path, self._script().encode())
        self._has_submitted = True
        try:
            for _ in range(self._jobs):
                log = script.log_option(self._logs, "%j.out")
                self._ids.append(self._slurm.submit(path, [*options, log]))
        except SweepError as error:
            raise RunError(f"no Dask workers: {error}") from None

    def _count_workers(self, client: Client) -> None:
        super()._count_workers(client)
        now = time.monotonic()
        if self._last_seen != self._counted_at and now - self._queried_at > QUERY_EVERY_S:
            self._queried_at = now
            line = self._waiting_for()
            if line != self._shown:
                self._shown = line
                print(line, flush=True)

    def _waiting_for(self) -> str:
        """Return what the jobs wait for; raise `RunError` if no worker can start."""
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

    def _without_workers(self) -> str:
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
    return ", ".join(texts) or "Slurm no longer has any of the jobs"

"""The processes of an MPI run: rank 0 is the run, all others are its workers and print nothing.

``mpiexec -n 64 python -m sweep ... executor=mpi`` starts 64 equal processes. Their ranks are determined here,
before any argument is read, so that a wrong key is reported in one line and not in 64. `mpi4py.futures` makes
a pool of all but rank 0; its ranks wait with short sleeps, not in MPI, which would keep their cores busy.

Neither MPI nor Slurm guarantees a notice when a rank dies (``srun`` lets the others wait for ever). So every
rank locks one byte of a file in the results folder: the operating system releases the lock however the
process ends.
"""

from __future__ import annotations

import faulthandler
import fcntl
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedsweep import packages
from sweep.errors import INTERRUPTED, RunError, SweepError, one_line
from sweep.executors.threads import ONE_THREAD
from sweep.store.writing import open_log

if TYPE_CHECKING:
    from mpi4py.futures import MPIPoolExecutor
    from mpi4py.MPI import Intracomm

SILENCE_S = 2.0
"""Seconds without results from a rank after which its lock is checked."""

REPORTED = b"+"
"""Written to a rank's byte of the file once its death has been reported."""

NOTES, NOTE = 1 << 20, 512
"""Offset of the notes in the file, and bytes of a note; before them is a byte for each of a million ranks."""

START_S = 1800.0
"""Limit for the time before the first task: reading the logs, importing, compiling. It is generous, because
many ranks that import at once may keep a parallel file system busy for minutes."""

JOIN_S = 600.0
"""Limit for the ranks to join: each waits for all others, even for dead ones."""

GRACE_S = 3.0
"""Time for ranks to end by themselves before they are aborted."""

LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
"""Environment variables of launchers with this process's rank and the number of ranks. Slurm's come last,
because ``mpiexec`` may start its own processes by ``srun``."""


class Watch:
    """The ranks that are alive, by a lock that each holds on a byte of one file."""

    def __init__(self, path: Path, rank: int) -> None:
        self.path, self._rank = path, rank
        # Open until this process ends: closing any descriptor of the file would release the lock.
        self._file = open_log(path, os.O_RDWR)
        self.works = self._take(rank)

    def _take(self, rank: int) -> bool:
        try:
            # POSIX locks and not flock: they cover byte ranges, and network file systems forward them.
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, rank)
        except OSError:
            return False
        return True

    def note(self, text: str) -> None:
        """Write down what this rank is about to run."""
        with suppress(OSError):  # a full disk: its results will fail
            os.pwrite(self._file, text.encode()[:NOTE].ljust(NOTE), NOTES + NOTE * self._rank)

    def noted(self, rank: int) -> str:
        """Return the bundle that a rank began last."""
        return os.pread(self._file, NOTE, NOTES + NOTE * rank).decode(errors="replace").rstrip()

    def has_died(self, rank: int) -> bool:
        """Whether a rank has ended; true for the first caller only, so that a death is reported once.

        The caller that found it may have ended since, and released the lock: so it also writes a byte.
        """
        if not (self.works and self._take(rank)) or os.pread(self._file, 1, rank) == REPORTED:
            return False
        os.pwrite(self._file, REPORTED, rank)
        return True


class World:
    """All ranks of this run.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm

    Attributes
    ----------
    pool : mpi4py.futures.MPIPoolExecutor
        The pool of all other ranks; in rank 0 only.
    watch : Watch or None
        None until the results folder is known.
    is_whole : bool
        False once a rank has not finished its work in time: the world can then only be aborted.
    """

    pool: MPIPoolExecutor

    def __init__(self, comm: Intracomm) -> None:
        self.comm = comm
        self.rank, self.size = comm.rank, comm.size
        self.watch: Watch | None = None
        self.is_whole = True

    def dismiss(self, running: Collection[Future[Any]]) -> None:
        """Drop the pool's waiting calls, and wait briefly for running ones: a kernel cannot be
        interrupted."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.is_whole = not wait(running, timeout=GRACE_S).not_done

    def abort(self, status: int) -> None:
        """End all ranks at once, whatever they are doing."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.comm.Abort(status)

    def serve(self) -> int:
        """Be a worker until rank 0 ends the pool; return the exit status."""
        from mpi4py.futures import MPICommExecutor

        import sweep.executors.work  # noqa: F401 # while rank 0 reads the config

        threading.Thread(target=self._watch_rank_0, name="rank 0", daemon=True).start()
        with MPICommExecutor(self.comm, root=0):
            pass
        self.watch = None  # rank 0 is about to end and to release its lock, which is not a death
        return int(self.comm.bcast(None, root=0))

    def run(self, command: Callable[[], int]) -> int:
        """Run a command with the pool, and return the exit status, with which the other ranks end, too."""
        from mpi4py.futures import MPICommExecutor

        with MPICommExecutor(self.comm, root=0) as pool:
            self.pool = pool  # type: ignore[assignment] # its stub has the type of the context
            try:
                status = command()
            except KeyboardInterrupt:
                status = INTERRUPTED
            except BaseException:
                traceback.print_exc()
                status = RunError.status
            if not self.is_whole:
                self.abort(status)
        return int(self.comm.bcast(status, root=0))

    def _watch_rank_0(self) -> None:
        begin = time.monotonic()
        while True:
            time.sleep(SILENCE_S)
            # Before there is a watch, a death of rank 0 shows only by its silence: one rank ends them all.
            too_long = self.rank == 1 and time.monotonic() - begin > START_S
            if too_long if self.watch is None else self.watch.has_died(0):
                break
        print("error: MPI: rank 0 has died; the same command continues from here", file=sys.stderr)
        self.abort(RunError.status)


world: World | None = None
"""The world of this process, once it has joined it."""


def main(command: Callable[[], int]) -> int:
    """Run a command in rank 0 while all other ranks serve its calls, and return the exit status.

    Parameters
    ----------
    command : callable
        Returns its exit status; the other ranks end with the same one.
    """
    global world
    launched_as, launched = _launched(os.environ)
    os.environ.update(ONE_THREAD)
    # A rank that waits in MPI for the others runs no handler of Python: until then a signal ends it at once.
    handlers: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    for number in handlers:
        signal.signal(number, signal.SIG_DFL)
    try:
        if (line := packages.obstacle()) is not None:
            raise SweepError(line)
        world = _join(launched_as, launched)
    except SweepError as error:
        if launched_as == 0:
            print(f"error: {error}", file=sys.stderr)
        return error.status
    # A terminal's Ctrl-C and a batch system's SIGTERM reach every rank: rank 0 decides.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if world.rank else handlers[number])
    return world.serve() if world.rank else world.run(command)


def _join(launched_as: int, launched: int) -> World:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # MPI holds the interpreter lock while it waits, so no thread or signal handler of Python can end the
        # wait. After the limit every rank exits, and the first one prints where it waited.
        faulthandler.dump_traceback_later(JOIN_S, exit=True, file=nowhere if launched_as else sys.stderr)
        try:
            import mpi4py

            # One thread at a time uses MPI; supporting more would make every message slower.
            mpi4py.rc.thread_level = "serialized"
            with warnings.catch_warnings():
                # A launcher of another MPI is reported below, once.
                warnings.simplefilter("ignore", RuntimeWarning)
                from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            raise SweepError(
                f"executor=mpi needs mpi4py and an MPI library ({one_line(error)}): pip install "
                "schedsweep[mpi] where there is one, schedsweep[mpich] elsewhere"
            ) from None
        finally:
            faulthandler.cancel_dump_traceback_later()
    joined = World(MPI.COMM_WORLD)
    if joined.size == 1 and launched > 1:
        library = " ".join(MPI.Get_library_version().strip("\0 \n").splitlines()[0].split())
        raise SweepError(
            f"executor=mpi: {launched} processes were started, but each is alone in its world: the launcher "
            f"belongs to another MPI than mpi4py's, {library}; use the mpiexec of that one, or in Slurm "
            "srun --mpi=pmi2 or --mpi=pmix"
        )
    return joined


def _launched(environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the rank and the number of processes from the launcher's variables; 0 of 1 without one."""
    for rank, size in LAUNCHERS:
        if rank in environment and size in environment:
            return int(environment[rank]), int(environment[size])
    return 0, 1


def node() -> str:
    """Return the name of this rank's node."""
    from mpi4py import MPI

    return MPI.Get_processor_name()

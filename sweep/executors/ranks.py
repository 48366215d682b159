"""The processes of an MPI run: rank 0 is the run, all others execute its calls and print nothing.

``mpiexec -n 64 python -m sweep ... executor=mpi`` starts 64 equal processes. Their ranks are settled here,
before any argument is read, so that a wrong key is one line and not 64. A rank waits with short sleeps, not
in MPI, which would keep its core busy.

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
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedsweep import packages
from sweep.errors import INTERRUPTED, RunError, SweepError, one_line
from sweep.executors.threads import ONE_THREAD

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

CALL, ANSWER, END = 1, 2, 3
"""Tags: a call, its result, and the exit status with which to end."""

SHORTEST_S, LONGEST_S = 0.0001, 0.005
"""Sleeps between two probes for a message; each is twice the one before."""

SILENCE_S = 2.0
"""After so many seconds without a message from a rank, its lock is checked."""

REPORTED = b"+"
"""Written to a rank's byte of the file once its death has been reported."""

START_S = 1800.0
"""Limit for the time before the first task: reading the logs, importing, compiling."""

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
"""Environment variables of launchers with this process's rank and the number of ranks."""


class Watch:
    """The ranks that are alive, by a lock that each holds on a byte of one file.

    Parameters
    ----------
    path : Path
        In a folder that all ranks see.
    rank : int
        This process's own.
    """

    def __init__(self, path: Path, rank: int) -> None:
        self.path = path
        # Open until this process ends: to close any descriptor of the file would give the lock back.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        self.works = self._take(rank)

    def _take(self, rank: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, rank)
        except OSError:
            return False
        return True

    def has_died(self, rank: int) -> bool:
        """Whether a rank has ended; true for the first caller only, so that a death is reported once.

        The first rank may have ended since, and released the lock: so it also writes a byte.
        """
        if not (self.works and self._take(rank)) or os.pread(self._file, 1, rank) == REPORTED:
            return False
        os.pwrite(self._file, REPORTED, rank)
        return True


class World:
    """All ranks of this run.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm

    Attributes
    ----------
    watch : Watch or None
        None until the results folder is known.
    is_whole : bool
        False once a rank has not answered its dismissal: the world can then only be aborted.
    """

    def __init__(self, comm: Comm) -> None:
        self.comm = comm
        self.rank, self.size = comm.rank, comm.size
        self.watch: Watch | None = None
        self.is_whole = True
        self._dismissed = False
        self._sent: list[Any] = []

    def send(self, rank: int, tag: int, message: object) -> None:
        """Send without waiting: a busy rank receives the message later."""
        self._sent = [request for request in self._sent if not request.Test()]
        self._sent.append(self.comm.isend(message, rank, tag))

    def reply(self, tag: int, message: object) -> None:
        """Send to rank 0, and sleep until it has received a message that is too long to be sent at once.

        MPI would wait for rank 0, which receives only now and then, with all of a core. The wait ends after
        some seconds: rank 0 may be dead, or be writing the dataset.
        """
        self.send(0, tag, message)
        deadline, pause = time.monotonic() + SILENCE_S, SHORTEST_S
        while not self._sent[-1].Test() and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_S)

    def receive(self, rank: int | None, tag: int | None, limit_s: float) -> tuple[int, int, Any] | None:
        """Wait for a message and return its source, tag and content, None after so many seconds.

        Parameters
        ----------
        rank, tag : int or None
            None takes any.
        """
        from mpi4py import MPI

        source, kind = MPI.ANY_SOURCE if rank is None else rank, MPI.ANY_TAG if tag is None else tag
        status, pause = MPI.Status(), SHORTEST_S
        deadline = time.monotonic() + limit_s
        while not self.comm.iprobe(source, kind, status):
            if time.monotonic() > deadline:
                return None
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_S)
        source, kind = status.source, status.tag
        return source, kind, self.comm.recv(source=source, tag=kind)

    def dismiss(self, status: int) -> None:
        """Have all other ranks drop their queues and end with this exit status."""
        if self._dismissed:
            return
        self._dismissed, self.is_whole = True, False
        left = set(range(1, self.size))
        for rank in left:
            self.send(rank, END, status)
        deadline = time.monotonic() + GRACE_S
        while left and (received := self.receive(None, None, deadline - time.monotonic())) is not None:
            source, tag, _ = received
            if tag == END:
                left.discard(source)
        self.is_whole = not left

    def abort(self, status: int) -> None:
        """End all ranks at once, whatever they are doing."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.comm.Abort(status)

    def serve(self) -> int:
        """Execute the calls of rank 0 until it dismisses this rank; return the exit status."""
        import sweep.executors.work  # noqa: F401 # while rank 0 reads the config

        silent = 0.0
        while True:
            received = self.receive(0, None, SILENCE_S)
            if received is None:
                silent += SILENCE_S
                self._look_after_rank_0(silent)
                continue
            silent = 0.0
            _, tag, message = received
            if tag == CALL and not self.comm.iprobe(0, END):
                self.reply(ANSWER, self._answer(message))
            elif tag == END:
                while self.receive(0, CALL, 0) is not None:
                    pass
                self.comm.send(None, 0, END)
                return int(message)

    def _answer(self, message: tuple[Callable[..., object], tuple[object, ...]]) -> object:
        try:
            function, arguments = message
            return function(*arguments)
        except RunError as error:
            return error
        except BaseException as error:  # any: rank 0 would wait for a rank that has ended on its own
            return RunError(f"rank {self.rank} on {node()}: {one_line(error)}")

    def _look_after_rank_0(self, silent_s: float) -> None:
        too_long = silent_s > START_S and self.rank == 1
        if too_long if self.watch is None else self.watch.has_died(0):
            print("error: MPI: rank 0 has died; the same command continues from here", file=sys.stderr)
            self.abort(RunError.status)


world: World | None = None
"""Of this process, once it has been joined."""


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
        if (line := packages.hidden()) is not None:
            raise SweepError(line)
        world = _join(launched_as, launched)
    except SweepError as error:
        if launched_as == 0:
            print(f"error: {error}", file=sys.stderr)
        return error.status
    # A terminal's Ctrl-C and a batch system's SIGTERM reach every rank: rank 0 decides.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if world.rank else handlers[number])
    if world.rank:
        return world.serve()
    try:
        status = command()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BaseException:
        traceback.print_exc()
        status = RunError.status
    with suppress(KeyboardInterrupt):
        world.dismiss(status)
    if not world.is_whole:
        world.abort(status)
    return status


def _join(launched_as: int, launched: int) -> World:
    with open(os.devnull, "w") as nowhere:
        # MPI holds the interpreter lock while it waits, so no thread or signal handler of Python can end the
        # wait. After the limit every rank exits, and the first one prints where it waited.
        faulthandler.dump_traceback_later(JOIN_S, exit=True, file=nowhere if launched_as else sys.stderr)
        try:
            import mpi4py

            # Only one thread of a rank uses MPI; to allow for more makes every message slower.
            mpi4py.rc.thread_level = "funneled"
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
    """Return the rank and the number of processes by the launcher's variables; 0 of 1 without a launcher."""
    for rank, size in LAUNCHERS:
        if rank in environment and size in environment:
            return int(environment[rank]), int(environment[size])
    return 0, 1


def node() -> str:
    """Return the name of this rank's node."""
    from mpi4py import MPI

    return MPI.Get_processor_name()

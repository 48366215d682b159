"""A throw-away Slurm on this machine: a controller and emulated nodes on loopback, in one private folder.

For tests, and for trying a sweep before a real cluster sees it. Daemons run in the foreground as children of
this process, so that they are ended by handle, and `slurm.guard` ends them where this process is killed.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from slurm import arguments, emulation, guard
from slurm.commands import KEPT, Slurm, SlurmError, environment
from slurm.daemons import START_S, Daemons, missing

LONGEST_FOLDER = 70
"""Characters: Unix sockets in the folder must stay below 108."""


class TestCluster:
    """A Slurm of its own, used as a context manager; two of them may run side by side.

    Partitions are ``main`` (the default, no time limit) and ``short`` (1 minute), nodes ``n1``, ``n2``, ...
    Jobs run as the user who starts it, on this machine's cores, whatever number the nodes pretend to have.

    Parameters
    ----------
    folder : Path, optional
        Where everything is kept; a temporary folder by default, which is removed at the end.
    nodes, cpus, memory_mb : int
        Number of nodes, and what each pretends to have.
    max_array_size, max_jobs : int
        The cluster's limits (``MaxArraySize``, ``MaxJobCount``).
    settings : mapping, optional
        Further lines of slurm.conf, which take the place of those in `slurm.emulation`.

    Attributes
    ----------
    folder : Path
    nodes : list of str
    env : dict of str to str
        For processes that shall use this cluster: ``SLURM_CONF`` and no other setting of Slurm.
    slurm : Slurm
        Commands to this cluster.

    Raises
    ------
    SlurmError
        On entering, if programs are missing, the folder's name will not do, or a daemon does not start.
    """

    __test__ = False  # the name is no invitation to pytest

    def __init__(
        self,
        folder: Path | None = None,
        *,
        nodes: int = 2,
        cpus: int = 4,
        memory_mb: int = 4000,
        max_array_size: int = 1001,
        max_jobs: int = 10000,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        if text := missing():
            raise SlurmError(text)
        self._temporary = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-")) if folder is None else folder.resolve()
        self.nodes = [f"n{number + 1}" for number in range(nodes)]
        self._hardware = f"CPUs={cpus} RealMemory={memory_mb} State=UNKNOWN"
        self._settings = {"MaxArraySize": max_array_size, "MaxJobCount": max_jobs, **(settings or {})}
        self._port = 0
        self._guard: subprocess.Popen[bytes] | None = None
        clean = {key: value for key, value in environment(os.environ).items() if key not in KEPT}
        self.env = {**clean, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.slurm = Slurm(self.env)
        self._daemons = Daemons(self.folder, self.env)

    def __enter__(self) -> Self:
        if any(guard.processes(self.folder)):
            raise SlurmError(f"folder={self.folder}: a test cluster runs there already; give another folder")
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        self._make_folder()
        what = "temporary" if self._temporary else "kept"
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(self.folder), what],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        (self.folder / "munge.socket").unlink(missing_ok=True)  # of an earlier cluster in a kept folder
        self._daemons.start("munged", self._munged())
        self._daemons.wait("munged", (self.folder / "munge.socket").exists)
        for attempt in (1, 2, 3):
            self._port, *ports = emulation.free_ports(1 + len(self.nodes))
            nodes = dict(zip(self.nodes, ports, strict=True))
            text = emulation.configuration(self.folder, self._port, nodes, self._hardware, self._settings)
            (self.folder / "slurm.conf").write_text(text)
            try:
                self.start_controller()
                for node in self.nodes:
                    self._daemons.start(node, ["slurmd", "-D", "-N", node], node)
                self.wait_idle()
                return
            except SlurmError as error:
                # A port that was free a moment ago: others may be starting clusters too.
                if attempt == 3 or not re.search("bind|in use", str(error)):
                    raise
                self._daemons.end("slurmctld", *self.nodes)

    def _make_folder(self) -> None:
        path = str(self.folder)
        if not re.fullmatch(r"[\w./+-]+", path, re.ASCII) or len(path) > LONGEST_FOLDER:
            raise SlurmError(
                f"folder={path}: a test cluster's folder has {LONGEST_FOLDER} characters at most, letters, "
                "digits and ./_+- only; give another one, or none for a temporary one"
            )
        try:
            for name in ("state", "log", *(f"spool.{node}" for node in self.nodes)):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            with open(self.folder / "munge.key", "wb", opener=_private) as key:
                key.write(secrets.token_bytes(1024))
        except OSError as error:
            raise SlurmError(f"folder={path}: {error.strerror}; give a folder that can be written") from None

    def _munged(self) -> list[str]:
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid"}
        files |= {"seed-file": "munged.seed", "log-file": "log/munged.log"}
        paths = [f"--{option}={self.folder / file}" for option, file in files.items()]
        # Forced: munged minds a socket that other users cannot reach, which here is the intention.
        return ["munged", "--foreground", "--force", "--num-threads=2", *paths]

    def stop(self) -> None:
        """Kill all daemons and jobs, as a power failure does; nobody needs what they could still save."""
        try:
            self._daemons.end_all()
        finally:
            if self._guard is not None:
                self._guard.communicate(timeout=2 * guard.PATIENCE_S)
                self._guard = None
            if self._temporary:
                shutil.rmtree(self.folder, ignore_errors=True)

    def kill_controller(self, *, orderly: bool = False) -> None:
        """End the controller. Jobs go on; commands fail after about 9 s (1 s with ``MessageTimeout=2``).

        Parameters
        ----------
        orderly : bool
            Let it save what it knows. Killed, it forgets the last seconds: jobs that were just submitted
            vanish and their ids are given out again, jobs that were just started are started again.
        """
        self._daemons.end("slurmctld", orderly=orderly)

    def start_controller(self) -> None:
        """Start the controller, again after `kill_controller`, and return when it listens.

        Nodes are ``unknown`` until they have reported, which takes some seconds: see `wait_idle`.
        """
        self._daemons.start("slurmctld", ["slurmctld", "-D"])
        self._daemons.wait("slurmctld", lambda: emulation.listens(self._port))

    def kill_node(self, number: int, *, noticed: bool = True) -> None:
        """Take the power from a node: kill its daemon and all that runs there.

        Parameters
        ----------
        number : int
            1 for ``n1``.
        noticed : bool
            Tell the controller, which then requeues jobs at once; by itself it needs 25 to 30 s.
        """
        node = self.nodes[number - 1]
        self._daemons.end(node)
        guard.end(self.folder, node)
        if noticed:
            self.slurm.update(nodename=node, state="down", reason="killed")

    def start_node(self, number: int) -> None:
        """Start a killed node again, and return when it is there."""
        node = self.nodes[number - 1]
        self._daemons.start(node, ["slurmd", "-D", "-N", node], node)
        there = ("idle", "mixed", "allocated")
        self._daemons.wait(node, lambda: self.slurm.nodes().get(node) in there)

    def wait_idle(self, timeout_s: float = START_S) -> None:
        """Return when every node is there and runs nothing.

        Raises
        ------
        SlurmError
            If that takes too long.
        """
        idle = dict.fromkeys(self.nodes, "idle")
        self._daemons.wait("nodes", lambda: self.slurm.nodes() == idle, timeout_s)

    def clear(self) -> None:
        """Cancel every job and return when the nodes are idle: the next test begins with an empty cluster."""
        self.slurm.cancel({job.id for job in self.slurm.jobs()})
        self.wait_idle()


def available() -> bool:
    """Whether a test cluster can be started here; `missing` says what it lacks."""
    return not missing()


def main(given: Sequence[str]) -> int:
    """Start a cluster for a user and keep it until Ctrl-C."""
    defaults = {"nodes": "2", "cpus": "4", "folder": ""}
    if {"-h", "--help"}.intersection(given):
        print(
            "usage: python -m slurm testcluster [nodes=2] [cpus=4] [folder=FOLDER]\n\n"
            "Starts a Slurm of its own on this machine, which listens on 127.0.0.1 only, and keeps it until\n"
            "Ctrl-C. Its nodes pretend to have the given cores. Without a folder a temporary one is used."
        )
        return 0
    options = arguments.parse(given, defaults)
    cluster = TestCluster(
        Path(options["folder"]).expanduser() if options["folder"] else None,
        nodes=arguments.positive("nodes", options["nodes"]),
        cpus=arguments.positive("cpus", options["cpus"]),
    )
    with cluster:
        print(
            f"Slurm runs: {len(cluster.nodes)} nodes of {options['cpus']} cores, partitions main and short.\n"
            f"In another shell:\n\n  export SLURM_CONF={cluster.env['SLURM_CONF']}\n\n"
            "Ctrl-C here ends it and all its jobs.",
            flush=True,
        )
        try:
            while True:
                signal.pause()
        except KeyboardInterrupt:
            return 0


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

"""Daemons of a test cluster, as children of this process that are ended by handle."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from slurm import guard
from slurm.commands import SlurmError, UnreachableError

PROGRAMS = (
    *("slurmctld", "slurmd", "munged"),
    *("sbatch", "squeue", "scontrol", "sinfo", "scancel", "srun"),
)
PACKAGES = "slurmctld slurmd slurm-client munge"
"""What Debian and Ubuntu call the packages that have them all."""

START_S = 120
"""Seconds that a start may take on a machine with much else to do; it takes 0.2 to 1.2."""


class Daemons:
    """Running daemons by name.

    Parameters
    ----------
    folder : Path
        The cluster's; ``log/NAME.out`` in it takes what a daemon says.
    env : mapping
        Environment of all of them.
    """

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = {**env, guard.FOLDER: str(folder)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: list[str], node: str = "") -> None:
        """Start a program in the foreground."""
        program = find(command[0])
        assert program is not None, "looked for before"
        with open(self._folder / "log" / f"{name}.out", "wb") as out:
            self._running[name] = subprocess.Popen(
                [program, *command[1:]],
                env={**self._env, guard.NODE: node},
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the one who started it all
            )

    def end(self, *names: str, orderly: bool = False) -> None:
        """Kill daemons, or let them end in order; those that do not run are left out."""
        for name in names:
            if (daemon := self._running.pop(name, None)) is None:
                continue
            if orderly:
                daemon.terminate()
                with suppress(subprocess.TimeoutExpired):
                    daemon.wait(guard.PATIENCE_S)
            daemon.kill()
            daemon.wait(guard.PATIENCE_S)

    def end_all(self) -> None:
        """Kill every daemon, and every job that they started."""
        self.end(*self._running)
        if left := guard.end(self._folder):
            raise SlurmError(f"test cluster: processes {left} do not end; kill them by hand")

    def wait(self, what: str, ready: Callable[[], bool], timeout_s: float = START_S) -> None:
        """Return when something is so.

        Raises
        ------
        SlurmError
            If it takes too long, or a daemon ends in the meantime; with what the daemon said last.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            for name, daemon in self._running.items():
                if daemon.poll() is not None:
                    raise SlurmError(f"test cluster: {name} ended ({self._last_words(name)})")
            try:
                if ready():
                    return
            except UnreachableError:  # not yet
                pass
            if time.monotonic() > deadline:
                said = self._last_words("slurmctld")
                raise SlurmError(f"test cluster: {what} not ready within {timeout_s:g} s ({said})")
            time.sleep(0.02)

    def _last_words(self, name: str) -> str:
        log = self._folder / "log" / f"{name}.out"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        telling = [line for line in lines if re.search("fatal|unable|cannot|address", line, re.IGNORECASE)]
        return (telling or lines or ["it said nothing"])[-1].strip()


def missing() -> str:
    """Say which of Slurm's programs are not installed and how to get them; empty where all are there."""
    absent = [program for program in PROGRAMS if find(program) is None]
    if not absent:
        return ""
    return f"not installed: {', '.join(absent)}; on Debian or Ubuntu: apt-get install {PACKAGES}"


def find(program: str) -> str | None:
    """Return where a program is; daemons are in folders that users' search paths leave out."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])
    return shutil.which(program, path=path)

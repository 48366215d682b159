"""Ends all that a test cluster started, also where the one who started it was killed.

Runs as a process of its own, from this file alone: it waits until its standard input is closed, which the
kernel does however the starter ends, and then kills what is left and removes the folder if that is temporary.
Processes are known by their environment, never by a name: by the cluster's own folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDER = "SCHEDSWEEP_TESTCLUSTER"
"""Variable that daemons, and the job managers that they start, carry: the cluster's folder."""

NODE = "SCHEDSWEEP_TESTNODE"
"""Variable that a node's daemon and its job managers carry: the node's name."""

PATIENCE_S = 60
"""Seconds to wait for killed processes to vanish."""


def processes(folder: Path, node: str | None = None) -> Iterator[int]:
    """Yield the living processes of a cluster, or of one of its nodes: daemons, job managers and jobs."""
    configuration = f"SLURM_CONF={folder / 'slurm.conf'}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # gone, or somebody else's
            continue
        ours = f"{FOLDER}={folder}".encode() in variables
        # A user's own commands have SLURM_CONF too, but no job's number.
        job = configuration in variables and any(name.startswith(b"SLURM_JOB_ID=") for name in variables)
        there = {f"{NODE}={node}".encode(), f"SLURMD_NODENAME={node}".encode()}
        if (
            (ours or job)
            and (node is None or there.intersection(variables))
            and int(entry.name) != os.getpid()
        ):
            yield int(entry.name)


def end(folder: Path, node: str | None = None) -> list[int]:
    """Kill the processes of a cluster or of a node, and return those that would not go."""
    deadline = time.monotonic() + PATIENCE_S
    # Looked for again until none is found: a daemon may have started another one in the meantime.
    while (found := list(processes(folder, node))) and time.monotonic() < deadline:
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    return found


def main(folder: Path, temporary: bool) -> None:
    """Wait until the starter has ended, and clean up."""
    # A shell's Ctrl-C is the starter's business; it closes our input in time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.read()
    end(folder)
    if temporary:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "temporary")

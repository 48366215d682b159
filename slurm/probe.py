"""The doctor's job on a compute node: collects facts about it and writes them to a file.

``python -m slurm.probe FOLDER`` answers in FOLDER/answer.json; with ``mpi`` behind it, each rank answers in a
file of its own. Slurm's and the sweep's rules are checked by the doctor, not here.
"""

import fcntl
import hashlib
import importlib
import json
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

CONNECT_S = 3
"""Seconds that a connection to the submit node may take."""


def examine(folder: Path) -> dict[str, Any]:
    """Return facts about this node; the doctor's ``request.json`` has a token and its addresses."""
    # Not imported at the top, because MPI is initialised before anything else, see `world`.
    from sweep.executors import available_cores
    from sweep.executors.threads import ONE_THREAD
    from sweep.store.provenance import versions

    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    reached = []
    for address in request["addresses"]:
        with suppress(OSError):
            socket.create_connection(address[1:], CONNECT_S).close()
            reached.append(address)
    return {
        "token": request["token"],
        "node": socket.gethostname(),
        "executable": sys.executable,
        "versions": versions(),
        "sources": sources(),
        "cores": available_cores(),
        "granted": os.environ.get("SLURM_CPUS_PER_TASK") or os.environ.get("SLURM_CPUS_ON_NODE"),
        "threads": {name: os.environ[name] for name in ONE_THREAD if name in os.environ},
        "reached": reached,
        "locked": _is_locked(folder / "lock"),
    }


def sources() -> str:
    """Return a hash of the code that tasks would run: two checkouts may have the same version."""
    digest = hashlib.sha256()
    for package in ("models", "schedsweep", "slurm", "sweep"):
        root = Path(str(importlib.import_module(package).__file__)).parent
        for file in sorted(root.rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _is_locked(file: Path) -> bool:
    """Return whether a lock that the doctor holds on another node is effective here."""
    with file.open("a", encoding="utf-8") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def world() -> dict[str, int]:
    """Return this process's MPI rank and the size of its world.

    Called before anything else is imported: with more imported before, MPICH 5.0 under Slurm's pmi2 was seen
    to fail with "value not properly terminated in client request"; the cause is not known.
    """
    from mpi4py import MPI

    return {"rank": MPI.COMM_WORLD.Get_rank(), "size": MPI.COMM_WORLD.Get_size()}


if __name__ == "__main__":
    place, mpi = Path(sys.argv[1]), "mpi" in sys.argv[2:]
    name = f"rank.{socket.gethostname()}.{os.getpid()}.json" if mpi else "answer.json"
    private = place / f".{name}"  # renamed, so that a reader finds the whole answer or none
    private.write_text(json.dumps(world() if mpi else examine(place)), encoding="utf-8")
    private.replace(place / name)

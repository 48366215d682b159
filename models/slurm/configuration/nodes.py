"""Nodes: lines ``NodeName=n[1-64] CPUs=32 RealMemory=256000 Gres=gpu:a100:4``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from models.jobs.requests import of_kind
from models.slurm.configuration import hostlist, values
from models.slurm.configuration.keys import Line, key
from models.slurm.configuration.values import whole

MOST_CPUS = 65_535
"""CPUs of a node, as Slurm counts them."""

OF_32_BITS = 2**32 - 1
DOWN = ("DOWN", "DRAIN", "FAIL", "FAILING", "FUTURE")


@dataclass(frozen=True)
class Node:
    """A node: CPUs as Slurm counts them, memory for jobs in MB, generic resources by name; sockets, and CPUs
    of a core; the number of its line."""

    name: str
    cpus: int
    memory: int
    gres: Mapping[str, int]
    weight: int = 1
    features: tuple[str, ...] = ()
    up: bool = True
    sockets: int = 1
    threads: int = 1
    line: int = 0

    def devices(self, kind: str) -> int:
        """Return how many devices it has, of one type or of all types of a name."""
        return sum(of_kind(self.gres, kind))


@dataclass(frozen=True, kw_only=True)
class NodeKeys:
    """The keys of a line of nodes."""

    sockets: int | None = key("Sockets", whole(0, MOST_CPUS), None)
    boards: int = key("Boards", whole(0, MOST_CPUS), 1)
    board_sockets: int | None = key("SocketsPerBoard", whole(0, MOST_CPUS), None)
    cores: int = key("CoresPerSocket", whole(0, MOST_CPUS), 1)
    threads: int = key("ThreadsPerCore", whole(0, MOST_CPUS), 1)
    cpus: int | None = key("CPUs Procs", whole(0, MOST_CPUS), None)
    spare_cores: int = key("CoreSpecCount", whole(0, MOST_CPUS), 0)
    memory: int = key("RealMemory", whole(0, values.MOST), 1)
    spare_memory: int = key("MemSpecLimit", whole(0, values.MOST), 0)
    gres: Mapping[str, int] | None = key("Gres", values.gres, None)
    weight: int = key("Weight", whole(0, OF_32_BITS), 1)
    features: tuple[str, ...] = key("Features Feature", lambda text: tuple(text.split(",")), ())
    up: bool = key("State", lambda text: text.upper().split("+")[0] not in DOWN, True)


def nodes_of(line: Line, number: int) -> Iterator[Node]:
    """Yield the nodes of a line, the `number`-th of its kind."""
    line.check((NodeKeys,), "nodes", ("NodeName",))
    keys = NodeKeys(**line.record(NodeKeys))
    sockets = keys.boards * (1 if keys.board_sockets is None else keys.board_sockets)
    sockets = sockets if keys.sockets is None else keys.sockets
    of_socket = max(keys.cores * keys.threads, 1)
    every = sockets * of_socket if keys.cpus is None else keys.cpus
    if keys.sockets is None and keys.board_sockets is None and every % of_socket == 0:
        sockets = every // of_socket
    cpus = every - keys.spare_cores * keys.threads
    if not 1 <= cpus <= MOST_CPUS:
        line.fault(
            f"nodes with {cpus} CPUs; allowed: 1 to {MOST_CPUS:,}; give CPUs=, or Sockets= and "
            "CoresPerSocket="
        )
        cpus = 1
    if sockets == 0 or cpus % sockets:  # else cores would be in no socket
        sockets = 1
    for name in line.value("NodeName", hostlist.expand, []):
        yield Node(
            name,
            cpus,
            max(keys.memory - keys.spare_memory, 1),
            keys.gres or {},
            keys.weight,
            keys.features,
            keys.up,
            sockets,
            keys.threads,
            number,
        )

"""Nodes: lines ``NodeName=n[1-64] CPUs=32 RealMemory=256000 Gres=gpu:a100:4``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from models.counting import counted
from models.jobs.requests import of_kind
from models.slurm.configuration import hostlist, values
from models.slurm.configuration.keys import SHOWN, Line, key
from models.slurm.configuration.values import whole

MOST_CPUS = 65_535
"""CPUs of a node, as Slurm counts them."""

OF_32_BITS = 2**32 - 1
DOWN = frozenset({"DOWN", "DRAIN", "DRAINED", "DRAINING", "ERROR", "FAIL", "FAILING"})
FUTURE = "FUTURE"
STATES = (*sorted(DOWN), FUTURE, "UNKNOWN", "IDLE", "ALLOCATED", "MIXED", "CLOUD", "EXTERNAL", "POWERED_DOWN")


def state(text: str) -> frozenset[str]:
    """Return the words of a state: ``IDLE*+DRAIN`` as scontrol prints it, or ``DOWN`` as in slurm.conf."""
    return frozenset(re.sub(r"[^A-Z_]+", " ", text.upper()).split())


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
    off: bool = False  # powered down at the beginning

    def devices(self, kind: str) -> int:
        """Return how many devices the node has, of one type or of all types of a name."""
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
    spare_cpus: str = key("CPUSpecList", str, "")
    memory: int = key("RealMemory", whole(0, values.MOST), 1)
    spare_memory: int = key("MemSpecLimit", whole(0, values.MOST), 0)
    gres: Mapping[str, int] | None = key("Gres", values.gres, None)
    weight: int = key("Weight", whole(0, OF_32_BITS), 1)
    features: tuple[str, ...] = key("Features Feature", lambda text: tuple(text.split(",")), ())
    state: frozenset[str] = key("State", state, frozenset())


def nodes_of(line: Line, number: int) -> Iterator[Node]:
    """Yield the nodes of a line, the `number`-th of its kind.

    CPUs that fit no sockets, cores or threads, and those set aside for the system, are treated as in
    `_parse_nodename` of Slurm's src/common/read_config.c and `_init_node_record` of src/common/node_conf.c.
    """
    line.check((NodeKeys,), "nodes", ("NodeName",))
    keys = NodeKeys(**line.record(NodeKeys))
    if not line.where.endswith(SHOWN) and not keys.state.issubset(STATES):
        line.fault(f"State={line.text('State')}; allowed: {', '.join(STATES)}")
    cores, threads, boards = max(keys.cores, 1), max(keys.threads, 1), max(keys.boards, 1)
    of_socket = cores * threads
    sockets = max(keys.sockets or 0, 1)
    if keys.board_sockets is not None:
        sockets = boards * max(keys.board_sockets, 1)
    elif keys.sockets is None:
        whole_sockets = keys.cpus and keys.cpus % of_socket == 0
        sockets = (keys.cpus or 0) // of_socket if whole_sockets else boards
    cpus = sockets * of_socket if keys.cpus is None else max(keys.cpus, 1)
    if cpus not in (sockets, sockets * cores, sockets * of_socket):
        line.faults.note(
            f"{line.where}: CPUs={cpus} is neither {sockets} sockets, {sockets * cores} cores nor "
            f"{sockets * of_socket} threads: Slurm takes CPUs={sockets * of_socket}"
        )
        cpus = sockets * of_socket
    threads = threads if cpus > sockets * cores else 1
    cpus -= _set_aside(line, keys, cpus, sockets * cores, threads)
    if not 1 <= cpus <= MOST_CPUS:
        line.fault(
            f"nodes with {counted(cpus, 'CPU')}; allowed: 1 to {MOST_CPUS:,}; give CPUs=, or Sockets= and "
            "CoresPerSocket="
        )
        cpus = 1
    if cpus % sockets:  # otherwise cores would be in no socket
        sockets = 1
    spare_memory = keys.spare_memory if keys.spare_memory < keys.memory else 0
    for name in line.value("NodeName", hostlist.expand, []):
        yield Node(
            name,
            cpus,
            max(keys.memory - spare_memory, 1),
            keys.gres or {},
            keys.weight,
            keys.features,
            not keys.state & DOWN,
            sockets,
            threads,
            number,
            "POWERED_DOWN" in keys.state or keys.state == {"CLOUD"},  # otherwise scontrol shows its effect
        )


def _set_aside(line: Line, keys: NodeKeys, cpus: int, cores: int, threads: int) -> int:
    """Return the CPUs of whole cores that CoreSpecCount or CPUSpecList set aside for the system."""
    if not keys.spare_cpus:
        count = keys.spare_cores
        return (count if count < cores else 1) * threads if count else 0
    try:
        listed = {int(one) for one in hostlist.expand(f"[{keys.spare_cpus}]")}
    except ValueError:
        listed = {cpus}
    if max(listed) >= cpus:
        line.faults.note(
            f"{line.where}: CPUSpecList={keys.spare_cpus} is not of {cpus} CPUs: it has no effect"
        )
        return 0
    return len({cpu // threads for cpu in listed}) * threads

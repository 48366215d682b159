"""Keys of conf/machine/_machine.yaml on connected processors, declared once; policies read some of them."""

from dataclasses import dataclass

from models import checks, keys
from models.point import Parameters

PER_PE = "per_pe"
"""Value of ``machine.disks``: one disk at each processor."""

NO_DISKS, OWN_DISKS = 0, -1
"""Special numbers of disks: no disks, so each request is served at once; and one disk at each processor."""

PLACES = ("aligned", "half", "any")


def _disks(machine: Parameters, where: str, key: str) -> int:
    if machine[key] is None or machine[key] == PER_PE:
        return NO_DISKS if machine[key] is None else OWN_DISKS
    allowed = "a positive whole number of shared disks, per_pe, or null (each request is served at once)"
    return checks.whole(machine, where, key, allowed)


@dataclass(frozen=True, kw_only=True)
class Links:
    """Links of a mesh or a torus.

    Parameters
    ----------
    context_switch : float, seconds
        Cost of switching from one task or thread to another on the same processor.
    bandwidth : float, bytes/second
        Bandwidth of a link between neighbours.
    """

    BASE = "_machine"

    context_switch: float = keys.seconds()
    bandwidth: float = keys.number("a positive number of bytes/s", above=0)


@dataclass(frozen=True, kw_only=True)
class Network(Links):
    """Links that messages take one after another, and disks.

    Parameters
    ----------
    link_latency : float, seconds
    link_contention : bool
        Whether a link serves one message at a time.
    disks : int
        Number of shared disks, or `NO_DISKS` or `OWN_DISKS`.
    """

    link_latency: float = keys.seconds()
    link_contention: bool = keys.switch()
    disks: int = keys.checked(_disks)


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """Nodes of several processors, whose jobs synchronise by wires.

    Parameters
    ----------
    node_processors : int
        Processors of a node.
    places : {"aligned", "half", "any"}
    barrier_wires : int
    wire_neighbours : {"forbidden", "allowed"}
        Whether two jobs on neighbouring nodes may have the same wire.
    """

    BASE = "_machine"

    node_processors: int = keys.whole(most=2**30)
    places: str = keys.choice(*PLACES)
    barrier_wires: int = keys.whole("a whole number of wires from 1 to 60", most=60)
    wire_neighbours: str = keys.choice("forbidden", "allowed")


@dataclass(frozen=True, kw_only=True)
class Joined(Network, Nodes):
    """All of these keys, and the number of jobs whose threads fit into a node's memory."""

    memory_limit: int | None = keys.whole("a positive whole number of jobs, or null for no limit", null=True)


def check_values(machine: Parameters) -> None:
    """Raise ``ValueError`` with one line for a value not allowed, whether a policy reads it or not."""
    keys.read_given(Joined, machine, "machine")
    if "spans" in machine:
        checks.switch(machine, "machine", "spans")

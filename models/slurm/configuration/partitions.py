"""Partitions: lines ``PartitionName=batch Nodes=n[1-64] MaxTime=2-0 PriorityTier=2``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Self

from models.slurm.configuration import hostlist, values
from models.slurm.configuration.keys import SHOWN, Line, key
from models.slurm.configuration.nodes import OF_32_BITS, Node
from models.slurm.configuration.settings import Preempt, Settings
from models.slurm.configuration.values import duration, whole

RULES_OF_ACCESS = (
    "allowaccounts", "allowgroups", "allowqos", "denyaccounts", "denyqos", "reqresv", "maxcpuspernode",
    "exclusiveuser", "exclusivetopo", "maxcpuspersocket", "maxmempercpu", "defcpupergpu", "defmempergpu",
    "jobdefaults",
)  # fmt: skip
"""Keys of a partition that decide who may use it, or what jobs get there."""
OPEN_TO_ALL = ("", "ALL", *values.NO, "NONE", "N/A", "(NULL)", *values.WITHOUT_LIMIT)

INHERITED = ("OverTimeLimit", "DefMemPerCPU", "DefMemPerNode")
"""Keys that a partition has from the whole cluster where its line has none."""

MOST_ROWS = 1000
"""Jobs that may share a CPU; Slurm's own limit is larger, and such a number is a slip."""


class Sharing(StrEnum):
    """What OverSubscribe allows: whole nodes, or CPUs that jobs share."""

    NO, EXCLUSIVE, YES, FORCE = "NO", "EXCLUSIVE", "YES", "FORCE"


class Share(NamedTuple):
    """How jobs share CPUs, and how many jobs share one."""

    kind: Sharing = Sharing.NO
    jobs: int = 1

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a value of OverSubscribe."""
        word, _, number = text.upper().partition(":")
        jobs = int(number or 4) if values.NUMBER.fullmatch(number or "4") else 0
        if word not in Sharing.__members__ or not 1 <= jobs <= MOST_ROWS:
            raise ValueError(f"NO, EXCLUSIVE, YES:n, FORCE:n with n from 1 to {MOST_ROWS:,}")
        return cls(Sharing[word], jobs if word in ("YES", "FORCE") else 1)

    @property
    def rows(self) -> int:
        """How many jobs may have a CPU whether they ask for it or not."""
        return self.jobs if self.kind == Sharing.FORCE else 1

    def __str__(self) -> str:
        """Return the value as in slurm.conf."""
        return f"{self.kind}:{self.jobs}" if self.kind in (Sharing.YES, Sharing.FORCE) else self.kind


def bound(text: str) -> int:
    """Return a number of nodes, 0 for no limit."""
    return 0 if text.upper() in values.WITHOUT_LIMIT else whole(0, OF_32_BITS)(text)


def amount(text: str) -> int:
    """Return MB, 0 for no limit."""
    return 0 if text.upper() in values.WITHOUT_LIMIT else whole(0, values.MOST)(text)


def own_seconds(text: str) -> int | None:
    """Return a number of seconds, None if the whole cluster's value counts."""
    return None if text.upper() == "GLOBAL" else values.seconds(text)


@dataclass(frozen=True)
class Partition:
    """A partition; `nodes` are positions. Times are seconds, None means unlimited.

    Parameters
    ----------
    preempt : Preempt, optional
        How its jobs are preempted, after `grace` seconds; None if PreemptMode decides.
    restricted : tuple of str
        Keys of its line that decide who may use it, but have no effect here.
    """

    name: str
    nodes: tuple[int, ...]
    default: bool = key("Default", values.yes, False)
    max_time: int | None = key("MaxTime", duration(), None)
    default_time: int | None = key("DefaultTime", duration(), None)
    min_nodes: int = key("MinNodes", bound, 0)
    max_nodes: int = key("MaxNodes", bound, 0)
    tier: int = key("PriorityTier Priority", whole(0, OF_32_BITS), 1)
    job_factor: int = key("PriorityJobFactor Priority", whole(0, OF_32_BITS), 1)
    sharing: Share = key("OverSubscribe Shared", Share.of, Share())
    over_time: int | None = key("OverTimeLimit", duration(), 0)
    least_loaded: bool = key("LLN", values.yes, False)
    up: bool = key("State", values.has("UP", of=("UP", "DOWN", "DRAIN", "INACTIVE")), True)
    memory_cpu: int = key("DefMemPerCPU", amount, 0)
    memory_node: int = key("DefMemPerNode", amount, 0)
    qos: str = key("QOS", str, "")
    billing: Mapping[str, float] | None = key("TRESBillingWeights", values.weights, None)
    preempt: Preempt | None = key("PreemptMode", Preempt.of, None)
    grace: int = key("GraceTime", whole(0, OF_32_BITS), 0)
    topology: str = key("Topology", str, "")
    suspend_time: int | None = key("SuspendTime", own_seconds, None)
    suspend_timeout: int | None = key("SuspendTimeout", own_seconds, None)
    resume_timeout: int | None = key("ResumeTimeout", own_seconds, None)
    restricted: tuple[str, ...] = ()


def partition_of(
    line: Line,
    numbers: Mapping[str, int],
    sets: Mapping[str, Line],
    nodes: Sequence[Node],
    absent: Collection[str],
) -> Partition | None:
    """Return the partition of a line: on the nodes that it names, except absent ones, and the nodes of sets;
    None if it has none."""
    line.check((Partition,), "partitions", ("PartitionName", "Nodes"))
    names: list[str] = []
    if line.text("Nodes").upper() == "ALL":
        line, names = replace(line, given={**line.given, "nodes": ""}), [*numbers]
    for word in dict.fromkeys(line.value("Nodes", hostlist.expand, [])):
        if of_set := sets.get(word):
            names += of_set.value("Nodes", hostlist.expand, [])
            names += [node.name for node in nodes if of_set.text("Feature", "\n") in node.features]
        else:
            names.append(word)
    missing = [word for word in names if word not in numbers and word not in absent]
    if missing and line.where.endswith(SHOWN):
        line.faults.note(
            f"{line.where}: partition {line.name} without {missing[0]}, which scontrol did not show"
        )
        missing = []
    if missing:
        line.fault(
            f"partition {line.name} has node {missing[0]}, which no NodeName line names; add one, or leave "
            "it out"
        )
    members = tuple(sorted({numbers[word] for word in names if word in numbers}))
    if not members and not missing:
        return None
    restricted = tuple(one for one in RULES_OF_ACCESS if line.text(one, "ALL").upper() not in OPEN_TO_ALL)
    declared = line.record(Partition)
    restricted += () if declared.get("up", True) else ("state",)  # its jobs did run
    if line.text("Exclusive").upper() == "NODE":  # since 26.05
        declared["sharing"] = Share(Sharing.EXCLUSIVE)
    return Partition(line.name, members, restricted=restricted, **declared)


def least_idle(settings: Settings, partitions: Iterable[Partition]) -> int:
    """Return the seconds after which the first node is powered down, `NEVER` if none is."""
    of_partitions = [one.suspend_time for one in partitions if one.suspend_time is not None]
    return min([settings.suspend_time, *of_partitions])

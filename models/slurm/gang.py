"""Which nodes or cores jobs share: in turn with PreemptMode=GANG (gang_scheduling.html), else at the same
time (cons_res_share.html)."""

from dataclasses import replace
from typing import NoReturn

from models.counting import counted
from models.jobs.requests import Requests
from models.kernels.bits import WORD_BITS
from models.slurm.configuration import Configuration, ConfigurationError, Partition
from models.slurm.configuration.partitions import Sharing
from models.slurm.configuration.settings import Decide, Preempt
from models.slurm.kernel import tables

GRACE_S = 2
"""Seconds for which a suspended job still runs (seen on Slurm 22.05.8)."""


SHARES = {Sharing.YES: tables.WHO_ASKS, Sharing.FORCE: tables.ALL_JOBS} | dict.fromkeys(
    (Sharing.NO, Sharing.EXCLUSIVE), tables.NO_JOB
)
"""OverSubscribe of a partition -> whose jobs share cores there."""


def lets_share(partition: Partition) -> bool:
    """Return whether jobs share the cores of a partition if they ask for it."""
    return partition.sharing.kind == Sharing.YES and partition.sharing.jobs > 1


def unshared(configuration: Configuration, partition: Partition) -> str:
    """Return with what jobs that share cores at the same time are not modelled, empty where they are."""
    settings, nodes = configuration.settings, [configuration.nodes[node] for node in partition.nodes]
    if settings.linear or settings.gang or settings.preempts:
        return "select/linear" if settings.linear else "preemption or gang scheduling"
    large = [node.name for node in nodes if node.threads > 1 or node.cpus > WORD_BITS]
    return f"several CPUs on a core or over {WORD_BITS} cores, as {large[0]} has" if large else ""


def shares_cores(request: Requests, configuration: Configuration) -> bool:
    """Return whether jobs share cores at the same time, and that is modelled."""
    several = [one for one in configuration.partitions if one.sharing.jobs > 1]
    asks = bool((request.shares & ~request.whole).any())
    some = any(one.sharing.kind == Sharing.FORCE or asks for one in several)
    return some and not any(unshared(configuration, one) for one in configuration.partitions)


def check(configuration: Configuration) -> None:
    """Raise `ConfigurationError` for jobs that share nodes in a way that is not modelled."""
    settings, of_node = configuration.settings, dict[int, Partition]()
    for one in configuration.partitions:
        sharing = f"{configuration.name}: partition {one.name} has OverSubscribe={one.sharing}"
        if one.sharing.rows > 1 and not settings.gang:
            for what in filter(None, (unshared(configuration, each) for each in configuration.partitions)):
                _refuse(
                    configuration, f"{sharing}, and sharing CPUs at the same time is not modelled with {what}"
                )
        if not settings.gang:
            continue
        if settings.in_rows:
            _check_cores(configuration, one, sharing)
        elif one.sharing.rows > 1 and len({configuration.nodes[node].weight for node in one.nodes}) > 1:
            _refuse(configuration, f"{sharing} on nodes of several weights, which is not modelled")
        for node in one.nodes:
            other = of_node.setdefault(node, one)
            same_kind = one.sharing.kind == other.sharing.kind
            alike = same_kind if settings.in_rows else one.sharing.rows == other.sharing.rows
            if not alike:
                _refuse(
                    configuration,
                    f"{sharing}, and node {configuration.nodes[node].name} is in partition {other.name} with "
                    f"{other.sharing}, which is not modelled",
                )


def _check_cores(configuration: Configuration, one: Partition, sharing: str) -> None:
    if one.sharing.kind not in (Sharing.NO, Sharing.FORCE):
        _refuse(configuration, f"{sharing}; modelled with PreemptMode=GANG and select/cons_tres: NO, FORCE:n")
    for node in one.nodes:
        found = configuration.nodes[node]
        if found.threads > 1 or found.cpus > WORD_BITS:
            _refuse(
                configuration,
                f"{configuration.name}: node {found.name} has {found.cpus} CPUs, {found.threads} on a core; "
                f"PreemptMode=GANG with select/cons_tres is modelled for up to {WORD_BITS} cores with one",
            )


def _refuse(configuration: Configuration, why: str) -> NoReturn:
    """Raise `ConfigurationError` with the lines that simulate the cluster without what is not modelled."""
    without = replace(configuration.settings, gang=False, decides=Decide.NONE, preempt=Preempt())
    lines = ["'PreemptType=preempt/none'", "'PreemptMode=OFF'"] * configuration.settings.gang
    made = replace(configuration, settings=without if lines else configuration.settings)
    shares = any(unshared(made, one) for one in made.partitions)
    parts = [one for one in made.partitions if one.sharing.rows > 1 and shares]
    lines += [configuration.line_of(one, keys=" OverSubscribe=NO") for one in parts]
    with_keys = f", with the other keys of {counted(len(parts), 'partition')}" if parts else ""
    raise ConfigurationError(f"{why}; add policy.lines=[{','.join(lines)}]{with_keys}")

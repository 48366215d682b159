"""Which jobs are gang scheduled: PreemptMode=GANG, and which nodes or cores they share
(gang_scheduling.html)."""

from models.kernels.bits import WORD_BITS
from models.slurm.configuration import Configuration, ConfigurationError, Partition
from models.slurm.configuration.partitions import Sharing

GRACE_S = 2
"""Seconds for which a suspended job still runs (seen on Slurm 22.05.8)."""


def check(configuration: Configuration) -> None:
    """Raise `ConfigurationError` for jobs that share nodes in a way that is not modelled."""
    settings, of_node = configuration.settings, dict[int, Partition]()
    for one in configuration.partitions:
        sharing = f"{configuration.name}: partition {one.name} has OverSubscribe={one.sharing}"
        if one.sharing.rows > 1 and not settings.gang:
            raise ConfigurationError(
                f"{sharing}, and jobs that share CPUs at the same time are not modelled; set it to NO, or "
                "add PreemptMode=GANG"
            )
        if settings.in_rows:
            _check_cores(configuration, one, sharing)
        elif one.sharing.rows > 1 and len({configuration.nodes[node].weight for node in one.nodes}) > 1:
            raise ConfigurationError(
                f"{sharing} on nodes of several weights, which is not modelled; set one Weight"
            )
        for node in one.nodes:
            other = of_node.setdefault(node, one)
            same_kind = one.sharing.kind == other.sharing.kind
            alike = same_kind if settings.in_rows else one.sharing.rows == other.sharing.rows
            if not alike:
                raise ConfigurationError(
                    f"{sharing}, and node {configuration.nodes[node].name} is in partition {other.name} with "
                    f"{other.sharing}, which is not modelled; set the same OverSubscribe for both"
                )


def _check_cores(configuration: Configuration, one: Partition, sharing: str) -> None:
    if one.sharing.kind not in (Sharing.NO, Sharing.FORCE):
        raise ConfigurationError(
            f"{sharing}, which is not modelled with PreemptMode=GANG and select/cons_tres; set it to NO, or "
            "to FORCE:1 or more"
        )
    for node in one.nodes:
        found = configuration.nodes[node]
        if found.threads > 1 or found.cpus > WORD_BITS:
            raise ConfigurationError(
                f"{configuration.name}: node {found.name} has {found.cpus} CPUs, {found.threads} on a core; "
                f"PreemptMode=GANG with select/cons_tres is modelled for up to {WORD_BITS} cores with one; "
                "add policy.lines=['PreemptType=preempt/none','PreemptMode=OFF']"
            )

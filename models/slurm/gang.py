"""Which jobs are gang scheduled: PreemptMode=GANG, and which nodes or cores they share
(gang_scheduling.html)."""

from models.kernels.bits import WORD_BITS
from models.slurm.configuration import Configuration, ConfigurationError, Partition, values

SLICE_S, SLICES_S = 30, (1, 65_533)
"""Seconds of a time slice without SchedulerTimeSlice, and its limits (Slurm documents 5 to 65533)."""

GRACE_S = 2
"""Seconds for which a suspended job still runs (seen on Slurm 22.05.8)."""


def is_gang(configuration: Configuration) -> bool:
    """Return whether PreemptMode has GANG."""
    return "GANG" in configuration.settings.get("preemptmode", "").upper().split(",")


def in_rows(configuration: Configuration) -> bool:
    """Return whether jobs have rows of cores, see `models.slurm.kernel.rows`."""
    return is_gang(configuration) and not configuration.linear


def check(configuration: Configuration) -> None:
    """Raise `ConfigurationError` for jobs that share nodes in a way that is not modelled."""
    of_node: dict[int, Partition] = {}
    for one in configuration.partitions:
        sharing = f"{configuration.name}: partition {one.name} has OverSubscribe={_written(one)}"
        if rows_of(one) > 1 and not is_gang(configuration):
            raise ConfigurationError(
                f"{sharing}, and jobs that share CPUs at the same time are not modelled; set it to NO, or "
                "add PreemptMode=GANG"
            )
        if in_rows(configuration):
            _check_cores(configuration, one, sharing)
        elif rows_of(one) > 1 and len({configuration.nodes[node].weight for node in one.nodes}) > 1:
            raise ConfigurationError(
                f"{sharing} on nodes of several weights, which is not modelled; set one Weight"
            )
        for node in one.nodes:
            other = of_node.setdefault(node, one)
            alike = one.sharing == other.sharing if in_rows(configuration) else rows_of(one) == rows_of(other)
            if not alike:
                raise ConfigurationError(
                    f"{sharing}, and node {configuration.nodes[node].name} is in partition {other.name} with "
                    f"{_written(other)}, which is not modelled; set OverSubscribe of both alike"
                )


def _check_cores(configuration: Configuration, one: Partition, sharing: str) -> None:
    if one.sharing not in ("NO", "FORCE"):
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
                "take policy.lines=[PreemptType=preempt/none, PreemptMode=OFF]"
            )


def _written(one: Partition) -> str:
    return f"FORCE:{one.rows}" if one.sharing == "FORCE" else one.sharing


def rows_of(partition: Partition) -> int:
    """Return how many of a partition's jobs may share a node, or a core."""
    return max(partition.rows, 1) if partition.sharing == "FORCE" else 1


def rows(configuration: Configuration) -> list[int]:
    """Return how many jobs may share each node, with `select/linear`; else 1."""
    found = [1] * len(configuration.nodes)
    if configuration.linear:
        for one in configuration.partitions:
            for node in one.nodes:
                found[node] = rows_of(one)
    return found


def settings(configuration: Configuration) -> dict[str, float]:
    """Return fields of the kernel's settings; none where no jobs are gang scheduled."""
    if not is_gang(configuration):
        return {}
    words = configuration.settings.get("selecttypeparameters", "").upper().split(",")
    by_cpu = any(word.startswith("CR_CPU") for word in words)
    binds = configuration.word("TaskPlugin", "task/none") != "none"
    return {
        "gang": 1,
        "in_rows": in_rows(configuration),
        "by_core": in_rows(configuration) and (binds or not by_cpu),
        "by_block": by_cpu or "CR_CORE_DEFAULT_DIST_BLOCK" in words,
        "time_slice": configuration.value("SchedulerTimeSlice", values.between(*SLICES_S), SLICE_S),
        "suspend_grace": GRACE_S,
    }

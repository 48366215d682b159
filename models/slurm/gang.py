"""Which jobs are gang scheduled: PreemptMode=GANG, and nodes that jobs share (gang_scheduling.html)."""

from models.slurm.configuration import Configuration, ConfigurationError, values

SLICE_S = 30
"""Seconds of a time slice without SchedulerTimeSlice."""

GRACE_S = 2
"""Seconds for which a suspended job still runs (seen on Slurm 22.05.8)."""


def is_gang(configuration: Configuration) -> bool:
    """Return whether PreemptMode has GANG."""
    return "GANG" in configuration.settings.get("preemptmode", "").upper().split(",")


def rows(configuration: Configuration) -> list[int]:
    """Return how many jobs may share each node; `ConfigurationError` for what is not modelled."""
    found = [0] * len(configuration.nodes)
    if is_gang(configuration) and configuration.word("SelectType", "select/cons_tres") != "linear":
        raise ConfigurationError(
            f"{configuration.name}: PreemptMode=GANG is modelled for whole nodes only; take policy.lines="
            "[SelectType=select/linear], or [PreemptType=preempt/none, PreemptMode=OFF]"
        )
    for one in configuration.partitions:
        shared = one.rows if one.sharing == "FORCE" else 1
        where = f"{configuration.name}: partition {one.name} has OverSubscribe=FORCE:{shared}"
        if shared > 1 and not is_gang(configuration):
            raise ConfigurationError(
                f"{where}, and jobs that share CPUs at the same time are not modelled; set it to NO, or add "
                "PreemptMode=GANG and SelectType=select/linear"
            )
        if shared > 1 and len({configuration.nodes[node].weight for node in one.nodes}) > 1:
            raise ConfigurationError(
                f"{where} on nodes of several weights, which is not modelled; set one Weight"
            )
        for node in one.nodes:
            if found[node] not in (0, shared):
                raise ConfigurationError(
                    f"{where}, and node {configuration.nodes[node].name} is in one with FORCE:{found[node]}, "
                    "which is not modelled; set OverSubscribe of both alike"
                )
            found[node] = shared
    return [max(number, 1) for number in found]


def settings(configuration: Configuration) -> dict[str, float]:
    """Return fields of the kernel's settings; none where no jobs are gang scheduled."""
    if not is_gang(configuration):
        return {}
    return {
        "gang": 1,
        "time_slice": configuration.value("SchedulerTimeSlice", values.whole, SLICE_S),
        "suspend_grace": GRACE_S,
    }

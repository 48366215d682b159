"""Lines for the plan on what a slurm.conf sets that has no effect, here or in Slurm either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from models.counting import counted
from models.slurm.configuration import values
from models.slurm.configuration.accounting import QOS_LIMITS
from models.slurm.configuration.keys import KNOWN
from models.slurm.configuration.partitions import least_idle
from models.slurm.configuration.settings import Settings
from models.slurm.configuration.switches import BLOCK, FLAT, TREE
from models.slurm.configuration.values import NEVER

if TYPE_CHECKING:
    from models.slurm.configuration.configuration import Configuration

NEUTRAL_VALUES = {
    "", "none", "no", "0", "-1", "infinite", "unlimited", "(null)", "n/a", "topology/none",
    "topology/default", "topology/flat", "prep/script",
}  # fmt: skip
"""Values, in small letters, with which a key has no effect; a plugin's end with ``/none``."""


def notes_of(made: Configuration, given: Mapping[str, str]) -> Iterator[str]:
    """Yield lines on a configuration; `given` are its keys outside of lines of nodes and partitions."""
    yield from _of_keys(made, given)
    yield from _of_network(made)
    yield from _of_power(made)
    yield from _of_priority(made.settings)
    yield from _of_limits(made)


def _of_keys(made: Configuration, given: Mapping[str, str]) -> Iterator[str]:
    for key, what in KNOWN["settings"]["not_modelled"].items():
        text, why = given.get(key.lower(), ""), f"not simulated: {what}"
        if key == "TopologyPlugin":  # or topology.yaml
            others = [
                one for one in made.topologies if one.kind != FLAT and not one.is_modelled(made.settings)
            ]
            text = ",".join(dict.fromkeys(f"topology/{one.kind}" for one in others))
            if any(one.kind in (TREE, BLOCK) and not one.switches for one in others):
                why = (
                    "Slurm does not start without topology.conf, which is not beside slurm.conf; copy it"
                    " there, or append what scontrol show topology prints (python -m slurm capture does it)"
                )
        if text.lower() not in NEUTRAL_VALUES and not text.lower().endswith("/none"):
            yield f"{key}={text} has no effect here; {why}"
    for key, of_key in KNOWN["words"].items():
        words = values.upper(given.get(key.lower(), ""))
        for word, what in of_key["not_modelled"].items():
            if word.upper() in words:
                yield f"{key}={word} has no effect here; not simulated: {what}"


def _of_network(made: Configuration) -> Iterator[str]:
    """Yield a line for each topology if its partitions have nodes outside of its switches or blocks."""
    for one in made.topologies:
        inside = {node for each in one.switches for node in each.nodes}
        mine = zip(made.partitions, made.topology_of, strict=True)
        outside = sorted({node for each, of_it in mine if of_it is one for node in each.nodes} - inside)
        if outside:
            found, name = counted(len(outside), "node", "is"), made.nodes[outside[0]].name
            yield (
                f"{found} below no switch, such as {name}: no job gets such a node, as in Slurm"
                if one.kind == TREE
                else f"{found} in no block, such as {name}: as in Slurm, a job gets such a node only if no "
                "node of a block is free for it"
            )


def _of_priority(settings: Settings) -> Iterator[str]:
    """Yield a line for weights that have no effect in Slurm either."""
    every = {one.metadata.get("key", ""): one.name for one in fields(Settings)}
    given = [key for key in every if key.startswith("PriorityWeight") and getattr(settings, every[key])]
    if given and not settings.multifactor:
        yield (
            f"{', '.join(given)} {'have' if given[1:] else 'has'} no effect with PriorityType=priority/basic "
            "(the default before Slurm 23.11); add policy.priority=multifactor if the site has that"
        )
    needing = [key for key in ("PriorityWeightAge", "PriorityWeightFairshare") if key in given]
    if needing and settings.multifactor and not settings.has_database:
        yield (
            f"{' and '.join(needing)} {'have' if needing[1:] else 'has'} no effect, as in Slurm without "
            "slurmdbd: the priority of a job never changes; add policy.lines=['AccountingStorageType="
            "accounting_storage/slurmdbd'] if the site has it"
        )


def _of_power(made: Configuration) -> Iterator[str]:
    """Yield lines if nodes would be powered down, but Slurm or the model does not do that."""
    settings, least = made.settings, least_idle(made.settings, made.partitions)
    programs = {"SuspendProgram": settings.suspends_nodes, "ResumeProgram": settings.resumes_nodes}
    if least < NEVER and (lacking := [name for name, has in programs.items() if not has]):
        added = ",".join(f"'{name}=/sbin/power'" for name in lacking)
        yield (
            f"SuspendTime={least} has no effect, as in Slurm without {' and '.join(lacking)}: nodes stay up; "
            f"add policy.lines=[{added}] if the site has programs"
        )
    if (off := sum(node.off for node in made.nodes)) and not made.saves_power:
        yield f"{counted(off, 'node', 'has')} State=CLOUD, but all nodes are up, because none is powered down"
    if least < NEVER and settings.powers_nodes and not settings.saves_power:
        yield (
            f"SuspendTime={least} has no effect here: nodes that are powered down, with select/linear, "
            "preemption or gang scheduling"
        )


def _of_limits(made: Configuration) -> Iterator[str]:
    limited = any(getattr(one, key) is not None for one in made.qos.values() for key in QOS_LIMITS)
    if (made.associations or limited) and not made.settings.enforces:
        yield "limits of associations and QOS have no effect: AccountingStorageEnforce lacks limits"
    without: dict[str, list[str]] = {}
    ignored = [(one.name, one.ignored) for one in made.associations]
    for name, options in [*ignored, *((name, one.ignored) for name, one in made.qos.items())]:
        for option in options:
            without.setdefault(option, []).append(name)
    for option, names in without.items():
        yield f"{option} has no effect here, for {', '.join(names)}"

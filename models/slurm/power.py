"""Power of nodes: when they are powered down, how long they boot, and the power that they draw."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from models.arrays import Floats
from models.slurm.configuration import Configuration, ConfigurationError, hostlist

STATES = ("idle", "busy", "boot", "off")
"""States of a node that draw different power. A node with some busy CPUs draws for these as if it were busy,
and for the others as if it were idle; one that powers down draws as an idle one."""

NONE = -1
"""Of a node that is in no group of SuspendExcNodes."""

JOULES_IN_KWH = 3.6e6


def longest(configuration: Configuration, name: str) -> np.ndarray:
    """Return a time for each node: the longest one of its partitions, if they have one."""
    found = np.full(len(configuration.nodes), -1)
    for one in configuration.partitions:
        if (time := getattr(one, name)) is not None:
            found[list(one.nodes)] = np.maximum(found[list(one.nodes)], time)
    return np.where(found < 0, getattr(configuration.settings, name), found)


def kept(configuration: Configuration) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return which nodes stay up, as the kernel represents it, and the number and the nodes of each group."""
    found, groups = np.full(len(configuration.nodes), NONE), list[tuple[int, int]]()
    numbers = {node.name: number for number, node in enumerate(configuration.nodes)}
    text = configuration.settings.kept_nodes
    for part in _parts(text) if text.lower() not in ("", "(null)") else ():
        names, _, count = part.partition(":")
        members = [numbers[name] for name in hostlist.expand(names) if name in numbers]
        found[members] = 1 + len(groups) if count.isdecimal() else 0
        groups += [(int(count), len(members))] if count.isdecimal() else []
    for one in configuration.partitions:
        if one.name in configuration.settings.kept_partitions.split(","):
            found[list(one.nodes)] = 0
    return found, groups


def _parts(text: str) -> list[str]:
    """Return the parts between commas that are not in brackets; a count ends a part with several names.

    ``n[1,3]:1,m1:2`` is ["n[1,3]:1", "m1:2"].
    """
    parts, depth = [""], 0
    counted = ":" in text
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth and (not counted or ":" in parts[-1]):
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def watts_of(configuration: Configuration) -> Mapping[str, Floats]:
    """Return the watts of each node by its state."""
    found = {state: np.zeros(len(configuration.nodes)) for state in STATES}
    for text, watts in configuration.watts.items():
        named = {*hostlist.expand(text)}
        members = [
            number
            for number, node in enumerate(configuration.nodes)
            if text.upper() == "ALL" or node.name in named or text in node.features
        ]
        if not members:
            raise ConfigurationError(
                f"policy.watts.{text}: {configuration.name} has no such nodes; allowed: ALL, names such as "
                f"{configuration.nodes[0].name}, or a feature"
            )
        for state in STATES:
            found[state][members] = watts[state]
    return found


def check(configuration: Configuration) -> list[str]:
    """Return notes on power; raise `ConfigurationError` for impossible settings."""
    watts_of(configuration)
    if not configuration.saves_power:
        return []
    most = int(longest(configuration, "resume_timeout").max())
    boot = most if configuration.boot_time is None else configuration.boot_time
    if boot > most:
        raise ConfigurationError(
            f"policy.boot_time={boot:g}, and ResumeTimeout of {configuration.name} is {most} s: such nodes "
            "would be down; set it to less"
        )
    given = (
        "ResumeTimeout; policy.boot_time sets it" if configuration.boot_time is None else "policy.boot_time"
    )
    return [f"{configuration.name}: nodes that are powered down boot in {boot:g} s ({given})"]


@dataclass(frozen=True, eq=False)
class Drawing:
    """Changes of the watts that nodes draw by their states, in any order, shape (n_changes,); seconds."""

    at: Floats
    watts: Mapping[str, Floats]

    @classmethod
    def none(cls) -> Self:
        """Return the drawing of a machine whose watts are unknown."""
        return cls(np.zeros(0), {state: np.zeros(0) for state in STATES})

    def energy(self, edges: Floats) -> dict[str, Floats]:
        """Return the kWh between consecutive edges, shape (n_edges - 1,), by state and in all; NaN if watts
        are unknown."""
        if not len(self.at):
            return dict.fromkeys(
                ("energy", *(f"{one}_energy" for one in STATES)), np.full(len(edges) - 1, np.nan)
            )
        order = np.argsort(self.at, kind="stable")
        at = np.concatenate([[edges[0]], np.maximum(self.at[order], edges[0]), [edges[-1]]])
        found = {}
        for state in STATES:
            level = np.concatenate([[0.0], np.cumsum(self.watts[state][order])])
            area = np.concatenate([[0.0], np.cumsum(level * np.maximum(np.diff(at), 0))])
            found[f"{state}_energy"] = (
                np.diff(np.interp(edges, np.maximum.accumulate(at), area)) / JOULES_IN_KWH
            )
        return {"energy": sum(found.values(), np.zeros(len(edges) - 1)), **found}

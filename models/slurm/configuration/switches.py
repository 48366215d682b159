"""Switches: lines ``SwitchName=s1 Nodes=n[1-8]`` and ``SwitchName=top Switches=s[1-4]`` of topology.conf, or
what ``scontrol show topology`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from models.slurm.configuration import hostlist
from models.slurm.configuration.keys import Line

MOST_SWITCHES = 2000
"""A choice of nodes goes through all of them, and through all pairs of those in use."""


@dataclass(frozen=True)
class Switch:
    """A switch: its nodes and all nodes of switches below, and the switches directly `below`, as positions;
    a leaf has level 0."""

    name: str
    nodes: tuple[int, ...]
    below: tuple[int, ...] = ()
    level: int = 0


def switches_of(lines: Sequence[Line], numbers: Mapping[str, int]) -> tuple[Switch, ...]:
    """Return the switches of lines; one that is there twice, lacks children or is below itself is a fault."""
    place = {line.name: number for number, line in enumerate(lines)}
    if len(lines) > MOST_SWITCHES:
        lines[MOST_SWITCHES].fault(f"more than {MOST_SWITCHES:,} switches")
        return ()
    found: list[Switch] = []
    for line in lines:
        line.check((), "switches", ("SwitchName", "Nodes", "Switches", "Level"))
        children = line.value("Switches", hostlist.expand, [])
        names = [] if children else line.value("Nodes", hostlist.expand, [])
        if lines[place[line.name]] is not line:
            line.fault(f"switch {line.name} is defined twice")
        if missing := [name for name in children if name not in place]:
            line.fault(f"switch {line.name} has switch {missing[0]}, which no SwitchName line names")
        if not children and not names:
            line.fault(f"switch {line.name} has neither Nodes= nor Switches=")
        if unknown := [name for name in names if name not in numbers]:
            line.faults.note(f"{line.where}: switch {line.name} has node {unknown[0]}, which does not exist")
        nodes = tuple(sorted(numbers[name] for name in names if name in numbers))
        below = tuple(place[name] for name in children if name in place)
        found.append(Switch(line.name, nodes, below, -1 if children else 0))
    for _ in found:  # each time those above are known up to one level more
        for number, one in enumerate(found):
            under = [found[each] for each in one.below]
            if one.level < 0 and under and all(each.level >= 0 for each in under):
                nodes = tuple(sorted({node for each in under for node in each.nodes}))
                found[number] = replace(one, nodes=nodes, level=1 + max(each.level for each in under))
    for line, one in zip(lines, found, strict=True):
        if one.level < 0 and one.below:
            line.fault(f"switch {one.name} is below itself, or above a switch that is")
    return tuple(found)

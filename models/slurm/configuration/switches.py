"""Where nodes are in the network: lines ``SwitchName=s1 Nodes=n[1-8]`` and ``SwitchName=top Switches=s[1-4]``
of topology.conf, or ``BlockName=b1 Nodes=n[1-8]`` and ``BlockSizes=8,16``; what ``scontrol show topology``
prints; or topology.yaml, which may have several topologies, one for each partition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from models.slurm.configuration import hostlist
from models.slurm.configuration.errors import Faults
from models.slurm.configuration.keys import NETWORK, Line, Pairs
from models.slurm.configuration.settings import Settings

MOST_SWITCHES = 2000
"""A choice of nodes goes through all of them, and through all pairs of those in use."""

MOST_LEVELS = 16
MOST_DIGITS = 9
"""Of a block size, which must fit in 32 bits."""

ALL_LEVELS = 0b11111
"""Block sizes without BlockSizes: one to sixteen base blocks."""

TREE, BLOCK, FLAT = "tree", "block", "flat"
DEFAULT = "default"
"""Name of the topology that topology.conf has."""

AGGREGATED = "aggregatedblock"


@dataclass(frozen=True)
class Switch:
    """A switch, or a base block: its nodes and all nodes of switches below, and the switches directly
    `below`, as positions; a leaf has level 0."""

    name: str
    nodes: tuple[int, ...]
    below: tuple[int, ...] = ()
    level: int = 0


@dataclass(frozen=True)
class Topology:
    """Where jobs of some partitions get nodes: by a tree of switches, in blocks, or anywhere.

    Parameters
    ----------
    kind : {"tree", "block", "flat"}, or what is not modelled
    block_nodes : int
        Nodes of a base block.
    levels : int
        With bit k set, 2**k base blocks are a block.
    """

    name: str
    kind: str = FLAT
    switches: tuple[Switch, ...] = ()
    block_nodes: int = 0
    levels: int = 0

    @property
    def is_used(self) -> bool:
        """Whether it decides which nodes a job gets."""
        return self.kind in (TREE, BLOCK) and bool(self.switches)

    def is_modelled(self, settings: Settings) -> bool:
        """Return whether jobs get nodes by it here as they do in Slurm."""
        as_tree = self.kind == TREE and settings.dragonfly
        return self.is_used and not (settings.linear or as_tree)

    def fits(self, free: Mapping[int, int], sizes: Sequence[int], longer: bool) -> bool:
        """Return whether a job could ever get nodes with free CPUs, by its nodes, its CPUs and the nodes of a
        segment; segments may be `longer` than a base block."""
        nodes, cpus, segment = sizes
        each = [[node for node in one.nodes if node in free] for one in self.switches]
        if self.kind != BLOCK or not any(each):  # nodes outside of all blocks may be anywhere
            return not (self.is_used and self.kind == TREE) or any(
                len(one) >= nodes and sum(free[node] for node in one) >= cpus for one in each
            )
        if segment and (nodes % segment or (segment > self.block_nodes and not longer)):
            return False
        if 0 < segment <= self.block_nodes:
            return sum(len(one) // segment for one in each) * segment >= nodes
        if segment:
            nodes, cpus = segment, cpus * segment // nodes
        allowed = [1 << level for level in range(MOST_LEVELS) if self.levels >> level & 1]
        least = 1 << (-(-nodes // self.block_nodes) - 1).bit_length()
        size = next((one for one in allowed if one >= least), len(each))
        lower = max([one for one in allowed if one < least], default=1)
        most = -(-nodes // (lower * self.block_nodes))
        for begin in range(0, len(each), size):
            inside = each[begin : begin + size]
            counts = [sum(map(len, inside[k : k + lower])) for k in range(0, size // lower * lower, lower)]
            usable = sum(sorted(counts)[-most:])
            if usable >= nodes and sum(free[node] for one in inside for node in one) >= cpus:
                return True
        return False


def topologies_of(
    lines: Mapping[str, Sequence[Line]],
    alone: Line,
    plugin: str,
    reads_yaml: bool,
    numbers: Mapping[str, int],
) -> tuple[Topology, ...]:
    """Return the topologies of lines, the default one first: of topology.yaml where there is one and the
    version `reads_yaml`, else the one of `plugin`."""
    declared = lines.get(NETWORK.lower(), ()) if reads_yaml else ()
    if not declared:
        kept = {kind: [line for line in of if not line.text("Topology")] for kind, of in lines.items()}
        line = replace(alone, given={"topologyname": DEFAULT, "kind": plugin, **alone.given})
        return (_topology(line, kept, numbers),)
    declared = sorted(declared, key=lambda line: line.text("Default").lower() != "true")  # stable
    names = [line.name for line in declared]
    for line in declared:
        if names.count(line.name) > 1:
            line.fault(f"topology {line.name} is defined twice")
    return tuple(
        _topology(
            line,
            {kind: [one for one in of if one.text("Topology") == line.name] for kind, of in lines.items()},
            numbers,
        )
        for line in declared
    )


def _topology(line: Line, lines: Mapping[str, Sequence[Line]], numbers: Mapping[str, int]) -> Topology:
    kind = line.text("Kind")
    if kind == TREE:
        return Topology(line.name, kind, switches_of(lines.get("switchname", ()), numbers))
    if kind == BLOCK:
        return _blocks(line, lines, numbers)
    return Topology(line.name, kind)


def _blocks(line: Line, lines: Mapping[str, Sequence[Line]], numbers: Mapping[str, int]) -> Topology:
    every = lines.get("blockname", ())
    blocks = _members(every, "block", "BlockName", numbers)
    sizes = line.value("BlockSizes", _sizes, [])
    shown = [one for one in (*every, *lines.get(AGGREGATED, ())) if one.text("BlockSize")]  # by scontrol
    if shown and not sizes:
        sizes = sorted({size for one in shown for size in one.value("BlockSize", _sizes, [])})
    base = sizes[0] if sizes else next((len(one.nodes) for one in blocks if one.nodes), 0)
    levels = 0 if sizes else ALL_LEVELS
    for size in sizes:
        times = size // base
        if size % base or times & (times - 1) or times >= 1 << MOST_LEVELS:
            line.fault(f"BlockSizes has {size}; allowed: {base} times a power of two")
            continue
        levels |= 1 << (times.bit_length() - 1)
    if blocks and not base:
        line.fault(f"block {blocks[0].name} has no node of this slurm.conf; add BlockSizes=N")
    return Topology(line.name, BLOCK, blocks, base, levels)


def _sizes(text: str) -> list[int]:
    words = text.split(",")
    if not all(word.isdecimal() and len(word) <= MOST_DIGITS and int(word) for word in words):
        raise ValueError("numbers of nodes such as 8,16,64")
    return [int(word) for word in words]


def _members(lines: Sequence[Line], what: str, key: str, numbers: Mapping[str, int]) -> tuple[Switch, ...]:
    """Return what lines with nodes declare; one that is there twice, or has too many like it, is a fault."""
    if len(lines) > MOST_SWITCHES:
        lines[MOST_SWITCHES].fault(f"more than {MOST_SWITCHES:,} {what}{'e' * (what[-1] == 'h')}s")
        return ()
    found, names = list[Switch](), set[str]()
    for line in lines:
        line.check((), "switches", (key, "Nodes", "Switches", "Level", "BlockIndex", "BlockSize", "Topology"))
        if line.name in names:
            line.fault(f"{what} {line.name} is defined twice")
        names.add(line.name)
        members = [] if line.text("Switches") else line.value("Nodes", hostlist.expand, [])
        if unknown := [name for name in members if name not in numbers]:
            line.faults.note(f"{line.where}: {what} {line.name} has node {unknown[0]}, which does not exist")
        found.append(Switch(line.name, tuple(sorted({numbers[one] for one in members if one in numbers}))))
    return tuple(found)


def switches_of(lines: Sequence[Line], numbers: Mapping[str, int]) -> tuple[Switch, ...]:
    """Return the switches of lines; one that is there twice, lacks children or is below itself is a fault."""
    place = {line.name: number for number, line in enumerate(lines)}
    found = list(_members(lines, "switch", "SwitchName", numbers))
    for number, (line, one) in enumerate(zip(lines, found, strict=False)):
        children = line.value("Switches", hostlist.expand, [])
        if missing := [name for name in children if name not in place]:
            line.fault(f"switch {line.name} has switch {missing[0]}, which no SwitchName line names")
        if not children and not line.text("Nodes"):
            line.fault(f"switch {line.name} has neither Nodes= nor Switches=")
        below = tuple(place[name] for name in children if name in place)
        found[number] = replace(one, below=below, level=-1 if children else 0)
    for _ in found:  # each time those above are known up to one level more
        for number, one in enumerate(found):
            under = [found[each] for each in one.below]
            if one.level < 0 and under and all(each.level >= 0 for each in under):
                nodes = tuple(sorted({node for each in under for node in each.nodes}))
                found[number] = replace(one, nodes=nodes, level=1 + max(each.level for each in under))
    for line, one in zip(lines, found, strict=False):
        if one.level < 0 and one.below:
            line.fault(f"switch {one.name} is below itself, or above a switch that is")
    return tuple(found)


FORMS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    TREE: ("switches", "SwitchName", {"switch": "SwitchName", "nodes": "Nodes", "children": "Switches"}),
    BLOCK: ("blocks", "BlockName", {"block": "BlockName", "nodes": "Nodes"}),
    FLAT: ("", "", {}),
    "ring": ("rings", "", {}),
    "torus3d": ("toruses", "", {}),
}
"""Kind of a topology -> its list in topology.yaml, the key of topology.conf that begins a line, and its
keys, the name's first, as in topology.yaml(5) of Slurm 26.11; what is not modelled has no keys here."""

OPTIONS = {BLOCK: "block_sizes", FLAT: "alpha_step_rank"}
"""The further key of a kind in topology.yaml."""

SWITCHED = {"true": True, "yes": True, "on": True, "1": True, "": False}
SWITCHED |= {"false": False, "no": False, "off": False, "0": False}
"""Values of a key that is on or off; without a value it is off."""


def of_yaml(name: str, text: str, faults: Faults) -> Iterator[Pairs]:
    """Yield the entries of a topology.yaml as lines of topology.conf, each with its topology."""
    import yaml  # type: ignore[import-untyped] # types only by another package

    try:
        found = yaml.load(text, Loader=yaml.BaseLoader)  # all text: 007, 2024-13-45 are names
    except RecursionError:
        return faults.add(f"{name}: lists in too many lists; allowed: a list of topologies")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        return faults.add(f"{name}{where}: not YAML ({getattr(error, 'problem', None) or 'unreadable'})")
    form = f"topology: NAME, cluster_default, and one of {', '.join(FORMS)}"
    if not (every := _list(found, dict)):
        faults.add(f"{name} is not a list of topologies; allowed: for each, {form}")
    for number, given in enumerate(every or [], start=1):
        where = f"{name}, topology {number}"
        label, is_default = given.get("topology"), _is_on(given.get("cluster_default", ""))
        kinds = [key for key in given if key in FORMS and _is_on(given[key]) is not False]
        unknown = [_shown(key) for key in given if key not in (*FORMS, "topology", "cluster_default")]
        if is_default is None:
            shown = _shown(given["cluster_default"])
            faults.add(f"{where}: cluster_default is {shown}; allowed: true and false")
        if not _is_word(label) or len(kinds) != 1 or unknown:
            has = f"has {' and '.join(unknown)}; " if unknown else ""
            faults.add(f"{where}: {has}allowed: {form}")
            continue
        yield from _of_body(where, label, bool(is_default), kinds[0], given[kinds[0]], faults)


def _of_body(where: str, label: str, default: bool, kind: str, body: Any, faults: Faults) -> Iterator[Pairs]:
    """Yield the lines of one topology."""
    of_list, first, keys = FORMS[kind]
    known = [key for key in (OPTIONS.get(kind), of_list) if key]
    if kind == FLAT and _is_on(body):
        body = {}
    if not isinstance(body, dict):
        return faults.add(f"{where}: {kind} is {_shown(body)}; allowed: {' and '.join(known)} below it")
    for key in body:
        if key not in known:
            faults.add(f"{where}: {kind} has {_shown(key)}; allowed: {' and '.join(known)}")
    sizes, entries = _list(body.get("block_sizes", []), str), _list(body.get(of_list, []), dict)
    if sizes is None:
        given = _shown(body["block_sizes"])
        faults.add(f"{where}: block_sizes is {given}; allowed: a list of numbers of nodes such as [8, 16]")
    if entries is None:
        one = f"{next(iter(keys), 'name')}: NAME"
        faults.add(f"{where}: {of_list} is {_shown(body[of_list])}; allowed: a list with {one} in each entry")
    yield Pairs(
        where,
        [(NETWORK, label), ("Kind", kind), ("Default", str(default)), ("BlockSizes", ",".join(sizes or []))],
    )
    for entry in (entries or []) if first else []:
        pairs = [(keys[key], entry[key]) for key in keys if entry.get(key)]
        wrong = [key for key in keys if entry.get(key) and not _is_word(entry[key])]
        for key in entry:
            if key not in keys:
                faults.unknown(where, f"a key in an entry of {of_list}", key, keys)
        if not pairs or pairs[0][0] != first:
            faults.add(f"{where}: an entry of {of_list} without {next(iter(keys))}: NAME")
        elif wrong:
            given = " and ".join(f"{key}: {_shown(entry[key])}" for key in wrong)
            faults.add(f"{where}: an entry of {of_list} has {given}; allowed: text such as n[1-8]")
        else:
            yield Pairs(where, [*pairs, ("Topology", label)])


def _list(found: Any, of: type) -> list[Any] | None:
    """Return a list of values of a type, as which Slurm takes one such value, too; None for anything else."""
    every = found if isinstance(found, list) else [found]
    return every if all(one and isinstance(one, of) for one in every) else None


def _is_word(found: Any) -> bool:
    return isinstance(found, str) and bool(found) and found.isprintable()


def _is_on(found: Any) -> bool | None:
    return SWITCHED.get(found.lower()) if isinstance(found, str) else None


def _shown(found: Any) -> str:
    """Return what a message has of a value."""
    if isinstance(found, str):
        return repr(found[:40]) if found else "empty"
    return "a list" if isinstance(found, list) else "a mapping"

"""The one record that a slurm.conf becomes: settings, nodes, partitions, associations, QOS, reservations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from models.counting import counted
from models.slurm.configuration import accounting, hostlist, versions
from models.slurm.configuration.accounting import NEUTRAL, Association, Qos, Reservation
from models.slurm.configuration.errors import Faults
from models.slurm.configuration.keys import EVENT, LINES, NETWORK, SHOWN, Line, Pairs, known_names, names_of
from models.slurm.configuration.nodes import DOWN, FUTURE, Node, NodeKeys, nodes_of, state
from models.slurm.configuration.notes import notes_of
from models.slurm.configuration.partitions import INHERITED, Partition, Sharing, least_idle, partition_of
from models.slurm.configuration.settings import Settings, settings_of
from models.slurm.configuration.switches import DEFAULT, Topology, topologies_of
from models.slurm.configuration.values import NEVER

MOST_PARTITIONS = 1000
MOST_NAMED = 20
"""Nodes of a partition that a message names."""

ALONE = {name.lower(): name for name in [*INHERITED, *known_names(Settings, "settings")]}
"""Keys that begin a line of their own."""

OF_LINES = {name.lower() for name in (*names_of(NodeKeys, Partition), "Nodes")}
"""Keys of lines that another key begins."""


@dataclass(frozen=True)
class Configuration:
    """A slurm.conf whose values are all parsed.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    where : mapping of str to str
        Where each key, in lower case, was given, for messages.
    events : tuple of Reservation
        Times at which nodes were down, unknown to jobs in advance.
    associations : tuple of Association
        Accounts and their users, parents before children.
    notes : tuple of str
        A line for each key that changes schedules, but has no effect here.
    """

    name: str
    settings: Settings
    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...]
    where: Mapping[str, str] = field(default_factory=dict)
    associations: tuple[Association, ...] = ()
    qos: Mapping[str, Qos] = field(default_factory=dict)
    reservations: tuple[Reservation, ...] = ()
    events: tuple[Reservation, ...] = ()
    topologies: tuple[Topology, ...] = (Topology(DEFAULT),)  # the first one is the default
    notes: tuple[str, ...] = ()
    boot_time: float | None = None  # s; of nodes that are powered down
    watts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by nodes, then by their state

    @property
    def saves_power(self) -> bool:
        """Whether idle nodes are powered down."""
        return self.settings.saves_power and least_idle(self.settings, self.partitions) < NEVER

    @property
    def default_partition(self) -> Partition:
        """The partition of a job that names none; if there are several defaults, Slurm takes the last one."""
        return next((one for one in reversed(self.partitions) if one.default), self.partitions[0])

    @property
    def gres(self) -> tuple[str, ...]:
        """Names of generic resources of any node, with and without types."""
        names = [name for node in self.nodes for name in node.gres]
        return tuple(dict.fromkeys([*names, *(name.partition(":")[0] for name in names)]))

    @property
    def topology_of(self) -> list[Topology]:
        """The topology by which jobs of each partition get nodes; a flat one where that is not modelled."""
        by_name = {one.name: one for one in self.topologies}
        return [
            found if found.is_modelled(self.settings) else Topology(found.name)
            for one in self.partitions
            for found in [by_name.get(one.topology, self.topologies[0])]
        ]

    @property
    def exclusive(self) -> list[bool]:
        """Whether jobs get whole nodes in each partition."""
        linear = self.settings.linear
        return [linear or one.sharing.kind == Sharing.EXCLUSIVE for one in self.partitions]

    def line_of(self, one: Partition, *further: str, keys: str = "") -> str:
        """Return a quoted line of a policy that declares a partition, with further nodes and keys; if it has
        many nodes, the user names them."""
        listed = [self.nodes[node].name for node in one.nodes] if len(one.nodes) <= MOST_NAMED else ["..."]
        nodes = "ALL" if len(one.nodes) == len(self.nodes) else ",".join([*listed, *further])
        default = " Default=YES" * (one is self.default_partition)
        return f"'PartitionName={one.name} Nodes={nodes}{default}{keys}'"

    def place(self, key: str) -> str:
        """Return where a key was given, for messages."""
        return self.where.get(key.lower(), self.name)


def neutral(line: Line) -> Line:
    """Return a line of sacctmgr without values that are written but stand for none."""
    given = {key: "" if text in NEUTRAL else text for key, text in line.given.items()}
    return replace(line, given=given)


@dataclass
class Parts:
    """The lines of a file by what they declare; if a key is given twice, the last one counts."""

    name: str
    faults: Faults
    alone: dict[str, str] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)
    lines: dict[str, list[Line]] = field(default_factory=dict)
    defaults: dict[str, dict[str, str]] = field(default_factory=dict)
    associations: dict[tuple[str, str, bool], Association] = field(default_factory=dict)
    parent: str = ""

    def add(self, pairs: Pairs) -> None:
        """Add a line."""
        kind, value = pairs.pairs[0][0].lower(), pairs.pairs[0][1]
        given = {name.lower(): text for name, text in pairs.pairs}
        names = {name.lower(): name for name, _ in pairs.pairs}
        if kind == "parent":
            self.parent = value
        elif kind in ("cluster", "account", "user"):
            self.parent = "" if kind == "cluster" else self.parent
            line = neutral(Line(pairs.where, given, self.faults, names=names))
            one = accounting.association_of(line, self.parent, kind == "user")
            self.associations[one.label, self.parent, one.is_user] = one
        elif kind in ("nodename", "partitionname") and value.upper() == "DEFAULT":
            self.defaults[kind] = self.defaults.get(kind, {}) | given
        elif kind in LINES or names[kind] == EVENT:
            with_defaults = {kind: value, **self.defaults.get(kind, {}), **given}
            line = Line(pairs.where, with_defaults, self.faults, names=names)
            self.lines.setdefault(kind, []).append(line)
        else:
            self.alone[kind], self.where[kind] = value, pairs.where
            if kind not in ALONE and not pairs.where.endswith(SHOWN):
                if kind in OF_LINES:
                    self.faults.note(
                        f"{pairs.where}: {names[kind]}= has no effect at the beginning of a line; is the "
                        "backslash missing with which the line above continues?"
                    )
                else:
                    known = [*ALONE.values(), *LINES]
                    self.faults.unknown(pairs.where, "a key of slurm.conf", names[kind], known)


def _refuse_twice(line: Line, names: Iterable[str], places: dict[tuple[str, str], str]) -> None:
    """Add a fault if two lines of files define the same, with which Slurm does not start."""
    kind = next(iter(line.given))
    if not line.of_file:
        return  # lines of a policy, and what scontrol shows, win over those before
    if twice := next((name for name in names if (kind, name) in places), None):
        line.fault(
            f"{line.names[kind]}={twice} is defined twice, first in {places[kind, twice]}, so Slurm does not "
            "start; delete one of them"
        )
    places |= dict.fromkeys(((kind, name) for name in names), line.where)


def configuration_of(
    name: str, lines: Iterable[Pairs], more: Mapping[str, int], faults: Faults
) -> Configuration:
    """Return the configuration of logical lines, with further words of SchedulerParameters; raise
    `ConfigurationError` with all of their faults, and those that reading found."""
    parts = Parts(name, faults)
    for pairs in lines:
        parts.add(pairs)
    counts_memory = any("realmemory" in line.given for line in parts.lines.get("nodename", ()))
    settings, words = settings_of(Line(name, parts.alone, faults, parts.where), more, counts_memory)
    nodes: dict[str, Node] = {}
    places = dict[tuple[str, str], str]()  # where files define nodes and partitions
    absent: set[str] = set()  # which a site has yet to install
    for number, line in enumerate(parts.lines.get("nodename", ())):
        made = {node.name: node for node in nodes_of(line, number)}
        _refuse_twice(line, made, places)
        nodes |= made
        absent = absent | made.keys() if FUTURE in state(line.text("State")) else absent - made.keys()
        if len(nodes) > hostlist.MOST:
            line.fault(f"more than {hostlist.MOST:,} nodes")
            break
    for line in parts.lines.get("downnodes", ()):
        given, names = state(line.text("State", "DOWN")), line.value("DownNodes", hostlist.expand, [])
        nodes |= {one: replace(nodes[one], up=not given & DOWN) for one in names if one in nodes}
        absent = absent | {*names} if FUTURE in given else absent - {*names}
        if unknown := [one for one in names if one not in nodes]:
            faults.note(f"{line.where}: no NodeName line names {unknown[0]}: it has no effect")
    shown = [line for line in parts.lines.get("nodename", ()) if line.where.endswith(SHOWN)]
    if down := [line.name for line in shown if line.name in nodes and not nodes[line.name].up]:
        lines_of = f"policy.lines=['DownNodes={down[0]} State=IDLE']"
        faults.note(
            f"{name}: {counted(len(down), 'node', 'is')} down, as scontrol showed; {lines_of} brings one of "
            "them up"
        )
    if nodes and absent >= nodes.keys():
        names = ",".join(line.name for line in parts.lines["nodename"])
        faults.add(
            f"{name}: all nodes have State=FUTURE, so no job starts; add policy.lines=['DownNodes={names} "
            "State=IDLE'], with which they exist"
        )
    nodes = {node: made for node, made in nodes.items() if node not in absent}
    numbers, every = {node: number for number, node in enumerate(nodes)}, tuple(nodes.values())
    sets = {line.name: line for line in parts.lines.get("nodeset", ())}
    inherited = {key.lower() for key in INHERITED}
    common = {key: text for key, text in parts.alone.items() if key in inherited}
    of_line = parts.lines.get("partitionname", [])
    if len(of_line) > MOST_PARTITIONS:
        of_line[MOST_PARTITIONS].fault(f"more than {MOST_PARTITIONS:,} partitions")
    partitions = {}
    for line in of_line[:MOST_PARTITIONS]:
        _refuse_twice(line, [line.name], places)
        inherits = replace(line, given={"partitionname": line.name, **common, **line.given})
        if found := partition_of(inherits, numbers, sets, every, absent):
            partitions[line.name] = found
        else:
            faults.note(f"{line.where}: partition {line.name} has no nodes: it is left out")
    qos = {line.name: accounting.qos_of(neutral(line)) for line in parts.lines.get("qosname", ())}
    reserving = parts.lines.get("reservationname", ())
    reserved = (accounting.reservation_of(line, numbers, absent) for line in reserving)
    reservations = tuple(one for one in reserved if one is not None)
    events = accounting.events_of(parts.lines.get(EVENT.lower(), ()), numbers, absent)
    reads_yaml = settings.version is None or versions.rules(settings.version)["reads_yaml"]
    from_policy = parts.where.get("topologyplugin", "").startswith("policy.")  # which wins over all files
    reads_yaml &= not from_policy
    alone = Line(name, parts.alone, faults, parts.where)
    topologies = topologies_of(parts.lines, alone, settings.topology, reads_yaml, numbers)
    known, in_yaml = [one.name for one in topologies], bool(parts.lines.get(NETWORK.lower()))
    if in_yaml and not reads_yaml:
        of_version = (
            f"Slurm {settings.version and settings.version.text} does not read it (25.05 and later do)"
        )
        why = f"{parts.where['topologyplugin']} sets TopologyPlugin" if from_policy else of_version
        faults.note(f"topology.yaml has no effect: {why}")
    elif in_yaml:
        faults.note(f"topology.yaml sets how jobs get nodes ({', '.join(known)}), as since Slurm 25.05")
        for one in partitions.values():
            if one.topology and one.topology not in known:
                allowed = f"allowed: {', '.join(known)}"
                faults.add(
                    f"partition {one.name} has Topology={one.topology}, which topology.yaml lacks; {allowed}"
                )
    faults.check()
    configuration = Configuration(
        name,
        settings,
        every,
        tuple(partitions.values()),
        parts.where,
        tuple(parts.associations.values()),
        qos,
        reservations,
        events,
        topologies,
    )
    return replace(configuration, notes=(*notes_of(configuration, parts.alone), *words, *faults.notes))

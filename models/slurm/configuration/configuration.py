"""The one declared object that a slurm.conf becomes: nodes, partitions, and how the scheduler works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from models.jobs.requests import of_kind
from models.slurm.configuration import accounting, hostlist, keys, values
from models.slurm.configuration.accounting import Association, Qos, Reservation
from models.slurm.configuration.errors import ConfigurationError, nearest, parsed

YEAR_S = 365 * 24 * 3600

MOST_CPUS = 65_535
MOST_ROWS = 1000
"""CPUs of a node, as Slurm counts them; jobs that may share a CPU: more are a slip."""

KEYS_OF = {"nodename": keys.NODE_KEYS, "partitionname": keys.PARTITION_KEYS}
"""Lines for which a line DEFAULT sets defaults, and their keys."""

RULES_OF_ACCESS = (
    "allowaccounts", "allowgroups", "allowqos", "denyaccounts", "denyqos", "reqresv", "maxcpuspernode",
    "exclusiveuser",
)  # fmt: skip
"""Keys of a partition that decide who may use it."""


@dataclass(frozen=True)
class Node:
    """A node: CPUs as Slurm counts them, memory for jobs in MB, generic resources by name; sockets, and CPUs
    of a core; the number of its line."""

    name: str
    cpus: int
    memory: int
    gres: Mapping[str, int]
    weight: int = 1
    features: tuple[str, ...] = ()
    up: bool = True
    sockets: int = 1
    threads: int = 1
    line: int = 0

    def devices(self, kind: str) -> int:
        """Return how many devices it has, of one type or of all types of a name."""
        return sum(of_kind(self.gres, kind))


@dataclass(frozen=True)
class Partition:
    """A partition; `nodes` are positions. Times are seconds, None is no limit.

    Parameters
    ----------
    sharing : str
        ``NO``, ``EXCLUSIVE``, ``YES`` or ``FORCE``; with the number of jobs that share a CPU in `rows`.
    preempt_mode : str
        How its jobs are preempted, empty where PreemptMode decides; after `grace` seconds.
    restricted : tuple of str
        Keys of its line that decide who may use it, and have no effect here.
    """

    name: str
    nodes: tuple[int, ...]
    default: bool = False
    max_time: int | None = None
    default_time: int | None = None
    max_nodes: int | None = None
    tier: int = 1
    job_factor: int = 1
    sharing: str = "NO"
    rows: int = 1
    over_time: int | None = 0
    least_loaded: bool = False
    up: bool = True
    memory_cpu: int = 0
    memory_node: int = 0
    qos: str = ""
    preempt_mode: str = ""
    grace: int = 0
    restricted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """A slurm.conf.

    Parameters
    ----------
    name : str
        Of its file, for messages.
    settings : mapping of str to str
        Keys, in small letters, that are no nodes and no partitions.
    where : mapping of str to str
        Where each of them was given, for messages.
    associations : tuple of Association
        Accounts and their users, parents before children.
    qos : mapping of str to Qos
    reservations : tuple of Reservation
    """

    name: str
    settings: Mapping[str, str]
    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...]
    where: Mapping[str, str] = field(default_factory=dict)
    associations: tuple[Association, ...] = ()
    qos: Mapping[str, Qos] = field(default_factory=dict)
    reservations: tuple[Reservation, ...] = ()

    @classmethod
    def of(cls, name: str, lines: Iterable[Any]) -> Configuration:
        """Return the configuration of logical lines; of a key that is given twice the last one counts."""
        settings: dict[str, str] = {}
        where: dict[str, str] = {}
        sets: dict[str, list[str]] = {}
        entities: dict[str, list[tuple[str, dict[str, str]]]] = {kind: [] for kind in KEYS_OF}
        reservations: list[tuple[str, dict[str, str]]] = []
        associations: dict[tuple[str, str, bool], Association] = {}
        levels: dict[str, Qos] = {}
        parent = ""
        defaults: dict[str, dict[str, str]] = {kind: {} for kind in KEYS_OF}
        for line in lines:
            key, value = line.pairs[0]
            small = key.lower()
            given = {key.lower(): text for key, text in line.pairs}
            if small in KEYS_OF:
                _check_keys(line, KEYS_OF[small])
                if value.upper() == "DEFAULT":
                    defaults[small] |= given
                else:
                    entities[small].append((line.where, {**defaults[small], **given}))
            elif small in ("cluster", "account", "user"):
                member, is_user = accounting.ROOT if small == "cluster" else value, small == "user"
                parent = "" if small == "cluster" else parent
                options = {key.lower(): text for key, text in line.pairs[1:]}
                associations[member, parent, is_user] = accounting.association(
                    line.where, member, parent, is_user, options
                )
            elif small == "parent":
                parent = value
            elif small == "qosname":
                levels[value] = accounting.qos(line.where, given)
            elif small == "reservationname":
                reservations.append((line.where, given))
            elif small == "nodeset":
                of_feature = [f"feature {given.get('feature')}"]
                sets[value] = hostlist.expand(given["nodes"]) if "nodes" in given else of_feature
            elif small in keys.KNOWN or line.where.endswith("(shown)"):
                settings[small], where[small] = value, line.where
            else:
                near = nearest(small, keys.KNOWN)
                hint = f"; did you mean {keys.KNOWN[near]}?" if near else "; correct it or delete the line"
                raise ConfigurationError(f"{line.where}: {key} is no key of slurm.conf{hint}")
        nodes: dict[str, Node] = {}
        for number, (place, given) in enumerate(entities["nodename"]):
            nodes |= {node.name: node for node in _nodes(place, number, given)}
            if len(nodes) > hostlist.MOST:
                raise ConfigurationError(f"{place}: more than {hostlist.MOST:,} nodes")
        numbers = {name: number for number, name in enumerate(nodes)}
        every = tuple(nodes.values())
        found = [
            _partition(place, given, _members(place, given, numbers, sets, every), settings)
            for place, given in entities["partitionname"]
        ]
        made = cls(
            name,
            settings,
            every,
            tuple({one.name: one for one in found}.values()),
            where,
            tuple(associations.values()),
            levels,
            tuple(accounting.reservation(place, given, numbers) for place, given in reservations),
        )
        made._check()
        return made

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """Words of SchedulerParameters, and those of PreemptParameters after ``preempt_`` as before 24.05."""
        own = values.options(self.settings.get("preemptparameters", ""))
        common = values.options(self.settings.get("schedulerparameters", ""))
        return common | {f"preempt_{word}": text for word, text in own.items()}

    @property
    def default_partition(self) -> Partition:
        """The partition of a job that names none."""
        return next((one for one in self.partitions if one.default), self.partitions[0])

    @property
    def gres(self) -> tuple[str, ...]:
        """Names of generic resources of any node, with types and without."""
        names = [name for node in self.nodes for name in node.gres]
        return tuple(dict.fromkeys([*names, *(name.partition(":")[0] for name in names)]))

    def whole(self, key: str, default: int, most: int) -> int:
        """Return a whole number of SchedulerParameters; one that Slurm would ignore is its default."""
        text = self.parameters.get(key)
        if text is None:
            return default
        if values.NUMBER.fullmatch(text.removeprefix("-")):
            return int(text) if 0 <= int(text) <= most else default
        where = self.where.get("schedulerparameters", self.name)
        raise ConfigurationError(f"{where}: {key}={text} of SchedulerParameters; allowed: a whole number")

    def value(self, key: str, parse: Callable[[str], Any], default: Any) -> Any:
        """Return a parsed setting, or its default where it is not given."""
        text = self.settings.get(key.lower())
        if not text:
            return default
        return parsed(self.where.get(key.lower(), self.name), key, text, parse)

    @property
    def linear(self) -> bool:
        """Whether jobs get whole nodes (`select/linear`)."""
        return self.word("SelectType", "select/cons_tres") == "linear"

    def word(self, key: str, default: str) -> str:
        """Return a setting in small letters without the plugin's kind: ``sched/backfill`` is ``backfill``."""
        return self.settings.get(key.lower(), default).lower().rpartition("/")[2]

    def _check(self) -> None:
        for word in self.parameters:
            known = {*keys.PARAMETERS, *keys.PARAMETERS_NOT_MODELLED, *keys.PARAMETERS_OF_TIME}
            if word not in known:
                near = nearest(word, known)
                hint = f"; did you mean {near}?" if near else ""
                where = self.where.get("schedulerparameters", self.name)
                raise ConfigurationError(f"{where}: SchedulerParameters has no {word}{hint}")

    @property
    def enforces(self) -> bool:
        """Whether limits of associations and QOS count (AccountingStorageEnforce)."""
        words = self.settings.get("accountingstorageenforce", "").lower().split(",")
        return bool({"limits", "safe", "all"}.intersection(words))

    def not_modelled(self) -> list[str]:
        """Return one line for each key that changes schedules and is read without effect."""
        found = [
            f"{key}={self.settings[key.lower()]} has no effect here: {what}"
            for key, what in keys.NOT_MODELLED.items()
            if self.settings.get(key.lower(), "").lower() not in keys.NEUTRAL_VALUES
            and not self.settings.get(key.lower(), "").lower().endswith("/none")
        ]
        if self.associations and not self.enforces:
            found.append(
                "limits of associations and QOS have no effect: AccountingStorageEnforce has no limits"
            )
        without: dict[str, list[str]] = {}
        ignored = [(one.name, one.ignored) for one in self.associations]
        for name, options in [*ignored, *((name, one.ignored) for name, one in self.qos.items())]:
            for key in options:
                without.setdefault(key, []).append(name)
        found += [f"{key} has no effect here, for {', '.join(names)}" for key, names in without.items()]
        return found + [
            f"SchedulerParameters={word} has no effect here: {keys.PARAMETERS_NOT_MODELLED[word]}"
            for word in self.parameters
            if word in keys.PARAMETERS_NOT_MODELLED
        ]


def _check_keys(line: Any, known: frozenset[str]) -> None:
    for key, _ in line.pairs:
        if key.lower() not in known:
            near = nearest(key.lower(), known)
            hint = f"; did you mean {near}?" if near else ""
            raise ConfigurationError(f"{line.where}: {key} is no key of a line {line.pairs[0][0]}=...{hint}")


def _value(place: str, given: Mapping[str, str], key: str, parse: Callable[[str], Any], default: Any) -> Any:
    return parsed(place, key, given[key], parse) if key in given else default


def _nodes(place: str, line: int, given: Mapping[str, str]) -> Iterable[Node]:
    def whole(key: str, default: int, most: int = 10**values.MOST_DIGITS) -> int:
        return int(_value(place, given, key, values.between(0, most), default))

    threads = whole("threadspercore", 1, MOST_CPUS)
    boards = whole("boards", 1, MOST_CPUS) * whole("socketsperboard", 1, MOST_CPUS)
    sockets = whole("sockets", boards, MOST_CPUS)
    of_socket = max(whole("corespersocket", 1, MOST_CPUS) * threads, 1)
    all_cpus = whole("cpus", whole("procs", sockets * of_socket))
    if not {"sockets", "socketsperboard"} & set(given) and all_cpus % of_socket == 0:
        sockets = all_cpus // of_socket
    cpus = all_cpus - whole("corespeccount", 0) * threads
    if not 1 <= cpus <= MOST_CPUS:
        raise ConfigurationError(
            f"{place}: nodes with {cpus} CPUs; allowed: 1 to {MOST_CPUS:,}; give CPUs=, or Sockets= and "
            "CoresPerSocket="
        )
    state = given.get("state", "UNKNOWN").upper().split("+")[0]
    for name in _value(place, given, "nodename", hostlist.expand, []):
        yield Node(
            name,
            cpus,
            max(whole("realmemory", 1) - whole("memspeclimit", 0), 1),
            _value(place, given, "gres", values.gres, {}),
            whole("weight", 1),
            tuple(given.get("features", given.get("feature", "")).split(",")),
            state not in ("DOWN", "DRAIN", "FAIL", "FAILING", "FUTURE"),
            sockets if sockets and cpus % sockets == 0 else 1,  # else cores are in no socket
            threads,
            line,
        )


def _members(
    place: str,
    given: Mapping[str, str],
    numbers: Mapping[str, int],
    sets: Mapping[str, Sequence[str]],
    nodes: Sequence[Node],
) -> tuple[int, ...]:
    """Return the nodes of a partition: those that it names, and those of sets of nodes."""
    name = given["partitionname"]
    names: list[str] = []
    for word in dict.fromkeys(parsed(place, "nodes", given.get("nodes", ""), hostlist.expand)):
        if word.upper() == "ALL":
            names += numbers
        elif of_set := sets.get(word):
            feature = of_set[0].removeprefix("feature ")
            by_feature = feature != of_set[0]
            names += [node.name for node in nodes if feature in node.features] if by_feature else of_set
        else:
            names.append(word)
    if missing := [word for word in names if word not in numbers]:
        raise ConfigurationError(
            f"{place}: partition {name} has node {missing[0]}, which no NodeName line names; add one, or "
            f"leave it out"
        )
    if not names:
        raise ConfigurationError(f"{place}: partition {name} has no nodes; add Nodes=..., or delete the line")
    return tuple(sorted({numbers[word] for word in names}))


def _partition(
    place: str, given: Mapping[str, str], members: tuple[int, ...], settings: Mapping[str, str]
) -> Partition:
    def whole(key: str, default: int) -> int:
        return int(_value(place, given, key, values.whole, default))

    def memory(key: str) -> int:
        text = given.get(key, settings.get(key, "0"))
        return 0 if text.upper() in values.WITHOUT_LIMIT else int(parsed(place, key, text, values.whole))

    word, _, rows = given.get("oversubscribe", given.get("shared", "NO")).upper().partition(":")
    n_rows = int(rows or 4) if values.NUMBER.fullmatch(rows or "4") else 0
    if word not in ("NO", "YES", "FORCE", "EXCLUSIVE") or not 1 <= n_rows <= MOST_ROWS:
        raise ConfigurationError(
            f"{place}: OverSubscribe={word}{f':{rows}' if rows else ''}; allowed: NO, EXCLUSIVE, YES:n, "
            f"FORCE:n with n from 1 to {MOST_ROWS:,}"
        )
    priority = whole("priority", 1)
    over = given.get("overtimelimit", settings.get("overtimelimit", "0"))
    unlimited = given.get("maxnodes", "UNLIMITED").upper() in values.WITHOUT_LIMIT
    open_to_all = ("ALL", "NO", "UNLIMITED", "INFINITE")
    return Partition(
        given["partitionname"],
        members,
        _value(place, given, "default", values.yes, False),
        _value(place, given, "maxtime", values.minutes, None),
        _value(place, given, "defaulttime", values.minutes, None),
        None if unlimited else whole("maxnodes", 0),
        whole("prioritytier", priority),
        whole("priorityjobfactor", priority),
        word,
        n_rows if word in ("YES", "FORCE") else 1,
        parsed(place, "OverTimeLimit", over, values.minutes),
        _value(place, given, "lln", values.yes, False),
        given.get("state", "UP").upper() == "UP",
        memory("defmempercpu"),
        memory("defmempernode"),
        given.get("qos", ""),
        given.get("preemptmode", "").upper(),
        whole("gracetime", 0),
        tuple(key for key in RULES_OF_ACCESS if given.get(key, "ALL").upper() not in open_to_all),
    )

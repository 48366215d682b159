"""The files of a bundle with other names of users, accounts, hosts, reservations and paths, alike in all.

Only keys, options and columns that change schedules are kept, by a list: what else a file has (comments,
addresses, descriptions, reasons) is left out. Partitions, QOS and features keep their names.
"""

import re
from collections.abc import Callable, Iterable

from models.jobs.bundle import CONFIGURATION, LOG
from models.slurm.configuration.accounting import DUMPED, Association
from models.slurm.configuration.keys import KNOWN, names_of
from models.slurm.configuration.nodes import NodeKeys
from models.slurm.configuration.partitions import Partition
from models.slurm.configuration.reading import _logical
from models.slurm.configuration.settings import Settings
from slurm.capturing.collecting import COMMANDS, CONFIG, DUMP, EVENTS, QOS

KIND_OF = {
    "user": "users", "users": "users", "account": "accounts", "accounts": "accounts", "parent": "accounts",
    "allowaccounts": "accounts", "denyaccounts": "accounts", "reservation": "reservations",
    "reservationname": "reservations", "nodename": "hosts", "nodes": "hosts", "downnodes": "hosts",
    "nodeset": "hosts",
}  # fmt: skip
"""Keys and columns, in small letters -> the kind of name that they have."""

SAME = {"", "root", "(null)", "all", "none", "n/a", "default", "unknown"}
"""Values, in small letters, that name the same anywhere."""

LINES = {
    "nodename": ("NodeName", *names_of(NodeKeys), "CPUTot", "CPUEfctv", "AvailableFeatures"),
    "nodeset": ("NodeSet", "Nodes", "Feature"),
    "downnodes": ("DownNodes", "State"),
    "partitionname": (
        *("PartitionName", "Nodes", *names_of(Partition)),
        *("AllowAccounts", "DenyAccounts", "AllowQos", "DenyQos", "MaxNodes", "MinNodes"),
    ),
    "reservationname": (
        *("ReservationName", "StartTime", "EndTime", "Duration", "Nodes", "Flags", "PartitionName"),
        *("Users", "Accounts", "State"),
    ),
}  # fmt: skip
"""The first key of a line -> those that are kept."""

ALONE = {
    name.lower()
    for name in [
        *names_of(Settings),
        *names_of(Partition),
        *KNOWN["settings"]["not_modelled"],
        "SLURM_VERSION",
    ]
} | {"schedulerparameters", "priorityparameters", "preemptparameters"}
OPTIONS = {
    *names_of(Association),
    *KNOWN["associations"]["not_modelled"].split(),
    "QOS",
    "DefaultQOS",
    "Partition",
}
WITHOUT = {"Reason", "Descr", "Cluster", "ClusterNodes", "Comment"}
"""Columns that are emptied."""

PAIR = re.compile(r'([A-Za-z]\w*)\s*=\s*("[^"]*"|\S*)')


class Names:
    """The new names, by kind and old name."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, str]] = {}

    def new(self, kind: str, name: str) -> str:
        """Return the new name of one, the same each time."""
        if name.lower() in SAME:
            return name
        known = self.known.setdefault(kind, {})
        return known.setdefault(name, f"{kind.removesuffix('s')}{len(known) + 1}")

    def hosts(self, text: str) -> str:
        """Return a list of hosts whose letters are new: numbers and ranges stay.

        Examples
        --------
        >>> Names().hosts("rack1n[01-16],gpu-a[1,3]"), Names().hosts("ALL")
        ('nodea1nodeb[01-16],nodec[1,3]', 'ALL')
        """
        if text.lower() in SAME:
            return text
        return "".join(
            piece if not piece or piece[0] in "[,0123456789" else self._letters(piece)
            for piece in re.split(r"(\[[^\]]*\]|[0-9]+|,)", text)
        )

    def _letters(self, piece: str) -> str:
        """Return new letters for those between the numbers of hosts: no digits, which would join a number."""
        known = self.known.setdefault("hosts", {})
        number, letters = len(known), ""
        while number >= 0:
            number, letters = number // 26 - 1, chr(ord("a") + number % 26) + letters
        return known.setdefault(piece, f"node{letters}")

    def value(self, key: str, text: str) -> str:
        """Return the value of a key or a column."""
        if (kind := KIND_OF.get(key.lower())) == "hosts":
            return self.hosts(text)
        if kind is not None:
            return ",".join(sign + self.new(kind, name) for sign, name in re.findall(r"([+-]?)([^,]+)", text))
        return self.new("paths", text) if text.startswith("/") else text


def renamed(files: dict[str, str]) -> tuple[dict[str, str], Names]:
    """Return the files with new names, and these."""
    names = Names()
    form: dict[str, Callable[[str, Names], Iterable[str]]] = {
        LOG: _table, QOS: _table, EVENTS: _table, DUMP: _dump, CONFIG: _shown,
    }  # fmt: skip
    members = {name: name for name in files}
    own = [name for name in files if name not in {*COMMANDS, *form, CONFIGURATION}]
    members |= {name: f"include{number}.conf" for number, name in enumerate(own, start=1)}
    made = {}
    for name, text in files.items():
        words = (line.partition(" ") for line in form.get(name, _lines)(text, names))
        made[members[name]] = "".join(
            f"{first}{blank}{members.get(rest, rest) if first == 'Include' else rest}\n"
            for first, blank, rest in words
        )
    return made, names


def _table(text: str, names: Names) -> Iterable[str]:
    """Yield the rows of a table with bars; the last column may have bars itself."""
    header, *rows = text.splitlines() or [""]
    yield header
    titles = header.split("|")
    for row in rows:
        cells = row.split("|", len(titles) - 1)
        yield "|".join(
            ("" if title in WITHOUT else names.value(title, cell))
            if title.lower() in KIND_OF or title in WITHOUT
            else cell
            for title, cell in zip(titles, cells, strict=False)
        )


def _dump(text: str, names: Names) -> Iterable[str]:
    for line in text.splitlines():
        if found := DUMPED.match(line):
            name = "cluster" if found[1] == "Cluster" else names.value(found[1], found[2])
            options = re.split(r":(?=[A-Z]\w*=)", found[3] or "")
            kept = [part for part in options if part.partition("=")[0] in OPTIONS]
            yield ":".join([f"{found[1]} - '{name}'", *kept])


def _shown(text: str, names: Names) -> Iterable[str]:
    for line in text.splitlines():
        key, equals, value = (part.strip() for part in line.partition("="))
        if line.startswith("Configuration data as of"):
            yield line
        elif equals and key.lower() in ALONE:
            yield f"{key:<23} = {names.value(key, value)}"


def _lines(text: str, names: Names) -> Iterable[str]:
    """Yield the lines of a slurm.conf, or those that scontrol -o shows."""
    for _, line in _logical(text):
        if line.lower().startswith("include "):
            yield f"Include {line.split(None, 1)[1]}"
            continue
        if pairs := PAIR.findall(line):
            kept = LINES.get(pairs[0][0].lower())
            small = ALONE if kept is None else {name.lower() for name in kept}
            found = [f"{key}={names.value(key, value)}" for key, value in pairs if key.lower() in small]
            if found:
                yield " ".join(found)

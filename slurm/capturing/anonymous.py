"""Give users, accounts, hosts, reservations and paths other names, the same ones in all files of a bundle.

Only listed keys, options and columns, those that change schedules, are kept: everything else in a file
(comments, addresses, descriptions, reasons) is left out. Partitions, QOS and features keep their names.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from models.jobs.bundle import CONFIGURATION, LOG
from models.slurm.configuration.accounting import DUMPED, Association
from models.slurm.configuration.keys import KNOWN, names_of
from models.slurm.configuration.partitions import Partition
from models.slurm.configuration.reading import CONFIG as HEADER
from models.slurm.configuration.reading import KEPT, logical_lines
from models.slurm.configuration.settings import Settings
from slurm.capturing.collecting import COMMANDS, DUMP, EVENTS, QOS, QUEUE

KIND_OF = {
    "user": "users", "users": "users", "account": "accounts", "accounts": "accounts", "parent": "accounts",
    "allowaccounts": "accounts", "denyaccounts": "accounts", "reservation": "reservations",
    "reservationname": "reservations", "nodename": "hosts", "nodes": "hosts", "downnodes": "hosts",
    "nodeset": "hosts", "switchname": "hosts", "switches": "hosts", "blockname": "hosts",
    "allowgroups": "groups", "suspendexcnodes": "hosts",
}  # fmt: skip
"""Keys and columns, in lower case -> the kind of name that they contain."""

SAME = {"", "root", "(null)", "all", "none", "n/a", "default", "unknown"}
"""Values, in lower case, that have the same meaning everywhere."""

LINES = {kind.lower(): {kind.lower(), *keys} for kind, keys in KEPT.items()}
LINES["nodename"] |= {"cputot", "availablefeatures"}
LINES["partitionname"] |= {"totalnodes"}
LINES["reservationname"] |= {"nodecnt", "users", "accounts", "partitionname"}
LINES["switchname"] = {"switchname", "nodes", "switches", "topology"}
LINES["blockname"] = {"blockname", "nodes", "blocksize", "topology"}
LINES["aggregatedblock"] = {"aggregatedblock", "blocksize"}
LINES["topologyname"] = {"topologyname", "kind", "default", "blocksizes"}
LINES |= {"nodeset": {"nodeset", "nodes", "feature"}, "downnodes": {"downnodes", "state"}}
"""The first key of a line -> the keys that are kept, in lower case."""

ALONE = {"slurm_version", "blocksizes", "schedulerparameters", "priorityparameters", "preemptparameters"}
ALONE |= {name.lower() for name in [*names_of(Settings, Partition), *KNOWN["settings"]["not_modelled"]]}
OPTIONS = {
    *names_of(Association),
    *KNOWN["associations"]["not_modelled"].split(),
    "QOS",
    "DefaultQOS",
    "Partition",
}
WITHOUT = {"Reason", "Descr", "Cluster", "ClusterNodes", "Comment"}
"""Columns whose values are removed."""

IN_QUEUE = {
    "user_name": "user",
    "account": "account",
    **dict.fromkeys(("nodes", "list", "nodename", "name"), "nodes"),
}
"""Keys of the queue -> the key of the same kind in `KIND_OF`."""

PAIR = re.compile(r'([A-Za-z]\w*)\s*=\s*("[^"]*"|\S*)')


class Names:
    """The new names, each found by its kind and old name."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, str]] = {}

    def new(self, kind: str, name: str) -> str:
        """Return the new name for an old one; it is the same each time."""
        if name.lower() in SAME:
            return name
        known = self.known.setdefault(kind, {})
        return known.setdefault(name, f"{kind.removesuffix('s')}{len(known) + 1}")

    def hosts(self, text: str) -> str:
        """Return a list of hosts with new letters; numbers and ranges stay.

        Examples
        --------
        >>> Names().hosts("rack1n[01-16],gpu-a[1,3]:2"), Names().hosts("ALL")
        ('nodea1nodeb[01-16],nodec[1,3]:2', 'ALL')
        """
        if text.lower() in SAME:
            return text
        return "".join(
            piece if not piece or piece[0] in "[,:0123456789" else self._letters(piece)
            for piece in re.split(r"(\[[^\]]*\]|[0-9]+|[,:])", text)
        )

    def _letters(self, piece: str) -> str:
        """Return new letters for those between the numbers of hosts; digits would join a number."""
        known = self.known.setdefault("hosts", {})
        number, letters = len(known), ""
        while number >= 0:
            number, letters = number // 26 - 1, chr(ord("a") + number % 26) + letters
        return known.setdefault(piece, f"node{letters}")

    def value(self, key: str, text: str) -> str:
        """Return the new value of a key or a column."""
        if (kind := KIND_OF.get(key.lower())) == "hosts":
            return self.hosts(text)
        if kind is not None:
            return ",".join(sign + self.new(kind, name) for sign, name in re.findall(r"([+-]?)([^,]+)", text))
        return self.new("paths", text) if text.startswith("/") else text


def renamed(files: dict[str, str]) -> tuple[dict[str, str], Names]:
    """Return the files with new names, and the names."""
    names = Names()
    form: dict[str, Callable[[str, Names], Iterable[str]]] = {
        LOG: _table, QOS: _table, EVENTS: _table, DUMP: _dump, QUEUE: _queue,
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
    """Yield the rows of a table separated by bars; the last column may contain bars itself."""
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


def _queue(text: str, names: Names) -> Iterable[str]:
    """Yield the lines of `slurm.forecasting.queue.reduced`."""

    def new(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: new(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [new(one, key) for one in value]
        return names.value(IN_QUEUE[key], value) if key in IN_QUEUE and isinstance(value, str) else value

    return json.dumps(new(json.loads(text)), indent=0).splitlines()


def _dump(text: str, names: Names) -> Iterable[str]:
    for line in text.splitlines():
        if found := DUMPED.match(line):
            name = "cluster" if found[1] == "Cluster" else names.value(found[1], found[2])
            options = re.split(r":(?=[A-Z]\w*=)", found[3] or "")
            kept = [part for part in options if part.partition("=")[0] in OPTIONS]
            yield ":".join([f"{found[1]} - '{name}'", *kept])


def _lines(text: str, names: Names) -> Iterable[str]:
    """Yield the lines of a slurm.conf, or those that scontrol shows."""
    for _, line, shown in logical_lines(text):
        if line.startswith(HEADER):
            yield line
        elif not shown and line.lower().startswith("include "):
            yield f"Include {line.split(None, 1)[1]}"
        elif pairs := PAIR.findall(line):
            kept = LINES.get(pairs[0][0].lower())
            equals = " = " if shown and kept is None else "="  # as `scontrol show config` prints it
            small = ALONE if kept is None else kept
            found = [f"{key}{equals}{names.value(key, text)}" for key, text in pairs if key.lower() in small]
            if found:
                yield " ".join(found)

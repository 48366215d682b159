"""Reading of a slurm.conf: comments, continued lines, Include, quoted values; or what `scontrol show config`,
`show node`, `show partition` and `show reservation` print, and `sacctmgr show event`, one after the other."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from models.slurm.configuration.accounting import DUMPED, OF_TYPE
from models.slurm.configuration.configuration import ALONE, Configuration, configuration_of
from models.slurm.configuration.errors import ConfigurationError, Faults
from models.slurm.configuration.keys import EVENT, LINES, OF_FILE, SHOWN, Pairs, names_of
from models.slurm.configuration.nodes import NodeKeys
from models.slurm.configuration.partitions import RULES_OF_ACCESS, Partition
from models.slurm.configuration.switches import of_yaml
from models.slurm.configuration.versions import IN_COMMENT

CONFIG = "Configuration data as of"
OF_SHOWN = re.compile(r"^(\w+)(?:\[\d+\])?\s+= (.*)$")
"""The first line of `scontrol show config`, and one with a key."""

RECORD = re.compile(r"(NodeName|PartitionName|ReservationName)=\S")
ONE_LINE = re.compile(r" (CPUTot|TotalNodes|NodeCnt)=")
FIRST_OF_RECORD = re.compile(r"\s{3,}(CPUAlloc|AllowGroups|Nodes|NodeCnt)=")
"""A record of `scontrol show node`, `partition` or `reservation`: with -o, else by its second line."""

OF_SCONTROL = re.compile(r"No \w+ in the system|(Node|Partition|Reservation) data as of ")
NOTHING = ("", "(null)", "N/A", "n/a", "NONE", "None", "GLOBAL")
RENAMED = {"CPUTot": "CPUs", "AvailableFeatures": "Features"}
INHERITS = {("DefMemPerCPU", "UNLIMITED"), ("DefMemPerNode", "UNLIMITED")}
"""Values with which a partition has what slurm.conf sets for all."""

KEPT = {
    "NodeName": {name.lower() for name in names_of(NodeKeys)},
    "PartitionName": {"nodes", *RULES_OF_ACCESS, *(name.lower() for name in names_of(Partition))},
    "ReservationName": {"starttime", "endtime", "nodes", "flags", "licenses", "coreids"},
}
"""What each kind of record has of a line of slurm.conf; all else is how it is at that moment."""

OF_EVENTS = {"NodeName": EVENT, "TimeStart": "StartTime", "TimeEnd": "EndTime", "State": "State"}
"""Columns of `sacctmgr -P show event` -> keys, the first of which names a line."""

TOPOLOGY = "topology.conf"
TOPOLOGIES = (TOPOLOGY, "topology.yaml")

DEEPEST = 10
"""Files that include each other in a chain."""

LONGEST_LINE = 100_000
MOST_FILES = 1000
"""Files that are included, each as often as it is."""


OF_KEY = re.compile(r'\s*([A-Za-z0-9_.]+)\s*[-*+/]?=\s*(?:"([^"]*)"|(\S+))(?=\s|$)')
"""A key with its value, as Slurm takes them (src/common/parse_config.c, keyvalue_pattern)."""

COMMENT = re.compile(r"^((?:[^\\#]|\\.)*)#.*")
EMPTY = re.compile(r"\s*([A-Za-z0-9_.]+)\s*=\s*$")
WORD = re.compile(r"\s*(\S+)")


class _Files:
    """The files that were read so far, in their order, and the faults in them."""

    def __init__(self, path: Path) -> None:
        self.number = 0
        self.digest = hashlib.sha256()
        self.folder = path.parent
        self.cluster = ""
        self.faults = Faults()

    def take(self, path: Path, content: bytes) -> None:
        if self.number:  # the order of files counts: if a key is given twice, the last one wins
            self.digest.update(b"\0%d\0" % len(content))
        self.digest.update(content)
        self.number += 1
        if self.number > MOST_FILES:
            raise ConfigurationError(f"{path.name}: more than {MOST_FILES:,} files are included")


def read(
    path: str | os.PathLike[str],
    lines: Mapping[str, str] | None = None,
    sha256: str | None = None,
    words: Mapping[str, int] | None = None,
) -> Configuration:
    """Return the configuration of a file, with further lines that are added to it and win over it, by the key
    that gives each, and further words of SchedulerParameters.

    Raises
    ------
    ConfigurationError
        With one line for all faults: a file that does not exist, a missing Include, a line without a key, a
        value that is not allowed.
    """
    files = _Files(Path(path))
    found = list(_of_all(Path(path), files))
    if not found and len(files.faults.found) > 1:
        raise ConfigurationError(
            f"{Path(path).name}: has no line with KEY=VALUE, so it is not a slurm.conf; give one, "
            "policy.path=FILE, or a bundle, policy.bundle=FILE"
        )
    if sha256 is not None and files.digest.hexdigest() != sha256:
        raise ConfigurationError(
            f"{Path(path).name}, or a file that it includes, has changed since the plan was made; run the "
            "command again"
        )
    for where, text in (lines or {}).items():
        found += _of_text(where, text, files.faults)
    return configuration_of(Path(path).name, found, words or {}, files.faults)


def digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file followed by the files that it includes, in their order."""
    files = _Files(Path(path))
    for _ in _of_all(Path(path), files):
        pass
    return files.digest.hexdigest()


def of_lines(name: str, lines: Sequence[str], words: Mapping[str, int] | None = None) -> Configuration:
    """Return the configuration of some lines, see `read`."""
    faults = Faults()
    found = [line for text in lines for line in _of_text(name, text, faults)]
    return configuration_of(name, found, words or {}, faults)


def _of_all(path: Path, files: _Files) -> Iterator[Pairs]:
    """Yield the lines of a slurm.conf, of the topology.conf beside it unless it has such lines itself, and of
    a topology.yaml, whether or not its TopologyPlugin reads them: a policy may set another one."""
    given = False
    for line in _of_file(path, 0, files):
        given = given or line.pairs[0][0].lower() in ("switchname", "blockname")
        yield line
    beside, in_yaml = (path.with_name(name) for name in TOPOLOGIES)
    if not given and beside.is_file():
        yield from _of_file(beside, 1, files)
    if in_yaml.is_file():
        content = in_yaml.read_bytes()
        files.take(in_yaml, content)
        yield from of_yaml(in_yaml.name, content.decode("utf-8-sig", errors="replace"), files.faults)


def _of_file(path: Path, depth: int, files: _Files) -> Iterator[Pairs]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}; give the path of a slurm.conf") from None
    files.take(path, content)
    text = content.decode("utf-8-sig", errors="replace")
    if depth == 0 and (named := IN_COMMENT.search(text)):
        yield Pairs(f"{path.name} {SHOWN}", [("SLURM_VERSION", named[1])])
    columns: list[str] = []
    for number, line, shown in logical_lines(text):
        where = f"{path.name}{OF_FILE}{number}"
        if shown:
            yield from _shown(where, line)
            continue
        if "|" in line and (header := _columns(line)):
            columns = header
            continue
        if "|" in line and columns:
            cells = list(zip(columns, line.split("|"), strict=False))
            if EVENT in columns:
                cells = [(key, dict(cells).get(key, "")) for key in OF_EVENTS.values()]
            yield Pairs(where, cells)
            continue
        words = line.split(None, 1)
        if words[0].lower() == "include":
            if depth >= DEEPEST:
                raise ConfigurationError(f"{where}: {DEEPEST} files include each other; remove the circle")
            for other in _included(where, words[1].strip('"') if len(words) > 1 else "", path, files):
                yield from _of_file(other, depth + 1, files)
        else:
            for pairs in _of_text(where, line, files.faults):
                if pairs.pairs[0][0].lower() == "clustername":
                    files.cluster = pairs.pairs[0][1].lower()
                yield pairs


def _columns(line: str) -> list[str]:
    """Return the columns that a header of `sacctmgr -P show qos` or `show event` names; none for other
    lines."""
    cells = line.split("|")
    if {"NodeName", "TimeStart"} <= {*cells}:
        return [OF_EVENTS.get(cell, cell) for cell in cells]
    return ["QosName", *cells[1:]] if cells[0] == "Name" else []


def _included(where: str, name: str, path: Path, files: _Files) -> list[Path]:
    """Return the files that a line includes, from its file's folder or else from slurm.conf's folder.

    ``%c`` is the name of the cluster; a name may be a pattern.
    """
    given = Path(name.replace("%c", files.cluster))
    for place in [
        path.parent / given,
        *(files.folder / Path(*given.parts[n:]) for n in range(len(given.parts))),
    ]:
        found = [Path(one) for one in sorted(glob.glob(str(place))) if Path(one).is_file()]
        found = [place] if place.is_file() else found
        if found and given.is_absolute() and place != given:
            shown = place.relative_to(files.folder)
            files.faults.note(
                f"{where} includes {name}, which does not exist: {shown} beside it is read instead"
            )
        if found:
            return found
    files.faults.add(
        f"{where} includes {given.name}, which does not exist; put it beside {path.name}, or delete the line"
    )
    return []


def logical_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines without comments, those that end with a backslash joined with the next; and the records
    that scontrol shows, each with all of its lines, which are marked."""
    begun, first, lines = "", 0, text.splitlines()
    of_config = False
    at = 0
    while at < len(lines):
        number, raw, rest = at + 1, lines[at], lines[at + 1 : at + 2]
        at += 1
        if raw.startswith(CONFIG):
            of_config = True
        elif not begun and RECORD.match(raw):
            of_config = False
            if ONE_LINE.search(raw) or (rest and FIRST_OF_RECORD.match(rest[0])):
                begins = at
                while at < len(lines) and lines[at].strip() and lines[at][0].isspace():
                    at += 1
                yield number, " ".join([raw, *lines[begins:at]]), True
                continue
        if of_config:
            yield number, raw, True
            continue
        line = COMMENT.sub(r"\1", raw).rstrip()
        first = first or number
        if (len(line) - len(line.rstrip("\\"))) % 2:
            begun += line[:-1]
            continue
        whole = re.sub(r"\\(.)", r"\1", begun + line).strip()
        if whole and not OF_SCONTROL.match(whole):
            yield first, whole, False
        begun, first = "", 0
    if begun.strip():
        yield first, begun.strip(), False


def _of_text(where: str, text: str, faults: Faults) -> Iterator[Pairs]:
    if (pairs := _dumped(text)) is not None:
        yield Pairs(where, pairs)
        return
    if len(text) > LONGEST_LINE:
        raise ConfigurationError(
            f"{where}: more than {LONGEST_LINE:,} characters; divide it into several lines"
        )
    pairs, at, text = [], 0, text.rstrip()
    while at < len(text):
        if found := OF_KEY.match(text, at):
            key, quoted, plain = found.groups()
            pairs.append((key, plain if quoted is None else quoted))
            if plain and OF_KEY.match(plain) and text[found.start(3) - 1] != "=":
                other = plain.partition("=")[0]
                faults.note(f"{where}: {key}= is followed by {other}=, which Slurm takes as its value")
            if plain and plain.startswith('"'):
                faults.note(f"{where}: {key} begins with an unmatched quotation mark")
        elif found := EMPTY.match(text, at):
            pairs.append((found[1], ""))
            if OF_FILE in where:
                faults.note(f"{where}: {found[1]}= has no value, with which Slurm does not start")
        elif found := WORD.match(text, at):
            # Only the key is shown, because an Include may name any file.
            shown, form = (ALONE.get(found[1].lower(), text) for text in ("a word", "KEY"))
            faults.add(f"{where}: {shown} is not KEY=VALUE; write {form}=..., with quotes around blanks")
            if not pairs and "=" not in text:
                return  # a line without any pair is one fault
        at = found.end() if found else len(text)
    if pairs and pairs[0][0].lower() in LINES:
        yield Pairs(where, pairs)
    else:
        if len(pairs) > 1 and OF_FILE in where:
            first, second = pairs[0][0], pairs[1][0]
            is_list = pairs[0][1].endswith(",")  # SchedulerParameters=defer, bf_window=10
            remedy = "delete the blank after the comma" if is_list else "put it on a new line"
            faults.add(f"{where}: {second}= follows {first}=, with which Slurm does not start; {remedy}")
        yield from (Pairs(where, [pair]) for pair in pairs)


def _dumped(text: str) -> list[tuple[str, str]] | None:
    """Return the pairs of a dump's line: its kind with a name, then its options; None for any other line.

    Examples
    --------
    >>> _dumped("User - 'ann':DefaultAccount='physics':GrpTRES=cpu=8,gres/gpu:a100=1")
    [('User', 'ann'), ('DefaultAccount', 'physics'), ('GrpTRES', 'cpu=8,gres/gpu:a100=1')]
    """
    if not (found := DUMPED.match(text)):
        return None
    masked = OF_TYPE.sub(r"\1\0", found[3] or "")  # `gres/gpu:A100=2` is one option
    parts = [part.replace("\0", ":") for part in re.split(r":(?=[A-Z]\w*=)", masked)]
    pairs = [part.partition("=") for part in parts if "=" in part]
    options = [(key, value.removeprefix("'").removesuffix("'")) for key, _, value in pairs]
    if found[1] != "QOS":
        return [(found[1], found[2]), *options]
    # Slurm 25.05 and later write times in seconds; elsewhere a plain number is in minutes.
    return [("QosName", found[2]), *((key, _clock(key, value)) for key, value in options)]


def _clock(key: str, text: str) -> str:
    if key not in ("GraceTime", "PreemptExemptTime") or not text.isdecimal():
        return text
    return f"{int(text) // 3600}:{int(text) // 60 % 60}:{int(text) % 60}"


def _shown(where: str, line: str) -> Iterator[Pairs]:
    """Yield what scontrol shows: a key of `show config`, or a record with its keys as in slurm.conf."""
    if not RECORD.match(line):
        if (found := OF_SHOWN.match(line)) and found[2] not in NOTHING:
            value = re.sub(r" (sec|min|KB|MB|days)$", "", found[2])
            yield Pairs(f"{where} {SHOWN}", [(found[1], value)])
        return
    pairs = (part.partition("=") for part in re.split(r"\s+(?=[A-Za-z]\w*=)", line.strip()))
    named = [(RENAMED.get(key, key), value.strip()) for key, _, value in pairs]
    kept = KEPT[named[0][0]]
    yield Pairs(
        f"{where} {SHOWN}",
        [
            named[0],
            *(
                (key, value)
                for key, value in named[1:]
                if key.lower() in kept and value not in NOTHING and (key, value) not in INHERITS
            ),
        ],
    )

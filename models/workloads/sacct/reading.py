"""Reading of a site's accounting into a `Table`, with one line for all faults."""

import dataclasses
import gc
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.arrays import Ints
from models.counting import counted
from models.jobs import bundle
from models.jobs.requests import of_kind
from models.jobs.swf.unpacking import unpacked
from models.workloads.sacct import fields, records
from models.workloads.sacct.fields import COMMAND, Faults, SacctError
from models.workloads.sacct.rows import Counts

NAMES = {"User", "Partition", "Account", "QOS", "Reservation", "Cluster"}
LONGEST_NAME = 1000
"""Maximum letters of a name."""

RESIZED = "RESIZING"
READ_BYTES = 1 << 20
"""Bytes that are read at a time: some hundred records of JSON."""


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file that are not steps, in the file's order; every array has the shape (n_rows,).

    Parameters
    ----------
    path : Path
        Where they were read; messages have the file's name only.
    source : str
        The format: ``Slurm's sacct``.
    counts : Counts
        Rows of the whole file, and those that are not here.
    n_resized : int
        Jobs that changed their size, each of which is one row here.
    line : ndarray of int
        Line of the (uncompressed) file, from 1.
    job, user, partition, state : ndarray of str
        A state without the user that cancelled the job.
    submit, start : ndarray of datetime64[s]
        Not a time where unknown.
    eligible : ndarray of datetime64[s] or None
        None where the file does not have it.
    elapsed : ndarray of float, seconds
        Without the time for which a job was suspended.
    requested : ndarray of float, seconds
        NaN where a job had no limit of its own.
    processors : ndarray of int
    memory : ndarray of float, KB
        Requested, of the whole job.
    apart : dict of str to ndarray of str
        Kind that a site may schedule separately -> each row's value, empty for none: QOS, reservation and
        GPUs, if the file has them.
    nodes : ndarray of int
    end : ndarray of datetime64[s] or None
        None where the file does not have it.
    asked : ndarray of int or None
        Requested processors, of rows that have not started; None where the file does not have them.
    cluster, account, constraint : ndarray of str or None
        None where the file does not have it.
    devices : mapping of str to ndarray of int
        Generic resources of the whole job by name, ``gpu:a100``; `licences` likewise.
    placed : ndarray of int, shape (n_rows, 5), or None
        What `fields.placed` returns of its command line; None where the file does not have it.
    """

    path: Path
    source: str
    counts: Counts
    n_resized: int
    line: np.ndarray
    job: np.ndarray
    user: np.ndarray
    partition: np.ndarray
    state: np.ndarray
    submit: np.ndarray
    start: np.ndarray
    eligible: np.ndarray | None
    elapsed: np.ndarray
    requested: np.ndarray
    processors: np.ndarray
    memory: np.ndarray
    apart: Mapping[str, np.ndarray]
    nodes: np.ndarray
    end: np.ndarray | None
    asked: np.ndarray | None
    cluster: np.ndarray | None
    account: np.ndarray | None
    constraint: np.ndarray | None
    devices: Mapping[str, np.ndarray]
    licences: Mapping[str, np.ndarray]
    placed: np.ndarray | None

    @property
    def name(self) -> str:
        """Name of the file, without its folder."""
        return self.path.name


def read(path: str | os.PathLike[str], sha256: str | None = None) -> Table:
    """Read what ``sacct`` printed, as text with any separator or as JSON, or the accounting records of PBS
    or LSF.

    The format is recognised by its content. In memory a text that recurs is there once: reading takes time
    proportional to the file, and memory of eight bytes a value.

    Raises
    ------
    ValueError
        No such file, a file whose SHA-256 is not `sha256` (where that is given), fields that are missing, or
        lines that are wrong, with the number of the first one of each kind.
    """
    path = Path(path)
    is_bundle = bundle.is_bundle(path)
    text = _in_blocks(bundle.jobs(path, sha256)) if is_bundle else unpacked(path, sha256, READ_BYTES)
    counts, faults = Counts(), Faults(path.name)
    source, blocks = records.blocks_of(path.name, text, counts, faults)
    columns: dict[str, Column] = {}
    collects = gc.isenabled()
    gc.disable()  # nothing here has cycles, and searching for them takes a tenth of the time
    try:
        for numbers, texts in blocks:
            lines = np.array(numbers, np.int64)  # all fields share it
            for field, values in texts.items():
                if field not in columns:
                    columns[field] = KINDS.get(field, Texts)(field, faults)
                columns[field].extend(lines, values)
    finally:
        if collects:
            gc.enable()
    source += counts.version
    if not columns:
        faults.check()
        if "--json" in source:
            raise SacctError(
                f"{path.name}: its list of jobs is empty; print the jobs of all users and of another time, "
                "sacct -a -D --json -S 2024-03-01 -E 2024-04-01"
            )
        what = (
            f"only {counted(counts.rows, 'step')}" if counts.rows else "nothing but the names of the fields"
        )
        raise SacctError(f"{path.name}: no jobs at all ({what}); make the file with: {COMMAND}")
    return _table(path, source, counts, columns, faults)


def _in_blocks(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), READ_BYTES):
        yield content[start : start + READ_BYTES]


class Column(ABC):
    """The values of one field, block by block."""

    def __init__(self, field: str, faults: Faults) -> None:
        self.field, self.faults = field, faults
        self.lines: list[np.ndarray] = []  # of each block
        self.blocks: list[np.ndarray] = []

    @property
    def line(self) -> np.ndarray:
        """The line of each row."""
        return np.concatenate(self.lines)

    def extend(self, lines: Ints, texts: Sequence[str]) -> None:
        """Add a block of rows."""
        self.lines.append(lines)
        self.blocks.append(self.of(lines, texts))

    @abstractmethod
    def of(self, lines: Ints, texts: Sequence[str]) -> np.ndarray:
        """Return the values kept from a block of texts."""

    def check(self, lines: Ints, texts: Sequence[str], parse: Callable[[str], Any]) -> None:
        """Parse texts one by one, and add those that do not have the field's form to the faults."""
        for line, text in zip(lines, texts, strict=True):
            if self.faults.count[self.field] == Faults.MOST:
                break
            try:
                parse(text)
            except ValueError as expected:
                self.broken(line, text, expected)

    def broken(self, line: int, text: str, expected: object) -> None:
        """Add a text that does not have the field's form to the faults."""
        shown = text if len(text) <= 40 else f"{text[:37]}..."
        title = "AllocTRES" if self.field == "TRES" else self.field
        self.faults.add(self.field, line, f"has {shown!r} as {title}, not {expected}")


class Instants(Column):
    """A field of times, most of which differ from row to row."""

    def of(self, lines: Ints, texts: Sequence[str]) -> np.ndarray:
        try:
            found = fields.times(texts)
            for row in np.flatnonzero(np.isnat(found))[: Faults.MOST * (self.field == "Submit")]:
                self.broken(lines[row], texts[row], "a time")
            return found
        except ValueError:
            before = self.faults.count[self.field]
            self.check(lines, texts, lambda text: fields.times([text]))
            if self.faults.count[self.field] == before < Faults.MOST:
                self.broken(lines[0], texts[0], "times of one form")
            return np.full(len(texts), fields.ZERO)

    @property
    def values(self) -> np.ndarray:
        """All of them, datetime64[s]."""
        return np.concatenate(self.blocks)


class Jobs(Column):
    """The field of job numbers, which all differ."""

    def of(self, lines: Ints, texts: Sequence[str]) -> np.ndarray:
        if not fields.JOBS.fullmatch("\n".join(texts)):
            self.check(lines, texts, fields.job)
        return np.array(texts, dtype=object)

    @property
    def values(self) -> np.ndarray:
        """All of them."""
        return np.concatenate(self.blocks)


class Texts(Column):
    """A field of texts; each distinct one is kept, and parsed, once."""

    def __init__(self, field: str, faults: Faults) -> None:
        super().__init__(field, faults)
        self.known: dict[str, int] = {}

    def of(self, lines: Ints, texts: Sequence[str]) -> np.ndarray:
        known = self.known
        for text in set(texts) - known.keys():
            known[text] = len(known)
        return np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))

    @property
    def values(self) -> np.ndarray:
        """The texts themselves."""
        texts, rows = np.array(list(self.known), dtype=object), np.concatenate(self.blocks)
        if self.field in NAMES and len(longest := max(texts, key=len)) > LONGEST_NAME:
            what = f"has a {self.field} of over {LONGEST_NAME} letters"
            self.faults.add(self.field, self.line[np.argmax(texts[rows] == longest)], what)
        return texts[rows]

    def parsed(self, parse: Callable[[str], Any], dtype: Any = object) -> np.ndarray:
        """Return what a function makes of each text; where it does not take one, nothing to be used."""
        found = np.empty(len(self.known), dtype)
        for k, text in enumerate(self.known):
            try:
                found[k] = parse(text)
            except ValueError:
                self.check(self.line, self.values.tolist(), parse)
                break
        return found[np.concatenate(self.blocks)]


KINDS: dict[str, type[Column]] = {
    "JobID": Jobs,
    "Submit": Instants,
    "Start": Instants,
    "Eligible": Instants,
    "End": Instants,
}
"""Columns by field; all other fields are `Texts`."""


def _table(path: Path, source: str, counts: Counts, columns: dict[str, Any], faults: Faults) -> Table:
    forms = {name: form for name, form in fields.FORMS.items() if form[1] is not None and name in columns}
    values = {name: column.values for name, column in columns.items() if name not in forms}
    parsed = {name: columns[name].parsed(*form) for name, form in forms.items()}
    named = (columns[name] for name in ("Licenses", "TRES") if name in columns)
    of_licences = next((column for column in named if any(column.known)), None)
    licences = of_licences.parsed(fields.of_licences) if of_licences is not None else ()
    line = columns["JobID"].line
    faults.check()
    processors, nodes, asked = parsed["AllocCPUS"], parsed["AllocNodes"], None
    if "ReqCPUS" in parsed:
        asked = np.where(processors > 0, 0, parsed["ReqCPUS"])
    if "ReqNodes" in parsed:
        nodes = np.where(nodes > 0, nodes, parsed["ReqNodes"])
    memory = parsed["ReqMem"]
    amount = np.array([kb for kb, _ in memory])
    size = processors if asked is None else processors + asked
    times = np.select([[unit == of for _, unit in memory] for of in "cn"], [size, np.maximum(nodes, 1)], 1)
    devices = parsed.get("TRES", ())
    if "ReqTRES" in parsed and "TRES" in parsed:
        devices = np.where(processors > 0, devices, parsed["ReqTRES"])
    gpus = columns["TRES"].parsed(_gpus) if "TRES" in columns else None
    table = Table(
        path, source, counts, 0, line, values["JobID"], values["User"], values["Partition"], parsed["State"],
        values["Submit"], values["Start"], values.get("Eligible"), parsed["ElapsedRaw"],
        parsed["TimelimitRaw"], processors, amount * times, _apart(values, gpus), nodes, values.get("End"),
        asked, values.get("Cluster"), values.get("Account"), values.get("Constraints"),
        _by_name(devices), _by_name(licences), _placed(columns.get("SubmitLine")),
    )  # fmt: skip
    return _without_resizes(table)


def _without_resizes(table: Table) -> Table:
    """Return the rows with one for each job that changed its size.

    Slurm has a row for each part, all but the last one in state RESIZING, and each submitted when the part
    before ended. The job did not wait in between: it is submitted and starts with its first part, runs for
    the time of all of them, and has the processors of the longest.
    """

    def job(row: int) -> tuple[str, str, str]:
        return table.job[row], table.user[row], "" if table.cluster is None else table.cluster[row]

    parts: dict[tuple[str, str, str], list[int]] = {}
    for row in np.flatnonzero(table.state == RESIZED).tolist():
        parts.setdefault(job(row), []).append(row)
    if not parts:
        return table
    keep = table.state != RESIZED
    changed = {name: getattr(table, name).copy() for name in ("submit", "start", "elapsed", "processors")}
    n_resized = 0
    for row in np.flatnonzero(keep).tolist():
        if (before := parts.pop(job(row), None)) is None:
            continue
        first = min(before, key=lambda part: table.submit[part])
        longest = max([row, *before], key=lambda part: table.elapsed[part])
        for name, source in (("submit", first), ("start", first), ("processors", longest)):
            changed[name][row] = getattr(table, name)[source]
        changed["elapsed"][row] = table.elapsed[[row, *before]].sum()
        n_resized += 1
    values = {field.name: getattr(table, field.name) for field in dataclasses.fields(table)} | changed
    kept = {name: value[keep] for name, value in values.items() if isinstance(value, np.ndarray)}
    mappings: dict[str, Any] = {
        name: {key: of[keep] for key, of in values[name].items()} for name in ("apart", "devices", "licences")
    }
    return replace(table, **kept, **mappings, n_resized=n_resized)


def _placed(column: Any) -> np.ndarray | None:
    """Return where jobs want their nodes and whether they share them, None where no job says so."""
    if column is None or not any(map(fields.SOUGHT.search, column.known)):
        return None
    return np.array(column.parsed(fields.placed).tolist(), np.int64)


def _by_name(of_jobs: Iterable[Mapping[str, int]]) -> dict[str, np.ndarray]:
    """Return the counts of each name, of rows that have counts by name."""
    names = dict.fromkeys(name for of_job in of_jobs for name in of_job)
    return {name: np.array([of_job.get(name, 0) for of_job in of_jobs]) for name in names}


def _gpus(tres: str) -> str:
    return "GPUs" if of_kind(fields.devices(tres), "gpu") else ""


def _apart(columns: Mapping[str, np.ndarray], gpus: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return what a site may schedule apart, see `Table`."""
    kinds = {"QOS": columns.get("QOS"), "reservations": columns.get("Reservation"), "GPUs": gpus}
    return {kind: values for kind, values in kinds.items() if values is not None}

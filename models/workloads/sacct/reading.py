"""Reading of a file of sacct into a `Table`, with one line for the first fault."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.jobs.requests import of_kind
from models.jobs.swf.columns import COLUMNS
from models.jobs.swf.unpacking import content_of
from models.workloads.sacct import fields
from models.workloads.sacct.fields import COMMAND, SacctError

NAMES = {"User", "Partition", "Account", "QOS", "Reservation"}
LONGEST_NAME = 1000
"""A longer one is no name, and takes its length in each row of an array."""


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file that are no steps, in the file's order; every array has the shape (n_rows,).

    Parameters
    ----------
    path : Path
        Where they were read; messages have the file's name only.
    n_rows, n_steps, n_twice : int
        Rows of the whole file, those of them that are steps, and those that are exactly like one before them,
        as where two files overlap that were joined.
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
        What a site may schedule apart from each other -> what each row has of it, empty for none: QOS,
        reservation and GPUs, if the file has them.
    nodes : ndarray of int
    account, constraint : ndarray of str or None
        None where the file does not have it.
    devices : mapping of str to ndarray of int
        Generic resources of the whole job by name, ``gpu:a100``.
    """

    path: Path
    n_rows: int
    n_steps: int
    n_twice: int
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
    account: np.ndarray | None
    constraint: np.ndarray | None
    devices: Mapping[str, np.ndarray]

    @property
    def name(self) -> str:
        """Name of the file, without its folder."""
        return self.path.name


def read(path: str | os.PathLike[str], sha256: str | None = None) -> Table:
    """Read what ``sacct --parsable2`` (or ``--parsable``) printed, plain or gzip.

    Raises
    ------
    ValueError
        No such file, a file whose SHA-256 is not `sha256` (where that is given), a field that is missing,
        or the first line that is wrong, with its number.
    """
    path = Path(path)
    text = content_of(path, sha256).decode(errors="surrogateescape")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if "\0" in lines[0]:
        raise SacctError(f"{path.name}: is no text that can be read; save it as UTF-8")
    if not lines[0]:
        raise SacctError(f"{path.name}: does not begin with the names of the fields; make it with: {COMMAND}")
    if lines[-1]:
        raise SacctError(
            f"{path.name}: line {len(lines)} has no line end and may be cut off; fetch the file again, or "
            "end the line"
        )
    if lines[0].lstrip().startswith(";") or (len(lines[0].split()) == len(COLUMNS) and "|" not in lines[0]):
        raise SacctError(
            f"{path.name}: this is a log in the Standard Workload Format, and not what sacct prints; add "
            "workload=swf"
        )
    header = lines[0].split("|")
    n, may_have_bars = len(header), header[-1].lower() == "constraints"  # a|b
    places = _places(path.name, header)
    rows, numbers, n_rows, n_twice = [], [], 0, 0
    seen = set()
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        if line == lines[0]:
            raise SacctError(
                f"{path.name}: line {number} names the fields once more; of files that are joined, keep the "
                "first line of the first one only"
            )
        row = line.split("|")
        last = "|".join(row[n - 1 :])
        if may_have_bars and len(row) > n and "=" not in last:  # which AllocTRES before it has
            row[n - 1 :] = [last]
        if len(row) != n:
            raise SacctError(
                f"{path.name}: line {number} has {len(row)} fields, the first line {n}; is there a "
                "| in a name? Leave out JobName and Comment, or correct the line"
            )
        n_rows += 1
        if line in seen:
            n_twice += 1
        elif "." not in row[places["JobID"]]:
            seen.add(line)
            rows.append(row)
            numbers.append(number)
    if not rows:
        what = f"only {n_rows:,} steps" if n_rows else "nothing but the names of the fields"
        raise SacctError(f"{path.name}: no jobs at all ({what}); make it with: {COMMAND}")
    texts = {field: [row[place] for row in rows] for field, place in places.items()}
    for field in NAMES & texts.keys():
        longest = max(range(len(rows)), key=lambda k: len(texts[field][k]))
        if len(texts[field][longest]) > LONGEST_NAME:
            raise SacctError(
                f"{path.name}: line {numbers[longest]} has a {field} of over {LONGEST_NAME} letters"
            )
    return _table(
        path, n_rows, n_twice, np.array(numbers), texts, [header[place] for place in places.values()]
    )


def _places(name: str, header: Sequence[str]) -> dict[str, int]:
    """Return which column holds each field."""
    column = {title.lower(): place for place, title in enumerate(header)}
    places = {}
    for field, titles in fields.FIELDS.items():
        found = [column[title.lower()] for title in titles if title.lower() in column]
        if not found:
            raise SacctError(
                f"{name}: the first line names no field {' or '.join(titles)}; make it with: {COMMAND}"
            )
        places[field] = found[0]
    for field, titles in fields.OPTIONAL.items():
        if found := [column[title.lower()] for title in titles if title.lower() in column]:
            places[field] = found[0]
    return places


def _table(
    path: Path,
    n_rows: int,
    n_twice: int,
    line: np.ndarray,
    texts: dict[str, list[str]],
    titles: Sequence[str],
) -> Table:
    title = dict(zip(texts, titles, strict=True))

    def each(field: str, parse: Callable[[str], Any]) -> list[Any]:
        """Parse every distinct text once."""
        known: dict[str, Any] = {}
        for number, text in zip(line, texts[field], strict=True):
            if text not in known:
                try:
                    known[text] = parse(text)
                except ValueError as expected:
                    raise _broken(path.name, number, title[field], text, expected) from None
        return [known[text] for text in texts[field]]

    def instants(field: str) -> np.ndarray:
        try:
            return fields.times(texts[field])
        except ValueError:
            return np.concatenate(each(field, lambda text: fields.times([text])))

    processors = np.array(each("AllocCPUS", fields.count), np.int64)
    nodes = np.array(each("AllocNodes", fields.count), np.int64)
    amount, of_what = zip(*each("ReqMem", fields.memory), strict=True)
    times = np.select([np.array(of_what) == "c", np.array(of_what) == "n"], [processors, nodes], 1)
    devices = each("TRES", fields.devices) if "TRES" in texts else []
    names = dict.fromkeys(name for of_job in devices for name in of_job)
    table = Table(
        path,
        n_rows,
        n_rows - n_twice - line.size,
        n_twice,
        line,
        np.array(each("JobID", fields.job), dtype=object),
        np.array(texts["User"], dtype=object),
        np.array(texts["Partition"], dtype=object),
        np.array(each("State", fields.state), dtype=object),
        instants("Submit"),
        instants("Start"),
        instants("Eligible") if "Eligible" in texts else None,
        np.array(each("ElapsedRaw", fields.seconds)),
        np.array(each("TimelimitRaw", fields.limit)),
        processors,
        np.array(amount) * times,
        _apart(texts, devices),
        nodes,
        np.array(texts["Account"], object) if "Account" in texts else None,
        np.array(texts["Constraints"], object) if "Constraints" in texts else None,
        {name: np.array([of_job.get(name, 0) for of_job in devices]) for name in names},
    )
    unknown = np.isnat(table.submit)
    if unknown.any():
        first = int(np.argmax(unknown))
        raise _broken(path.name, line[first], "Submit", texts["Submit"][first], "a time")
    return table


def _apart(texts: Mapping[str, list[str]], devices: Sequence[Mapping[str, int]]) -> dict[str, np.ndarray]:
    """Return what a site may schedule apart, see `Table`."""
    kinds = {"QOS": "QOS", "Reservation": "reservations"}
    found = {kind: texts[name] for name, kind in kinds.items() if name in texts}
    if "TRES" in texts:
        found["GPUs"] = ["GPUs" if of_kind(of_job, "gpu") else "" for of_job in devices]
    return {name: np.array(values, dtype=object) for name, values in found.items()}


def _broken(name: str, line: int, field: str, text: str, expected: object) -> SacctError:
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    return SacctError(
        f"{name}: line {line} has {shown!r} as {field}, not {expected}; correct it or delete the line"
    )

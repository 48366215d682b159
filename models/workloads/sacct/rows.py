"""The rows of what ``sacct`` prints as text, by column, whatever its separator, its order and its breaks.

A reader of a format yields blocks: the line of each row, and of each field of `fields` that the file has the
texts of all rows. What is left out on the way is counted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations_with_replacement
from math import comb
from operator import methodcaller
from typing import NamedTuple

from models.jobs.swf.columns import COLUMNS
from models.workloads.sacct import fields
from models.workloads.sacct.fields import COMMAND, Faults, SacctError

BLOCK_ROWS = 1 << 14
"""Rows that are parsed at a time."""

LONGEST_LINE = 1 << 26
"""Bytes of a line, or of a record of JSON, at most."""

FREE = frozenset(
    ("submitline", "jobname", "comment", "admincomment", "systemcomment", "workdir", "extra", "constraints")
)
"""Fields, in lower case, whose text a user types: it may contain the separator, or line breaks."""

MOST_SPLITS = 1000
"""Ways to distribute what is too much in a row to fields of free text."""

COMMENTS = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*#[^\n]*\n)+")
"""Lines above the names of the fields that a script has added."""

SEPARATOR = re.compile(r"[A-Za-z]+([^A-Za-z]+)[A-Za-z]")


TITLES = (*fields.FIELDS, *fields.OPTIONAL)
Record = tuple[str, ...]
"""The values of a job, in the order of `TITLES`."""


class Block(NamedTuple):
    """Some rows: their lines, and of each field their texts."""

    lines: Sequence[int]
    texts: Mapping[str, Sequence[str]]


@dataclass
class Counts:
    """Rows of a file; steps of jobs, repeated rows, and rows that were put together from several lines; and
    the version of Slurm that printed it, in words, empty where it is not named."""

    rows: int = 0
    steps: int = 0
    twice: int = 0
    joined: int = 0
    version: str = ""


def version_of(content: bytes) -> str:
    """Return the version of Slurm that comments above the rows name, in words; empty without one."""
    comments = COMMENTS.match(content)
    found = re.search(rb"(?i)slurm\D{0,20}?(\d\d\.\d\d(?:\.\d+)?)", comments[0]) if comments else None
    return f", version {found[1].decode()}" if found else ""


def decoded(name: str, content: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a file, without their ends."""
    for lines, _ in decoded_blocks(name, content):
        yield from lines


def decoded_blocks(name: str, content: Iterable[bytes]) -> Iterator[tuple[list[str], bool]]:
    """Yield the lines that end in one block of a file, without their ends, and True; in the end a last line
    without one, if there is any, and False.

    Raises
    ------
    ValueError
        A line is too long to be one of a log.
    """
    rest = b""
    for block in content:
        whole, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            yield _split(whole), True
        if len(rest) > LONGEST_LINE:
            raise SacctError(f"{name}: has a line of over {LONGEST_LINE:,} bytes, as no log does; give a log")
    if rest:
        yield _split(rest), False


def _split(block: bytes) -> list[str]:
    text = block.decode(errors="surrogateescape")
    return text.replace("\r\n", "\n").removesuffix("\r").split("\n")


@dataclass
class Header:
    """The first line: which column holds which field."""

    names: list[str]
    separator: str
    places: dict[str, int]
    free: list[int]
    barred: bool = True
    """Whether rows may end with a bar that it lacks."""

    @classmethod
    def of(cls, name: str, line: str) -> "Header":
        """Read it.

        Raises
        ------
        SacctError
            It lacks a field that is needed.
        """
        found = SEPARATOR.match(line.lstrip())
        separator = "|" if found is None else found[1]
        names = line.split(separator)
        column = {title.lower(): place for place, title in enumerate(names)}
        places, missing = {}, []
        for field, titles in (fields.FIELDS | fields.OPTIONAL).items():
            present = [column[title.lower()] for title in titles if title.lower() in column]
            if present:
                places[field] = present[0]
            elif field in fields.FIELDS:
                missing.append(" or ".join(titles))
        if not places:
            raise SacctError(
                f"{name}: does not begin with the names of fields; delete lines above them, and leave out "
                f"--noheader; make the file with: {COMMAND}"
            )
        if missing:
            raise SacctError(
                f"{name}: the first line lacks field {' and '.join(missing)}; make the file with: {COMMAND}"
            )
        free = [place for place, title in enumerate(names) if title.lower() in FREE]
        return cls(names, separator, places, free)

    def columns(self, lines: Sequence[str], seen: set[int]) -> Block | None:
        """Return the fields of lines all at once, None where one of them is not a row of a job of its own.

        The lines are added to those that were `seen`.
        """
        n, at, separator = len(self.names), self.places["JobID"], self.separator
        if {*map(methodcaller("count", separator), lines)} != {n - 1}:
            return None
        texts = separator.join(lines).split(separator)
        jobs = texts[at::n]
        keys = {*map(hash, lines)}
        one_by_one = len(keys) < len(lines) or not seen.isdisjoint(keys) or "." in "".join(jobs)
        if one_by_one or min(jobs) < "0" or max(jobs) > ":":
            return None
        seen |= keys
        return Block([], {field: texts[place::n] for field, place in self.places.items()})

    def put_together(self, row: list[str]) -> list[str] | None:
        """Return a row with too many fields as one with the header's number of them, None unless there is
        one way in which the fields that are read have their forms."""
        found: dict[Record, list[str]] = {}
        for whole in self._splits(row):
            if self._is_whole(whole):
                key = {field: whole[place] for field, place in self.places.items()}
                key["SubmitLine"] = fields.options(key.get("SubmitLine", ""))
                found[tuple(key.values())] = whole
        return found.popitem()[1] if len(found) == 1 else None

    def _splits(self, row: list[str]) -> Iterator[list[str]]:
        """Yield the ways to have the header's number of fields: fields of free text have the surplus, or a
        last bar is left out, as --parsable prints it. Nothing if they are too many."""
        for end in (len(row), len(row) - 1)[: 1 + (self.barred and not row[-1])]:
            surplus = end - len(self.names)
            if comb(surplus + len(self.free), surplus) > MOST_SPLITS:
                return
            for chosen in combinations_with_replacement(self.free, surplus):
                whole, at = [], 0
                for place in range(len(self.names)):
                    stop = at + 1 + chosen.count(place)
                    whole.append(self.separator.join(row[at:stop]))
                    at = stop
                yield whole

    def _is_whole(self, row: Sequence[str]) -> bool:
        """Return whether no field has moved: all of them have their forms, and the command line asks for the
        features that the job has."""
        texts = {field: row[place] for field, place in self.places.items()}
        try:
            for field, text in texts.items():
                fields.FORMS.get(field, (str, None))[0](text)
        except ValueError:
            return False
        asked = fields.constraints_of(texts["SubmitLine"]) if "SubmitLine" in texts else ()
        return not asked or texts.get("Constraints", "") in {"", *asked}


def blocks(
    name: str, content: bytes, further: Iterator[bytes], counts: Counts, faults: Faults
) -> Iterator[Block]:
    """Yield the rows of a file, without steps.

    Parameters
    ----------
    content : bytes
        The begin of the file: comments and two lines, at least.
    further : iterator of bytes
        The rest of it.

    Raises
    ------
    SacctError
        Fields that are missing.
    """
    comments = COMMENTS.match(content)
    n_comments = content.count(b"\n", 0, comments.end()) if comments else 0
    content = content[comments.end() :] if comments else content
    first = next(decoded(name, [content]), "")
    _check_form(name, first, content)
    header = Header.of(name, first)
    n, job = len(header.names), header.places["JobID"]
    titles = {title.lower() for title in fields.FIELDS["JobID"]}
    begin, _ = next(decoded_blocks(name, [content]))
    of_begin = (line.split(header.separator) for line in begin[1:] if line)
    header.barred = all(len(row) > n for row in of_begin if titles.isdisjoint(map(str.lower, row)))
    seen: set[int] = set()
    numbers: list[int] = []
    rows: list[list[str]] = []
    begun: list[str] = []  # a row of which lines are still to come
    since = 0

    def taken() -> Iterator[Block]:
        if rows:
            columns = list(zip(*rows, strict=True))
            yield Block([*numbers], {field: columns[at] for field, at in header.places.items()})
            rows.clear()
            numbers.clear()

    n_lines = n_comments
    for every, is_whole in decoded_blocks(name, chain([content], further)):
        if not is_whole:
            what = "lacks its newline and may be cut off (fetch the file again, or add one)"
            faults.add("newline", n_lines + 1, what)
            begun = []
            break
        lines = every if n_lines > n_comments else every[1:]  # without the names
        n_lines += len(every)
        numbered = range(n_lines - len(lines) + 1, n_lines + 1)
        if not begun and lines and (block := header.columns(lines, seen)) is not None:
            yield from taken()
            counts.rows += len(lines)
            yield Block(numbered, block.texts)
            continue
        for number, line in zip(numbered, lines, strict=True):
            if not line and not begun:
                continue
            row = line.split(header.separator)
            if len(row) > job and not row[job][:1].isdigit() and not titles.isdisjoint(map(str.lower, row)):
                yield from taken()
                before, header = header, replace(Header.of(name, line), barred=header.barred)
                n, job = len(header.names), header.places["JobID"]
                if other := before.places.keys() ^ header.places.keys():
                    raise SacctError(
                        f"{name}: line {number} begins rows with other fields ({', '.join(sorted(other))}); "
                        "join files of the same fields, or give them one by one"
                    )
                continue
            if len(row) < n:
                if begun:
                    begun[-1] += f" {row[0]}"
                    begun += row[1:]
                elif len(row) > job and fields.JOB.fullmatch(row[job].partition(".")[0]) and n > 1:
                    begun, since = row, number
                    continue
                elif header.free[-1:] == [n - 1]:  # more of the last field of the row before
                    continue
                else:
                    _add_wrong_number(faults, number, row, header)
                    continue
                if len(begun) < n:
                    continue
                row, begun, number = begun, [], since
                counts.joined += 1
            elif begun:
                _add_wrong_number(faults, since, begun, header)
                begun = []
            if len(row) > n:
                if (whole := header.put_together(row)) is None:
                    _add_wrong_number(faults, number, row, header)
                    continue
                row = whole
            counts.rows += 1
            if "." in row[job]:
                counts.steps += 1
                continue
            known = hash(line)
            if known in seen:
                counts.twice += 1
                continue
            seen.add(known)
            rows.append(row)
            numbers.append(number)
            if len(rows) == BLOCK_ROWS:
                yield from taken()
    if begun:
        _add_wrong_number(faults, since, begun, header)
    yield from taken()


def _check_form(name: str, first: str, content: bytes) -> None:
    """Raise `SacctError` for a file that is something else than rows with separators."""
    if "\0" in first:
        raise SacctError(f"{name}: is not a readable text file; save it as UTF-8")
    if not first:
        raise SacctError(f"{name}: is empty; make the file with: {COMMAND}")
    words = first.split()
    if first.startswith(";") or (len(words) == len(COLUMNS) and "|" not in first):
        raise SacctError(
            f"{name}: this is a log in the Standard Workload Format, not output of sacct; add workload=swf"
        )
    second = content.partition(b"\n")[2][:200].partition(b"\n")[0]
    if len(words) > 1 and set(second.split()) and all(set(word) == {ord("-")} for word in second.split()):
        raise SacctError(
            f"{name}: this is sacct's fixed-width table, in which long values are cut; print it again "
            f"with -P: {COMMAND}"
        )


def _add_wrong_number(faults: Faults, line: int, row: Sequence[str], header: Header) -> None:
    what = (
        f"has {len(row)} fields, but the first line has {len(header.names)} (is there a {header.separator} "
        "or a line break in a name or a text? print it again with sacct -P --delimiter=$'\\x1f', or leave "
        "out SubmitLine, JobName and Comment)"
    )
    faults.add("fields", line, what)

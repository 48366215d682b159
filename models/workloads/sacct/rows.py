"""The rows of what ``sacct`` prints as text, by column, whatever its separator, its order and its breaks.

A reader of a format yields blocks: the line of each row, and of each field of `fields` that the file has the
texts of all rows. What is left out on the way is counted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import NamedTuple

from models.jobs.swf.columns import COLUMNS
from models.workloads.sacct import fields
from models.workloads.sacct.fields import COMMAND, SacctError

BLOCK_BYTES, BLOCK_ROWS = 1 << 21, 1 << 14
"""Bytes that are decoded, and rows that are parsed, at a time."""

FREE = frozenset(
    ("submitline", "jobname", "comment", "admincomment", "systemcomment", "workdir", "extra", "constraints")
)
"""Fields, in lower case, whose text a user types: it may contain the separator, or line breaks."""

COMMENTS = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*#[^\n]*\n)+")
"""Lines above the names of the fields that a script has added."""

SEPARATOR = re.compile(r"[A-Za-z]+([^A-Za-z]+)[A-Za-z]")


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


def decoded(content: bytes) -> Iterator[str]:
    """Yield the lines of a file, without their ends."""
    for lines in decoded_blocks(content):
        yield from lines


def decoded_blocks(content: bytes) -> Iterator[list[str]]:
    """Yield the lines of a file, without their ends, a block that is decoded at a time."""
    start = 0
    while start < len(content):
        stop = content.rfind(b"\n", start, start + BLOCK_BYTES) + 1 or content.find(b"\n", start) + 1
        block = content[start : stop or len(content)]
        start += len(block)
        text = block.decode(errors="surrogateescape")
        yield text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")


@dataclass
class Header:
    """The first line: which column holds which field."""

    names: list[str]
    separator: str
    places: dict[str, int]
    free: list[int]

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
        """Return a row with too many fields as one with the header's number of them, None if it is
        ambiguous."""
        n = len(self.names)
        if len(row) == n + 1 and not row[-1] and self._is_whole(row):  # a last bar, as --parsable prints it
            return row[:-1]
        if len(self.free) != 1:
            return None
        at = self.free[0]
        stop = at + 1 + len(row) - n
        text = self.separator.join(row[at:stop])
        if self.names[at].lower() == "constraints" and "=" in text:  # no constraint: AllocTRES, moved
            return None
        return [*row[:at], text, *row[stop:]]

    def _is_whole(self, row: Sequence[str]) -> bool:
        """Return whether no field has moved: the submission is a time."""
        text = row[self.places["Submit"]]
        return any(form.fullmatch(text) for form in (fields.TIME, fields.NUMBER))


def blocks(name: str, content: bytes, counts: Counts) -> Iterator[Block]:
    """Yield the rows of a file, without steps.

    Raises
    ------
    SacctError
        A field that is missing, or the first line that is wrong, with its number.
    """
    comments = COMMENTS.match(content)
    n_comments = content.count(b"\n", 0, comments.end()) if comments else 0
    content = content[comments.end() :] if comments else content
    first = next(decoded(content), "")
    _check_form(name, first, content)
    header = Header.of(name, first)
    n, job = len(header.names), header.places["JobID"]
    titles = {title.lower() for title in fields.FIELDS["JobID"]}
    seen: set[int] = set()
    numbers: list[int] = []
    rows: list[list[str]] = []
    begun: list[str] = []  # a row of which lines are still to come
    since = 0
    n_lines = n_comments
    for every in decoded_blocks(content):
        lines = every if n_lines > n_comments else every[1:]  # without the names
        n_lines += len(every)
        numbered = range(n_lines - len(lines) + 1, n_lines + 1)
        if not begun and lines and (block := header.columns(lines, seen)) is not None:
            if rows:
                yield _by_column(header, numbers, rows)
                numbers, rows = [], []
            counts.rows += len(lines)
            yield Block(numbered, block.texts)
            continue
        for number, line in zip(numbered, lines, strict=True):
            if not line and not begun:
                continue
            row = line.split(header.separator)
            if len(row) > job and not row[job][:1].isdigit() and not titles.isdisjoint(map(str.lower, row)):
                if rows:
                    yield _by_column(header, numbers, rows)
                    numbers, rows = [], []
                before, header = header, Header.of(name, line)  # of a file that was joined, in its own order
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
                    raise _wrong_number(name, number, row, header)
                if len(begun) < n:
                    continue
                row, begun, number = begun, [], since
                counts.joined += 1
            elif begun:
                raise _wrong_number(name, since, begun, header)
            if len(row) > n:
                if (whole := header.put_together(row)) is None:
                    raise _wrong_number(name, number, row, header)
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
                yield _by_column(header, numbers, rows)
                numbers, rows = [], []
    if begun:
        raise _wrong_number(name, since, begun, header)
    if rows:
        yield _by_column(header, numbers, rows)


def _by_column(header: Header, numbers: list[int], rows: Sequence[Sequence[str]]) -> Block:
    columns = list(zip(*rows, strict=True))
    return Block(numbers, {field: columns[at] for field, at in header.places.items()})


def _check_form(name: str, first: str, content: bytes) -> None:
    """Raise `SacctError` for a file that is something else than rows with separators."""
    if "\0" in first:
        raise SacctError(f"{name}: is not a readable text file; save it as UTF-8")
    if not first:
        raise SacctError(f"{name}: does not begin with the names of fields; make the file with: {COMMAND}")
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
    if not content.endswith(b"\n"):
        last = content.count(b"\n") + 1
        raise SacctError(
            f"{name}: line {last} lacks its newline and may be cut off; fetch the file again, or add one"
        )


def _wrong_number(name: str, number: int, row: Sequence[str], header: Header) -> SacctError:
    return SacctError(
        f"{name}: line {number} has {len(row)} fields, but the first line has {len(header.names)}; is there "
        f"a {header.separator} or a line break in a name or a text? Leave out SubmitLine, JobName and "
        "Comment, or correct the line"
    )

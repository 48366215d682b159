"""Reads a log file: its rows, and the faults of rows that are left out."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from models.counting import counted
from models.jobs.swf.columns import COLUMNS, DTYPES, EXACT, SwfError
from models.jobs.swf.header import header_number, parse_header
from models.jobs.swf.log import Log
from models.jobs.swf.rows import cut_row, parse_rows
from models.jobs.swf.unpacking import content_of

BLOCK_BYTES = 1 << 22
"""Bytes of text that are parsed at a time."""

OTHER_FORMATS = {
    b"#": "a log of another format, such as the Grid Workloads Format",
    b"{": "JSON, such as Batsim's",
}
"""First bytes -> format."""

SACCT, SACCT_BYTES = (b"JobID|", b"JobIDRaw|"), 200
"""First words of files of sacct, and the number of bytes that are searched for them."""


def read(path: str | os.PathLike[str], sha256: str | None = None) -> Log:
    """Read an SWF log, plain or gzip (recognised by content, not by name).

    A file that was cut exactly at the end of a line cannot be distinguished from a shorter log: it is read,
    and `Log.notes` has the number of rows in its header. Any other cut is an error. A last row without a line
    end is taken as whole only if it ends in -1, since any other last number may be the beginning of a longer
    one.

    Raises
    ------
    SwfError
        No such file, a file whose SHA-256 is not `sha256` (where that is given), not text, no jobs, cut
        off, or a file of another format. Rows that are wrong (too few columns, not a number, a decimal where
        the format wants a whole number, a negative runtime that is not -1) are in `Log.faults`.
    """
    path = Path(path)
    content = content_of(path, sha256)
    if content[:SACCT_BYTES].partition(b"\n")[0].startswith(SACCT):
        raise SwfError(
            f"{path.name}: this is what sacct prints, not a log in the Standard Workload Format; add "
            "workload=sacct"
        )
    if other := next(
        (what for first, what in OTHER_FORMATS.items() if content.lstrip().startswith(first)), None
    ):
        raise SwfError(
            f"{path.name}: this is {other}, which is not read; convert it to the Standard Workload Format "
            "(18 columns)"
        )
    comments: list[bytes] = []
    lines: list[np.ndarray] = []
    parsed: list[np.ndarray] = []
    number = start = 0
    wide = False
    faults: dict[int, str] = {}
    while start < len(content):
        # A block of whole lines at a time: each line becomes an object several times as large as its text.
        stop = content.rfind(b"\n", start, start + BLOCK_BYTES) + 1 or content.find(b"\n", start) + 1
        block = content[start : stop or len(content)]
        start += len(block)
        rows: list[bytes] = []
        numbers: list[int] = []
        ends_in_row = False
        for text in block.splitlines():
            number += 1
            stripped = text.lstrip()
            if stripped.startswith(b";"):
                comments.append(stripped)
                ends_in_row = False
            elif stripped:
                rows.append(text)
                numbers.append(number)
                ends_in_row = True
        if not rows:
            continue
        lines.append(np.array(numbers))
        if ends_in_row and start == len(content):
            cut = cut_row(path.name, rows[-1], numbers[-1], ended=block[-1:].isspace())
            if cut is not None:
                raise SwfError(cut)
        values, good, found = parse_rows(path.name, rows, lines[-1])
        wide |= len(rows[0].split()) > len(COLUMNS)
        lines[-1] = good
        parsed.append(values)
        faults |= found
    if not any(map(len, parsed)):
        if faults:
            first = min(faults)
            raise SwfError(
                f"{path.name}: line {first} {faults[first]}, and no row is right; give another file"
            )
        what = f"only {counted(len(comments), 'comment line')}" if comments else "empty"
        raise SwfError(
            f"{path.name}: no jobs at all ({what}); give a log with one row of 18 columns for each job"
        )
    del content, block, rows, numbers
    line, values = np.concatenate(lines), np.concatenate(parsed)
    del lines, parsed
    header = parse_header(comments)

    submit = values[:, COLUMNS.index("submit")]
    late = int((submit < np.maximum.accumulate(submit)).sum())
    notes = _row_count_note(path.name, header, values) + (
        (f"{counted(late, 'row', 'was')} out of submit order: sorted",) if late else ()
    )
    if wide:
        notes += (f"columns beyond the format's {len(COLUMNS)} are left out",)
    order = np.argsort(submit, kind="stable")
    columns = {
        name: values[order, column].astype(dtype) for column, (name, dtype) in enumerate(DTYPES.items())
    }
    return Log(path, header, columns, line[order], notes, faults)


def _row_count_note(name: str, header: Mapping[str, list[str]], values: np.ndarray) -> tuple[str, ...]:
    promised = header_number(name, header, "MaxRecords", "MaxJobs", most=EXACT)
    rows = len(values)
    if promised in (0, rows):
        return ()
    note = f"it has {counted(rows, 'row')}, but its header says {promised:,}"
    if rows > promised:
        return (note,)
    # A cleaned log keeps the header and the job numbers of the original.
    whole = values[:, COLUMNS.index("job")].max() >= promised
    return (note + (": some are missing, but not the last" if whole else ": the end may be missing"),)

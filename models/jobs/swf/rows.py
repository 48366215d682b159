"""Parses rows of text quickly, and reports the faults of rows that violate the format."""

import re

import numpy as np

from models.jobs.swf.columns import COLUMNS, invalid_rows

_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NUMBER_BYTES = b"0123456789+-.eE \t\n\r\v\f"


def parse_rows(
    name: str, rows: list[bytes], line: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """Return the rows as numbers, shape (n_rows, 18), their lines, and the faults of rows that are left out.

    Columns beyond the format's 18 are cut.
    """
    faults: dict[int, str] = {}
    try:
        values = _numbers(rows)
    except ValueError:
        # The fast parser does not report reliably where it failed: check one row after the other.
        rows = [_first_columns(row) for row in rows]
        found = [_syntax_fault(row) for row in rows]
        faults = {int(line[k]): what for k, what in enumerate(found) if what}
        line = line[[what is None for what in found]]
        values = _numbers([row for row, what in zip(rows, found, strict=True) if what is None])
    invalid = invalid_rows(values)
    faults |= {int(line[k]): what for k, what in invalid.items()}
    keep = np.ones(len(values), bool)
    keep[list(invalid)] = False
    return values[keep], line[keep], faults


def _first_columns(row: bytes) -> bytes:
    tokens = row.split(maxsplit=len(COLUMNS))
    return b" ".join(tokens[: len(COLUMNS)]) if len(tokens) > len(COLUMNS) else row


def cut_row(name: str, row: bytes, number: int, *, ended: bool) -> str | None:
    """Return the message for an incomplete last row, None for a complete one."""
    tokens = row.split()
    if _odd_bytes(row):
        return None
    if len(tokens) < len(COLUMNS):
        why = f"has {len(tokens)} of {len(COLUMNS)} columns"
    elif not ended and len(tokens) == len(COLUMNS) and tokens[-1] != b"-1":
        why = "has no line end, so its last number may be incomplete"
    else:
        return None
    return (
        f"{name}: cut off after line {number - 1}, line {number} {why}; fetch the file again, or complete or "
        f"delete line {number}"
    )


def _numbers(rows: list[bytes]) -> np.ndarray:
    """Return the rows as numbers, quickly; ValueError if any of them is irregular."""
    if not rows:
        return np.empty((0, len(COLUMNS)))
    text = b"\n".join(rows)
    if text.translate(None, delete=_NUMBER_BYTES):
        raise ValueError("bytes that belong to no number")
    # Whole numbers are parsed five times as fast. Others stay out: some numpy versions truncate them.
    if not any(mark in text for mark in (b".", b"e", b"E")):
        try:
            return _of_18_columns(np.loadtxt(rows, dtype=np.int64, comments=None, ndmin=2))
        except ValueError:
            pass  # perhaps a number beyond 64 bits, which the caller recognises by its value
    return _of_18_columns(np.loadtxt(rows, dtype=np.float64, comments=None, ndmin=2))


def _of_18_columns(values: np.ndarray) -> np.ndarray:
    if values.shape[1] != len(COLUMNS):
        raise ValueError("rows of equal but wrong length")
    return values


def _syntax_fault(row: bytes) -> str | None:
    if odd := _odd_bytes(row):
        return f"is not text (byte 0x{odd[0]:02x}); a log is plain text, or compressed by gzip, bzip2 or xz"
    tokens = row.split()
    if len(tokens) != len(COLUMNS):
        return f"has {len(tokens)} columns, need {len(COLUMNS)}"
    for name, token in zip(COLUMNS, tokens, strict=True):
        if not _NUMBER.fullmatch(token):
            shown = token[:40].decode()
            return f"has {shown!r} as {name}, not a number (-1 is unknown)"
    return None


def _odd_bytes(row: bytes) -> bytes:
    """Return the bytes that do not occur in text of numbers."""
    return row.translate(None, delete=bytes(range(0x20, 0x7F)) + b"\t\r\n\v\f")

"""Writes columns to a log file."""

import gzip
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from models.jobs.swf.columns import COLUMNS, SwfError, invalid_rows
from models.jobs.swf.header import header_lines


def write(
    path: str | os.PathLike[str],
    columns: Mapping[str, np.ndarray],
    header: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write an SWF file that `read` reads back; compressed if its name ends with ``.gz``.

    The file appears whole or not at all, and the same arguments give the same bytes.

    Parameters
    ----------
    columns : mapping of str to ndarray, shape (n_jobs,)
        Any of `COLUMNS`, in the order to be written; those left out are -1, a missing ``job`` counts from 1.
    header : mapping of str to sequence of str, optional
        ``{"Note": ["one line", "another"]}``; the key ``""`` is for comments without one, before all others.

    Raises
    ------
    SwfError
        If columns are unknown, have different lengths or no rows, or have values that `read` would refuse.
    """
    path = Path(path)
    unknown = sorted(set(columns) - set(COLUMNS))
    if unknown:
        raise SwfError(
            f"{path.name}: no columns {', '.join(unknown)} in the format; it has {', '.join(COLUMNS)}"
        )
    lengths = {name: np.size(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        given = ", ".join(f"{name} {length}" for name, length in lengths.items()) or "none"
        raise SwfError(f"{path.name}: needs columns of one length, at least 1; got {given}")
    table = np.full((next(iter(lengths.values())), len(COLUMNS)), -1.0)
    table[:, 0] = np.arange(1, len(table) + 1)
    for name, values in columns.items():
        table[:, COLUMNS.index(name)] = values
    if invalid := invalid_rows(table):
        row = min(invalid)
        raise SwfError(f"{path.name}: row {row + 1} cannot be written, it {invalid[row]}")

    lines = header_lines(path.name, header or {})
    # Whole numbers without a decimal point, as every reader of the format expects them.
    texts = [[str(int(x)) if x.is_integer() else repr(x) for x in column] for column in table.T.tolist()]
    lines += map(" ".join, zip(*texts, strict=True))
    content = ("\n".join(lines) + "\n").encode()
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise SwfError(
            f"{path}: cannot be written ({error.strerror}); choose a folder you may write to"
        ) from None

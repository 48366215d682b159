"""The comments of a log: parsed by key, written so that they parse back, and searched for numbers."""

import re
from collections.abc import Mapping, Sequence

from models.jobs.swf.columns import SwfError

# A comment that begins with a tab or more than two blanks continues the one before, even if it has a key.
_ENTRY = re.compile(r"; {0,2}([A-Za-z]\w*):(?:\s+(.*))?")


def parse_header(comments: list[bytes]) -> dict[str, list[str]]:
    """Return the comment lines by key, as `Log.header` has them."""
    header: dict[str, list[str]] = {}
    key = ""
    for comment in comments:
        try:
            text = comment.decode()
        except UnicodeDecodeError:
            text = comment.decode("latin-1")  # old logs spell names and places in it
        entry = _ENTRY.fullmatch(text)
        if entry:
            key = entry[1]
        value = (entry[2] or "" if entry else text[1:]).strip()
        if entry or value:
            header.setdefault(key, []).append(value)
    return header


def header_lines(name: str, header: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the comment lines of a header; `name` is the file's, for the message."""
    lines = []
    for key in sorted(header, key=bool):  # those without a key first: they would continue another
        values = header[key]
        for value in [values] if isinstance(values, str) else values:
            # Three blanks make a comment without a key stay one, even if it reads like "Key: value".
            line = f"; {key}: {value}".rstrip() if key else f";   {value}"
            back = parse_header([line.encode()])
            if len(line.encode().splitlines()) != 1 or back != {key: [value]}:
                raise SwfError(
                    f"{name}: cannot write the header entry {key!r}: {value!r}; a key is one word, "
                    "a value one line without blanks around it"
                )
            lines.append(line)
    return lines


UNKNOWN = ("", "-1")
"""Values of a key that mean unknown."""

_LEADING = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?![0-9]|[.,][0-9]|[eE][+-]?[0-9])")
"""A whole number, perhaps followed by an explanation; 1,024 is 1024."""


def header_number(
    name: str, header: Mapping[str, Sequence[str]], *keys: str, most: int, least: int = 0
) -> int:
    """Return the number of the first key that is present and known, else 0; `name` is the file's.

    Raises
    ------
    SwfError
        With one line if the value is not a whole number from `least` to `most`.
    """
    for key in keys:
        for value in header.get(key, []):
            if value in UNKNOWN:
                continue
            leading = _LEADING.match(value)
            number = int(leading[0].replace(",", "")) if leading else -1
            if not least <= number <= most:
                raise SwfError(
                    f"{name}: its header has {key}: {value[:60]}, which is not a whole number from {least} "
                    f"to {most:,}; correct that line, or delete it"
                )
            return number
    return 0

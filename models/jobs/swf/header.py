"""The comments of a log: parsed by key, written so that they parse back, asked for numbers."""

import re
from collections.abc import Mapping, Sequence

from models.jobs.swf.errors import SwfError

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
    for key in sorted(header, key=bool):  # comments without a key first, they would continue another
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


DIGITS = 15
"""Of the largest number in a header."""


def header_number(header: Mapping[str, list[str]], *keys: str) -> int:
    """Return the first of the keys that is there with a whole number above 0, else 0."""
    for key in keys:
        for value in header.get(key, []):
            leading = re.match(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])|[0-9]+", value)  # 1,024 is 1024
            if leading and len(leading[0]) > DIGITS:
                raise SwfError(f"header {key}: {leading[0][:DIGITS]}… is more than any machine or log has")
            if leading and (number := int(leading[0].replace(",", ""))) > 0:
                return number
    return 0

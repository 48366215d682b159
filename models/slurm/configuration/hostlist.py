"""Node lists: ``n[001-128,200]``, ``rack[1-2]node[1-4]``, names between commas."""

import re
from collections.abc import Iterator
from itertools import islice

BRACKET = re.compile(r"\[([^\[\]]*)\]")
RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
MOST, LONGEST, MOST_BRACKETS = 100_000, 255, 10
"""Names of a list, characters of a name, and brackets of one."""


def split(text: str) -> list[str]:
    """Return the parts of a list between commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [part for part in (*parts, text[begin:]) if part]


def expand(text: str) -> list[str]:
    """Return the names of a list; ``ValueError`` if the text is not a list.

    Examples
    --------
    >>> expand("n[08-10],login")
    ['n08', 'n09', 'n10', 'login']
    """
    parts = split(text)
    if any(len(part.partition("[")[0]) > LONGEST or part.count("[") > MOST_BRACKETS for part in parts):
        raise ValueError(
            f"{text[:40]}…: a name has at most {LONGEST} characters, and {MOST_BRACKETS} brackets"
        )
    names = list(islice((name for part in parts for name in _names(part)), MOST + 1))
    if len(names) > MOST:
        raise ValueError(f"{text[:40]}…: more than {MOST:,} names")
    return names


def _names(part: str) -> Iterator[str]:
    found = BRACKET.search(part)
    if not found:
        if "[" in part or "]" in part:
            raise ValueError(f"{part} has an unmatched bracket")
        yield part
        return
    for number in _numbers(found[1]):
        for rest in _names(part[found.end() :]) if found.end() < len(part) else [""]:
            yield f"{part[: found.start()]}{number}{rest}"


def _numbers(text: str) -> Iterator[str]:
    for piece in text.split(","):
        found = RANGE.fullmatch(piece.strip())
        if not found:
            raise ValueError(f"[{text[:40]}]: expected a range such as [1-8] or [001-128,200]")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first > MOST:
            raise ValueError(f"[{text[:40]}]: a range counts upwards, to at most {MOST:,} names")
        for number in range(first, last + 1):
            yield str(number).zfill(len(found[1]))

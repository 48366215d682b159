"""Claims as rows of a file: each sentence of a paper beside the comparisons that test it.

A paper's ``claims.yaml`` has ``names`` (tolerances with their reasons, ranges of loads, groups of policies),
beside the words of degree that all papers share (``words.yaml``), and sections, lists of rows:

- ``id``, ``source`` (the section and the sentence, quoted), ``statement`` (the tested form). ``{name}`` in a
  text is replaced by the value of that name.
- ``test``: testers with their arguments, e.g. ``{ratios: {curve: slowdown, of: buddy, over: migration}}``, or
  a list of such mappings. A name given as an argument is replaced by its value; ``within: margin``
  stands for the limits 1 / (1 + margin) and 1 + margin, ``about: number, within_points: margin`` for the
  number minus and plus the margin, and ``1 + margin`` is evaluated.
- ``needed``: how many comparisons the sentence requires; all by default, ``most`` is more than half of them.
- ``also``: the same sentence under another reading, by its name; it decides nothing.
- ``calibrated``: the values fitted to make the sentence true; it is then an input, and is counted apart.
- ``note``: a text, or functions that return one, for the evidence.
- ``figures``: figures that show it; ``needs``: metrics or policies without which the row is omitted.
- ``for``: a list of mappings of names to values, one claim for each; rows that share a list alternate.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from analysis.claims import Claim, Part
from analysis.claims.comparisons import AxisRange
from analysis.claims.tester import Tester
from analysis.paper import content

Row = Mapping[str, Any]
Names = Mapping[str, Any]
Testers = Mapping[str, Callable[..., Any]]
"""Name -> function of a `Tester` and a row's arguments that returns the parts of a claim (or a note)."""

FILE = "claims.yaml"


class Rows:
    """The rows of a paper and the names that they use.

    Parameters
    ----------
    folder : Path
        Of the paper's package.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def names(self) -> Names:
        """Margins, ranges and groups of the paper."""
        return _read(self._folder / FILE)[0]

    def claims(self, test: Tester, testers: Testers, *sections: str) -> tuple[Claim, ...]:
        """Return the claims of some sections, all by default, tested on a study."""
        names, rows = _read(self._folder / FILE)
        known = {**names, **test.names}
        named = {value for value in test.names.values() if isinstance(value, str)}
        there = {*test.study.data, *test.study.policies, *named}
        chosen = [row for section in sections or rows for row in rows[section]]
        # Rows that share one list of values are expanded together, in the order of the paper.
        together = groupby(chosen, key=lambda row: id(row.get("for", row)))
        return tuple(
            _judged(test, testers, row, {**known, **resolved(more, known)})
            for group in [list(found) for _, found in together]
            for more in group[0].get("for", [{}])
            for row in group
            if set(row.get("needs", ())) <= there
        )


WORDS = Path(__file__).with_name("words.yaml")


def words() -> list[Mapping[str, Any]]:
    """Return the words of degree: ``name``, ``value``, ``words`` and ``needs`` of each."""
    return list(content(WORDS)["words"])


@cache
def _degrees() -> Names:
    """Return the numbers of the words of degree, and the limits of ratios made from them, by name."""
    names = {word["name"]: word["value"] for word in words()}
    return names | {name: resolved(limit, names) for name, limit in content(WORDS)["limits"].items()}


@cache
def _read(file: Path) -> tuple[Names, Mapping[str, Sequence[Row]]]:
    sections, names = dict(content(file)), dict[str, Any](_degrees())
    for name, value in sections.pop("names").items():
        if isinstance(value, dict) and "range" in value:
            limits = {key: limit for key, limit in value.items() if key not in ("range", "only")}
            only = tuple(value["only"]) if "only" in value else None
            value = AxisRange(str(value["range"]), only=only, **limits)
        names[name] = resolved(value, names)
    return names, sections


def resolved(value: Any, names: Names) -> Any:
    """Return a value of a row with all names replaced; lists within lists become one list.

    Examples
    --------
    >>> resolved({"of": ["best", "first_fit"], "high": "1 + margin"}, {"best": ["buddy"], "margin": 0.5})
    {'of': ['buddy', 'first_fit'], 'high': 1.5}
    """
    if isinstance(value, dict):
        return {key: resolved(one, names) for key, one in value.items()}
    if isinstance(value, list):
        found: list[Any] = []
        for one in value:
            inner = resolved(one, names)
            found += inner if isinstance(inner, list) else [inner]
        return found
    if not isinstance(value, str):
        return value
    if value in names:
        return names[value]
    if (sum_ := re.fullmatch(r"1 ([+-]) (\w+)", value)) and sum_[2] in names:
        return 1 + names[sum_[2]] if sum_[1] == "+" else 1 - names[sum_[2]]
    if (inverse := re.fullmatch(r"1 / \(1 \+ (\w+)\)", value)) and inverse[1] in names:
        return 1 / (1 + names[inverse[1]])
    return value.format_map(names) if "{" in value else value


def _calls(test: Tester, testers: Testers, given: Any, names: Names) -> Iterator[Any]:
    """Yield the results of the testers of a row."""
    for one in given if isinstance(given, list) else [given]:
        for name, arguments in one.items():
            found = resolved(arguments or {}, names)
            if (margin := found.pop("within", None)) is not None:
                found |= {"low": 1 / (1 + margin), "high": 1 + margin}
            if (number := found.pop("about", None)) is not None:
                margin = found.pop("within_points")
                found |= {"low": number - margin, "high": number + margin}
            yield testers[name](test, **found)


def _judged(test: Tester, testers: Testers, row: Row, names: Names) -> Claim:
    def parts(given: Any) -> list[Part]:
        return [part for found in _calls(test, testers, given, names) for part in found]

    tested, needed, note = parts(row["test"]), row.get("needed"), row.get("note", "")
    also = {resolved(reading, names): parts(given) for reading, given in row.get("also", {}).items()}
    return test.claim(
        resolved(row["id"], names),
        resolved(row["source"], names) if "for" in row else row["source"],
        re.sub(r"(?<=\d)%", " %", resolved(row["statement"], names)),
        tested,
        needed=len(tested) // 2 + 1 if needed == "most" else needed,
        note=resolved(note, names)
        if isinstance(note, str)
        else " ".join(filter(None, _calls(test, testers, note, names))),
        also={reading: others for reading, others in also.items() if others},
        figures=[name.format_map(names) for name in row.get("figures", [])],
        calibrated=resolved(row.get("calibrated", ""), names),
    )

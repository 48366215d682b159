"""The keys that a search may set, below ``tune``, with their ranges; a policy's file with their values."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sweep.config.nested import get, has, leaves, put
from sweep.config.settings import shown
from sweep.errors import SweepError, unknown

LOG = "log"
PARTS = ("range", "of", "line", "if")
FORMS = (
    "[LOW, HIGH], [LOW, HIGH, log], {of: [VALUE, ...]}, or {range: [LOW, HIGH], line: 'QosName=normal "
    "MaxJobsPU={}', if: {KEY: VALUE}}"
)


@dataclass(frozen=True)
class Range:
    """One key that is searched over.

    Parameters
    ----------
    key : str
        Dotted key of the policy's file; any name with `line`.
    low, high : int or float
        If both are integers, only integers are tried.
    log : bool
        Whether equal ratios are equally likely, and not equal differences.
    choices : tuple
        The values, if it is not a range of numbers.
    line : str
        Line of a configuration that the value completes at ``{}``; it is added to the policy's ``lines``.
    conditions : mapping
        Key -> value that this other key has to have; otherwise this key keeps its value.
    """

    key: str
    low: float = 0
    high: float = 0
    log: bool = False
    choices: tuple[Any, ...] = ()
    line: str = ""
    conditions: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, key: str, given: Any) -> Range:
        """Return the range that is given for a key; `SweepError` with one line if it is not one."""
        parts = given if isinstance(given, Mapping) else {"range": given}
        ends, choices = parts.get("range", []), parts.get("of", [])
        conditions, line = parts.get("if", {}), parts.get("line", "")
        wrong = SweepError(f"tune.{key}={shown(given)}: give {FORMS}")
        if ends and choices:
            raise SweepError(f"tune.{key} has both range and of: add tune.{key}.of=null, or range=null")
        if set(parts) - {*PARTS} or not isinstance(conditions, Mapping) or not isinstance(line, str):
            raise wrong
        if ("line" in parts and line.count("{}") != 1) or (bool(ends) == bool(choices)):
            raise wrong
        if choices:
            if not isinstance(choices, Sequence) or isinstance(choices, str):
                raise wrong
            return cls(key, choices=tuple(choices), line=line, conditions=conditions)
        if not isinstance(ends, Sequence) or len(ends) not in (2, 3) or ends[2:] not in ([], [LOG]):
            raise wrong
        low, high = ends[:2]
        is_log = len(ends) == 3
        for end in (low, high):
            if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
                raise wrong
        if not low < high or (is_log and not low > 0):
            raise SweepError(f"tune.{key}={shown(given)}: give LOW < HIGH{', above 0 with log' * is_log}")
        return cls(key, low, high, is_log, line=line, conditions=conditions)

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are tried."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def ends(self) -> tuple[Any, ...]:
        """The outermost values, or all choices."""
        return self.choices or (self.low, self.high)

    def applies(self, values: Mapping[str, Any]) -> bool:
        """Return whether it is set, given the values of earlier keys."""
        return all(key in values and values[key] == value for key, value in self.conditions.items())


def ranges(tune: Mapping[str, Any], policy: Mapping[str, Any], given: Mapping[str, Any]) -> list[Range]:
    """Return the ranges of a search.

    Parameters
    ----------
    tune : mapping
        Key, dotted or nested -> range.
    policy : mapping
        The composed file of the policy with which the search begins.
    given : mapping
        Keys that the study sets in all policies.
    """
    found = _ordered([Range.of(key, value) for key, value in _flat(tune).items()])
    starts: dict[str, str] = {}
    for one in found:
        start = one.line.partition(" ")[0].lower()
        if one.line and (other := starts.setdefault(start, one.key)) != one.key:
            raise SweepError(
                f"tune.{other} and tune.{one.key} both give the line {one.line.split()[0]}, and the last "
                "replaces the others: search over one key of it, with the others as numbers in its line"
            )
        if one.line:
            if "lines" not in policy:
                raise SweepError(f"tune.{one.key}: line is for policies with lines, such as slurm")
        elif one.key == "family":
            raise SweepError(
                "tune.family: a search covers one family; omit it, and search each family separately"
            )
        elif not has(policy, one.key) and ("." not in one.key or get(policy, one.key.split(".")[0]) != {}):
            raise SweepError(unknown("key of tune", one.key, [name for name, _ in leaves(policy)]))
        if has(given, one.key):
            raise SweepError(
                f"policy.{one.key}={shown(get(given, one.key))} and tune.{one.key}: omit one of them; the "
                "search begins with a policy file of your own if you give grid.policy=[NAME]"
            )
    return found


def _ordered(given: Sequence[Range]) -> list[Range]:
    """Return ranges in the given order, but conditional keys after the keys of their conditions.

    A key of the experiment keeps its place there, before all keys that a file adds.
    """
    found: list[Range] = []
    left = list(given)
    while left:
        known = {one.key for one in found}
        if (one := next((one for one in left if one.conditions.keys() <= known), None)) is None:
            lost = next(key for key in left[0].conditions if key not in known)
            of = {one.key for one in left}
            why = "which itself waits for another key" if lost in of else "which tune does not have"
            raise SweepError(f"tune.{left[0].key}: if names {lost}, {why}")
        left.remove(one)
        found.append(one)
    return found


def _flat(tune: Mapping[str, Any]) -> dict[str, Any]:
    """Return dotted keys with their ranges; null removes a key of the experiment, and the keys below it."""
    found: dict[str, Any] = {}
    for key, value in _each(tune):
        if value is None:
            found = {other: one for other, one in found.items() if not f"{other}.".startswith(f"{key}.")}
        else:
            found[key] = value
    return found


def _each(tune: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tune.items():
        if isinstance(value, Mapping) and not {"range", "of"} & set(value):
            yield from _each(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def applied(policy: Mapping[str, Any], values: Mapping[str, Any], every: Sequence[Range]) -> dict[str, Any]:
    """Return a policy's file with the values of some keys."""
    made = copy.deepcopy(dict(policy))
    for one in every:
        if one.key not in values:
            continue
        value = values[one.key]
        if one.line:
            made["lines"] = [*(made["lines"] or []), one.line.format(value)]
        elif has(made, one.key):
            put(made, one.key, value)
        else:
            data = made
            *parents, last = one.key.split(".")
            for parent in parents:
                data = data.setdefault(parent, {})
            data[last] = value
    return made

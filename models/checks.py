"""Checks of values of YAML files: each function returns the value or raises one line with the allowed values.

All messages have the form ``policy.key=given; allowed: ...``.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import Any, NoReturn

from models.point import Parameters

SECONDS = "a positive number of seconds"

MOST, MOST_WHOLE = 1e12, 10**9
"""Limits of numbers, and of whole numbers, without a declared limit: steps, allocations and loops of a
simulation must be bounded. (A century has 3e9 seconds.)"""

SHORTEST_S = 1e-3
"""Minimum seconds between two events of a clock."""

LONGEST_NUMBER = 30
"""Maximum of digits of a whole number in a message."""


def refuse(key: str, given: object, allowed: str) -> NoReturn:
    """Raise ``ValueError`` with the one line of a value that is not allowed.

    Examples
    --------
    >>> refuse("policy.kill", 3, "true, false")
    Traceback (most recent call last):
    ...
    ValueError: policy.kill=3; allowed: true, false
    """
    raise ValueError(f"{key}={shown(given)}; allowed: {allowed}")


def number(
    given: Parameters,
    where: str,
    key: str,
    allowed: str,
    *,
    least: float = -MOST,
    most: float = MOST,
    above: float = -inf,
    below: float = inf,
) -> float:
    """Return a number between limits.

    Parameters
    ----------
    where : str
        Key of the mapping on the command line, e.g. ``policy.immediate``.
    allowed : str
        The allowed values, in words.
    least, most : float
        Inclusive limits.
    above, below : float
        Exclusive limits.
    """
    value = given.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(f"{where}.{key}", value, allowed)
    if not (least <= value <= most and above < value < below):
        refuse(f"{where}.{key}", value, _with_limit(allowed, value, most, MOST))
    return value


def _with_limit(allowed: str, value: float, most: float, usual: float) -> str:
    """Return the allowed values in words, with the undeclared limit if it is exceeded."""
    return f"{allowed}; at most {usual:g}" if most == usual and abs(value) > usual else allowed


def whole(
    given: Parameters,
    where: str,
    key: str,
    allowed: str = "a positive whole number",
    *,
    least: int = 1,
    most: float = MOST_WHOLE,
) -> int:
    """Return a whole number between inclusive limits; arguments as for `number`."""
    value = given.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(f"{where}.{key}", value, allowed)
    if not least <= value <= most:
        refuse(f"{where}.{key}", value, _with_limit(allowed, value, most, MOST_WHOLE))
    return value


def choice(given: Parameters, where: str, key: str, names: Collection[Any]) -> Any:
    """Return one of several names."""
    value = given.get(key)
    if isinstance(value, list | dict) or value not in names:
        refuse(f"{where}.{key}", value, ", ".join(map(shown, names)))
    return value


def switch(given: Parameters, where: str, key: str) -> bool:
    """Return true or false."""
    value = given.get(key)
    if not isinstance(value, bool):
        refuse(f"{where}.{key}", value, "true, false")
    return value


def mapping(value: object, where: str, keys: Iterable[str], allowed: str | None = None) -> Mapping[str, Any]:
    """Return a mapping that has no other keys than these."""
    known = list(keys)
    if not isinstance(value, Mapping):
        refuse(where, value, allowed or f"a mapping of {', '.join(known)}")
    for key in value:
        if key not in known:
            raise ValueError(f"{where}.{key} is not known; allowed: {', '.join(known)}")
    return value


def shown(value: object) -> str:
    """Return a value as YAML writes it; a string that looks like a number is quoted."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str) and re.fullmatch(r"[-+]?\.?\d[\d.]*(?:e[-+]?\d+)?|null|true|false", value):
        return repr(value)
    if isinstance(value, int) and abs(value) >= 10**LONGEST_NUMBER:
        return f"a whole number of more than {LONGEST_NUMBER} digits"
    return str(value)

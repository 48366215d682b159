"""``key=value`` arguments of the commands of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweep.errors import SweepError, unknown


def parse(arguments: Sequence[str], defaults: Mapping[str, str]) -> dict[str, str]:
    """Return the defaults with what the arguments say in their place.

    Raises
    ------
    SweepError
        For a key that has no default, and for an argument that is not ``key=value``.
    """
    given = dict(defaults)
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if key not in defaults:
            raise SweepError(unknown("argument", key, [f"{name}=" for name in defaults]))
        if not equals or not value:
            raise SweepError(f"{argument}: give a value, {key}=VALUE")
        given[key] = value
    return given


def positive(key: str, value: str) -> int:
    """Return a number of 1 or more.

    Raises
    ------
    SweepError
        For anything else.
    """
    if not value.isdecimal() or int(value) < 1:
        raise SweepError(f"{key}={value}: give a whole number, 1 or more")
    return int(value)

"""Keys of a YAML file as fields of a dataclass: each is declared once, with its default and what it allows.

@dataclass(frozen=True)
class Rules:
    local: str = choice("none", "round_robin")
    slice: float = number(10.0, SECONDS, above=0)

Rules(**read(Rules, policy, "policy"))
"""

from collections.abc import Callable
from dataclasses import field, fields
from typing import Any

from models import checks
from models.point import Parameters

Check = Callable[[Parameters, str, str, Any], Any]
"""(mapping, its name on the command line, key, default) -> value; ``ValueError`` with one line."""

SOME_SECONDS = "a number of seconds, 0 or more"


def choice(*names: str) -> Any:
    """Declare a word of several; the first is the default."""

    def check(given: Parameters, where: str, key: str, default: Any) -> Any:
        return checks.choice(given, where, key, names, default)

    return field(default=names[0], metadata={"check": check, "names": names})


def switch(default: bool) -> Any:
    """Declare true or false."""
    return field(default=default, metadata={"check": checks.switch, "names": (False, True)})


def number(default: float | None, allowed: str, **limits: float) -> Any:
    """Declare a number; with None as the default it may be null. See `checks.number`."""

    def check(given: Parameters, where: str, key: str, default: Any) -> Any:
        if default is None and given.get(key) is None:
            return None
        return float(checks.number(given, where, key, allowed, default=default, **limits))

    return field(default=default, metadata={"check": check})


def seconds(default: float) -> Any:
    """Declare a number of seconds, 0 or more."""
    return number(default, SOME_SECONDS, least=0)


def whole(default: int | None, allowed: str, **limits: int) -> Any:
    """Declare a whole number from 1 on; with None as the default it may be null. See `checks.whole`."""

    def check(given: Parameters, where: str, key: str, default: Any) -> Any:
        if default is None and given.get(key) is None:
            return None
        return checks.whole(given, where, key, allowed, default=default, **limits)

    return field(default=default, metadata={"check": check})


def read(declared: type, given: Parameters, where: str) -> dict[str, Any]:
    """Return the declared fields of a dataclass from a mapping; ``ValueError`` for a value not allowed."""
    return {
        one.name: one.metadata["check"](given, where, one.name, one.default)
        for one in fields(declared)
        if "check" in one.metadata
    }


def names_of(declared: type, key: str) -> tuple[Any, ...]:
    """Return what a key that is a choice allows."""
    (found,) = (one.metadata["names"] for one in fields(declared) if one.name == key)
    return tuple(found)


def codes(values: Any) -> dict[str, int]:
    """Return the choices of a dataclass as kernels take them: each as its place among the allowed ones."""
    return {
        one.name: one.metadata["names"].index(getattr(values, one.name))
        for one in fields(values)
        if "names" in one.metadata
    }

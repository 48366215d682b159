"""Keys of a YAML file as fields of a dataclass: each key is declared once, with the values that it allows.

The file sets values, and the files that it builds on have the defaults, so no key has a default here.

@dataclass(frozen=True, kw_only=True)
class Rules:
    BASE = "_concurrent_gang"

    local: str = choice("none", "round_robin")
    slice: float = number(SECONDS, above=0)

Rules(**read(Rules, policy, "policy"))
"""

from collections.abc import Callable
from dataclasses import field, fields
from typing import Any

from models import checks
from models.point import Parameters

Check = Callable[[Parameters, str, str], Any]
"""(mapping, its name on the command line, key) -> value; ``ValueError`` with one line."""


def checked(check: Check, null: bool = False, **metadata: Any) -> Any:
    """Declare a key with its own check; null becomes None if it is allowed."""

    def checked_or_null(given: Parameters, where: str, key: str) -> Any:
        return None if given[key] is None else check(given, where, key)

    return field(metadata={"check": checked_or_null if null else check, **metadata})


def choice(*names: str | None) -> Any:
    """Declare one of several words."""
    return checked(lambda given, where, key: checks.choice(given, where, key, names), names=names)


def instance(kind: Any, allowed: str, null: bool = False) -> Any:
    """Declare a value of some type."""

    def check(given: Parameters, where: str, key: str) -> Any:
        if not isinstance(given[key], kind):
            checks.refuse(f"{where}.{key}", given[key], allowed)
        return given[key]

    return checked(check, null)


def switch() -> Any:
    """Declare true or false."""
    return checked(checks.switch, names=(False, True))


def number(allowed: str, null: bool = False, **limits: float) -> Any:
    """Declare a number, see `checks.number`."""
    return checked(lambda given, where, key: float(checks.number(given, where, key, allowed, **limits)), null)


def seconds() -> Any:
    """Declare a number of seconds, 0 or more."""
    return number("a number of seconds, 0 or more", least=0)


def interval(allowed: str = checks.SECONDS, null: bool = False) -> Any:
    """Declare the seconds between two events of a clock; a simulation goes through all of them."""
    return number(f"{allowed}, from {checks.SHORTEST_S:g} on", null, least=checks.SHORTEST_S)


def whole(allowed: str = "a positive whole number", null: bool = False, **limits: int) -> Any:
    """Declare a whole number from 1 on, see `checks.whole`."""
    return checked(lambda given, where, key: checks.whole(given, where, key, allowed, **limits), null)


def mapping(declared: type, null: bool = False) -> Any:
    """Declare a mapping whose keys are the fields of another dataclass."""

    def check(given: Parameters, where: str, key: str) -> Any:
        return declared(**below(declared, given[key], f"{where}.{key}", null))

    return checked(check, null)


def below(declared: Any, value: object, where: str, null: bool = False) -> dict[str, Any]:
    """Return the declared fields of a dataclass from a value that has to be a mapping of them, see `read`."""
    known = [one.name for one in fields(declared)]
    allowed = f"{'null, or ' if null else ''}a mapping of {', '.join(known)}"
    return read(declared, checks.mapping(value, where, known, allowed), where)


def read(declared: Any, given: Parameters, where: str) -> dict[str, Any]:
    """Return the declared fields of a dataclass from a mapping.

    Raises
    ------
    ValueError
        With one line, for a value that is not allowed, or for a missing key: the line names `declared.BASE`,
        the file of conf that has the key.
    """
    keys = {one.name: one.metadata["check"] for one in fields(declared) if "check" in one.metadata}
    if missing := [key for key in keys if key not in given]:
        file = f"{where} {given['name']}" if "name" in given else where
        raise ValueError(
            f"{file} has no {', no '.join(missing)}; give {'it' if len(missing) == 1 else 'them'}, or begin "
            f"its file with defaults: [{declared.BASE}, _self_]"
        )
    return {key: check(given, where, key) for key, check in keys.items()}


def read_given(declared: Any, given: Parameters, where: str) -> dict[str, Any]:
    """Return the declared fields that a mapping sets, see `read`."""
    checked = {one.name: one.metadata["check"] for one in fields(declared) if "check" in one.metadata}
    return {key: check(given, where, key) for key, check in checked.items() if key in given}


def codes(values: Any) -> dict[str, int]:
    """Return the choices of a dataclass as kernels take them: each as its place among the allowed ones."""
    return {
        one.name: one.metadata["names"].index(getattr(values, one.name))
        for one in fields(values)
        if "names" in one.metadata
    }

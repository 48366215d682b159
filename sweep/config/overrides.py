"""The command line as a mapping, and a mapping as a command line.

Arguments are read by the grammar of Hydra's overrides, so that lists, mappings, numbers and quotes mean what
they mean in any Hydra application.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from sweep.config import files
from sweep.errors import SweepError

TEXTS = ("name", "output", "schedule", "workload.path", "policy.path", "policy.bundle")
"""Keys whose values are strings, taken as they are typed."""


def parsed(arguments: Sequence[str]) -> dict[str, Any]:
    """Return what the arguments of a command set: dotted key -> value, see `sweep.config.compose.load`.

    Examples
    --------
    >>> parsed(["+experiment=packing", "policy=[buddy,migration]", "batches={0:30,0.85:60}", "output=a,b"])
    {'experiment': 'packing', 'policy': ['buddy', 'migration'], 'batches': {0: 30, 0.85: 60}, 'output': 'a,b'}

    Raises
    ------
    SweepError
        For an argument that cannot be parsed.
    """
    parser = OverridesParser.create()
    found: dict[str, Any] = {}
    for argument in arguments:
        override = _parse(parser, _as_typed(argument))
        key, value = override.key_or_group, override.value()
        if key == "experiment" and key in found:
            raise SweepError(
                f"experiment={found[key]} experiment={value}: give one experiment; +experiment=compare "
                "takes policies of several"
            )
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            files.update(found[key], value)
        else:
            found[key] = value
    return found


def written(asked: Mapping[str, Any]) -> list[str]:
    """Return the arguments that `parsed` reads as this mapping, for display.

    Examples
    --------
    >>> written({"experiment": "packing", "policy": ["buddy"], "batches": {0: 30}})
    ['+experiment=packing', "policy=['buddy']", 'batches={0: 30}']
    """
    names = {"experiment": "+experiment", "executor": "executor"}
    return [
        f"{names[key]}={value}" if key in names and isinstance(value, str) else f"{key}={_text(value)}"
        for key, value in asked.items()
    ]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return str(value).lower().replace("none", "null")  # numbers, too


def _key(key: Any) -> str:
    """Return a key of a mapping in that grammar, which has no quotes there."""
    return re.sub(r"([\\()\[\]{}:=,])", r"\\\1", str(key))


def _as_typed(argument: str) -> str:
    """Return an argument whose value is a name or a path with quotes for Hydra around it, if it has none.

    In its grammar, commas, equals signs, brackets and letters beyond ASCII are special or invalid.
    """
    key, _, value = argument.partition("=")
    if key not in TEXTS or value in ("", "null", "true", "false") or value[0] in "'\"":
        return argument
    return f"{key}={quoted(value)}"


def quoted(text: str) -> str:
    """Quote a value for Hydra's override grammar."""
    escaped = re.sub(r"(\\*)(?='|$)", r"\1\1", text).replace("'", "\\'")
    return f"'{escaped}'"


def _parse(parser: OverridesParser, argument: str) -> Override:
    if "=" not in argument:
        hint = f": write +experiment={argument}" if re.fullmatch(r"[\w/]+", argument) else ""
        raise SweepError(f"{argument!r} is not key=value{hint}; see python -m sweep --help")
    try:
        override: Override = parser.parse_override(argument)
    except ValueError:  # Python limits the digits of an integer that it reads (4300)
        raise SweepError(f"{argument[:60]}...: the number has too many digits; give a shorter one") from None
    except HydraException:
        key, _, value = argument.partition("=")
        if (line := _unbalanced(value)) is not None:
            raise SweepError(f"cannot read {argument!r}: {line}") from None
        instead = f"\"{key}=['A','B']\"" if value.startswith("[") else shlex.quote(f'{key}="{value}"')
        raise SweepError(
            f"cannot read {argument!r}: several values are written {key}=[A,B], and a value with special "
            f"characters needs quotes of its own, {instead}"
        ) from None
    if override.package is not None:
        raise SweepError(f"{argument!r}: a key has no package; omit @{override.package}")
    if override.is_delete():
        raise SweepError(f"{argument!r}: keys cannot be deleted; set one to null, [] or {{}} instead")
    if override.is_sweep_override():
        key, _, value = argument.partition("=")
        if (
            override.is_range_sweep()
            or override.is_interval_sweep()
            or override.key_or_group in ("experiment", "action", "executor")
        ):
            raise SweepError(f"{argument!r}: give one value, or where several are allowed {key}=[A,B]")
        raise SweepError(f"{argument!r}: write several values as a list, {key}=[{value}]")
    return override


def _unbalanced(value: str) -> str | None:
    """Return which bracket is missing; None if all match, or if there are quotes."""
    if "'" in value or '"' in value:
        return None
    waiting: list[str] = []
    for character in value:
        if character in PAIRS:
            waiting.append(PAIRS[character])
        elif character in PAIRS.values() and (not waiting or waiting.pop() != character):
            return f"there is one {character} too many"
    if waiting:
        return f"a {waiting[-1]} is missing, {value}{''.join(reversed(waiting))}"
    return None


PAIRS = {"[": "]", "{": "}", "(": ")"}

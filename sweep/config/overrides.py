"""Translation of command-line arguments to overrides of Hydra's Compose API.

Three forms are this project's own: ``policy=buddy`` is short for ``grid.policy=[buddy]``; a scalar given to
a grid axis, or to ``measures.groups``, is a list of one; and keys below ``policy``, ``workload``,
``machine``, ``executor`` and ``grid`` are checked against the files that they go to, which Hydra cannot know,
so they are passed on by force.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from sweep.config.settings import GROUPS, check_type
from sweep.errors import SweepError, unknown

OPEN = (*GROUPS, "executor", "grid", "axes", "values")
"""Mappings whose keys are checked after composing, against the files and axes that they belong to."""

MAPPINGS = ("grid", "axes", "values")
"""Those of them that may be given as a whole, ``axes={ties: policy.ties}``, to add to what is there."""

TEXTS = ("name", "output", "schedule", "workload.path", "policy.path")
"""Keys whose values are texts, taken as they are typed."""

BY_LOAD = ("batches", "warmup")
"""Keys whose values may be numbers by load, ``{0:30,0.85:60}``."""


def translate(arguments: Sequence[str], keys: Sequence[str], below: Mapping[str, Sequence[str]]) -> list[str]:
    """Return Hydra overrides for command-line arguments.

    Parameters
    ----------
    below : dict of str to sequence of str
        Valid keys below those that are mappings: precision, measures.

    Raises
    ------
    SweepError
        For an argument that cannot be parsed or names an unknown key.
    """
    parser = OverridesParser.create()
    translated = []
    for argument in map(_as_typed, arguments):
        override = _parse(parser, argument)
        if override.key_or_group in BY_LOAD and isinstance(override.value(), dict):
            # Hydra would merge it with the experiment's, so that some of those numbers stayed.
            translated.append(f"{override.key_or_group}=null")
        translated.append(_translate(argument, override, keys, below))
    return translated


def _as_typed(argument: str) -> str:
    """Return an argument whose value is a name or a path with quotes for Hydra around it, if it has none.

    In its grammar commas, equals signs, brackets and letters beyond ASCII mean something, or nothing.
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
        raise SweepError(f"{argument!r} is not key=value; see python -m sweep --help")
    try:
        override: Override = parser.parse_override(argument)
    except HydraException:
        key, _, value = argument.partition("=")
        if (line := _unbalanced(value)) is not None:
            raise SweepError(f"cannot read {argument!r}: {line}") from None
        instead = shlex.quote(f'{key}="{value}"')
        raise SweepError(
            f"cannot read {argument!r}: several values are written {key}=[A,B], and a value with special "
            f"characters needs quotes of its own, {instead}"
        ) from None
    if override.is_delete():
        raise SweepError(f"{argument!r}: keys cannot be deleted; set one to null, [] or {{}} instead")
    if override.is_sweep_override():
        key, _, value = argument.partition("=")
        if (
            override.is_range_sweep()
            or override.is_interval_sweep()
            or override.key_or_group in ("experiment", "action", "executor")
        ):
            raise SweepError(f"{argument!r}: give one value, or where there may be several {key}=[A,B]")
        raise SweepError(f"{argument!r}: write several values as a list, {key}=[{value}]")
    return override


def _unbalanced(value: str) -> str | None:
    """Return which bracket is missing, None if none is, or if there are quotes."""
    if "'" in value or '"' in value:
        return None
    waiting: list[str] = []
    for character in value:
        if character in PAIRS:
            waiting.append(PAIRS[character])
        elif character in PAIRS.values() and (not waiting or waiting.pop() != character):
            return f"there is a {character} too many"
    if waiting:
        return f"a {waiting[-1]} is missing, {value}{''.join(reversed(waiting))}"
    return None


PAIRS = {"[": "]", "{": "}", "(": ")"}


def _translate(
    argument: str, override: Override, keys: Sequence[str], below: Mapping[str, Sequence[str]]
) -> str:
    key = override.key_or_group
    _, _, text = argument.partition("=")
    top, _, rest = key.partition(".")
    if key in GROUPS or (top == "grid" and rest):
        axis = key if key in GROUPS else rest
        return f"++grid.{axis}={_listed(override, text)}"
    if key == "experiment":
        return f"+experiment={text}"
    if key == "executor":
        return f"executor={text}"
    if top in OPEN and rest:
        return f"++{key}={text}"
    if key in MAPPINGS and isinstance(override.value(), dict):
        return f"++{key}={text}"
    if key == "measures.groups":
        return f"{key}={_listed(override, text)}"
    if top in below and rest:
        if rest not in below[top]:
            raise SweepError(unknown(f"key below {top}", rest, below[top]))
    elif key not in keys:
        raise SweepError(unknown("key", key, [*keys, "experiment"]))
    check_type(key, override.value(), text)
    return f"{key}={text}"


def _listed(override: Override, text: str) -> str:
    return text if isinstance(override.value(), list) else f"[{text}]"

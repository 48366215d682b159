"""The arguments of functions: their annotations and defaults are the schema of a study."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from sweep.errors import SweepError

RNG = "rng"
"""The argument that receives the random numbers of a replication."""


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the arguments of a function by name, with their annotations resolved.

    Raises
    ------
    SweepError
        With one line for arguments that no study can give.
    """
    name = getattr(function, "__name__", str(function))
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise SweepError(
            f"model={name}: its arguments are unknown; wrap it in a function of your own"
        ) from None
    hints: dict[str, Any] = {}
    with suppress(Exception):  # a name that only type checkers know: then any value is taken
        hints = get_type_hints(function, include_extras=True)
    for one in found.values():
        if one.kind is not one.KEYWORD_ONLY and one.kind is not one.POSITIONAL_OR_KEYWORD:
            raise SweepError(f"model={name}: {one} has no name to set; give each argument a name of its own")
        if isinstance(one.default, list | dict | set | bytearray):
            raise SweepError(
                f"model={name}: the default {one.name}={one.default!r} can change from one task to the next; "
                "use None or a tuple"
            )
    return {key: one.replace(annotation=hints.get(key, Any)) for key, one in found.items()}


def fitted(value: Any, kind: Any) -> Any:
    """Return a setting converted to its argument's annotated type; `TypeError` if it does not fit."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        for one in inner:
            with suppress(TypeError):
                return fitted(value, one)
    elif origin is Annotated:
        return fitted(value, inner[0])
    elif origin is Literal:
        if any(value == one and type(value) is type(one) for one in inner):
            return value
    elif kind in (None, NoneType):
        if value is None:
            return None
    elif kind is float and type(value) in (int, float):
        return float(value)
    elif kind is Path and isinstance(value, str):
        return Path(value)
    elif kind in (bool, int, str):
        if type(value) is kind:
            return value
    elif isinstance(container := origin or kind, type) and isinstance(value, list):
        is_tuple = issubclass(container, tuple)
        kinds = inner if is_tuple and Ellipsis not in inner else (inner or (Any,))[:1] * len(value)
        if len(kinds or value) == len(value) and (is_tuple or isinstance(value, container)):
            items = [fitted(*pair) for pair in zip(value, kinds or [Any] * len(value), strict=True)]
            return tuple(items) if is_tuple else items
    elif not isinstance(container, type) or isinstance(value, container):
        return value
    raise TypeError


def text(value: Any) -> str:
    """Return a value as the argument of a command."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)

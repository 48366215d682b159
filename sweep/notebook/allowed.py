"""The values that arguments in a notebook may have; everything else is refused at once."""

import os
from collections.abc import Mapping
from typing import Any

from sweep.errors import SweepError

DEEPEST = 20
"""Maximum depth of nested lists and mappings."""

PLAIN = (bool, int, float, str, os.PathLike, range)


def check(key: str, value: Any, depth: int = 0) -> None:
    """Raise `SweepError` with one line for a value that no setting can have.

    Functions are left to the setting that takes them; a workload may be a table of jobs.
    """
    if depth > DEEPEST:
        raise SweepError(f"{key[:60]}...: lists or mappings within each other, more than {DEEPEST} deep")
    if "workload" in key and any(hasattr(value, name) for name in ("columns", "data_vars", "__array__")):
        return  # a table of jobs, or a column
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not isinstance(name, str | bool | int | float):
                kind = type(name).__name__
                raise SweepError(f"{key}: a key of type {kind}; give names as strings, or numbers")
            check(f"{key}.{name}", item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            check(key, item, depth + 1)
    elif not (value is None or isinstance(value, PLAIN) or hasattr(value, "__array__") or callable(value)):
        raise SweepError(f"{key}: {type(value).__name__} is not understood; give numbers, strings and lists")

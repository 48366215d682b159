"""Dotted keys of nested mappings, ``emphasis.squares``."""

from collections.abc import Iterator, Mapping
from typing import Any


def leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted key and the value of every leaf: all values except non-empty mappings.

    Examples
    --------
    >>> list(leaves({"emphasis": {"squares": 10, "cubes": {}}, "path": None}))
    [('emphasis.squares', 10), ('emphasis.cubes', {}), ('path', None)]
    """
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string in a value, also in lists, with its key.

    Examples
    --------
    >>> list(texts({"jobs": {"orders": ["fcfs", 3, "sjf"]}}))
    [('orders', 'fcfs'), ('orders', 'sjf')]
    """
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from texts(item, str(inner))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item, key)
    elif isinstance(value, str):
        yield key, value


def has(data: Mapping[str, Any], key: str) -> bool:
    """Whether there is a dotted key."""
    first, _, rest = key.partition(".")
    if first not in data:
        return False
    return not rest or (isinstance(data[first], Mapping) and has(data[first], rest))


def get(data: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted key, or None if it does not exist."""
    found: Any = data
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def put(data: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key if it exists; data of another kind, which lack it, stay as they are."""
    if has(data, key):
        *parents, last = key.split(".")
        for parent in parents:
            data = data[parent]
        data[last] = value


def overlay(data: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key; a value with keys of its own leaves the others as they are.

    An empty key stands for the data themselves.
    """
    if not key or (isinstance(value, Mapping) and isinstance(get(data, key), Mapping)):
        for part, inner in value.items():
            overlay(data, f"{key}.{part}" if key else part, inner)
    else:
        put(data, key, value)


def keys_set(
    settings: Mapping[str, Any], files: Mapping[str, dict[str, Any]], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield dotted key and value of each setting; a mapping that no file has at its key stays whole."""
    for name, value in settings.items():
        key = f"{prefix}{name}"
        known = [get(file, key) for file in files.values() if has(file, key)]
        whole = bool(known) and not any(isinstance(one, Mapping) and one for one in known)
        if isinstance(value, Mapping) and value and not whole:
            yield from keys_set(value, files, f"{key}.")
        else:
            yield key, value


def parts_of(files: Mapping[str, dict[str, Any]], key: str, value: Any) -> Iterator[str]:
    """Yield the dotted keys of a value, split wherever the files have keys of their own there."""
    if not key or (
        isinstance(value, Mapping) and any(isinstance(get(f, key), Mapping) for f in files.values())
    ):
        for part, inner in value.items():
            yield (below := f"{key}.{part}" if key else part)
            yield from parts_of(files, below, inner)

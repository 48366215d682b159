"""What a dataset took where its paper leaves a choice: rows of the report, from the parameters it carries."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.study import Study

Meanings = Mapping[str, Mapping[str, str]]
"""Choice -> value -> what it means."""


def choices(study: Study, keys: Mapping[str, Sequence[str]], meanings: Meanings) -> list[tuple[str, str]]:
    """Return pairs of a choice and what was taken, with the names of the files where these differ in it.

    Parameters
    ----------
    keys : dict of str to sequence of str
        Group of files (policy, workload, machine) -> keys that are choices, nested ones with a dot. Keys that
        the grid varies are left out: files have one of their values.
    """
    several = {*study.readings["A"].reading, *_varied_keys(study)}
    rows = []
    for group, names in keys.items():
        files: Mapping[str, Mapping[str, Any]] = study.config.get(group, {})
        for key in names:
            if key not in several:
                rows += _rows(group, key, files, meanings)
    return rows


def _varied_keys(study: Study) -> list[str]:
    """Return the keys that the grid's own axes set to several values, e.g. ``admission.interval``."""
    paths: Mapping[str, str] = study.settings.get("axes") or {}
    named: Mapping[str, Mapping[str, Any]] = study.settings.get("values") or {}
    found = []
    for axis, path in paths.items():
        if not study.varies(axis):
            continue
        if path != "*":
            found.append(path.partition(".")[2])
            continue
        for value in map(str, study.values_of(axis)):
            for group in (named.get(axis, {}).get(value) or {}).values():
                found += _paths(group)
    return found


def _paths(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of a tree, ``classes`` as well as ``classes.standby``: what varies in part varies."""
    for key, inner in tree.items():
        yield key
        if isinstance(inner, Mapping):
            yield from (f"{key}.{rest}" for rest in _paths(inner))


def varied(study: Study, meanings: Meanings | None = None) -> list[tuple[str, str]]:
    """Return pairs of an axis that is split into readings and its values, the default first."""
    one, known, between = study.readings["A"], meanings or {}, "; " if meanings else ", "
    return [
        (axis, f"varied: {between.join(explained(axis, value, known) for value in one.axis_values[axis])}")
        for axis in one.reading
    ]


def explained(key: str, value: Any, meanings: Meanings) -> str:
    """Return a value in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{part.replace('_', ' ')} × {factor:g}" for part, factor in value.items())
    text = str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)
    meaning = meanings.get(key, {}).get(text)
    return f"{text}: {meaning}" if meaning else text


def _rows(
    group: str, key: str, files: Mapping[str, Mapping[str, Any]], meanings: Meanings
) -> list[tuple[str, str]]:
    values: dict[str, list[str]] = {}
    for name, file in files.items():
        inner: Any = file
        *path, last = key.split(".")
        for part in path:
            inner = inner.get(part) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and last in inner:
            values.setdefault(explained(key, inner[last], meanings), []).append(name)
    if len(values) == 1:
        return [(f"{group}.{key}", next(iter(values)))]
    return [(f"{group}.{key}", f"{value} [{', '.join(names)}]") for value, names in values.items()]

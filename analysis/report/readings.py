"""The choices that a dataset took where its paper leaves them open: ``readings.yaml`` and parameters.

The file has ``meanings`` (choice -> value -> words), ``choices`` (group of files -> keys that the paper
leaves open) and ``taken``: name -> text for every experiment; or ``metric`` (or ``metric, not other``) ->
such pairs, for studies that have that metric (and not the other).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.paper import content
from analysis.study import Study

FILE = "readings.yaml"

Row = tuple[str, str]
"""A choice that the paper leaves open, and the value that a dataset took."""

Meanings = Mapping[str, Mapping[str, str]]
"""Choice -> value -> its meaning."""


@dataclass(frozen=True)
class Readings:
    """The rows of a study.

    Parameters
    ----------
    folder : Path
        Of the paper's package.
    further : callable, optional
        (study) -> rows that are computed, before those from parameters.
    of_features : bool
        Whether features are choices as well: the value of the main comparison is given with its meaning.
    """

    folder: Path
    further: Callable[[Study], Sequence[Row]] = lambda study: ()
    of_features: bool = False

    def __call__(self, study: Study) -> list[Row]:
        """Return pairs of a choice that the paper leaves open and the value that this dataset took."""
        found = content(self.folder / FILE)
        meanings: Meanings = found["meanings"]
        rows = varied(study, meanings if self.of_features else None)
        if self.of_features:
            several = dict(rows)
            rows += [
                _feature(study, *one, meanings) for one in study.usual().items() if one[0] not in several
            ]
        rows += [*self._taken(study, found), *self.further(study)]
        return rows + choices(study, found["choices"], meanings)

    def _taken(self, study: Study, found: Mapping[str, Any]) -> Iterator[Row]:
        for name, words in found.get("taken", {}).items():
            if isinstance(words, str):
                yield name, words
                continue
            metric, _, other = name.partition(", not ")
            if metric in study.data and other not in study.data:
                yield from words.items()


def choices(study: Study, keys: Mapping[str, Sequence[str]], meanings: Meanings) -> list[tuple[str, str]]:
    """Return pairs of a choice and its value, with the names of the files where they differ.

    Parameters
    ----------
    keys : dict of str to sequence of str
        Group of files (policy, workload, machine) -> keys that are choices, nested ones with a dot. Keys that
        the grid varies are omitted: files have one of their values.
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


def _feature(study: Study, axis: str, value: str, meanings: Meanings) -> Row:
    others = [other for other in study.values_of(axis) if other != value]
    tail = f" (also in this dataset: {', '.join(others)})" if others else ""
    return axis, f"{explained(axis, value, meanings)}{tail}"


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

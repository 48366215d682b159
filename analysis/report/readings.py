"""Which reading of its paper an experiment took: the paper's ``readings.yaml`` and the dataset's parameters.

The file has ``meanings`` (choice -> value -> words), ``choices`` (group of files -> keys that are left to us)
and ``taken``: name -> words of what every experiment takes; or ``metric`` (or ``metric, not other``) -> such
pairs, for studies that have that metric (and not the other).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from analysis.report.choices import Meanings, choices, varied
from analysis.study import Study

FILE = "readings.yaml"

Row = tuple[str, str]
"""A choice that the paper leaves open, and what a dataset took."""


@dataclass(frozen=True)
class Readings:
    """Returns the rows of a study.

    Parameters
    ----------
    folder : Path
        Of the paper's package.
    further : callable, optional
        (study) -> rows that are computed, before those from parameters.
    """

    folder: Path
    further: Callable[[Study], Sequence[Row]] = lambda study: ()

    def __call__(self, study: Study) -> list[Row]:
        """Return pairs of a choice that the paper leaves open and what this dataset took."""
        rows = [*varied(study), *self._taken(study), *self.further(study)]
        return rows + choices(study, self.content["choices"], self.meanings)

    @property
    def content(self) -> Mapping[str, Any]:
        """The file."""
        return _read(self.folder / FILE)

    @property
    def meanings(self) -> Meanings:
        """Choice -> value -> words."""
        found: Meanings = self.content["meanings"]
        return found

    def _taken(self, study: Study) -> Iterator[Row]:
        for name, words in self.content.get("taken", {}).items():
            if isinstance(words, str):
                yield name, words
                continue
            metric, _, other = name.partition(", not ")
            if metric in study.data and other not in study.data:
                yield from words.items()


@cache
def _read(file: Path) -> Mapping[str, Any]:
    import yaml  # type: ignore[import-untyped] # types only by another package

    found: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found

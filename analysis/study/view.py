"""Choices of a user for an analysis: part of a grid, axis, reference, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.errors import AnalysisError
from sweep.errors import unknown
from sweep.policy_names import usual_reference

OPTIONS = ("along", "reference", "metrics")
"""Keys of `View` as users type them; any other key names an axis, and its values to keep."""

ALL = "all"


@dataclass(frozen=True)
class View:
    """Choices, each empty by default.

    Parameters
    ----------
    along : str
        Axis of the figures.
    reference : str
        The reference of all comparisons.
    metrics : tuple of str
        Metrics that are drawn, or `ALL`.
    """

    along: str = ""
    reference: str = ""
    metrics: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, str]) -> View:
        """Return the choices among typed keys and values; others are left alone.

        Raises
        ------
        AnalysisError
            If one of them is empty.
        """
        for key in OPTIONS:
            if key in given and not listed(given[key]):
                raise AnalysisError(f"{key}={given[key]} has no value; give one, or omit {key}=")
        metrics = tuple(listed(given.get("metrics", "")))
        return cls(given.get("along", ""), given.get("reference", ""), metrics)

    def reference_among(self, names: Sequence[str]) -> str:
        """Return the reference of comparisons: the chosen name, else the default, else the first.

        Raises
        ------
        AnalysisError
            If the chosen name is not among them.
        """
        if self.reference and self.reference not in names:
            raise AnalysisError(f"reference={self.reference}: {unknown('name', self.reference, names)}")
        usual = usual_reference()
        return self.reference or (usual if usual is not None and usual in names else names[0])


def listed(text: str) -> list[str]:
    """Return the parts of a typed list, with brackets or without.

    Examples
    --------
    >>> listed("[easy, fcfs]"), listed("easy,fcfs"), listed("")
    (['easy', 'fcfs'], ['easy', 'fcfs'], [])
    """
    return [
        part.strip() for part in text.strip().removeprefix("[").removesuffix("]").split(",") if part.strip()
    ]

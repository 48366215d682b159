"""Points of a study under the same jobs, side by side: the view of every comparison."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from analysis.study.curve import Sample
from sweep import statistics
from sweep.statistics import Comparison, Interval, Paired
from sweep.statistics.confidence import Floats

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Alternatives(Generic[Name]):
    """A metric of alternatives under the same jobs: policies, or one policy with several settings.

    Parameters
    ----------
    samples : dict
        Name of each alternative -> its values.
    reference : hashable
        The alternative with which all others are compared.
    confidence : float
        Of intervals, unless another level is given.
    """

    samples: Mapping[Name, Sample]
    reference: Name
    confidence: float

    def mean(self, name: Name) -> Interval:
        """Return the mean of an alternative, from the dataset if it has one."""
        return self.samples[name].mean(self.confidence)

    def pair(self, name: Name, other: Name | None = None) -> Paired:
        """Return an alternative paired with another, by default the reference; empty if one has no mean."""
        key = name, self.reference if other is None else other
        if key not in self._pairs:
            mine, its = (self.samples[one] for one in key)
            self._pairs[key] = Paired(None) if mine.reason or its.reason else mine.against(its)
        return self._pairs[key]

    @cached_property
    def _pairs(self) -> dict[tuple[Name, Name], Paired]:
        """Pairs, which sentences, tables and pictures share."""
        return {}

    def difference(self, name: Name, other: Name | None = None, *, level: float | None = None) -> Comparison:
        """Return the mean of an alternative minus another's, by default the reference's."""
        return self.pair(name, other).comparison(self.confidence if level is None else level)

    def ratio(self, name: Name, *, level: float | None = None) -> Interval:
        """Return the mean of an alternative over the reference's."""
        return self.pair(name).ratio(self.confidence if level is None else level)

    @cached_property
    def probabilities(self) -> dict[Name, float]:
        """The probability of each alternative that its mean is the lowest."""
        found = statistics.probability_lowest(*self._values).tolist()
        return dict(zip(self.samples, found, strict=True))

    @cached_property
    def joint_level(self) -> float:
        """Level of each comparison at which all of them together have the study's confidence."""
        values, weights = self._values
        place = list(self.samples).index(self.reference)
        return statistics.joint_level(values, place, self.confidence, weights)

    @property
    def _values(self) -> tuple[Floats, Floats]:
        """The batch values of all alternatives, and their weights."""
        values = np.array([one.batches for one in self.samples.values()])
        weights = [one.weight for one in self.samples.values()]
        return values, np.array([np.ones_like(values[0]) if one is None else one for one in weights])

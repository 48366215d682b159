"""The sample of a comparison of policies: replications, or the weeks of one log, and its length."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.operators.case import Case
from analysis.operators.labels import PERIOD, WAIT
from models.counting import counted
from models.jobs.calendar import DAY, LEAST, WEEK
from sweep.statistics import MIN_REPLICATIONS

TOLERANCE = 0.01
"""Share of a week by which the length of a batch may differ from it, by rounding."""

OF = {"batch": "batches of jobs", "week": "weeks", "day": "days"}
"""Unit of a batch -> its name in text."""

IN_YEAR = 365.25 * DAY / WEEK
MOST_RUNS = 10_000
LONGEST_YEARS = 20
"""Replications, and years of a log, beyond which only a bound is given."""


@dataclass(frozen=True)
class Sample:
    """The sample of each policy.

    Parameters
    ----------
    replications : int
        Runs that hold data.
    batches : int
        Batches of a run that hold data.
    unit : str
        The length of a batch: ``week``, ``3 weeks``, ``day``, ``batch``.
    weeks : float
        Length of a run; NaN if unknown.
    drawn : str
        What ``workload.resample`` resamples, empty for nothing.
    """

    replications: int
    batches: int
    unit: str
    weeks: float
    drawn: str = ""

    @classmethod
    def of(cls, case: Case) -> Sample:
        """Return the sample of a case."""
        known = ~np.isnan(case.values(WAIT, case.reference))
        unit, weeks = _time(case)
        return cls(int(known.any(axis=1).sum()), int(known.sum(axis=1).max()), unit, weeks, _drawn(case))

    @property
    def by_replications(self) -> bool:
        """Whether replications are the sample, and not the batches of one of them."""
        return self.replications >= MIN_REPLICATIONS

    @property
    def size(self) -> int:
        """The number of its values."""
        return self.replications if self.by_replications else self.batches

    @property
    def values(self) -> str:
        """The name of a value of the sample: replications, weeks, batches."""
        if self.by_replications:
            return "replications"
        return OF[self.unit].split()[0] if self.unit in OF else f"times {self.unit}"

    def describe(self) -> str:
        """Return the sample in words, with its limits."""
        if self.by_replications:
            runs = f"{self.replications} replications, each with its own jobs"
            if not self.drawn:
                return f"{runs}."
            return (
                f"{runs}: the log's {self.drawn}, resampled. They show the variation among these "
                f"{self.drawn}, not how much future jobs will differ from this log; absolute waits of "
                "resampled logs are not predictions."
            )
        text = f"one log, divided into {self.batches} {OF.get(self.unit, f'times {self.unit}')}"
        if self.unit.endswith(("day", "days")):
            text += f", because it has fewer than {LEAST} full weeks: the variation between weeks is unknown"
        return f"{text}."

    def enough(self, multiple: float) -> str:
        """Return in words the sample that is a multiple of this one."""
        if math.isnan(multiple):
            return "no interval"
        if self.by_replications:
            number, noun = multiple * self.replications, "resamples" if self.drawn else "replications"
            return (
                f"about {_rounded(number):,} {noun}" if number <= MOST_RUNS else f"over {MOST_RUNS:,} {noun}"
            )
        if math.isnan(self.weeks):
            return f"a log about {multiple:,.1f} times as long" if multiple < math.inf else "no log suffices"
        weeks = multiple * self.weeks
        if weeks > LONGEST_YEARS * IN_YEAR:
            return f"over {LONGEST_YEARS} years"
        return (
            f"about {counted(_rounded(weeks), 'week')}"
            if weeks < 2 * IN_YEAR
            else f"about {weeks / IN_YEAR:.0f} years"
        )


def _rounded(number: float) -> int:
    """Return a number rounded up to two digits, its accuracy."""
    size = 10 ** max(math.floor(math.log10(number)) - 1, 0) if number > 0 else 1
    return math.ceil(number / size) * size


def _time(case: Case) -> tuple[str, float]:
    """Return the length of a batch, and the weeks of a run."""
    if PERIOD not in case.study.data:
        return "batch", math.nan
    seconds = case.values(PERIOD, case.reference)
    weeks = float(np.nansum(seconds, axis=1).max()) / WEEK
    inner = seconds[:, :-1][~np.isnan(seconds[:, 1:])]  # the last batch lasts until the end of the last job
    if not inner.size:
        return "batch", weeks
    for name, size in (("week", WEEK), ("day", DAY)):
        number = float(np.median(inner)) / size
        whole = round(number)
        if whole >= 1 and (np.abs(inner / size - whole) < TOLERANCE).all():
            return name if whole == 1 else f"{whole} {name}s", weeks
    return "batch", weeks


def _drawn(case: Case) -> str:
    try:
        return str(case.study.parameters("workload").get("resample") or "")
    except AnalysisError:  # the dataset is from other software
        return ""

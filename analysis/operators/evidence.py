"""What a comparison of policies rests on: replications, or the weeks of one log, and how long it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.operators.case import Case
from analysis.operators.labels import PERIOD, WAIT
from models.jobs.calendar import DAY, LEAST, WEEK
from sweep.statistics import MIN_REPLICATIONS
from sweep.statistics.correlation import MIN_BATCHES

TOLERANCE = 0.01
"""Share of a week by which a batch may differ from it: its borders are exact, but for rounding."""

OF = {"batch": "batches of jobs", "week": "weeks", "day": "days"}
"""What batches are -> how they are called."""

IN_YEAR = 365.25 * DAY / WEEK
MOST_RUNS = 10_000
LONGEST_YEARS = 20
"""Replications, and years of a log, beyond which nobody waits for an answer."""


@dataclass(frozen=True)
class Evidence:
    """What there is of each policy.

    Parameters
    ----------
    replications : int
        Runs that hold data.
    batches : int
        Batches of a run that hold data.
    unit : str
        What a batch is: ``week``, ``3 weeks``, ``day``, ``batch``.
    weeks : float
        Length of a run; NaN where it is not known.
    drawn : str
        What ``workload.resample`` draws anew, empty where it draws nothing.
    """

    replications: int
    batches: int
    unit: str
    weeks: float
    drawn: str = ""

    @classmethod
    def of(cls, case: Case) -> Evidence:
        """Return what a case rests on."""
        known = ~np.isnan(case.values(WAIT, case.reference))
        unit, weeks = _time(case)
        return cls(int(known.any(axis=1).sum()), int(known.sum(axis=1).max()), unit, weeks, _drawn(case))

    @property
    def by_replications(self) -> bool:
        """Whether replications are the sample, and not what is in one of them."""
        return self.replications >= MIN_REPLICATIONS

    @property
    def is_judged(self) -> bool:
        """Whether there is enough of it for an interval."""
        return self.by_replications or self.batches >= MIN_BATCHES

    @property
    def values(self) -> str:
        """What the values of the sample are: replications, or what batches are."""
        if self.by_replications:
            return "replications"
        return OF[self.unit].split()[0] if self.unit in OF else f"times {self.unit}"

    def describe(self) -> str:
        """Return in words what the comparison rests on, and what it can say no more than."""
        if self.by_replications:
            runs = f"{self.replications} replications, each with jobs of its own"
            if not self.drawn:
                return f"{runs}."
            return (
                f"{runs}: the log's {self.drawn}, drawn anew. They tell what else could have come of the "
                f"same {self.drawn}, and not how far this log is from what is to come."
            )
        text = f"one log, cut into {self.batches} {OF.get(self.unit, f'times {self.unit}')}"
        if self.unit.endswith(("day", "days")):
            text += f", as it has fewer than {LEAST} full weeks: how weeks differ is unknown"
        return f"{text}."

    def enough(self, multiple: float) -> str:
        """Return in words how much there would have to be, so many times as much as there is."""
        if math.isnan(multiple):
            return "not judged"
        if self.by_replications:
            number, what = multiple * self.replications, "resamples" if self.drawn else "replications"
            return (
                f"about {_rounded(number):,} {what}" if number <= MOST_RUNS else f"over {MOST_RUNS:,} {what}"
            )
        if math.isnan(self.weeks):
            return f"a log about {multiple:,.1f} times as long" if multiple < math.inf else "no log"
        weeks = multiple * self.weeks
        if weeks > LONGEST_YEARS * IN_YEAR:
            return f"over {LONGEST_YEARS} years"
        return (
            f"about {_rounded(weeks):,} weeks"
            if weeks < 2 * IN_YEAR
            else f"about {weeks / IN_YEAR:.0f} years"
        )


def _rounded(number: float) -> int:
    """Return a number with two digits: it is not known better."""
    size = 10 ** max(math.floor(math.log10(number)) - 1, 0) if number > 0 else 1
    return math.ceil(number / size) * size


def _time(case: Case) -> tuple[str, float]:
    """Return what a batch is, and how many weeks a run has."""
    if PERIOD not in case.study.data:
        return "batch", math.nan
    seconds = case.values(PERIOD, case.reference)
    weeks = float(np.nansum(seconds, axis=1).max()) / WEEK
    inner = seconds[:, :-1][~np.isnan(seconds[:, 1:])]  # the last one goes on to the last job's end
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
    except AnalysisError:  # a dataset of other software
        return ""

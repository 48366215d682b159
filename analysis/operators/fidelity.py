"""How well the reference reproduces the recorded waits: of all jobs, week by week, and of groups."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.operators.case import Case
from analysis.operators.labels import PERIOD, WAIT
from analysis.operators.sample import Sample
from analysis.report.declared import Row, declared
from analysis.report.table import Cell, Table
from analysis.study import recorded
from analysis.study.axes import ACCOUNT, ALL_JOBS, FIFTH, PARTITION, QOS, SIZE, USER, Group
from sweep.numbers import number

ALIKE = 1.25
"""Ratio up to which a simulated mean wait matches the recorded one."""

NEAR = 2.0
"""Ratio up to which a week does."""

ORDER = (PARTITION, ACCOUNT, QOS, USER, SIZE, FIFTH)
"""Groups of the table, before all others."""

MOST = 5
"""Accounts and users in the table, those with most work."""

ROWS = 26
"""Rows of the table by time, at most."""


@dataclass(frozen=True)
class Fidelity:
    """Recorded and simulated waits of the same jobs.

    Parameters
    ----------
    was, simulated : float, seconds
        Means over all jobs.
    near, weeks : int
        Batches whose means are within a factor of `NEAR`, of all batches.
    """

    case: Case
    was: float
    simulated: float
    near: int
    weeks: int

    @classmethod
    def of(cls, case: Case, group: Group = ALL_JOBS) -> Fidelity | None:
        """Return the fidelity for all jobs or a group; None if the log records no waits."""
        was = case.recorded(WAIT, group).mean
        if np.isnan(was):
            return None
        weekly = recorded.values(case.study, group.metric(WAIT), group.place)
        simulated = case.values(WAIT, case.reference, group)
        assert weekly is not None
        both = ~np.isnan(weekly) & ~np.isnan(simulated[:1])
        a, b = weekly[both], simulated[:1][both]
        near = (np.minimum(a, b) * NEAR >= np.maximum(a, b)).sum()
        mean = case.mean(WAIT, case.reference, group).mean
        return cls(case, was, mean, int(near), int(both.sum()))

    @property
    def matches(self) -> bool:
        """Whether simulated waits predict a site's: the means are similar, and so are most weeks."""
        low, high = sorted((self.was, self.simulated))
        return high <= ALIKE * low and 2 * self.near >= self.weeks

    @property
    def ratio(self) -> str:
        """The simulated mean over the recorded one."""
        if not self.was > 0:
            return "–"
        return f"× {number(self.simulated / self.was)}"

    @property
    def sentence(self) -> str:
        """The sentence on the fidelity of the simulation."""
        case, unit = self.case, self.case.units[WAIT]
        was, simulated = (f"{number(value / unit.size)}{unit.name}" for value in (self.was, self.simulated))
        text = (
            f"The log records a mean wait of {was}; under {case.against} the same jobs wait for {simulated}"
        )
        if not self.was > 0:
            return (
                f"{text}. The log has no queue, so {case.against} does not match this site, and absolute "
                "waits are not predictions."
            )
        values = Sample.of(case).values
        near = (
            f"within a factor of {NEAR:g} in {self.near} of {self.weeks} {values}" if self.weeks > 1 else ""
        )
        text += f" ({', '.join(filter(None, [self.ratio, near]))})"
        if self.matches:
            return f"{text}: {case.against} matches this site."
        return (
            f"{text}. So {case.against} does not match this site: absolute waits are not predictions, and a "
            "gain over it may not be a gain over today's scheduler."
        )


def unchecked(case: Case) -> str:
    """Return why the waits of a log cannot be compared; empty where they can, or without a log."""
    facts = case.study.facts
    if case.along or case.has_record or not (facts.get("logs") or facts.get("faults")):
        return ""
    if Sample.of(case).drawn:
        return "a resampled log has no recorded waits"
    if case.study.values_of("load")[case.place] != "null":
        return "the log records waits at its own load only"
    return "the log could not be read" if facts.get("faults") else "the log records no waits"


def predicts(case: Case) -> bool:
    """Return whether absolute waits predict a site's: never where that cannot be checked."""
    likeness = Fidelity.of(case)
    return not unchecked(case) and (likeness is None or likeness.matches)


def sentence(case: Case) -> str:
    """Return how well the reference reproduces the log, or that this cannot be checked; "" without a log."""
    if likeness := Fidelity.of(case):
        found = likeness.sentence
    elif why := unchecked(case):
        found = (
            f"This cannot be checked, because {why}: absolute waits are not predictions, and a gain over "
            f"{case.against} may not be a gain over today's scheduler."
        )
    else:
        return ""
    versions = ", ".join(case.study.facts.get("validated", []))
    return found + f" The model was validated against {versions}." * bool(versions)


def by_batch(case: Case) -> Table | None:
    """Return recorded and simulated waits in the order of time, with several batches together if there are
    many; None if nothing is recorded, or only in one batch."""
    weekly = recorded.values(case.study, WAIT)
    if weekly is None or not case.has_record or weekly.shape[1] < 2:
        return None
    values = [weekly[0], case.values(WAIT, case.reference)[0], case.jobs()[0]]
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    was, simulated, jobs = (one[known] for one in values)
    names = _begins(case, known)
    unit, each = case.units[WAIT], -(-len(jobs) // ROWS)
    rows: list[Row] = []
    for first in range(0, len(jobs), each or 1):
        some = slice(first, first + each)
        weight = jobs[some] / jobs[some].sum()
        a, b = was[some] @ weight, simulated[some] @ weight
        near = min(a, b) * NEAR >= max(a, b)
        rows.append(
            [
                names[first],
                f"{jobs[some].sum():,.0f}",
                *(f"{number(value / unit.size)}{unit.name}" for value in (a, b)),
                f"× {number(b / a)}" if a > 0 else "–",
                Cell("yes", "better") if near else Cell("no", "worse"),
            ]
        )
    values_of = f"{len(jobs):,} {Sample.of(case).values}"
    return declared(
        "operators", "fidelity-by-time", rows, reference=case.against, near=f"{NEAR:g}",
        each=f"At most {ROWS} rows are shown: each has {each} of the {values_of}."
        if each > 1 else f"The rows are {values_of}.",
    )  # fmt: skip


def _begins(case: Case, known: np.ndarray) -> list[str]:
    """Return the day on which each known batch begins, with its time if a day has several, or its number if
    the dataset lacks the day."""
    logs = case.study.facts.get("logs", [])
    zeros = {log.get("zero") for log in logs}
    numbers = [str(batch + 1) for batch in known]
    if len(zeros) != 1 or None in zeros or PERIOD not in case.study.data:
        return numbers
    seconds = case.values(PERIOD, case.reference)[0]
    begin = zeros.pop() + np.concatenate([[0.0], np.cumsum(np.nan_to_num(seconds))[:-1]])
    every = begin[known].astype(np.int64).astype("datetime64[s]")
    unit = "D" if len(np.unique(every.astype("datetime64[D]"))) == len(known) else "m"
    return [str(one).replace("T", " ") for one in every.astype(f"datetime64[{unit}]")]


def table(case: Case) -> Table | None:
    """Return recorded and simulated waits of all jobs and of each group; None where nothing is recorded."""
    groups = [ALL_JOBS]
    for grouping in sorted(case.groupings, key=lambda one: ORDER.index(one) if one in ORDER else len(ORDER)):
        groups += case.identified(grouping)[: MOST if grouping in (ACCOUNT, USER) else None]
    unit = case.units[WAIT]
    rows: list[Row] = [
        [
            case.named(group),
            *(f"{number(value / unit.size)}{unit.name}" for value in (one.was, one.simulated)),
            one.ratio,
            f"{one.near} of {one.weeks}",
            Cell("yes", "better") if one.matches else Cell("no", "worse"),
        ]
        for group in groups
        if (one := Fidelity.of(case, group)) is not None
    ]
    if not rows:
        return None
    found = declared(
        "operators", "fidelity", rows, reference=case.against, values=Sample.of(case).values,
        alike=f"{ALIKE:g}", near=f"{NEAR:g}",
    )  # fmt: skip
    return replace(found, is_open=True)

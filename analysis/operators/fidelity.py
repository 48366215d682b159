"""How well the reference reproduces the recorded waits: of all jobs, week by week, and of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.operators.case import Case
from analysis.operators.labels import AS_IT_WAS, WAIT
from analysis.operators.sample import Sample
from analysis.report.declared import Row, declared
from analysis.report.table import Cell, Table
from analysis.study import recorded
from analysis.study.axes import ALL_JOBS, USER, Group
from sweep.numbers import number

ALIKE = 1.25
"""Ratio up to which a simulated mean wait matches the recorded one."""

NEAR = 2.0
"""Ratio up to which a week does."""

USERS = 5
"""Users in the table, those with most work."""


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
        """Return it for all jobs or a group; None where the log records no waits."""
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
        """Whether simulated waits predict: the mean is alike, and so are most weeks."""
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
        text = f"{AS_IT_WAS[0].upper()}{AS_IT_WAS[1:]}, the same jobs waited for {was}; under {case.against} "
        if not self.was > 0:
            return (
                f"{text}they wait for {simulated}: the log has no queue, so {case.against} does not match "
                "this site and absolute waits do not predict."
            )
        values = Sample.of(case).values
        near = (
            f"within a factor of {NEAR:g} in {self.near} of {self.weeks} {values}" if self.weeks > 1 else ""
        )
        text += f"they wait for {simulated} ({', '.join(filter(None, [self.ratio, near]))})"
        if self.matches:
            return f"{text}: {case.against} matches this site."
        return (
            f"{text}. So {case.against} does not match this site: absolute waits do not predict, and a "
            "gain over it may not be a gain over today's scheduler."
        )


def table(case: Case) -> Table | None:
    """Return recorded and simulated waits of all jobs and of each group; None where nothing is recorded."""
    groups = [ALL_JOBS]
    for grouping in case.groupings:
        groups += case.identified(grouping)[: USERS if grouping is USER else None]
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
    return declared(
        "operators", "fidelity", rows, reference=case.against, values=Sample.of(case).values,
        alike=f"{ALIKE:g}", near=f"{NEAR:g}",
    )  # fmt: skip

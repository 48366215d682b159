"""Which policies a site would accept: the better ones, what each costs, and which constraint it breaks.

The constraints are the site's (``accept`` of conf/config.yaml), and the rule is the same on every log.
Whether a policy is better is judged for all policies together, since the best of many is chosen; its costs
are judged by each single interval, so that no cost is hidden by the number of groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis.operators import deploying
from analysis.operators.case import Case
from analysis.operators.labels import WAIT, WAIT_MAX
from analysis.operators.sample import Sample
from analysis.report import cells
from analysis.study.axes import ACCOUNT, USER, Group
from sweep.config.settings import Accept, seconds_of
from sweep.numbers import number, time_unit
from sweep.statistics import Comparison

NOTICED_S = 60.0
"""A longer mean wait of a group counts from this change on: two seconds more do not matter."""

NAMED = 3
"""Groups of jobs that a sentence names."""

MOST_OF_IT = 0.5
"""Share of a gain from which on the user, the account or the week that has it is named."""


def accepted(case: Case) -> Mapping[str, Any]:
    """Return the site's constraints, null where there is none; the gain in seconds."""
    given = {**asdict(Accept()), **(case.study.settings.get("accept") or {})}
    gain = given["least_gain"]
    return {**given, "least_gain": 0.0 if gain is None else seconds_of(str(gain)) or 0.0}


def in_words(case: Case) -> str:
    """Return the constraints in words."""
    given = accepted(case)
    ratios = {"longest_wait": "longest wait", "group_wait": "mean wait of each group"}
    parts = [f"{words} at most × {given[key]:g}" for key, words in ratios.items() if given[key] is not None]
    parts += [f"a gain of {least_gain(case)} or more"] * (given["least_gain"] > 0)
    return ", ".join(parts) or "none"


def least_gain(case: Case) -> str:
    """Return the least gain in words."""
    seconds = accepted(case)["least_gain"]
    unit = time_unit([seconds])
    return f"{seconds / unit.size:g}{unit.name}"


def duration(seconds: float) -> str:
    """Return a time in its own unit."""
    unit = time_unit([seconds])
    return f"{number(seconds / unit.size)}{unit.name}"


@dataclass(frozen=True)
class Candidate:
    """A policy that is shown to be better than the reference, all policies taken together."""

    case: Case
    policy: str

    @cached_property
    def change(self) -> Comparison:
        """Change of the mean wait of all jobs."""
        return self.case.difference(WAIT, self.policy)

    @cached_property
    def longest(self) -> tuple[float, float]:
        """The longest wait of any job under the reference and under the policy, seconds."""
        before, after = (self.case.level(WAIT_MAX, one).mean for one in (self.case.reference, self.policy))
        return before, after

    @cached_property
    def longest_ratio(self) -> float:
        """The second over the first."""
        before, after = self.longest
        return after / before if before > 0 else 1.0 if not after > 0 else math.inf

    @cached_property
    def paying(self) -> dict[Group, Comparison]:
        """Groups that are shown to wait longer, the worst first."""
        found = self.case.grouped(WAIT, self.policy, cells.WORSE)
        noticed = {group: one for group, one in found.items() if one.mean >= NOTICED_S}
        return dict(sorted(noticed.items(), key=lambda pair: -ratio(pair[1])))

    @property
    def worst(self) -> float:
        """Largest ratio of a group's mean wait among the groups that are shown to wait longer, else 1."""
        return max(map(ratio, self.paying.values()), default=1.0)

    @cached_property
    def broken(self) -> list[str]:
        """The constraints that it breaks, in words."""
        limits, found = accepted(self.case), []
        if limits["longest_wait"] is not None and self.longest_ratio > limits["longest_wait"]:
            before, after = map(duration, self.longest)
            found.append(f"the longest wait grows from {before} to {after} (× {number(self.longest_ratio)})")
        if limits["group_wait"] is not None:
            those = [
                f"{self.case.named(group)} (× {number(ratio(one))})"
                for group, one in self.paying.items()
                if ratio(one) > limits["group_wait"]
            ]
            more = f" and {len(those) - 1} more" if len(those) > 1 else ""
            found += [f"waits grow for {those[0]}{more}"] if those else []
        if -self.change.mean < limits["least_gain"]:
            found.append(f"it saves {duration(-self.change.mean)}, less than {least_gain(self.case)}")
        return found

    @property
    def can_be_set(self) -> bool:
        """Whether some resource manager can be configured for the policy."""
        return deploying.can_be_set(self.case.study, self.policy)

    def is_behind(self, other: Candidate) -> bool:
        """Whether another candidate gains more, costs less, and can be configured as well."""
        mine, its = (
            (one.change.mean, one.longest_ratio, one.worst, not one.can_be_set) for one in (self, other)
        )
        return mine != its and all(a >= b for a, b in zip(mine, its, strict=True))

    @cached_property
    def concentration(self) -> list[str]:
        """The user, the account and the week that have more than half of the gain, in words."""
        case, found = self.case, []
        shares = {one: self._gains(one) for one in (ACCOUNT, USER) if one in case.groupings}
        for gains in shares.values():
            named = {group: gain for group, gain in gains.items() if group.value != "others"}
            first = max(named, key=lambda group: named[group], default=None)
            if first is not None and (share := named[first] / sum(gains.values())) > MOST_OF_IT:
                found.append(f"{case.named(first)} ({_share(share)})")
        weekly = self._by_batch()
        sample = Sample.of(case)
        if not sample.by_replications and (share := weekly.max() / weekly.sum()) > MOST_OF_IT:
            name = f"{sample.unit} {int(weekly.argmax()) + 1} of {sample.batches}"
            found.append(f"{name} ({_share(share)})")
        return found

    def _gains(self, grouping: Any) -> dict[Group, float]:
        """Return the seconds of waiting that each group gains, of all its jobs together."""
        return {group: float(self._by_batch(group).sum()) for group in self.case.groups(grouping)}

    def _by_batch(self, group: Group | None = None) -> np.ndarray:
        """Return the seconds of waiting that all jobs, or a group's, gain in each batch."""
        case, given = self.case, (() if group is None else (group,))
        before, after = (case.values(WAIT, one, *given) for one in (case.reference, self.policy))
        return np.asarray(np.nansum((before - after) * case.jobs(*given), axis=0))


def ratio(found: Comparison) -> float:
    """Return the mean of a comparison over the reference's."""
    return 1 + found.mean / found.reference if found.reference > 0 else math.inf


def _share(share: float) -> str:
    return f"{100 * share:.0f} %" if share < 1 else "more than the whole gain"


def candidates(case: Case) -> list[Candidate]:
    """Return the policies that are shown to be better, what can be set first, then by their gain."""
    if case.is_one_batch or not case.others:
        return []
    level = case.beside(WAIT).joint_level
    sure = [one for one in case.others if case.difference(WAIT, one, level=level).verdict == "better"]
    found = [Candidate(case, policy) for policy in sure]
    return sorted(found, key=lambda one: (not one.can_be_set, one.change.mean))


def short_list(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that break no constraint and are not behind another one."""
    kept = [one for one in found if not one.broken]
    return [one for one in kept if not any(one.is_behind(other) for other in kept)]

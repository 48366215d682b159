"""What a search left in a dataset, and the study of its best settings on the weeks held back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from analysis.errors import AnalysisError
from analysis.operators.case import Case, cases
from analysis.operators.labels import PERIOD
from analysis.study import Study
from analysis.study.study import SUMMARY
from analysis.study.view import View
from sweep.config.nested import get
from sweep.config.settings import shown

FULL = "full"


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, with changes as shares of the reference's mean wait.

    Parameters
    ----------
    is_full : bool
        Whether they were run on all weeks of the search, and not stopped early.
    """

    name: str
    values: Mapping[str, Any]
    is_full: bool
    change: float
    low: float
    high: float
    longest_wait: float
    group_wait: float
    broken: Sequence[str]


@dataclass(frozen=True)
class Found:
    """A study whose settings a search found."""

    study: Study

    def __post_init__(self) -> None:
        """Refuse a record of a search that is damaged: a dataset may be a stranger's."""
        try:
            _ = self.searched and (self.trials, self.finalists, self.without, self.searched["stages"][FULL])
            _ = self.searched and self.searched["weeks"] - self.searched["held_from"]
        except (KeyError, TypeError, AttributeError) as error:
            raise AnalysisError(
                f"the record of the search is damaged ({error!r}): run its command again"
            ) from None

    @property
    def searched(self) -> Mapping[str, Any]:
        """What the search recorded; empty for a study without one."""
        found: Mapping[str, Any] = self.study.settings.get("searched") or {}
        return found

    @cached_property
    def trials(self) -> list[Trial]:
        """The settings that have a result, in the order of the search."""
        parts = ("change", "low", "high", "longest_wait", "group_wait", "broken")
        return [
            Trial(one["name"], one["values"], one["stage"] == FULL, *(one["result"][part] for part in parts))
            for one in self.searched.get("tried", [])
            if one["result"]
        ]

    @property
    def finalists(self) -> list[str]:
        """The settings that were run on the whole log, the best in the search first."""
        return [name for name in self.searched.get("finalists", []) if name in self.study.policies]

    @property
    def reference(self) -> str:
        """The policy that the search began with."""
        return str(self.searched.get("reference", self.study.policies[0]))

    @cached_property
    def confirmed(self) -> Case:
        """The finalists beside the reference, on the weeks held back."""
        return next(iter(cases(self.held_back)))

    @cached_property
    def held_back(self) -> Study:
        """The study of the finalists on the weeks held back."""
        return self._part([self.reference, *self.finalists])

    @cached_property
    def without(self) -> Mapping[str, str]:
        """The best settings with one key as it was, by that key."""
        given = self.searched.get("without", {})
        return {key: name for name, key in given.items() if name in self.study.policies}

    @cached_property
    def reduced(self) -> Case | None:
        """The best settings, with which these are compared; None if no key was taken back."""
        if not self.without:
            return None
        part = self._part([self.finalists[0], *self.without.values()])
        return next(iter(cases(part)))

    def _part(self, policies: Sequence[str]) -> Study:
        data = self.study.data
        places = [self.study.policies.index(policy) for policy in policies]
        made = data.isel(policy=places, batch=slice(int(self.searched.get("held_from", 0)), None))
        means = [
            name
            for name in map(str, made.data_vars)
            if name.rpartition("_")[2] in SUMMARY and name.rpartition("_")[0] in made
        ]
        facts = json.loads(data.attrs.get("facts", "{}"))
        skipped = data[PERIOD].isel(policy=places[0], batch=slice(0, int(self.searched.get("held_from", 0))))
        for log in (log for log in facts.get("logs", []) if log.get("zero") is not None):
            log["zero"] += float(skipped.sum())  # the date of the first week that is left
        made = made.drop_vars(means).assign_attrs(facts=json.dumps(facts))
        return replace(self.study, data=made, view=View(reference=policies[0]))

    def words(self, trial: Mapping[str, Any]) -> str:
        """Return the keys of settings with their values."""
        return ", ".join(f"{key}={brief(value)}" for key, value in trial.items())

    def usual(self, key: str) -> str:
        """Return the reference's value of a key; a policy with lines leaves the rest to its slurm.conf."""
        policy = self.study.config.get("policy", {}).get(self.reference, {})
        if (value := get(policy, key)) is None:
            return "as in slurm.conf" if "lines" in policy else "–"
        return brief(value)


def brief(value: Any) -> str:
    """Return a value as it is typed, a number with three digits."""
    return f"{value:.3g}" if isinstance(value, float) else shown(value)

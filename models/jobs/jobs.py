"""Jobs as the engines get them, in order of submission."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.backfill.rules import Rules


@dataclass(frozen=True, eq=False)
class Jobs:
    """Rigid jobs; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit : ndarray of float, seconds
        Ascending.
    runtime : ndarray of float, seconds
        What a job takes if nobody ends it, above 0.
    requested : ndarray of float, seconds
        What its user asked for; NaN where unknown.
    size : ndarray of int
        Processors.
    memory : ndarray of int, KB
        What it asked for, of all its processors together.
    used_memory : ndarray of int, KB, optional
        What it really uses at most; None is all that it asked for.
    user : ndarray of int, optional
        Who submitted it.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    memory: Ints
    used_memory: Ints | None = None
    user: Ints | None = None

    @property
    def used(self) -> Ints:
        """KB that each job really uses."""
        return self.memory if self.used_memory is None else self.used_memory

    def __len__(self) -> int:
        return self.submit.size

    def part(self, chosen: slice | np.ndarray) -> Jobs:
        """Return some of the jobs, in their order."""
        columns: list[Any] = [getattr(self, name) for name in self.__dataclass_fields__]
        parts: list[Any] = [None if values is None else values[chosen] for values in columns]
        return Jobs(*parts)

    def under(self, rules: Rules) -> Jobs:
        """Return the jobs as they run under these rules: judged by something, and perhaps killed at it.

        Raises
        ------
        ValueError
            If the rules need what the jobs do not have.
        """
        unknown = np.isnan(self.requested)
        judging = rules.judges
        if judging and rules.unrequested == "error" and unknown.any():
            raise ValueError(
                f"{int(unknown.sum()):,} of {len(self):,} jobs have no requested time, and the policy judges "
                "by it; add policy.unrequested=runtime to judge them by their actual one, or "
                "workload.estimates=tsafrir2005 to draw requests"
            )
        requested = np.where(unknown, self.runtime, self.requested)
        longer = self.runtime > requested
        if rules.discipline == "conservative" and not rules.kill and longer.any():
            raise ValueError(
                f"{int(longer.sum()):,} of {len(self):,} jobs run longer than requested, so that no start "
                "could be promised; policy conservative needs policy.kill=true"
            )
        runtime = np.where(longer & rules.kill, requested, self.runtime)
        return replace(self, runtime=runtime, requested=requested)

    def notes(self, rules: Rules) -> list[str]:
        """Return what is worth saying aloud of these jobs under these rules; raises what `under` does."""
        ran = self.under(rules)
        unknown = int(np.isnan(self.requested).sum())
        longer = int((self.runtime > ran.requested).sum())
        killed = int((ran.runtime < self.runtime).sum())
        told = []
        if unknown and rules.judges:
            told.append(f"{unknown:,} jobs have no requested time, judged by the actual one")
        if killed:
            told.append(f"{killed:,} jobs run longer than requested, killed at it (policy.kill=true)")
        elif longer:
            told.append(f"{longer:,} jobs run longer than requested, and may (policy.kill=false)")
        return told

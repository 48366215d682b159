"""Contestants: a policy with its level and its queue, or with the speed-up of the jobs that it reshapes.

Some axes matter to some policies only: the cost of a switch to gang scheduling, requested times to policies
that use them. All other policies have the same curve at every value of such an axis.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.families import break_even, labels
from analysis.families.break_even import Outcome
from analysis.study import Study
from analysis.study.alternatives import Alternatives
from analysis.study.axes import ALL_JOBS, Group
from analysis.study.curve import EXCLUDED, Curve, across
from sweep import policy_names

NAMES = {labels.EASY: "EASY", labels.SHARING: "Processor sharing"}
"""Names of policies that have another name in their own papers."""


@dataclass(frozen=True)
class Contestant:
    """A policy with its conditions.

    Parameters
    ----------
    family : str
        Its package, ``models.gang``.
    level, queue : str
        Of gang scheduling, as text; ``null`` is any number of slots.
    speedup : str
        Of jobs under partitioning.
    """

    policy: str
    family: str = ""
    level: str = labels.UNBOUNDED
    queue: str = labels.FCFS_QUEUE
    speedup: str = labels.LINEAR

    @property
    def slices(self) -> bool:
        """Whether it is gang scheduling."""
        return self.family == labels.GANG

    @property
    def reshapes(self) -> bool:
        """Whether it changes the numbers of processors of jobs."""
        return self.family == labels.PARTITIONING

    @property
    def uses_requests(self) -> bool:
        """Whether it uses requested times."""
        if self.slices:
            return self.queue == labels.BACKFILL_QUEUE
        return not self.reshapes and self.policy != labels.FCFS

    @property
    def label(self) -> str:
        """Its name in text.

        Examples
        --------
        >>> Contestant("buddy", "models.gang", "3", "backfill").label
        'Buddy 3 + backfilling'
        >>> Contestant("buddy", "models.gang").label, Contestant("easy", "models.backfill").label
        ('Buddy ∞', 'EASY')
        """
        name = NAMES.get(self.policy) or policy_names.label(self.policy)
        if self.slices:
            if self.level == labels.UNBOUNDED:
                return f"{name} ∞"
            return f"{name} {self.level}{' + backfilling' if self.queue == labels.BACKFILL_QUEUE else ''}"
        return (
            name
            if not self.reshapes or self.speedup in (labels.LINEAR, labels.UNLIMITED)
            else f"{name}, Downey"
        )


@dataclass(frozen=True, eq=False)
class Field:
    """All contestants of a study."""

    study: Study

    @cached_property
    def all(self) -> tuple[Contestant, ...]:
        """Contestants of which the grid has points, in its order."""
        every = (one for policy in self.study.policies for one in self._forms(policy))
        return tuple(one for one in every if self._has(one, labels.FREE))

    def _has(self, one: Contestant, cost: str) -> bool:
        """Whether the grid has a contestant at a cost, under any workload."""
        return any(self.curve("", one, name, cost=cost).there for name in self.workloads)

    def _forms(self, policy: str) -> list[Contestant]:
        family = str(self.study.config.get("policy", {}).get(policy, {}).get("family", ""))
        if family == labels.GANG:
            return [
                Contestant(policy, family, level, queue)
                for level in self.study.values_of(labels.LEVEL) or [labels.UNBOUNDED]
                for queue in self.study.values_of(labels.QUEUE) or [labels.FCFS_QUEUE]
            ]
        if family == labels.PARTITIONING:
            speedups = self.study.values_of(labels.SPEEDUP) or [labels.LINEAR]
            return [Contestant(policy, family, speedup=speedup) for speedup in speedups]
        return [Contestant(policy, family)]

    @cached_property
    def rigid(self) -> tuple[Contestant, ...]:
        """Contestants that leave jobs rigid."""
        return tuple(one for one in self.all if not one.reshapes)

    @property
    def reference(self) -> Contestant:
        """The reference of all comparisons: EASY, or the first contestant."""
        return self.find(labels.EASY) or self.all[0]

    @property
    def workloads(self) -> list[str]:
        """Workloads in the order of the grid."""
        return self.study.values_of(labels.WORKLOAD)

    @property
    def costs(self) -> list[str]:
        """Costs of a switch, ascending."""
        return sorted(self.study.values_of(labels.COST), key=float) or [labels.FREE]

    @cached_property
    def slice(self) -> float:
        """Length of a slice, seconds; 1 if the dataset has none; costs are then shares of it."""
        files = self.study.config.get("policy", {}).values()
        known = [
            float(file["slice"]) for file in files if file.get("family") == labels.GANG and file.get("slice")
        ]
        return known[0] if known else 1.0

    def share(self, cost: str) -> float:
        """Return the cost of a switch in percent of a slice."""
        return 100 * float(cost) / self.slice

    @cached_property
    def costly(self) -> tuple[Contestant, ...]:
        """Gang schedulers with points at several costs of a switch."""
        if len(self.costs) < 2:
            return ()
        return tuple(one for one in self.all if one.slices and self._has(one, self.costs[-1]))

    def find(
        self,
        policy: str,
        level: str = labels.UNBOUNDED,
        queue: str = labels.FCFS_QUEUE,
        speedup: str = labels.LINEAR,
    ) -> Contestant | None:
        """Return a contestant, None if the grid lacks it."""
        wanted = (policy, level, queue, speedup)
        return next((c for c in self.all if (c.policy, c.level, c.queue, c.speedup) == wanted), None)

    @cached_property
    def scheme(self) -> str:
        """The packing scheme that represents gang scheduling: the first one with costs, else buddy."""
        if self.costly:
            return self.costly[0].policy
        gangs = [one.policy for one in self.all if one.slices]
        return labels.BUDDY if labels.BUDDY in gangs or not gangs else gangs[0]

    @cached_property
    def levels(self) -> list[str]:
        """Bounded levels of `scheme`, ascending."""
        found = {one.level for one in self.all if one.policy == self.scheme and one.level != labels.UNBOUNDED}
        return sorted(found, key=float)

    @cached_property
    def usual(self) -> str:
        """Default requests: as users make them, or else the first of the grid."""
        named = self.study.values_of(labels.REQUESTS)
        return labels.REAL if labels.REAL in named or not named else named[0]

    def _ignored_requests(self, one: Contestant) -> str:
        """Return the requests at which the grid has a contestant that ignores them."""
        if one.policy not in self._requests_of:
            found = self.usual
            if self.study.values_of(labels.REQUESTS) and found != labels.REAL:
                queue = {labels.QUEUE: one.queue} if one.slices else {}
                found = self._first(labels.REQUESTS, {"policy": one.policy, **queue})
            self._requests_of[one.policy] = found
        return self._requests_of[one.policy]

    @cached_property
    def _requests_of(self) -> dict[str, str]:
        return {}

    def _first(self, axis: str, at: Mapping[str, str]) -> str:
        """Return the first value of an axis at which the grid has points at some values of others."""
        values = self.study.values_of
        here = self.study.status.isel({one: values(one).index(at[one]) for one in at if values(one)})
        there = (here != EXCLUDED).any([dim for dim in here.dims if dim != axis]).values
        return values(axis)[int(np.argmax(there))]

    @cached_property
    def inaccuracies(self) -> list[str]:
        """Requests that are exact, or too long by a factor, ascending."""
        named = [
            one for one in self.study.values_of(labels.REQUESTS) if not math.isnan(labels.overestimate(one))
        ]
        return sorted(named, key=labels.overestimate)

    def point(
        self, one: Contestant, workload: str, *, cost: str = labels.FREE, requests: str | None = None
    ) -> dict[str, str]:
        """Return the place of a contestant in the grid, by default with the usual requests."""
        wanted = {
            labels.WORKLOAD: workload,
            labels.LEVEL: one.level if one.slices else labels.UNBOUNDED,
            labels.QUEUE: one.queue if one.slices else labels.FCFS_QUEUE,
            labels.SPEEDUP: one.speedup if one.reshapes else labels.LINEAR,
            labels.COST: cost if one.slices else labels.FREE,
            labels.REQUESTS: (requests or self.usual) if one.uses_requests else self._ignored_requests(one),
        }
        if workload in self._machines:
            wanted[labels.MACHINE] = self._machines[workload]
        return {axis: value for axis, value in wanted.items() if self.study.values_of(axis)}

    @cached_property
    def _machines(self) -> dict[str, str]:
        """The machine of each workload, the first of the grid; logs may have their own."""
        if len(self.study.values_of(labels.MACHINE)) < 2:
            return {}
        return {name: self._first(labels.MACHINE, {labels.WORKLOAD: name}) for name in self.workloads}

    def curve(
        self, metric: str, one: Contestant, workload: str, *,
        cost: str = labels.FREE, requests: str | None = None, **own: str,
    ) -> Curve:  # fmt: skip
        """Return a metric of a contestant over the load; without a metric, its states.

        Parameters
        ----------
        requests : str, optional
            By default the usual ones.
        **own : str
            Values on the metric's own dimensions.
        """
        place = self.point(one, workload, cost=cost, requests=requests)
        return self.study.curve(metric or str(self.study.headline), one.policy, **place, **own)

    def beside(
        self, metric: str, among: Iterable[Contestant], workload: str, load: float, *,
        cost: str = labels.FREE, requests: str | None = None, group: Group = ALL_JOBS,
    ) -> Alternatives[Contestant]:  # fmt: skip
        """Return a metric of contestants at a load, replication by replication.

        Batches of different families hold jobs in different orders: replications are paired, not batches.
        """
        samples = {}
        for one in among:
            curve = self.curve(
                group.metric(metric), one, workload, cost=cost, requests=requests, **group.place
            )
            sample = curve.sample(curve.place(load))
            samples[one] = sample if sample.reason else sample.of_runs
        return Alternatives(samples, self.reference, self.study.confidence)

    def outcome(
        self, axis: str, metric: str, one: Contestant, other: Contestant, workload: str, load: float
    ) -> Outcome:
        """Return the comparison of two contestants at a load over another axis.

        Parameters
        ----------
        axis : {"switch_cost", "requests"}
            Over the cost of a switch, in percent of a slice; or the largest overestimate of requests, in
            runtimes.
        """

        def curve(one: Contestant) -> Curve:
            if axis == labels.COST:
                x = list(map(self.share, self.costs))
                every = [self.curve(metric, one, workload, cost=cost) for cost in self.costs]
            else:
                x = list(map(labels.overestimate, self.inaccuracies))
                every = [self.curve(metric, one, workload, requests=asked) for asked in self.inaccuracies]
            return across([each.at(load) for each in every], x, axis)

        return break_even.compare(curve(one), curve(other))

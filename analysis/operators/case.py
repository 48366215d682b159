"""One comparison of policies: a study under one reading at one load, for all jobs and for groups of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from analysis.errors import DrawingError
from analysis.operators.labels import LOSS, MEASURES, RESPONSE, SLOWDOWN, UTILIZATION, WAIT, WAIT_MAX
from analysis.study import Study, recorded
from analysis.study.axes import RUNTIME, SIZE, USER, Grouping
from analysis.study.curve import DONE, EXCLUDED, Sample
from analysis.study.view import View
from models.jobs.recorded import PREFIX
from sweep import policy_names, statistics
from sweep.numbers import PERCENT, PURE, Unit, time_unit
from sweep.statistics import Comparison, Paired
from sweep.statistics.confidence import Floats, Interval


@dataclass(frozen=True)
class Case:
    """A study at one load.

    Parameters
    ----------
    study : Study
        With one reading.
    place : int
        Index of the load on its axis.
    name : str
        Letter of the reading and number of the load, empty if there is a single case.
    label : str
        The same in words.
    along : str
        The axis whose values are compared under one policy, in the place of policies; empty by default.
    """

    study: Study
    place: int = 0
    name: str = ""
    label: str = ""
    along: str = ""

    @cached_property
    def policies(self) -> list[str]:
        """Policies that are done and not saturated, in the order of the grid."""
        return [policy for policy in self.study.policies if self.status(policy) == DONE]

    @cached_property
    def missing(self) -> dict[str, str]:
        """Policies without a result, with their states."""
        states = {policy: self.status(policy) for policy in self.study.policies}
        return {policy: state for policy, state in states.items() if state not in (DONE, EXCLUDED)}

    @property
    def reference(self) -> str:
        """The policy with which all others are compared.

        Raises
        ------
        DrawingError
            If none is done.
        """
        if not self.policies:
            raise DrawingError("no policy is done yet: run the sweep to its end")
        return self.study.view.reference_among(self.policies)

    @property
    def against(self) -> str:
        """The reference's name in text."""
        return policy_names.label(self.reference)

    @property
    def others(self) -> list[str]:
        """The policies that are compared with the reference."""
        return [policy for policy in self.policies if policy != self.reference]

    @cached_property
    def n_batches(self) -> int:
        """Batches of the reference."""
        return int((~np.isnan(self.values(WAIT, self.reference))).any(axis=0).sum())

    @cached_property
    def is_one_batch(self) -> bool:
        """Whether there is one value of each policy, which has no interval."""
        known = ~np.isnan(self.values(WAIT, self.reference))
        return self.n_batches <= 1 and int(known.sum()) < statistics.MIN_REPLICATIONS

    @property
    def has_the_same_jobs(self) -> bool:
        """Whether all policies had as many jobs of every size in every batch."""
        name = "jobs" + SIZE.suffix
        counts = self.study.data[name if name in self.study.data else "jobs"].isel(load=self.place)
        return bool((counts.fillna(0) == counts.fillna(0).isel(policy=0)).all())

    def status(self, policy: str) -> str:
        """Return the state of a policy, see `analysis.study.curve`."""
        found = self.study.status.isel(policy=self.study.policies.index(policy), load=self.place)
        return str(found.item())

    def sample(self, metric: str, policy: str, grouping: Grouping | None = None, group: str = "") -> Sample:
        """Return a metric of a policy: of all jobs, or of a group."""
        found = self._point(metric, policy, grouping, group)
        is_unknown = metric == WAIT and np.isnan(found.values).all() and found.values.shape[1] == 1
        if is_unknown and self._with_delays is not None:
            # All jobs are in one batch, so their runtimes are those under a policy that measures both.
            response, delay = (
                self._point(one, self._with_delays, grouping, group).values for one in (RESPONSE, WAIT)
            )
            mine = self._point(RESPONSE, policy, grouping, group).values
            return replace(found, values=mine - (response - delay), plain=None)
        return found

    def values(self, metric: str, policy: str, grouping: Grouping | None = None, group: str = "") -> Floats:
        """Return the batch values of a metric, shape (replications, batches)."""
        found = self.sample(metric, policy, grouping, group)
        return found.values if found.plain is None else found.plain

    @cached_property
    def _with_delays(self) -> str | None:
        """A policy whose family measures the time beyond the runtime, None if there is none."""
        measured = (one for one in self.policies if not np.isnan(self._point(WAIT, one).values).all())
        return next(measured, None)

    @property
    def without_waits(self) -> list[str]:
        """Policies whose waits are unknown: batches of their families hold jobs in order of their ends."""
        return [one for one in self.policies if np.isnan(self.values(WAIT, one)).all()]

    def _point(self, metric: str, policy: str, grouping: Grouping | None = None, group: str = "") -> Sample:
        """Return a point of the dataset."""
        key = metric, policy, grouping, group
        if key not in self._cached:
            own = {grouping.dim: group} if grouping else {}
            curve = self.study.curve(metric + (grouping.suffix if grouping else ""), policy, **own)
            self._cached[key] = curve.sample(curve.place(float(self.study.data["load"].values[self.place])))
        return self._cached[key]

    @cached_property
    def _cached(self) -> dict[tuple[str, str, Grouping | None, str], Sample]:
        """Points of the dataset: tables need the same batches a hundred times."""
        return {}

    def jobs(self, grouping: Grouping | None = None, group: str = "") -> Floats:
        """Return the number of jobs in each batch, the same for all policies."""
        return self.values("jobs", self.reference, grouping, group)

    def groups(self, grouping: Grouping) -> list[str]:
        """Return the groups that have jobs, in order."""
        names = self.study.values_of(grouping.dim)
        return [name for name in names if np.nansum(self.jobs(grouping, name)) > 0]

    def label_of(self, grouping: Grouping, group: str) -> str:
        """Return the name of a group; of a user, its name or number in the log."""
        if grouping is not USER:
            return group
        load = self.study.values_of("load")[self.place]
        return self.study.user_label(group, {"policy": self.reference, "load": load})

    def named(self, grouping: Grouping, group: str) -> str:
        """Return a group in words, ``17 to 64 processors``."""
        label = self.label_of(grouping, group)
        if grouping is USER:
            return label
        if grouping is RUNTIME:
            return f"jobs of {label}"
        kind = grouping.title
        return f"{label} {kind.removesuffix('s') if label == '1' else kind}"

    def share_of_work(self, group: str) -> float:
        """Return a user's share of all processor time."""
        of_rank = {
            rank: float(np.nansum(self.values("work", self.reference, USER, rank)))
            for rank in self.study.values_of(USER.dim)
        }
        total = sum(of_rank.values())
        return of_rank[group] / total if total else math.nan

    def mean(self, metric: str, policy: str, grouping: Grouping | None = None, group: str = "") -> Interval:
        """Return the mean of a metric, over jobs or over time, as the dataset has it."""
        return self.sample(metric, policy, grouping, group).mean(self.study.confidence)

    def recorded(self, metric: str, grouping: Grouping | None = None, group: str = "") -> Interval:
        """Return a mean that the log recorded, of the same jobs; NaN without one, or at another load."""
        if self.study.values_of("load")[self.place] != "null":
            return recorded.NOTHING
        at = {grouping.dim: group} if grouping else {}
        return recorded.mean(self.study, metric + (grouping.suffix if grouping else ""), at)

    @property
    def has_record(self) -> bool:
        """Whether the log records the waits of its jobs."""
        return not math.isnan(self.recorded(WAIT).mean)

    def level(self, metric: str, policy: str) -> Interval:
        """Return one of `MEASURES` of all jobs; for a maximum that of all batches, without an interval."""
        if metric != WAIT_MAX:
            return self.mean(metric, policy)
        values = self.values(metric, policy)
        known = values[~np.isnan(values)]
        return replace(recorded.NOTHING, mean=float(known.max()) if known.size else math.nan)

    @cached_property
    def units(self) -> dict[str, Unit]:
        """Unit of each of `MEASURES`; for times, one for all policies."""
        known = {SLOWDOWN: PURE, UTILIZATION: PERCENT, LOSS: PERCENT}
        return {
            metric: known.get(metric)
            or time_unit(self.level(metric, policy).mean for policy in self.policies)
            for metric in MEASURES
        }

    def difference(
        self,
        metric: str,
        policy: str,
        grouping: Grouping | None = None,
        group: str = "",
        *,
        level: float | None = None,
    ) -> Comparison:
        """Return a policy's mean minus the reference's under the same jobs, with an interval at a level."""
        key = metric, policy, grouping, group
        if key not in self._compared:
            first, second = (self.sample(metric, one, grouping, group) for one in (policy, self.reference))
            self._compared[key] = first.against(second)
        return self._compared[key].comparison(self.study.confidence if level is None else level)

    @cached_property
    def _compared(self) -> dict[tuple[str, str, Grouping | None, str], Paired]:
        """Pairs, which sentences, tables and pictures share."""
        return {}

    def differences(self, metric: str, policy: str, grouping: Grouping) -> dict[str, Comparison]:
        """Return the differences of all groups."""
        return {group: self.difference(metric, policy, grouping, group) for group in self.groups(grouping)}

    def probabilities(self, metric: str) -> dict[str, float]:
        """Return the probability of each policy that its mean is the lowest."""
        found = statistics.probability_lowest(*self._all_values(metric)).tolist()
        return dict(zip(self.policies, found, strict=True))

    @cached_property
    def joint_level(self) -> float:
        """Level of each comparison of mean waits at which all of them together have the study's."""
        values, weights = self._all_values(WAIT)
        place = self.policies.index(self.reference)
        return statistics.joint_level(values, place, self.study.confidence, weights)

    def _all_values(self, metric: str) -> tuple[Floats, Floats]:
        """Return the batch values of every policy, and their weights."""
        weights = [self.sample(metric, policy).weight for policy in self.policies]
        values = np.array([self.values(metric, policy) for policy in self.policies])
        return values, np.array([np.ones_like(values[0]) if one is None else one for one in weights])


def cases(study: Study) -> Iterator[Case]:
    """Yield every reading at every load, then what else varies under the reference with the same jobs."""
    loads = study.values_of("load")
    several = len(study.readings) * len(loads) > 1
    for letter, one in study.readings.items():
        for place, load in enumerate(loads):
            # Each is named by its values: of several machines none is a default.
            parts = [one.title.removesuffix(" (default)")] * (len(study.readings) > 1)
            parts += [f"load {load}" if load != "null" else "load as it is"] * (len(loads) > 1)
            name = f"{letter}{place + 1}" if len(loads) > 1 else letter
            found = Case(one, place)
            yield replace(found, name=name, label=", ".join(parts)) if several else found
    yield from _along(study)


def _along(study: Study) -> Iterator[Case]:
    """Yield the values of each further axis under the reference, all other axes at their first values."""
    axes = next(iter(study.readings.values())).axis_values
    reference = study.view.reference_among(study.policies)
    for axis in (axis for axis, values in axes.items() if len(values) > 1):
        at = {other: 0 for other in axes if other != axis} | {"policy": study.policies.index(reference)}
        names = [f"{axis}={value}" for value in axes[axis]]
        data = study.data.isel(at).drop_vars("policy").rename({axis: "policy"}).assign_coords(policy=names)
        data = data.drop_vars([name for name in data.data_vars if str(name).startswith(PREFIX)])
        one = replace(study, data=data, axis_values={}, view=View())
        for place, load in enumerate(study.values_of("load")):
            name = axis + str(place + 1) * study.varies("load")
            label = f"{policy_names.label(reference)} by {axis}" + f", load {load}" * study.varies("load")
            found = Case(one, place, name, label, axis)
            if found.policies == names and found.has_the_same_jobs:
                yield found

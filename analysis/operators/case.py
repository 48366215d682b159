"""One comparison of policies: a study under one reading at one load, for all jobs and for groups of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from analysis.errors import DrawingError
from analysis.operators.labels import LOSS, MEASURES, RESPONSE, SLOWDOWN, UTILIZATION, WAIT, WAIT_MAX
from analysis.study import Study, recorded
from analysis.study.alternatives import Alternatives
from analysis.study.axes import (
    ALL_JOBS,
    FIFTH,
    GROUPINGS,
    LIMIT,
    OF_A_SITE,
    RANKED,
    RUNTIME,
    SIZE,
    USER,
    Group,
    Grouping,
)
from analysis.study.curve import DONE, EXCLUDED, FAILED, Sample
from analysis.study.view import View
from models.jobs.recorded import PREFIX
from sweep import policy_names, statistics
from sweep.numbers import PERCENT, PURE, Unit, time_unit
from sweep.statistics import Comparison
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
        The case in words.
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
            why = "the sweep failed: its command with action=status shows why, and without it tries again"
            failed = FAILED in self.missing.values()
            raise DrawingError(f"no policy has finished: {why if failed else 'let the sweep run to its end'}")
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

    def beside(self, metric: str, group: Group = ALL_JOBS) -> Alternatives[str]:
        """Return a metric of all policies: of all jobs, or of a group."""
        key = metric, group
        if key not in self._beside:
            samples = {policy: self._sample(metric, policy, group) for policy in self.policies}
            self._beside[key] = Alternatives(samples, self.reference, self.study.confidence)
        return self._beside[key]

    @cached_property
    def _beside(self) -> dict[tuple[str, Group], Alternatives[str]]:
        """Points of the dataset: tables need the same batches a hundred times."""
        return {}

    def _sample(self, metric: str, policy: str, group: Group) -> Sample:
        found = self._point(metric, policy, group)
        is_unknown = metric == WAIT and np.isnan(found.values).all() and found.values.shape[1] == 1
        if is_unknown and self._with_delays is not None:
            # All jobs are in one batch, so their runtimes are those under a policy that measures both.
            response, delay = (self._point(one, self._with_delays, group).values for one in (RESPONSE, WAIT))
            mine = self._point(RESPONSE, policy, group).values
            return replace(found, values=mine - (response - delay), plain=None)
        return found

    def values(self, metric: str, policy: str, group: Group = ALL_JOBS) -> Floats:
        """Return the batch values of a metric, shape (replications, batches)."""
        return self.beside(metric, group).samples[policy].batches

    @cached_property
    def _with_delays(self) -> str | None:
        """A policy whose family measures the time beyond the runtime, None if there is none."""
        measured = (one for one in self.policies if not np.isnan(self._point(WAIT, one).values).all())
        return next(measured, None)

    @property
    def without_waits(self) -> list[str]:
        """Policies whose waits are unknown: batches of their families hold jobs in order of their ends."""
        return [one for one in self.policies if np.isnan(self.values(WAIT, one)).all()]

    def _point(self, metric: str, policy: str, group: Group = ALL_JOBS) -> Sample:
        """Return a point of the dataset."""
        curve = self.study.curve(group.metric(metric), policy, **group.place)
        return curve.sample(curve.place(float(self.study.data["load"].values[self.place])))

    def jobs(self, group: Group = ALL_JOBS) -> Floats:
        """Return the number of jobs in each batch, the same for all policies."""
        return self.values("jobs", self.reference, group)

    def groups(self, grouping: Grouping) -> list[Group]:
        """Return the groups that have jobs, in order."""
        every = map(grouping.of, self.study.values_of(grouping.dim))
        return [group for group in every if np.nansum(self.jobs(group)) > 0]

    @cached_property
    def within_limits(self) -> list[Group]:
        """The groups by limit, where some jobs are above one."""
        return self.identified(LIMIT) if "jobs" + LIMIT.suffix in self.study.data else []

    def identified(self, grouping: Grouping) -> list[Group]:
        """Return the groups that have jobs; none where no user is known, or all jobs are one user's."""
        groups = self.groups(grouping)
        known = [one for one in groups if one.value != "others"] if grouping in RANKED else groups
        return groups if known and (grouping in (RUNTIME, SIZE) or len(groups) > 1) else []

    @cached_property
    def groupings(self) -> list[Grouping]:
        """The groupings that the dataset has; sizes by fifths of the work, if these are alike for all."""
        found = [one for one in OF_A_SITE if "jobs" + one.suffix in self.study.data]
        found = [one for one in found if one is not (SIZE if self._has_fifths else FIFTH)]
        found = [one for one in found if one not in RANKED or self.identified(one)]
        # In many logs the group equals the user, or the queue the partition.
        jobs = {
            one: {tuple(np.nan_to_num(self.jobs(group)).ravel()) for group in self.groups(one)}
            for one in found
        }
        return [one for one in found if one in GROUPINGS or not any(
            2 * len(jobs[one] & jobs[other]) > len(jobs[one]) for other in found if other is not one
        )]  # fmt: skip

    @cached_property
    def _has_fifths(self) -> bool:
        known = (name for name in ("number_by_fifth", f"{PREFIX}number_by_fifth") if name in self.study.data)
        every = [self.study.data[name].values.reshape(-1, self.study.data.sizes["fifth"]) for name in known]
        rows = np.concatenate(every) if every else np.zeros((0, 1))
        rows = np.unique(rows[~np.isnan(rows).all(axis=1)], axis=0)
        return len(rows) == 1

    def label_of(self, group: Group) -> str:
        """Return the name of a group; of a user and the like, its name or number in the log."""
        if group.grouping is FIFTH:
            numbers = np.unique(self.study.data["number_by_fifth"].values)  # the largest sizes, ascending
            fifth = int(group.value) - 1
            low, high = (1 if not fifth else int(numbers[fifth - 1]) + 1), int(numbers[fifth])
            return f"{low:,} to {high:,}" if low < high else f"{high:,}"
        if group.grouping not in RANKED:
            return group.value
        load = self.study.values_of("load")[self.place]
        place = {"policy": self.reference, "load": load}
        return self.study.user_label(group.value, place, group.grouping)

    def named(self, group: Group) -> str:
        """Return a group in words, ``17 to 64 processors``."""
        label = self.label_of(group)
        if group.grouping is None or group.grouping is USER:
            return label or "all jobs"
        kind = group.grouping.title
        if group.grouping is RUNTIME:
            return f"jobs of {label}"
        if group.grouping is LIMIT:
            return f"jobs {label}"
        if group.grouping in RANKED:
            return f"{label} {kind}s" if label == "others" else f"{kind} {label.removeprefix(f'{kind} ')}"
        return f"{label} {kind.removesuffix('s') if label == '1' else kind}"

    def share_of_work(self, group: Group) -> float:
        """Return a user's share, or the like, of all processor time."""
        assert group.grouping is not None
        every = map(group.grouping.of, self.study.values_of(group.grouping.dim))
        work = {one: float(np.nansum(self.values("work", self.reference, one))) for one in every}
        total = sum(work.values())
        return work[group] / total if total else math.nan

    def mean(self, metric: str, policy: str, group: Group = ALL_JOBS) -> Interval:
        """Return the mean of a metric, over jobs or over time, as the dataset has it."""
        return self.beside(metric, group).mean(policy)

    def recorded(self, metric: str, group: Group = ALL_JOBS) -> Interval:
        """Return a mean that the log recorded, of the same jobs; NaN without one, or at another load."""
        if self.study.values_of("load")[self.place] != "null":
            return recorded.NOTHING
        return recorded.mean(self.study, group.metric(metric), group.place)

    @property
    def has_record(self) -> bool:
        """Whether the log records the waits of its jobs."""
        return not math.isnan(self.recorded(WAIT).mean)

    def level(self, metric: str, policy: str) -> Interval:
        """Return one of `MEASURES` of all jobs; for a maximum, the largest batch, without an interval.

        A job that asks for more than a limit of its site allows waits for that limit: the longest wait is of
        all others.
        """
        if metric != WAIT_MAX:
            return self.mean(metric, policy)
        within = LIMIT.of("within limits")
        values = self.values(metric, policy, within if within in self.within_limits else ALL_JOBS)
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
        self, metric: str, policy: str, group: Group = ALL_JOBS, *, level: float | None = None
    ) -> Comparison:
        """Return a policy's mean minus the reference's under the same jobs, with an interval at a level."""
        return self.beside(metric, group).difference(policy, level=level)

    def differences(self, metric: str, policy: str, grouping: Grouping) -> dict[Group, Comparison]:
        """Return the differences of all groups."""
        return {group: self.difference(metric, policy, group) for group in self.groups(grouping)}

    def grouped(self, metric: str, policy: str, verdicts: Sequence[str]) -> dict[Group, Comparison]:
        """Return the groups of any kind whose difference has one of some verdicts."""
        found = {
            group: one
            for grouping in self.groupings
            for group, one in self.differences(metric, policy, grouping).items()
        }
        return {group: one for group, one in found.items() if one.verdict in verdicts}


def cases(study: Study) -> Iterator[Case]:
    """Yield every reading at every load, then other variations of the reference with the same jobs."""
    loads = study.values_of("load")
    several = len(study.readings) * len(loads) > 1
    for letter, one in study.readings.items():
        for place, load in enumerate(loads):
            # Each is named by its values: of several machines none is a default.
            parts = [one.title.removesuffix(" (default)")] * (len(study.readings) > 1)
            parts += [f"load {load}" if load != "null" else "unscaled load"] * (len(loads) > 1)
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

"""A dataset for an analysis: policies over loads, or over another axis, under features.

The dataset's axes beyond the features of its paper (`axes.Axes`) and ``policy`` and ``load`` are taken as
readings of the paper or circumstances of the experiment: every combination of them is a separate `Study`, see
`readings`.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import xarray as xr

from analysis.errors import AnalysisError
from analysis.study.axes import USER, Axes, Grouping
from analysis.study.curve import DONE, EXCLUDED, FAILED, SATURATED, UNFINISHED, Curve, Sample
from analysis.study.plain import Plain
from analysis.study.view import View, listed
from sweep import statistics
from sweep.errors import unknown
from sweep.statistics.capacity import UNKNOWN, Capacity

SAMPLES = ("replication", "batch")
SUMMARY = ("mean", "ci", "lag1")
"""Ends of the names of a metric's means and intervals in the dataset."""

CURVE_AXES = ("policy", "load", *SAMPLES)


@dataclass(frozen=True, eq=False)
class Study:
    """One experiment under one reading.

    Parameters
    ----------
    data : xarray Dataset
        Metrics with the dimensions policy, load, the features that the grid has, replication, batch.
    folder : Path
        Folder of its figures.
    reading : dict of str to str
        Values of further axes at which this study is taken, only those with more than one value.
    axis_values : dict of str to sequence of str
        All values on those axes.
    axes : Axes
        The paper's axes; by default all are readings.
    view : View
        Choices of the user.
    """

    data: xr.Dataset
    folder: Path
    reading: Mapping[str, str] = field(default_factory=dict)
    axis_values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    axes: Axes = field(default_factory=Axes)
    view: View = field(default_factory=View)

    def selected(self, given: Mapping[str, str]) -> Study:
        """Return the part of a study that has certain values on some axes, of the grid or of metrics.

        Parameters
        ----------
        given : dict of str to str
            Axis -> a value as it is typed, or several with commas between them.

        Raises
        ------
        AnalysisError
            If there is no such axis or value, or no point of the grid has them all.
        """
        kept = {}
        for axis, typed in given.items():
            known = self.values_of(axis)
            wanted = [typed] if typed in known else listed(typed)
            for value in wanted:
                if value not in known:
                    raise AnalysisError(f"{axis}={typed}: {unknown('value', value, known)}")
            kept[axis] = [place for place, value in enumerate(known) if value in wanted]
            if not kept[axis]:
                raise AnalysisError(f"{axis}= has no value; give one or more of {', '.join(known)}")
        found = replace(self, data=self.data.isel(kept))
        if (found.status == EXCLUDED).all():
            chosen_values = ", ".join(f"{axis}={typed}" for axis, typed in given.items())
            raise AnalysisError(f"{chosen_values}: the grid has no such point because of its zip or exclude")
        return found

    @property
    def selectable(self) -> list[str]:
        """Axes whose values can be selected: the grid's and the metrics' own."""
        return [axis for axis in self._texts if axis not in SAMPLES]

    def under(self, axes: Axes) -> Study:
        """Return the study with a paper's axes, without readings of one value."""
        found = replace(self, axes=axes)
        single = [axis for axis in found._further_axes if self.data.sizes[axis] == 1]
        return replace(found, data=self.data.isel(dict.fromkeys(single, 0)))

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return str(self.settings.get("name") or self.folder.name)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The resolved config that the dataset carries: settings, and by group the files by name."""
        return json.loads(self.data.attrs.get("config", "{}"))

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Facts of the run on logs and policies, see `sweep.store.facts`; empty if the dataset has none."""
        return json.loads(self.data.attrs.get("facts", "{}"))

    @property
    def settings(self) -> dict[str, Any]:
        """The experiment's own keys: name, grid, batches and so on."""
        return self.config.get("settings", {})

    @property
    def is_program(self) -> bool:
        """Whether its model is a function or a command, and not policies."""
        return bool(self.settings.get("model") or self.settings.get("command"))

    @property
    def axes_shown(self) -> list[str]:
        """The grid's axes, without a policy, load and so on in a study of a program."""
        axes = map(str, self.status.dims)
        return [axis for axis in axes if not self.is_program or axis in self.settings["grid"]]

    def has_pairs(self, axis: str) -> bool:
        """Whether the points along an axis have the same jobs, or random numbers, so that they form pairs."""
        if self.is_program:
            return axis in self.axes_shown and axis not in self.settings.get("seed_by", [])
        return axis == "policy" or str((self.settings.get("axes") or {}).get(axis, "")).startswith("policy.")

    @property
    def shared(self) -> str:
        """What the two of a pair share, in words."""
        return "random numbers" if self.is_program else "jobs"

    def parameters(self, group: str, name: str | None = None) -> dict[str, Any]:
        """Return a policy, workload or machine as the models got it.

        Parameters
        ----------
        group : {"policy", "workload", "machine"}
        name : str, optional
            The study's reading decides by default, else the first of the group.
        """
        files: dict[str, dict[str, Any]] = self.config.get(group, {})
        wanted = name or str(self.reading.get(group) or next(iter(files), ""))
        if wanted not in files:
            raise AnalysisError(
                f"{group}={wanted}: no such {group} in this dataset; valid: {', '.join(files) or 'none'}"
            )
        return {**files[wanted], "name": wanted}

    @cached_property
    def dims(self) -> dict[str, frozenset[str]]:
        """The dimensions of each variable by its name; xarray would make an array of each first."""
        variables = self.data.variables
        return {str(name): frozenset(map(str, variables[name].dims)) for name in self.data.data_vars}

    @property
    def headline(self) -> str | None:
        """The metric that tables show by default; the first one by default."""
        metrics = [name for name, dims in self.dims.items() if dims.issuperset(SAMPLES)]
        named = self.data.attrs.get("headline")
        return str(named) if named in metrics else next(iter(metrics), None)

    @property
    def level(self) -> str:
        """The confidence level in text: ``95 %``."""
        return f"{100 * self.confidence:g} %"

    @property
    def confidence(self) -> float:
        """Confidence level of the experiment."""
        return float(self.settings.get("confidence", 0.95))

    @property
    def policies(self) -> list[str]:
        """Schemes in the order of the grid."""
        return self.values_of("policy")

    @property
    def compared(self) -> list[str]:
        """Schemes, except those that a search ran only to see the effect of one key."""
        without = (self.settings.get("searched") or {}).get("without", {})
        return [policy for policy in self.policies if policy not in without]

    @property
    def loads(self) -> np.ndarray:
        """Offered loads, ascending."""
        return np.sort(self.data["load"].values.astype(float))

    @cached_property
    def tasks(self) -> xr.DataArray:
        """The state of each replication of each point, as text."""
        return _state_names(self.data["state"])

    @cached_property
    def status(self) -> xr.DataArray:
        """The state of each point, from its replications, as text; dimensions without replication.

        Saturation is judged from all replications together, see `sweep.store.capacities`.
        """
        tasks = self.tasks
        rules = [(tasks == EXCLUDED).all("replication"), self.data["saturated"] == 1]
        rules += [(tasks == FAILED).any("replication"), (tasks == DONE).all("replication")]
        found = np.select([rule.values for rule in rules], [EXCLUDED, SATURATED, FAILED, DONE], UNFINISHED)
        return rules[0].copy(data=found)

    @cached_property
    def bias(self) -> xr.DataArray:
        """Expected bias of points whose runs are too short, as a share of the mean; NaN at all others."""
        return self.data["bias"] if "bias" in self.data else xr.full_like(self.status, np.nan, dtype=float)

    @cached_property
    def exact(self) -> xr.DataArray:
        """Points that were solved and not simulated."""
        return self.data["exact"] == 1 if "exact" in self.data else xr.zeros_like(self.status, dtype=bool)

    def values_of(self, axis: str) -> list[str]:
        """Return the values of an axis as text (``true``, ``null``); none if there is no such axis."""
        return self._texts.get(axis, [])

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        axes = [str(dim) for dim in self.data.dims if dim in self.data.coords]
        return {axis: [text(value) for value in self.data[axis].values] for axis in axes}

    def ordered(self, axis: str, first: Iterable[str]) -> list[str]:
        """Return the values of an axis, the values that a paper names first and in its order."""
        there = self.values_of(axis)
        named = [value for value in first if value in there]
        return named + [value for value in there if value not in named]

    def own_axes(self, metric: str) -> list[str]:
        """Return a metric's own dimensions beside the grid's: groups of jobs and the like."""
        dims = map(str, self.data.variables[metric].dims)
        return [dim for dim in dims if dim not in (*self._grid_axes, *SAMPLES)]

    def varies(self, axis: str) -> bool:
        """Whether the grid has several values on an axis."""
        return len(self.values_of(axis)) > 1

    def usual(self) -> dict[str, str]:
        """Return the features of the main comparison: the reading's, else the paper's, if there are any."""
        if self.axes.every:
            return {axis: self.values_of(axis)[0] for axis in self._grid_axes if axis not in CURVE_AXES}
        found = {}
        for axis, wanted in self.axes.features.items():
            value, values = self.reading.get(axis, wanted), self.values_of(axis)
            if values:
                found[axis] = value if value in values else values[0]
        return found

    def curve(self, metric: str, policy: str, *, along: str = "load", **point: object) -> Curve:
        """Return a metric of a scheme along an axis; the study must have one reading, see `readings`.

        Parameters
        ----------
        along : str
            The curve's axis, a numerical one; null has no place on it and is omitted (except for loads).
        **point : str or number or bool or None
            Values on axes of features and on the metric's own dimensions, and the load where the curve is
            along another axis; those not given are taken from `usual`.

        Returns
        -------
        Curve
            With every point `EXCLUDED` where the grid has no such points.
        """
        place = self.usual() | {axis: text(value) for axis, value in point.items()} | {"policy": policy}
        place.pop(along, None)
        if along != "load" and len(loads := self.values_of("load")) == 1:
            place.setdefault("load", loads[0])
        order, x = self._ascending(along)
        absent = any(value not in self.values_of(axis) for axis, value in place.items())
        absent |= along != "load" and "load" not in place
        if absent or metric not in self.data or not order.size:
            values = np.full((len(x), 1, 1), np.nan)
            return Curve(x, values, (EXCLUDED,) * len(x), self.confidence, along, metric)
        at = {axis: self.values_of(axis).index(value) for axis, value in place.items()}
        values = plain = self.plain(metric).at(at, along, *SAMPLES)[order]
        weight = None
        if (name := self._weight_names.get(metric)) is not None:
            weight = self.plain(name).at(at, along, *SAMPLES)[order]
            values = statistics.weighed(plain, weight)
        status, exact, bias = (self.plain(one).at(at, along) for one in ("status", "exact", "bias"))
        known = None
        if all(f"{metric}_{part}" in self.data for part in SUMMARY):
            parts = (self.plain(f"{metric}_{part}").at(at, along)[order] for part in SUMMARY)
            known = statistics.Intervals(*parts)
        solved = bool(exact[status != EXCLUDED].all())
        return Curve(
            x, values, tuple(status[order].tolist()), self.confidence, along, metric, solved,
            tuple(bias[order].tolist()), self.capacity(at) if along == "load" else UNKNOWN, plain, weight,
            known,
        )  # fmt: skip

    def curves(
        self, metric: str, policies: Iterable[str], along: str = "load", **point: object
    ) -> dict[str, Curve]:
        """Return the curves of the policies for which the grid has points, see `curve`."""
        found = {policy: self.curve(metric, policy, along=along, **point) for policy in policies}
        return {policy: curve for policy, curve in found.items() if curve.there}

    def capacity(self, at: Mapping[str, int]) -> Capacity:
        """Return the capacity of a curve over the load, given its places on the grid's other axes."""
        names = ("capacity", "capacity_se", "capacity_upper")
        if names[0] not in self.data:
            return UNKNOWN
        array = self.data.variables
        return Capacity(
            *(float(array[n].isel({a: i for a, i in at.items() if a in array[n].dims})) for n in names)
        )

    def plain(self, name: str) -> Plain:
        """Return a variable, or `status`, `tasks`, `exact` or `bias`, for reading single values quickly.

        Claims and figures read thousands of curves, each of which takes 20 ms through xarray.
        """
        if name not in self._plains:
            array = getattr(self, name) if name in ("status", "tasks", "exact", "bias") else self.data[name]
            self._plains[name] = Plain(tuple(map(str, array.dims)), array.values)
        return self._plains[name]

    @cached_property
    def _plains(self) -> dict[str, Plain]:
        return {}

    def user_label(self, rank: str, at: Mapping[str, object] | None = None, grouping: Grouping = USER) -> str:
        """Return the user with a rank by work: the name, else the number in the log.

        Parameters
        ----------
        rank : str
            On the axis ``user_rank``; a value that is not a number (others) is returned unchanged.
        at : mapping, optional
            Values on axes of the grid; if the points have different users, the rank is returned.
        grouping : Grouping, optional
            For partitions and others in the place of users.
        """
        if not rank.isdecimal():
            return rank
        place = {grouping.dim: self.values_of(grouping.dim).index(rank)}
        for axis, value in (at or {}).items():
            if axis in self._grid_axes:
                place[axis] = self.values_of(axis).index(str(value))
        if (name := f"name{grouping.suffix}") in self.data:
            names = self.data[name]
            found = names.isel({axis: i for axis, i in place.items() if axis in names.dims}).values.ravel()
            known = {str(name) for name in found.tolist() if name}
            if len(known) == 1:
                return known.pop()
        if (name := f"number{grouping.suffix}") in self.data:
            numbers = self.data[name].isel(place).values
            numbered = set(numbers[~np.isnan(numbers)].tolist())
            if len(numbered) == 1:
                return f"{grouping.title} {numbered.pop():.0f}"
        return f"rank {rank}"

    def weights(self, metric: str) -> xr.DataArray | None:
        """Return the weights of batches in means of a metric, from the dataset; None for equal weights."""
        name = self._weight_names.get(metric)
        return None if name is None else self.data[name]

    @cached_property
    def _weight_names(self) -> dict[str, str]:
        named = {str(name): array.attrs.get("weight") for name, array in self.data.variables.items()}
        return {name: str(weight) for name, weight in named.items() if weight in self.data}

    def sample(self, metric: str, policy: str, **point: object) -> Sample:
        """Return a metric of a policy at one point, see `curve`; the grid must have one load."""
        curve = self.curve(metric, policy, along="load", **point)
        if len(curve.x) != 1:
            return Sample.absent()
        return curve.sample(0)

    def _ascending(self, along: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the places on an axis in ascending order, and the values there."""
        if along not in self._grid_axes:
            return np.zeros(0, int), np.zeros(0)
        x = self.data.variables[along].values.astype(float)
        order = np.argsort(x)
        if along != "load":
            order = order[~np.isnan(x[order])]
        return order, x[order]

    @property
    def label(self) -> str:
        """The reading in words: what differs from the first value of each axis, which is the default."""
        first = {axis: values[0] for axis in self.reading if (values := self.axis_values.get(axis))}
        return (
            ", ".join(f"{key}={value}" for key, value in self.reading.items() if value != first.get(key))
            or "default"
        )

    @property
    def title(self) -> str:
        """The reading in words; of the default, too, the values if they are few."""
        words = ", ".join(f"{key}={value}" for key, value in self.reading.items())
        return f"{words} (default)" if self.label == "default" and 0 < len(self.reading) < 3 else self.label

    @cached_property
    def readings(self) -> dict[str, Study]:
        """Split along all axes that are neither features nor part of a curve, and name the parts A, B, ….

        Features that the paper splits too (`axes.Axes.split`) are split as far as the grid has their values,
        in the paper's order, the default first. Combinations that the grid excludes are left out. One study,
        A, if nothing varies.
        """
        varied = {axis: tuple(self.values_of(axis)) for axis in self._further_axes}
        for axis, values in self.axes.split.items():
            if here := tuple(value for value in values if value in self.values_of(axis)):
                varied[axis] = here
        found = []
        for values in itertools.product(*varied.values()):
            reading = dict(zip(varied, values, strict=True))
            at = {axis: self.values_of(axis).index(value) for axis, value in reading.items()}
            if (self.status.isel(at) == EXCLUDED).all():
                continue
            at = {axis: place for axis, place in at.items() if axis not in self.axes.split}
            chosen = {axis: value for axis, value in reading.items() if len(varied[axis]) > 1}
            found.append(replace(self, data=self.data.isel(at), reading=chosen, axis_values=varied))
        return dict(zip(_letters(), found or [self], strict=False))

    @property
    def _further_axes(self) -> list[str]:
        """The grid's axes that are neither a curve's nor features."""
        if self.axes.every:
            return []
        return [dim for dim in self._grid_axes if dim not in CURVE_AXES and dim not in self.axes.features]

    @cached_property
    def _grid_axes(self) -> list[str]:
        return [str(dim) for dim in self.data["state"].dims]

    def tally(self) -> dict[str, int]:
        """Return the number of points (all replications together) in each state."""
        states, counts = np.unique(self.status.values, return_counts=True)
        return dict(zip(states.tolist(), counts.tolist(), strict=True))


def _state_names(state: xr.DataArray) -> xr.DataArray:
    """Return the states of tasks as text, whether the dataset holds text or CF flags."""
    meanings = str(state.attrs.get("flag_meanings", "")).split()
    if not meanings:
        return state.astype(str)
    flags = np.atleast_1d(state.attrs["flag_values"])
    names = dict(zip(flags.tolist(), meanings, strict=True))
    texts = np.array([names.get(value, UNFINISHED) for value in state.values.ravel().tolist()], dtype="U16")
    return state.copy(data=texts.reshape(state.shape))


def text(value: object) -> str:
    """Return a coordinate as users write it in a config."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "null" if math.isnan(value) else f"{value:g}"
    return "null" if value is None else str(value)


def _letters() -> Iterator[str]:
    """Yield A, B, …, Z, A2, B2, …."""
    for round_ in itertools.count(1):
        yield from (letter + (str(round_) if round_ > 1 else "") for letter in ascii_uppercase)

"""The labelled dataset of a study: filled from the workers' logs, written as one netCDF file.

Every record goes to its place in arrays made beforehand, so that nothing is ever merged, and the file is
written to a private name and renamed: whoever opens it, at whatever moment, reads a whole dataset.
"""

from __future__ import annotations

import importlib
import json
import os
from binascii import a2b_base64
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from models import workloads
from models.family import Metric
from sweep import statistics
from sweep.config.settings import MSER, WEEK, shown
from sweep.errors import RunError, one_line
from sweep.labelling import name_of
from sweep.plan import families
from sweep.plan.plan import Plan
from sweep.statistics.warmup import truncation
from sweep.store import manifest, provenance, recipe
from sweep.store.backlogs import Backlogs
from sweep.store.facts import Facts
from sweep.store.shards import Failed, Reader, Record
from sweep.store.state import DONE, EXCLUDED, FAILED, LEFT

LONG_NAMES = {
    "policy": "scheduling policy",
    "workload": "workload",
    "load": "offered load",
    "machine": "machine",
    "replication": "independent replication",
    "batch": "measured batch",
}


def prepare() -> None:
    """Load what the first dataset would wait for: netCDF, and the array libraries that xarray looks for."""
    importlib.import_module("netCDF4")
    xr.Dataset({"nothing": ("nothing", np.zeros(1))})


class Collector:
    """Arrays of all results of a plan, and the records put into them so far.

    Parameters
    ----------
    plan : Plan
    folder : Path
        Of the workers' logs.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._reader = Reader(folder)
        self._coords = families.coords(plan.families.values(), plan.measures)
        self._facts = Facts(plan)
        cells = int(np.prod(plan.shape)) * plan.replications
        n_batches = plan.longest.looks[-1]
        # One row a cell (point of the whole grid x replication), reshaped to the dimensions at the end.
        self._values = {
            name: np.full((cells, n_batches, *self._own(metric)), np.nan)
            for name, metric in plan.metrics.items()
        }
        self._state = np.full(cells, EXCLUDED, dtype=np.int8)
        self._backlogs = Backlogs(cells)
        self._seconds = np.full(cells, np.nan)
        self._user_names: dict[int, tuple[str, ...]] = {}
        rows = (plan.points[:, None] * plan.replications + np.arange(plan.replications)).ravel()
        self._state[rows] = LEFT
        # Almost every task has one row, for which a list would take most of the memory of a large plan.
        self._row: dict[str, int] = {}
        self._more_rows: dict[str, list[int]] = defaultdict(list)
        for id_, row in zip(plan.ids, rows.tolist(), strict=True):
            if self._row.setdefault(id_, row) != row:
                self._more_rows[id_].append(row)

    def _own(self, metric: Metric) -> tuple[int, ...]:
        return tuple(len(self._coords[dim]) for dim in metric.dims)

    def update(self) -> None:
        """Put in what the workers have logged since the last time."""
        for record in self._reader.records():
            if (first := self._row.get(record.id)) is not None:
                for row in (first, *self._more_rows.get(record.id, ())):
                    self._put(row, record)

    def _put(self, row: int, record: Record) -> None:
        if isinstance(record, Failed):
            if self._state[row] != DONE:
                self._state[row] = FAILED
            return
        self._state[row] = DONE
        self._backlogs.put(row, record.backlog)
        self._seconds[row] = record.seconds
        for name, encoded in record.metrics.items():
            values = np.frombuffer(a2b_base64(encoded), dtype="<f8")
            target = self._values[name][row]
            target[: record.batches] = values.reshape(record.batches, *target.shape[1:])

    def dataset(self, arguments: Sequence[str] = ()) -> xr.Dataset:
        """Return what has been put in so far, with means and intervals.

        Parameters
        ----------
        arguments : sequence of str
            Command line, for the attributes.
        """
        plan = self._plan
        axes = tuple(plan.axes)
        tasks = (*axes, "replication")
        shape = (*plan.shape, plan.replications)
        coords = {axis: (axis, coordinate(values)) for axis, values in plan.axes.items()}
        coords["replication"] = ("replication", np.arange(plan.replications))
        coords["batch"] = ("batch", np.arange(plan.longest.looks[-1]))
        coords |= {dim: (dim, coordinate(values)) for dim, values in self._coords.items()}
        data: dict[str, Any] = {}
        saturated, suspected, shortfall = self._judged()
        usable = ~saturated
        dropped = self._truncations(shape) if plan.settings.warmup == MSER else None
        for name, metric in plan.metrics.items():
            values = self._of_points(name, dropped)
            weight = self._of_points(metric.weight, None) if metric.weight in plan.metrics else None
            data |= self._variables(metric, values, weight, usable)
        flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
        data["state"] = (tasks, self._state.reshape(shape), {"long_name": "state of the task", **flags})
        data["saturated"] = (
            axes,
            saturated,
            {"long_name": "the policy does not keep up with the load: means mean nothing"},
        )
        data["suspected"] = (
            tasks,
            suspected,
            {"long_name": "looked at alone, the run seems not to keep up, even where it went on for longer"},
        )
        data["shortfall"] = (
            axes,
            shortfall,
            {"units": "1", "long_name": "share of the offered work that suspected runs left undone"},
        )
        data["seconds"] = (
            tasks,
            self._seconds.reshape(shape),
            {"units": "s", "long_name": "time that the simulation took"},
        )
        if plan.exact.any():
            meaning = {"long_name": "solved, without chance: one batch is the value"}
            data["exact"] = (axes, plan.exact, meaning)
        if dropped is not None:
            meaning = {"units": "1", "long_name": "leading batches that MSER drops (NaN in the metrics)"}
            data["dropped"] = (axes, dropped, meaning)
        data |= self._users()
        data |= self._facts.recorded
        told = {"facts": provenance.sanitised(json.dumps(self._facts.attribute()))}
        dataset = xr.Dataset(data, coords, attributes(plan, arguments) | told)
        for name, long_name in LONG_NAMES.items():
            dataset[name].attrs["long_name"] = long_name
        dataset["load"].attrs["units"] = "1"
        for axis, target in plan.settings.axes.items():
            dataset[axis].attrs["long_name"] = target
        for dim in self._coords:
            dataset[dim].attrs["long_name"] = dim.replace("_", " ")
        return dataset

    def _users(self) -> dict[str, Any]:
        """Return the names of ranked users where their log has names: ``name_by_user`` and the like."""
        plan, found = self._plan, {}
        for name, metric in plan.metrics.items():
            if not name.startswith("number_by_"):
                continue
            numbers = self._of_points(name, None)[np.unravel_index(plan.points, plan.shape)]
            names = np.full((*plan.shape, numbers.shape[-1]), "", dtype=object)
            of_points = names.reshape(-1, numbers.shape[-1])
            for point, workload, known in zip(
                plan.points.tolist(), plan.choices["workload"].tolist(), numbers, strict=True
            ):
                if whose := self._names_of(workload):
                    low, high = np.fmin.reduce(known, axis=(0, 1)), np.fmax.reduce(known, axis=(0, 1))
                    # Where replications rank other users, a rank is nobody's.
                    of_points[point] = [
                        name_of(n, whose) if n == m else "" for n, m in zip(low, high, strict=True)
                    ]
            if (names != "").any():
                meaning = {"long_name": "user's name in the log"}
                found[name.replace("number", "name", 1)] = ((*plan.axes, *metric.dims), names, meaning)
        return found

    def _names_of(self, workload: int) -> tuple[str, ...]:
        """Return the names of users of a workload; the log is read for them once."""
        if workload not in self._user_names:
            try:
                parameters = self._plan.variants["workload"][workload].parameters
                self._user_names[workload] = workloads.user_names(parameters)
            except (ValueError, OSError):  # none of rigid jobs, or a log that is gone: numbers will do
                self._user_names[workload] = ()
        return self._user_names[workload]

    def _judged(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which points are saturated, which replications suspected, and what work was left undone."""
        shape, replications = self._plan.shape, self._plan.replications
        points = len(self._state) // replications
        saturated, shortfall = np.zeros(points, dtype=bool), np.full(points, np.nan)
        suspected = np.zeros((points, replications), dtype=bool)
        done = (self._state == DONE).reshape(points, replications)
        of_points = self._backlogs.suspected.reshape(points, replications)
        for point in np.flatnonzero(of_points.any(axis=1)).tolist():
            backlogs = [self._backlogs[point * replications + n] for n in range(replications)]
            found = statistics.judge(
                [backlog for backlog, there in zip(backlogs, done[point], strict=True) if there]
            )
            saturated[point], shortfall[point] = found.saturated, found.shortfall
            suspected[point, done[point]] = found.suspected
        return saturated.reshape(shape), suspected.reshape((*shape, replications)), shortfall.reshape(shape)

    def _of_points(self, name: str, dropped: np.ndarray | None) -> np.ndarray:
        """Return a metric in the shape (axes..., replication, batch, own...), without the batches dropped."""
        values = self._values[name]
        found = values.reshape(*self._plan.shape, self._plan.replications, *values.shape[1:])
        if dropped is None:
            return found
        cut = np.arange(values.shape[1]) < dropped[..., np.newaxis, np.newaxis]
        return np.where(cut.reshape(*cut.shape, *(1,) * (values.ndim - 2)), np.nan, found)

    def _truncations(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the leading batches that MSER drops at each point, of what has been put in so far."""
        headline = self._values[self._plan.headline]
        found = np.zeros(shape[:-1], dtype=np.int32)
        of_points = headline.reshape(-1, shape[-1], *headline.shape[1:])
        for point in self._plan.points:
            found.flat[point] = truncation(of_points[point])
        return found

    def _variables(
        self, metric: Metric, values: np.ndarray, weight: np.ndarray | None, usable: np.ndarray
    ) -> dict[str, Any]:
        """Return a metric's variables; the shape of `values` is (axes..., replication, batch, own...)."""
        axes = tuple(self._plan.axes)
        dims = (*axes, *metric.dims)
        level = self._plan.settings.confidence
        # The statistics want replication and batch last.
        exact = self._plan.exact.reshape(usable.shape + (1,) * len(metric.dims))
        places = (len(axes), len(axes) + 1)
        samples = np.moveaxis(values, places, (-2, -1))
        weights = None if weight is None else np.moveaxis(weight, places, (-2, -1))
        found = statistics.intervals(samples, level, weight=weights, exact=exact)
        keep = usable.reshape(usable.shape + (1,) * len(metric.dims))
        mean, half_width, lag1 = (np.where(keep, part, np.nan) for part in found)
        units = {"units": metric.unit}
        weighed = {} if weight is None else {"weight": metric.weight}
        method = (
            f"Student's t over replication means from {statistics.MIN_REPLICATIONS} replications on, else "
            "over batch means, widened by their correlation and skewness; NaN where withheld because there "
            "are too few batches"
        )
        covers = f"the mean over {self._measured()}, see docs/statistics.md"
        long_name = metric.long_name
        return {
            metric.name: (
                (*axes, "replication", "batch", *metric.dims),
                values,
                {**units, "long_name": long_name, **weighed},
            ),
            f"{metric.name}_mean": (dims, mean, {**units, "long_name": f"{long_name}, mean", **weighed}),
            f"{metric.name}_ci": (
                dims,
                half_width,
                {
                    **units,
                    "long_name": f"{long_name}, half-width of interval",
                    "confidence": level,
                    "method": method,
                    "covers": covers,
                },
            ),
            f"{metric.name}_lag1": (
                dims,
                lag1,
                {"units": "1", "long_name": f"{long_name}, lag-1 correlation of batches"},
            ),
        }

    def _measured(self) -> str:
        """Say over what the means are: what a mean of other runs of the same length would tend to."""
        settings = self._plan.settings
        if settings.warmup == MSER:
            return "the long run, as far as MSER, asked of all replications together, finds the warm-up"
        if settings.batch_size == WEEK:
            return "all weeks of a workload that ends, from an empty system"
        size = "" if settings.batch_size is None else f" of {settings.batch_size}"
        skipped = "the first" if not settings.warmup else f"those after the first {shown(settings.warmup)}"
        return f"{shown(settings.batches)} batches{size}, {skipped} of a run from an empty system"


def coordinate(values: Sequence[Any]) -> np.ndarray:
    """Return axis values as an array of one kind: booleans, numbers (null is NaN), else strings."""
    if all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=bool)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    if all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    ):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    names = {None: "null", True: "true", False: "false"}
    return np.array([names[v] if v is None or isinstance(v, bool) else str(v) for v in values], dtype=object)


def attributes(plan: Plan, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the dataset's global attributes."""
    found = {
        "title": plan.settings.name,
        "config": provenance.sanitised(json.dumps(manifest.resolved(plan))),
        "recipe": recipe.text(plan),
        "command": provenance.command_line(list(arguments)),
        "versions": json.dumps(provenance.versions()),
        "families": json.dumps({package: family.version for package, family in plan.families.items()}),
        "sources": json.dumps({name: digest[:20] for name, digest in plan.sources.items()}),
        "headline": plan.headline,
        "confidence": plan.settings.confidence,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if (commit := provenance.commit()) is not None:
        found["commit"] = commit
    return found


def _checked(variable: xr.Variable) -> bool:
    """Whether netCDF can keep a checksum of a variable: not of texts, whose length varies."""
    return variable.ndim > 0 and variable.size > 0 and variable.dtype.kind in "biuf"


def write(dataset: xr.Dataset, path: Path) -> None:
    """Replace the dataset at `path`: at every moment it is either the old or the new one.

    Raises
    ------
    RunError
        If it cannot be written; the old one is then still there.
    """
    private = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # With a checksum of each array, so that whoever reads a damaged one is told.
        encoding = {
            name: {"fletcher32": True} for name, variable in dataset.variables.items() if _checked(variable)
        }
        dataset.to_netcdf(private, engine="netcdf4", format="NETCDF4", encoding=encoding)
        descriptor = os.open(private, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        private.replace(path)
    except (OSError, RuntimeError) as error:  # netCDF4 reports a full disk as a RuntimeError
        reason = one_line(error)
        raise RunError(
            f"{path}: the dataset could not be written ({reason}); all results are kept: make room, then "
            "type the same command"
        ) from error
    finally:
        with suppress(OSError):
            private.unlink(missing_ok=True)

"""The labelled dataset of a study: filled from the workers' logs, written as one netCDF file.

Every record goes to its place in arrays made beforehand, so that nothing is ever merged, and the file is
written to a private name and renamed: whoever opens it, at whatever moment, reads a whole dataset. A large
one is read from the logs, judged and written block by block of the grid, so that memory does not grow with
the number of batches, and little with the number of tasks.
"""

from __future__ import annotations

import importlib
import json
import math
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
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
from sweep.store import backlogs, manifest, provenance, recipe
from sweep.store.blocks import Block, Results, blocks
from sweep.store.expected import Expected
from sweep.store.facts import Facts
from sweep.store.index import Entries, Index
from sweep.store.reader import Place, Reader
from sweep.store.shards import Failed, Finished
from sweep.store.state import DONE, EXCLUDED, FAILED, LEFT
from sweep.store.summary import Summary

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


BLOCK_BYTES = 2**26
"""Values of metrics that are held at a time; to judge them takes some times as much."""

CHUNK = 2**17
"""Values in a chunk of the file, the part that is read at once, where there is more than one block."""

NO_LOG = -1

ATTEMPTS = 10
"""Times that a dataset is begun, where logs are merged or changed again and again meanwhile."""


class MovedError(Exception):
    """A record is not any more where it was: its log was merged with others, or is damaged by now."""


class Collector:
    """Where the result of each task of a plan is in the logs, and the dataset made of them.

    Parameters
    ----------
    plan : Plan
    folder : Path
        Of the workers' logs.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._folder = folder
        self._coords = families.coords(plan.families.values(), plan.measures)
        self._facts = Facts(plan)
        self._expected = Expected(plan, self._number)
        self._n_batches = plan.longest.checkpoints[-1]
        self._shapes = {name: (self._n_batches, *self._own(metric)) for name, metric in plan.metrics.items()}
        self._user_names: dict[int, tuple[str, ...]] = {}
        rows = (plan.points[:, None] * plan.replications + np.arange(plan.replications)).ravel()
        # Almost every task has one row, for which a list would take most of the memory of a large plan.
        self._row: dict[str, int] = {}
        self._more_rows: dict[str, list[int]] = defaultdict(list)
        for id_, row in zip(plan.ids, rows.tolist(), strict=True):
            if self._row.setdefault(id_, row) != row:
                self._more_rows[id_].append(row)
        self._begin()

    def _begin(self) -> None:
        """Know nothing of the logs, and trust no index."""
        plan = self._plan
        self._reader = Reader(self._folder, admits=self._expected.admits)
        cells = int(np.prod(plan.shape)) * plan.replications
        self._state = np.full(cells, EXCLUDED, dtype=np.int8)
        self._state.reshape(-1, plan.replications)[plan.points] = LEFT
        self._seconds = np.full(cells, np.nan)
        self._logs: dict[str, int] = {}
        self._log = np.full(cells, NO_LOG, dtype=np.int32)
        self._offset = np.zeros(cells, dtype=np.int64)
        self._length = np.zeros(cells, dtype=np.int32)

    def _own(self, metric: Metric) -> tuple[int, ...]:
        return tuple(len(self._coords[dim]) for dim in metric.dims)

    def update(self, index: Index | None = None) -> None:
        """Look for what the workers have logged since the last time; what the index knows is not read."""
        self._reader.index = index
        for log, added in self._reader.entries():
            number = self._logs.setdefault(log, len(self._logs))
            for some in added:
                self._note(number, some)

    def _note(self, log: int, some: Entries) -> None:
        """Put records of a log in their places; of several of a task the last result counts."""
        found = [(row, i) for i, id_ in enumerate(some.ids) for row in self._rows(id_)]
        rows, which = np.array(found, dtype=np.int64).reshape(-1, 2).T
        failed = np.array(some.failed, dtype=bool)[which]
        tried = rows[failed]
        self._state[tried] = np.where(self._state[tried] == DONE, DONE, FAILED)
        rows, which = rows[~failed], which[~failed]
        self._state[rows] = DONE
        self._log[rows] = log
        self._seconds[rows] = np.array(some.seconds)[which]
        self._offset[rows] = np.array(some.offsets)[which]
        self._length[rows] = np.array(some.lengths)[which]

    def write(
        self, path: Path, arguments: Sequence[str] = (), tell: Callable[[int], None] = lambda done: None
    ) -> bool:
        """Replace the dataset at `path`: at every moment it is either the old or the new one.

        Parameters
        ----------
        path : Path
        arguments : sequence of str
            Command line, for the attributes.
        tell : callable, optional
            Called after each block with the number of tasks that are in it by then.

        Returns
        -------
        bool
            Whether all records were where `update` had found them; else all logs have been read anew.

        Raises
        ------
        RunError
            If it cannot be written; the old one is then still there.
        """
        private = path.with_name(f".{path.name}.{os.getpid()}")
        as_found = True
        try:
            for _ in range(ATTEMPTS):
                try:
                    self._write(private, arguments, tell)
                    break
                except MovedError:
                    as_found = False
                    self._begin()
                    self.update()
            else:
                raise RunError(
                    f"{self._folder}: {ATTEMPTS} times a log had changed before it was read again; see who "
                    "moves or writes logs there, then type the same command"
                )
            descriptor = os.open(private, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            private.replace(path)
            return as_found
        except (OSError, RuntimeError) as error:  # netCDF4 reports a full disk as a RuntimeError
            reason = one_line(error)
            raise RunError(
                f"{path}: the dataset could not be written ({reason}); all results are kept: make room, then "
                "type the same command"
            ) from error
        finally:
            with suppress(OSError):
                private.unlink(missing_ok=True)

    def _write(self, path: Path, arguments: Sequence[str], tell: Callable[[int], None]) -> None:
        """Write the metrics block by block, and then all that is told of them."""
        from netCDF4 import Dataset

        plan = self._plan
        summary = Summary(self._shapes, plan, self._coords)
        a_point = 8 * plan.replications * sum(map(math.prod, self._shapes.values()))
        most = min(BLOCK_BYTES // a_point, backlogs.MOST // plan.replications)
        cut = list(blocks(plan.shape, max(1, most)))
        with Dataset(path, "w", format="NETCDF4") as file:
            file.set_auto_maskandscale(False)
            lengths = dict(zip(plan.axes, plan.shape, strict=True))
            lengths |= {"replication": plan.replications, "batch": self._n_batches}
            lengths |= {dim: len(values) for dim, values in self._coords.items()}
            for dim, length in lengths.items():
                file.createDimension(dim, length)
            for name, metric in plan.metrics.items():
                dims = (*plan.axes, "replication", "batch", *metric.dims)
                chunks = None if len(cut) == 1 else _chunks([lengths[dim] for dim in dims])
                made = file.createVariable(
                    name, "f8", dims, fill_value=np.nan, fletcher32=True, chunksizes=chunks
                )
                weighed = {"weight": metric.weight} if metric.weight in plan.metrics else {}
                if chunks is not None:  # else each variable keeps 16 MB
                    made.set_var_chunk_cache(2 * 8 * CHUNK)
                made.setncatts({"units": metric.unit, "long_name": metric.long_name, **weighed})
            for block in cut:
                results = self._results(block)
                for name, values in summary.add(block, results, self._state).items():
                    file[name][block.index] = values
                tell(int(np.searchsorted(plan.points, block.points.stop)) * plan.replications)
        rest = self._rest(summary, arguments)
        # With a checksum of each array, so that whoever reads a damaged one is told.
        encoding = {
            name: {"fletcher32": True} for name, variable in rest.variables.items() if _checked(variable)
        }
        rest.to_netcdf(path, mode="a", engine="netcdf4", format="NETCDF4", encoding=encoding)

    def _results(self, block: Block) -> Results:
        """Read what is in the logs of a block, each log from its beginning to its end.

        Raises
        ------
        MovedError
            If it is not where it was.
        """
        replications = self._plan.replications
        start, stop = block.points.start * replications, block.points.stop * replications
        results = Results(stop - start, self._shapes)
        done = start + np.flatnonzero(self._log[start:stop] != NO_LOG)
        done = done[np.lexsort((self._offset[done], self._log[done]))]
        logs = list(self._logs)
        columns = (each[done].tolist() for each in (self._log, self._offset, self._length))
        places = (Place(logs[log], offset, length) for log, offset, length in zip(*columns, strict=True))
        try:
            for row, record in zip(done.tolist(), self._reader.outlines(places), strict=True):
                if record is None or isinstance(record, Failed) or row not in self._rows(record.id):
                    raise MovedError
                # The index may be of a plan to which the task was unknown.
                if isinstance(record, Finished) and not self._expected.admits(record):
                    raise MovedError
                results.put(row - start, record)
        except FileNotFoundError:
            raise MovedError from None
        return results

    def _rows(self, id_: str) -> tuple[int, ...]:
        """Return the rows of a task, none of one that is not in the plan."""
        first = self._row.get(id_)
        if first is None:
            return ()
        return (first, *self._more_rows[id_]) if id_ in self._more_rows else (first,)

    def _number(self, id_: str) -> int | None:
        """Return the number of a task, None of one that is not in the plan."""
        if (row := self._row.get(id_)) is None:
            return None
        point, replication = divmod(row, self._plan.replications)
        return int(np.searchsorted(self._plan.points, point)) * self._plan.replications + replication

    def _rest(self, summary: Summary, arguments: Sequence[str]) -> xr.Dataset:
        """Return the dataset without the metrics themselves.

        Parameters
        ----------
        summary : Summary
        arguments : sequence of str
            Command line, for the attributes.
        """
        plan = self._plan
        axes = tuple(plan.axes)
        tasks = (*axes, "replication")
        shape = (*plan.shape, plan.replications)
        coords = {axis: (axis, coordinate(values)) for axis, values in plan.axes.items()}
        coords["replication"] = ("replication", np.arange(plan.replications))
        coords["batch"] = ("batch", np.arange(self._n_batches))
        coords |= {dim: (dim, coordinate(values)) for dim, values in self._coords.items()}
        data: dict[str, Any] = {}
        for metric in plan.metrics.values():
            data |= self._variables(metric, summary)
        flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
        data["state"] = (tasks, self._state.reshape(shape), {"long_name": "state of the task", **flags})
        data["saturated"] = (
            axes,
            summary.saturated,
            {"long_name": "the policy does not keep up with the load: means mean nothing"},
        )
        data["suspected"] = (
            tasks,
            summary.suspected,
            {"long_name": "looked at alone, the run seems not to keep up, even where it went on for longer"},
        )
        data["shortfall"] = (
            axes,
            summary.shortfall,
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
        if summary.dropped is not None:
            meaning = {"units": "1", "long_name": "leading batches that MSER drops (NaN in the metrics)"}
            data["dropped"] = (axes, summary.dropped, meaning)
        data |= self._users(summary)
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

    def _users(self, summary: Summary) -> dict[str, Any]:
        """Return the names of ranked users where their log has names: ``name_by_user`` and the like."""
        plan, found = self._plan, {}
        for name, (lowest, highest) in summary.ranked.items():
            names = np.full(lowest.shape, "", dtype=object)
            of_points, *known = (each.reshape(-1, names.shape[-1]) for each in (names, lowest, highest))
            for point, workload in zip(plan.points.tolist(), plan.choices["workload"].tolist(), strict=True):
                if whose := self._names_of(workload):
                    # Where replications rank other users, a rank is nobody's.
                    of_points[point] = [
                        name_of(n, whose) if n == m else ""
                        for n, m in zip(*(each[point] for each in known), strict=True)
                    ]
            if (names != "").any():
                meaning = {"long_name": "user's name in the log"}
                dims = (*plan.axes, *plan.metrics[name].dims)
                found[name.replace("number", "name", 1)] = (dims, names, meaning)
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

    def _variables(self, metric: Metric, summary: Summary) -> dict[str, Any]:
        """Return what is told of a metric."""
        dims = (*self._plan.axes, *metric.dims)
        mean, half_width, lag1 = summary.intervals[metric.name]
        units = {"units": metric.unit}
        weighed = {"weight": metric.weight} if metric.weight in self._plan.metrics else {}
        method = (
            f"Student's t over replication means from {statistics.MIN_REPLICATIONS} replications on, else "
            "over batch means, widened by their correlation and skewness; NaN where withheld because there "
            "are too few batches"
        )
        covers = f"the mean over {self._measured()}, see docs/statistics.md"
        long_name = metric.long_name
        return {
            f"{metric.name}_mean": (dims, mean, {**units, "long_name": f"{long_name}, mean", **weighed}),
            f"{metric.name}_ci": (
                dims,
                half_width,
                {
                    **units,
                    "long_name": f"{long_name}, half-width of interval",
                    "confidence": self._plan.settings.confidence,
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


def _chunks(shape: Sequence[int]) -> list[int]:
    """Return a chunk of at most `CHUNK` neighbours in memory, so that a block is written to few of them."""
    room, found = CHUNK, []
    for length in reversed(shape):
        found.append(max(1, min(length, room)))
        room //= found[-1]
    return found[::-1]


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

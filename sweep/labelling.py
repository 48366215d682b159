"""A schedule as a labelled dataset, and back."""

import json
from typing import Any

import numpy as np
import xarray as xr

from models.arrays import Ints
from models.jobs.job_classes import JOB_CLASSES
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine
from models.jobs.measures import Measures
from models.jobs.schedule import Pieces, Schedule
from models.point import Point
from sweep.errors import SweepError
from sweep.job_tables import name_of

UNITS = {
    "submit": ("s", "submission"),
    "start": ("s", "first processor"),
    "end": ("s", "end"),
    "wait": ("s", "wait"),
    "response_time": ("s", "response time"),
    "runtime": ("s", "runtime"),
    "requested": ("s", "requested time"),
    "processors": ("1", "processors"),
    "memory": ("KB", "memory of the whole job"),
    "used_memory": ("KB", "memory that the whole job uses"),
    "job_class": ("1", "scheduling class of the site"),
    "runs": ("1", "submissions of the job, each after the end of the one before"),
    "after": ("1", "job whose end its user waits for, 0 for none"),
    "think": ("s", "from that end to the submission"),
    "user": ("1", "user"),
    "user_name": ("1", "user's name in the log"),
    "job_id": ("1", "what the log calls the job"),
    "host": ("1", "host"),
    "killed": ("1", "whether it was ended at its limit"),
    "cancelled": ("1", "whether an operator ended it"),
    "slowdown": ("1", "slowdown"),
    "bounded_slowdown": ("1", "bounded slowdown"),
    "piece_job": ("1", "job of a piece"),
    "piece_host": ("1", "host of a piece"),
    "piece_begin": ("s", "begin of a piece"),
    "piece_end": ("s", "end of a piece"),
    "piece_processors": ("1", "processors of a piece"),
}

GROUPED_BY = ("processors", "user", "user_name", "job_class", "host")
"""Columns that group jobs: they are coordinates over ``job``, as ``groupby`` needs them."""

ENDED = ("killed", "cancelled")
"""Columns of jobs that did not end by themselves, if there are any."""

NEEDED = ("submit", "start", "end", "response_time", "runtime", "requested", "processors")
"""Variables without which a dataset is not a schedule."""


def labelled(made: Schedule, point: Point, n_jobs: int | None = None) -> xr.Dataset:
    """Return the measured jobs of a schedule: the measured period of a log, or the first jobs of a stream.

    Parameters
    ----------
    n_jobs : int, optional
        Number of jobs of a stream; None means all simulated jobs, also for a log.
    """
    measured = slice(n_jobs) if made.trace is None or n_jobs is None else made.trace.measured
    first, stop, _ = measured.indices(len(made.jobs))
    jobs, bound = made.jobs.part(measured), Measures.of(point.measures).bound
    response = made.response_time[measured]
    columns: dict[str, Any] = {
        "submit": jobs.submit,
        "start": made.start[measured],
        "end": made.end[measured],
        "wait": made.wait[measured],
        "response_time": response,
        "runtime": jobs.runtime,
        "requested": jobs.requested,
        "processors": jobs.size,
        "slowdown": np.divide(response, jobs.runtime, np.full(len(jobs), np.nan), where=jobs.runtime > 0),
        "bounded_slowdown": np.maximum(response / np.maximum(jobs.runtime, bound), 1.0),
    }
    trace, number = made.trace, np.arange(1, len(jobs) + 1)
    if made.machine.limits_memory or jobs.memory.any():
        columns["memory"] = jobs.memory
    if jobs.job_class is not None:
        columns["job_class"] = np.array(JOB_CLASSES, dtype=object)[jobs.job_class]
    if trace is not None and trace.users and jobs.user is not None:
        columns["user_name"] = np.array([name_of(user, trace.users) for user in jobs.user], dtype=object)
    if trace is not None and trace.rows is not None:
        rows = trace.rows[measured]
        if trace.ids is not None:
            columns["job_id"] = trace.ids[rows]
        if trace.log is not None:
            number = trace.log.columns["job"][rows]
    if made.jobs.after is not None:
        after = made.jobs.after[measured] - first
        columns["after"] = np.where(after >= 0, number[np.maximum(after, 0)], 0)
    of_all = {name: getattr(made.jobs, name) for name in ("used_memory", "runs", "user", "think")}
    of_all |= {name: ended for name in ENDED if (ended := getattr(made, name)) is not None and ended.any()}
    of_all["host"] = made.host if len(made.machine.names) > 1 else None
    columns |= {name: values[measured] for name, values in of_all.items() if values is not None}
    variables = {name: ("job", values) for name, values in columns.items()}
    if made.pieces is not None:
        shown = (made.pieces.job >= first) & (made.pieces.job < stop)
        variables["piece_job"] = ("piece", number[made.pieces.job[shown] - first])
        for name in ("host", "begin", "end", "processors"):
            variables[f"piece_{name}"] = ("piece", getattr(made.pieces, name)[shown])
    attributes = _attributes(made, point) | {"jobs": len(jobs)}
    data = xr.Dataset(variables, coords={"job": number}, attrs=attributes)
    for column, variable in data.data_vars.items():
        unit, long_name = UNITS[str(column)]
        variable.attrs |= {"units": unit, "long_name": long_name}
    # xarray warns about grouping by a variable that is not a coordinate.
    return data.set_coords([name for name in GROUPED_BY if name in data])


def _attributes(made: Schedule, point: Point) -> dict[str, Any]:
    machine = made.machine
    hosts = [
        {"name": name, "processors": int(processors)}
        | ({} if memory == UNLIMITED_KB else {"memory": int(memory)})
        for name, processors, memory in zip(machine.names, machine.processors, machine.memory, strict=True)
    ]
    named = {key: str(getattr(point, key).get("name", "")) for key in ("policy", "workload", "machine")}
    load = {} if point.load is None else {"load": point.load}
    each = {} if machine.memory_each == UNLIMITED_KB else {"memory_each": machine.memory_each}
    return {**named, **load, "seed": list(point.seed), "hosts": json.dumps(hosts), **each}


def schedule_of(data: xr.Dataset) -> Schedule:
    """Return the schedule of a dataset that `labelled` made, also after it was read from a file.

    A dataset with some of the jobs gives their part of the schedule.

    Raises
    ------
    SweepError
        With one line, if variables are lacking that make a schedule.
    """
    if lacking := [name for name in NEEDED if name not in data]:
        raise SweepError(
            f"this dataset lacks {', '.join(lacking)}, which a schedule needs; keep these variables"
        )
    hosts = json.loads(data.attrs["hosts"])
    processors = np.array([host["processors"] for host in hosts], np.int64)
    memory = np.array([host.get("memory", UNLIMITED_KB) for host in hosts], np.int64)
    each = int(data.attrs.get("memory_each", UNLIMITED_KB))
    machine = Machine(tuple(host["name"] for host in hosts), processors, memory, each)
    n = data.sizes["job"]
    position = {number: i for i, number in enumerate(data.job.values.tolist())}

    def positions(numbers: np.ndarray) -> Ints:
        return np.array([position.get(number, -1) for number in numbers.tolist()], np.int64)

    def known(name: str, kind: Any = np.int64) -> Any:
        return data[name].values.astype(kind) if name in data else None

    columns = {name: known(name) for name in ("used_memory", "user", "runs")}
    if "job_class" in data:
        columns["job_class"] = np.array([JOB_CLASSES.index(name) for name in data.job_class.values], np.int64)
    jobs = Jobs(
        data.submit.values,
        data.runtime.values,
        data.requested.values,
        data.processors.values.astype(np.int64),
        known("memory") if "memory" in data else np.zeros(n, np.int64),
        after=positions(data.after.values) if "after" in data else None,
        think=known("think", np.float64),
        **columns,
    )
    pieces = None
    if "piece_job" in data:
        job = positions(data.piece_job.values)
        of_these = job >= 0
        pieces = Pieces(
            job[of_these],
            *(data[f"piece_{name}"].values[of_these] for name in ("host", "begin", "end", "processors")),
        )
    return Schedule(
        jobs,
        machine,
        data.start.values,
        data.end.values,
        data.host.values if "host" in data else np.zeros(n, np.int64),
        waited=data.response_time.values - data.runtime.values if pieces is not None else None,
        pieces=pieces,
        **{name: known(name, bool) for name in ENDED},
    )

"""A user's own jobs, as arrays: ``model: arrays`` with a mapping of columns, or `Jobs`, under ``jobs``.

This is mainly for notebooks; a YAML file may list a few jobs, too.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.workloads import replayed

NEEDED = ("submit", "runtime", "processors")
OPTIONAL = ("requested", "memory", "user")
COLUMNS = (*NEEDED, *OPTIONAL)
"""Columns: seconds, seconds and a whole number; seconds (NaN if unknown), KB of the whole job, anything."""

LONGEST_S = 1e12
"""Longest time, thirty thousand years: beyond it microseconds are lost, and a longer time is a mistake."""

OVERSIZED = ("error", "drop")


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return the columns of its jobs beyond the required ones."""
    given = workload.get("jobs")
    if isinstance(given, Jobs):
        known = {
            "requested": not np.isnan(given.requested).all(),
            "memory": bool(given.memory.any()),
            "user": given.user is not None,
            "job_class": given.job_class is not None,
            "feedback": given.after is not None,
        }
        return tuple(name for name, is_there in known.items() if is_there)
    return tuple(name for name in OPTIONAL if isinstance(given, Mapping) and given.get(name) is not None)


def open_trace(point: Point) -> Trace:
    """Return the jobs of a workload's arrays, checked; ``ValueError`` with one line for a mistake.

    The load rescales the time between submissions, nothing else. A job that no host can take is refused, or
    left out with ``oversized: drop``.
    """
    workload = {"oversized": OVERSIZED[0], **point.workload}
    checks.choice(workload, "workload", "oversized", OVERSIZED)
    given = workload.get("jobs")
    jobs = _checked(given) if isinstance(given, Jobs) else _of(given)
    opened = Trace(str(workload.get("name", "arrays")), jobs, machines.of(point.machine))
    return replayed.trace_of(replace(point, workload=workload), opened, np.arange(len(jobs)), "job")


def _of(given: object) -> Jobs:
    columns = checks.mapping(given, "workload.jobs", COLUMNS, f"arrays of {', '.join(COLUMNS)}, or Jobs")
    present = {name: values for name, values in columns.items() if values is not None}
    if missing := [name for name in NEEDED if name not in present]:
        raise ValueError(f"workload.jobs has no {' and no '.join(missing)}; needed are {', '.join(NEEDED)}")
    for name, values in present.items():
        if np.ma.is_masked(values):
            raise ValueError(f"workload.jobs.{name} has masked values; fill them in, or leave these jobs out")
    arrays = {name: np.asarray(values) for name, values in present.items()}
    shapes = {name: values.shape for name, values in arrays.items()}
    if len(set(shapes.values())) > 1 or len(shapes["submit"]) != 1:
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"workload.jobs: arrays of one dimension and one length are needed; got {shown}")
    size = _numbers("processors", arrays["processors"])
    n_jobs = size.size
    _refuse("processors", size, ~(np.abs(size) < 2**53) | (size != np.rint(size)), "whole numbers")
    memory = _numbers("memory", arrays["memory"]) if "memory" in arrays else np.zeros(n_jobs)
    _refuse("memory", memory, ~(memory >= 0) | ~np.isfinite(memory), "KB of the whole job, 0 or more")
    return _checked(
        Jobs(
            _numbers("submit", arrays["submit"]),
            _numbers("runtime", arrays["runtime"]),
            _numbers("requested", arrays["requested"]) if "requested" in arrays else np.full(n_jobs, np.nan),
            size.astype(np.int64),
            np.ceil(memory).astype(np.int64),
            user=_numbered(arrays["user"]) if "user" in arrays else None,
        )
    )


def _checked(jobs: Jobs) -> Jobs:
    """Return jobs that every engine can simulate; ``ValueError`` with one line for others."""
    if not len(jobs):
        raise ValueError("workload.jobs is empty; give at least one job")
    for name in ("submit", "runtime", "requested"):
        values = getattr(jobs, name)
        _refuse(name, values, np.abs(values) > LONGEST_S, f"seconds, at most {LONGEST_S:g}")
    _refuse("submit", jobs.submit, ~np.isfinite(jobs.submit), "seconds, finite")
    late = np.append(False, np.diff(jobs.submit) < 0)
    _refuse("submit", jobs.submit, late, "ascending seconds; sort all arrays by them first")
    _refuse("runtime", jobs.runtime, ~(np.isfinite(jobs.runtime) & (jobs.runtime > 0)), "seconds above 0")
    _refuse("requested", jobs.requested, ~np.isnan(jobs.requested) & ~(jobs.requested > 0), "above 0, or NaN")
    _refuse("requested", jobs.requested, np.isinf(jobs.requested), "finite seconds, or NaN")
    _refuse("processors", jobs.size, jobs.size < 1, "whole numbers from 1 on")
    return jobs


def _numbers(name: str, values: np.ndarray) -> Floats:
    if values.dtype.kind not in "iuf":
        raise ValueError(f"workload.jobs.{name} holds {values.dtype}; allowed: numbers")
    return values.astype(np.float64)


def _numbered(values: np.ndarray) -> Ints:
    """Return users as numbers: whole ones as they are, all others from 1 on, by first appearance."""
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    of = {user: number for number, user in enumerate(dict.fromkeys(values.tolist()), start=1)}
    return np.array([of[user] for user in values.tolist()], np.int64)


def _refuse(name: str, values: np.ndarray, wrong: np.ndarray, allowed: str) -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        checks.refuse(f"workload.jobs.{name}[{first}]", values[first], allowed)

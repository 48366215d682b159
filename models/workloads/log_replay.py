"""A Standard Workload Format log as a workload: every row one session of one run.

A load rescales the time between arrivals, nothing else; without a load the log runs as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from models.family import Parameters, Seed
from models.jobs.swf import Selection, SwfError, read, select

if TYPE_CHECKING:
    from models.workloads.sessions import SessionStream

HAS_CHANCE = False

FILTERS = (
    "start", "end", "partition", "queue", "user", "exclude_user", "exclude",
    "partial", "failed", "zero_runtime", "oversized",
)  # fmt: skip


def selection(workload: Parameters, n_pes: int) -> Selection:
    """Return the jobs of a workload's log that its filters keep on a machine of `n_pes` PEs."""
    filters = tuple((name, _frozen(workload.get(name))) for name in FILTERS if workload.get(name) is not None)
    return _selected(str(workload["path"]), n_pes, filters)


@lru_cache(maxsize=4)
def _selected(path: str, n_pes: int, filters: tuple) -> Selection:
    """Read a log once for all tasks of a process that use it."""
    return select(read(path), machine_size=n_pes, **{name: _thawed(value) for name, value in filters})


def _frozen(value: object) -> object:
    if isinstance(value, dict):
        return ("dict", tuple((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("list", tuple(_frozen(item) for item in value))
    return value


def _thawed(value: Any) -> Any:
    if isinstance(value, tuple):
        kind, items = value
        return (
            {key: _thawed(item) for key, item in items}
            if kind == "dict"
            else [_thawed(item) for item in items]
        )
    return value


def natural_load(workload: Parameters, n_pes: int) -> float:
    """Return the work of the selected jobs over what the machine can do between first and last arrival."""
    chosen = selection(workload, n_pes)
    jobs = chosen.jobs
    period = float(jobs.arrival[-1])
    if period <= 0:
        raise SwfError(f"{chosen.log.name}: all {chosen.kept} jobs arrive at once, so that it has no load")
    return float(jobs.size @ jobs.runtime) / (n_pes * period)


def open_stream(
    workload: Parameters, n_pes: int, load: float | None, n_jobs: int, seed: Seed
) -> SessionStream:
    """Return the log as a stream of sessions; there is no chance in it, so `seed` changes nothing."""
    from models.workloads.sessions import SessionStream

    jobs = selection(workload, n_pes).jobs
    stretch = 1.0 if load is None else natural_load(workload, n_pes) / load

    def chunks() -> Iterator[dict[str, np.ndarray]]:
        yield {
            "gap": np.diff(jobs.arrival, prepend=0.0) * stretch,
            "size": jobs.size.astype(np.int64),
            "runtime": jobs.runtime.astype(float),
            "runs": np.ones(len(jobs.size), np.int64),
            "key": np.zeros(len(jobs.size), np.int64),
        }

    return SessionStream(chunks())


def check(workload: Parameters, n_pes: int, load: float | None) -> Sequence[str]:
    """Return what was dropped from the log and why; ``SwfError`` for a log that cannot be used."""
    notes = selection(workload, n_pes).describe()
    natural = natural_load(workload, n_pes)
    return [*notes, f"{selection(workload, n_pes).log.name}: load {natural:.3f} on {n_pes} PEs as it is"]

"""Memory for jobs that ask for none: ``workload.memory``, for any workload."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models import checks
from models.jobs.jobs import Jobs
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Parameters, Point

KB_IN_MB = 1024


def wanted(workload: Parameters) -> bool:
    """Tell whether memory is filled in; ``ValueError`` with one line for what is not allowed."""
    if workload.get("memory") is None:
        return False
    checks.number(
        workload, "workload", "memory", "MB for each processor of a job that asks for none, or null",
        least=0, most=1e9,
    )  # fmt: skip
    return True


def of_trace(trace: Trace, point: Point) -> Trace:
    """Return a trace whose jobs without memory ask for so much for each processor, if that is wanted."""
    if not wanted(point.workload):
        return trace
    lacking = int((trace.jobs.memory == 0).sum())
    told = f"{trace.name}: {lacking:,} jobs take {point.workload['memory']:g} MB for each processor"
    return replace(trace, jobs=_filled(trace.jobs, point.workload), notes=(*trace.notes, told))


def of_stream(stream: Stream, point: Point) -> Stream:
    """Return a stream whose jobs without memory ask for so much for each processor, if that is wanted."""
    if not wanted(point.workload):
        return stream
    workload = point.workload
    return replace(stream, first=lambda n: _filled(stream.first(n), workload), chunked=None)


def _filled(jobs: Jobs, workload: Parameters) -> Jobs:
    each = float(workload["memory"]) * KB_IN_MB
    return replace(
        jobs, memory=np.where(jobs.memory == 0, np.ceil(jobs.size * each), jobs.memory).astype(np.int64)
    )

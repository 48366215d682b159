"""What any log goes through once its jobs are read: hosts that can take them, and a load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.arrays import Ints
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.trace import Trace
from models.point import Point


def trace_of(point: Point, read: Trace, line: Ints) -> Trace:
    """Return the jobs that some host can take, at a load.

    Parameters
    ----------
    point : Point
        Its load rescales the time between submissions, nothing else.
    read : Trace
        All jobs that the filters keep.
    line : ndarray of int, shape (n_jobs,)
        Where each of them stands in the file.

    Raises
    ------
    ValueError
        With one line that says what is wrong.
    """
    name, jobs, machine, rows = read.name, read.jobs, read.machine, read.rows
    told = list(read.notes)
    fits = machine.takes(jobs.size, jobs.memory)
    if not fits.all():
        lost = int((~fits).sum())
        if point.workload.get("oversized", "drop") != "drop" or lost == len(fits):
            first = int(np.argmin(fits))
            raise ValueError(
                f"{name}: line {line[first]} asks for {jobs.size[first]} processors with "
                f"{jobs.memory[first]:,} KB, which no host has; add workload.oversized=drop or take a "
                "machine with more memory"
            )
        told.append(f"{name}: {lost:,} more dropped, whose memory no host has (oversized=drop)")
        jobs, rows = jobs.part(fits), None if rows is None else rows[fits]
    natural = _load(jobs, machine)
    if natural is not None:
        told.append(f"{name}: load {natural:.3f} on {machine.total:,} processors as it is")
    elif point.load is not None:
        raise ValueError(
            f"{name}: all {len(jobs)} jobs are submitted at once, so that it has no load to rescale; take it "
            "as it is, grid.load=[null]"
        )
    stretch = 1.0 if point.load is None or natural is None else natural / point.load
    submit = (jobs.submit - jobs.submit[0]) * stretch
    return replace(read, jobs=replace(jobs, submit=submit), notes=tuple(told), rows=rows)


def _load(jobs: Jobs, machine: Machine) -> float | None:
    """Return the work over what all hosts can do from the first to the last submission, None at once."""
    period = float(jobs.submit[-1] - jobs.submit[0])
    if period <= 0:
        return None
    return float(jobs.size @ jobs.runtime) / (machine.total * period)

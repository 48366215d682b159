"""What any log goes through once its jobs are read: hosts that can take them, requested times, a load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.arrays import Ints
from models.family import Parameters, Seed
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.swf import Log
from models.workloads import estimates
from models.workloads.sources import Source


def source_of(
    name: str,
    jobs: Jobs,
    line: Ints,
    machine: Machine,
    workload: Parameters,
    load: float | None,
    seed: Seed,
    notes: Sequence[str],
    log: Log | None = None,
    rows: Ints | None = None,
) -> Source:
    """Return the jobs that some host can take, with requested times if they are to be drawn, at a load.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    jobs : Jobs
    line : ndarray of int, shape (n_jobs,)
        Where each of them stands in the file.
    machine : Machine
    workload : mapping
        ``oversized`` and what `estimates.fill` needs.
    load : float or None
        Offered load as a fraction of all processors: rescales the time between submissions, nothing else.
    seed : tuple of int
        For requested times.
    notes : sequence of str
        What is to be said already.
    log, rows : optional
        See `Source`.

    Raises
    ------
    ValueError
        With one line that says what is wrong.
    """
    told = list(notes)
    fits = machine.takes(jobs.size, jobs.memory)
    if not fits.all():
        lost = int((~fits).sum())
        if workload.get("oversized", "drop") != "drop" or lost == len(fits):
            first = int(np.argmin(fits))
            raise ValueError(
                f"{name}: line {line[first]} asks for {jobs.size[first]} processors with "
                f"{jobs.memory[first]:,} KB, which no host has; add workload.oversized=drop or take a "
                "machine with more memory"
            )
        told.append(f"{name}: {lost:,} more dropped, whose memory no host has (oversized=drop)")
        jobs, rows = jobs.part(fits), None if rows is None else rows[fits]
    jobs, drawn = estimates.fill(name, jobs, workload, seed)
    told += drawn
    natural = _load(jobs, machine)
    if natural is not None:
        told.append(f"{name}: load {natural:.3f} on {machine.total:,} processors as it is")
    elif load is not None:
        raise ValueError(
            f"{name}: all {len(jobs)} jobs are submitted at once, so that it has no load to rescale; take it "
            "as it is, grid.load=[null]"
        )
    stretch = 1.0 if load is None or natural is None else natural / load
    submit = (jobs.submit - jobs.submit[0]) * stretch
    return Source(replace(jobs, submit=submit), machine, tuple(told), log=log, rows=rows)


def _load(jobs: Jobs, machine: Machine) -> float | None:
    """Return the work over what all hosts can do from the first to the last submission, None at once."""
    period = float(jobs.submit[-1] - jobs.submit[0])
    if period <= 0:
        return None
    return float(jobs.size @ jobs.runtime) / (machine.total * period)

"""Requested times for jobs that have none: ``workload.estimates``, for logs and for streams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.arrays import Floats
from models.family import Parameters, Seed
from models.jobs.jobs import Jobs
from models.streams import stream
from models.workloads import tsafrir2005

MODELS = ("tsafrir2005",)
FOR = ("unknown", "all")


def wanted(workload: Parameters) -> bool:
    """Tell whether requested times are drawn; ``ValueError`` with one line for what is not allowed."""
    given = workload.get("estimates")
    if given is not None and given not in MODELS:
        raise ValueError(f"workload.estimates={given}; allowed: null, {', '.join(MODELS)}")
    whose = workload.get("estimates_for", FOR[0])
    if whose not in FOR:
        raise ValueError(f"workload.estimates_for={whose}; allowed: {', '.join(FOR)}")
    longest = workload.get("longest_request")
    least = tsafrir2005.SHORTEST_LIMIT
    if longest is not None and (
        isinstance(longest, bool) or not isinstance(longest, int) or not least <= longest < 2**31
    ):
        raise ValueError(
            f"workload.longest_request={longest}; allowed: whole seconds from {least:,} on (below two "
            "hours there are no twenty round values to ask for), or null"
        )
    return given is not None


def fill(name: str, jobs: Jobs, workload: Parameters, seed: Seed) -> tuple[Jobs, list[str]]:
    """Return a log's jobs with requested times where they had none (or all anew), and what to say of it.

    Parameters
    ----------
    name : str
        The log's, for the notes.
    jobs : Jobs
    workload : mapping
        ``estimates``, ``estimates_for`` and ``longest_request``, see conf/workload/swf.yaml. A longest
        request of null is the log's longest one, or its longest runtime where that is more and some jobs have
        none, rounded up to a full hour.
    seed : tuple of int
    """
    if not wanted(workload):
        return jobs, []
    which = np.isnan(jobs.requested)
    if workload.get("estimates_for") == "all":
        which[:] = True
    if not which.any():
        return jobs, [f"{name}: every job has a requested time, none drawn (estimates_for=unknown)"]
    longest = workload.get("longest_request")
    if longest is None:
        seen = jobs.requested.max()
        if np.isnan(seen):  # of some: those may be the longest
            seen = np.nanmax(np.concatenate([jobs.runtime, jobs.requested]))
        longest = max(int(np.ceil(seen / tsafrir2005.HOUR)) * tsafrir2005.HOUR, tsafrir2005.SHORTEST_LIMIT)
    n, runtime = int(which.sum()), jobs.runtime[which]
    drawn, n_raised = _in_blocks(runtime, longest, n, seed)
    requested = jobs.requested.copy()
    requested[which] = drawn
    notes = [f"{name}: {n:,} requested times drawn (tsafrir2005), at most {longest:,} s"]
    if n_raised:
        notes.append(
            f"{name}: {n_raised:,} of these raised to the longest: the model has fewer long ones than "
            "there are long jobs"
        )
    if beyond := int((runtime > longest).sum()):
        notes.append(f"{name}: {beyond:,} jobs run longer than the longest request of {longest:,} s")
    return replace(jobs, requested=requested), notes


def of_stream(runtime: Floats, longest: int, jobs_together: int, seed: Seed) -> Floats:
    """Return the requested times of a stream's jobs.

    What users ask for is drawn once; it is dealt out among `jobs_together` jobs at a time, so that the first
    jobs of a longer stream are those of a shorter one.

    Parameters
    ----------
    runtime : ndarray, shape (n * jobs_together,), seconds
    longest : int, seconds
    jobs_together : int
    seed : tuple of int
    """
    return _in_blocks(runtime, longest, jobs_together, seed)[0]


def _in_blocks(runtime: Floats, longest: int, block: int, seed: Seed) -> tuple[Floats, int]:
    times, shares = tsafrir2005.distribution(block, longest, stream(seed, "values of estimates"))
    values = tsafrir2005.descending(times, shares, block)
    uniforms = stream(seed, "estimates").random(runtime.size)
    requested, n_raised = np.empty(runtime.size), 0
    for first in range(0, runtime.size, block):
        these = slice(first, first + block)
        requested[these], raised = tsafrir2005.deal(runtime[these], values, uniforms[these])
        n_raised += raised
    return requested, n_raised

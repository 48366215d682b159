"""Workloads by name: what arrives, and which columns it fills.

Each module of `MODELS` serves one ``workload.model`` and has

- ``fills(workload)``, which of `COLUMNS` its jobs have beyond submission, runtime and processors;
- ``is_stochastic(workload)``, whether replications differ;
- ``user_names(workload)``, where it has names of users beside their numbers;
- ``open_stream(point, machine)`` for jobs without end, or ``open_trace(point)`` for a log or a month.

What a workload lacks is filled by options that all of them have (conf/workload/_rigid.yaml): requested times
by ``estimates`` (`models.workloads.estimates`), memory by ``memory`` (`models.workloads.memory`).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from models.jobs import machine as machines
from models.jobs.machine import Machine
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.workloads import estimates, memory

COLUMNS = ("requested", "memory", "user", "job_class", "repetition", "feedback")

MODELS = {
    "feitelson1996": "models.workloads.feitelson1996",
    "lublin2003": "models.workloads.lublin2003",
    "jann1997": "models.workloads.jann1997",
    "synthetic": "models.workloads.synthetic",
    "swf": "models.workloads.swf_log",
    "sacct": "models.workloads.sacct_log",
    "o2k": "models.workloads.o2k",
    "arrays": "models.workloads.arrays",
    "short_long": "models.workloads.short_long",
    "t3d": "models.workloads.t3d",
}
"""``workload.model`` -> module."""


def module_of(workload: Parameters) -> Any:
    """Return the module of a workload's model.

    Raises
    ------
    ValueError
        If there is none that gives rigid jobs.
    """
    model = workload.get("model")
    if model not in MODELS:
        raise ValueError(
            f"workload {workload.get('name', '')} has model {model}, which gives no rigid jobs; those "
            f"that do: {', '.join(MODELS)}; take one of these, for instance grid.workload=[lublin2003]"
        )
    return importlib.import_module(MODELS[str(model)])


def open_workload(point: Point) -> Stream | Trace:
    """Return the jobs of a point in one replication, with what its options fill.

    Raises
    ------
    ValueError
        With one line that says what is wrong.
    """
    module = module_of(point.workload)
    if hasattr(module, "open_trace"):
        return estimates.of_trace(module.open_trace(point), point)
    if point.batches.size is None:
        asked = "week" if point.batches.weeks else "null"
        raise ValueError(
            f"batch_size={asked} divides a whole workload into batches, and {point.workload['model']} has no "
            "end; give a number of jobs, e.g. batch_size=1000"
        )
    stream: Stream = module.open_stream(point, machines.of(point.machine))
    return memory.of_stream(estimates.of_stream(stream, point), point)


def open_log(point: Point) -> Trace | None:
    """Return the jobs of a workload that is a log, a file that somebody's machine wrote; None of any other.

    Raises
    ------
    ValueError
        With one line that says what is wrong.
    """
    if point.workload.get("model") not in MODELS or point.workload.get("path") is None:
        return None
    opened = open_workload(point)
    return opened if isinstance(opened, Trace) and opened.origin is not None else None


def is_stochastic(workload: Parameters, judged: bool = True) -> bool:
    """Tell whether replications of a workload differ.

    Parameters
    ----------
    workload : mapping
    judged : bool
        Whether the policy looks at requested times: else it makes no difference that they are drawn.
    """
    return bool(module_of(workload).is_stochastic(workload)) or (estimates.are_drawn(workload) and judged)


def refuse_feedback(point: Point, known: Sequence[str] = ()) -> None:
    """Raise ``ValueError`` with one line where jobs are submitted when others have ended.

    Parameters
    ----------
    point : Point
    known : sequence of str
        What the policy can do nevertheless: ``repetition``, a job is submitted again when it has ended
        (`Jobs.runs`), ``feedback``, a user waits for a job's answer and then submits the next (`Jobs.after`).
    """
    for column, what in (
        ("repetition", "submits a job again when it has ended"),
        ("feedback", "submits a job when its user has had the answer of another"),
    ):
        if column in fills(point.workload) and column not in known:
            raise ValueError(
                f"workload {point.workload.get('name', '')} {what}, and policy "
                f"{point.policy.get('name', '')} takes jobs that are all submitted beforehand; add "
                "workload.repetition=sequence, which unrolls them"
            )


def refuse_weeks(point: Point) -> None:
    """Raise ``ValueError`` with one line where batches shall be weeks, for families that batch ended jobs."""
    if point.batches.weeks:
        raise ValueError(
            "batch_size=week: a week has the jobs that are submitted in it, and policy "
            f"{point.policy.get('name', '')} is measured in batches of jobs as they end; add "
            "batch_size=null, or a number of jobs"
        )


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return which of `COLUMNS` the jobs of a workload have, its options included."""
    filled = set(module_of(workload).fills(workload))
    if estimates.wanted(workload):
        filled.add("requested")
    if memory.wanted(workload):
        filled.add("memory")
    return tuple(column for column in COLUMNS if column in filled)


def user_names(workload: Parameters) -> tuple[str, ...]:
    """Return the names of a log's users, number n of its jobs being the n-th; none where it has none."""
    module = module_of(workload)
    return tuple(module.user_names(workload)) if hasattr(module, "user_names") else ()


def check(point: Point) -> tuple[Sequence[str], Machine]:
    """Return what is worth saying aloud, and the machine; ``ValueError`` with one line for what cannot be."""
    opened = open_workload(point)
    return opened.notes, opened.machine

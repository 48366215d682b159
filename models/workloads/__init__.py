"""The registry of workloads, and their protocol.

A module of this package that defines ``open_stream`` or ``open_trace`` serves the ``workload.model`` of its
own name; a module of a user's own serves its dotted name, ``workload.model=mine.poisson``. It has

- ``open_stream(point, machine)``, which returns a `Stream` of jobs without end, or ``open_trace(point)``,
  which returns a `Trace`: a log or a month;
- ``FILLS``, the names in `COLUMNS` that its jobs have beyond submission, runtime and processors, or
  ``fills(workload)`` if that depends on the workload's keys; without either there are none;
- ``is_stochastic(workload)``, unless every stream, and only a resampled trace, is stochastic;
- ``user_names(workload)``, if users have names in addition to numbers, and ``names_of(workload, kind)``, if
  partitions and others do (`models.jobs.groups.NAMED`);
- ``partitions(workload)``, if it is a log that may have several, see `partitions`.

Missing columns are filled by options that all workloads have (conf/workload/_rigid.yaml): requested times by
``estimates`` (`models.workloads.estimates`), memory by ``memory`` (`models.workloads.memory`).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from models import dotted
from models.counting import counted
from models.jobs import machine as machines
from models.jobs.machine import Machine
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.workloads import estimates, memory, replayed, resampling, speedup
from models.workloads.phases import Phases
from models.workloads.replayed import CANCELLED, KEEP
from models.workloads.statements import Statements

COLUMNS = ("requested", "memory", "user", "job_class", "repetition", "feedback")


def _found() -> Iterator[tuple[str, str]]:
    """Yield the name of each workload's module and its dotted name; no module is imported."""
    folder = Path(__file__).parent
    for path in sorted((*folder.glob("[a-z]*.py"), *folder.glob("*/__init__.py"))):
        if re.search(r"^def open_(stream|trace)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            name = path.parent.name if path.stem == "__init__" else path.stem
            yield name, f"{__name__}.{name}"


MODELS = dict(_found())
"""``workload.model`` -> module."""


def module_name(model: str) -> str | None:
    """Return the dotted name of a model's module; None for a model inside a family.

    Examples
    --------
    >>> module_name("lublin2003"), module_name("mine.workloads.poisson"), module_name("spmd")
    ('models.workloads.lublin2003', 'mine.workloads.poisson', None)
    """
    return model if "." in model.strip(".") else MODELS.get(model)


def is_rigid(workload: Parameters) -> bool:
    """Return whether a workload has rigid jobs, and so a module here or a user's own module."""
    return module_name(str(workload.get("model"))) is not None


def module_of(workload: Parameters) -> Any:
    """Return the module of a workload's model.

    Raises
    ------
    ValueError
        If there is none, or its jobs are not rigid.
    """
    model, name = str(workload.get("model")), workload.get("name", "")
    module = module_name(model)
    if module is None:
        raise ValueError(
            f"workload {name} has model {model}, which has no rigid jobs; those that do: "
            f"{', '.join(MODELS)}, or the dotted name of a module of your own; take one of these, "
            "for instance grid.workload=[lublin2003]"
        )
    try:
        found = dotted.module(module)
    except ImportError as error:
        raise ValueError(
            f"workload {name}: model={model} cannot be imported ({error}); allowed: {', '.join(MODELS)}, "
            "or the dotted name of a module with open_stream or open_trace"
        ) from None
    if not hasattr(found, "open_stream") and not hasattr(found, "open_trace"):
        raise ValueError(
            f"workload {name}: the module model={model} has neither open_stream(point, machine) nor "
            "open_trace(point); define one of them"
        )
    return found


def open_workload(point: Point) -> Stream | Trace:
    """Return the jobs of a point in one replication, with the columns that its options fill.

    Raises
    ------
    ValueError
        With one line that names the mistake.
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
    return _stream(point)


@replayed.kept
def _stream(point: Point) -> Stream:
    stream: Stream = module_of(point.workload).open_stream(point, machines.of(point.machine))
    return memory.of_stream(estimates.of_stream(stream, point), point).checked_once()


def open_log(point: Point) -> Trace | None:
    """Return the jobs of a workload that is a log of a real machine; None for any other workload.

    Raises
    ------
    ValueError
        With one line that names the mistake.
    """
    if not is_rigid(point.workload) or point.workload.get("path") is None:
        return None
    opened = open_workload(point)
    return opened if isinstance(opened, Trace) and opened.origin is not None else None


def refuse_long_batches(point: Point, log: Trace) -> None:
    """Raise ``ValueError`` with one line if a batch is larger than a log."""
    if point.batches.size is not None and point.batches.size > log.n_measured:
        raise ValueError(
            f"batch_size={point.batches.size:,}: workload {point.workload.get('name', '')} has "
            f"{counted(log.n_measured, 'job')} to measure, fewer than one batch; add batch_size=null, which "
            "divides all of them into batches"
        )


def ends(workload: Parameters) -> bool:
    """Return whether a workload is a log or a month, which ends, and not a stream."""
    return not hasattr(module_of(workload), "open_stream")


def is_stochastic(workload: Parameters, reads_requests: bool = True) -> bool:
    """Return whether replications of a workload differ.

    Parameters
    ----------
    reads_requests : bool
        Whether the policy reads requested times: otherwise drawn requests do not count.
    """
    module = module_of(workload)
    if hasattr(module, "is_stochastic"):
        drawn = module.is_stochastic(workload)
    else:
        drawn = hasattr(module, "open_stream") or resampling.wanted(workload) is not None
    return bool(drawn) or (estimates.are_drawn(workload) and reads_requests)


def refuse_feedback(point: Point, known: Sequence[str] = ()) -> None:
    """Raise ``ValueError`` with one line for kinds of feedback that the policy cannot simulate.

    Parameters
    ----------
    known : sequence of str
        Kinds of feedback that the policy can simulate: ``repetition``, a job is submitted again when it has
        ended (`Jobs.runs`), ``feedback``, a user waits for a job's answer before the next job (`Jobs.after`).
        Also ``keep``: it keeps a log's downtimes, ``cancelled``: jobs leave its queue when they are
        cancelled, ``last_two``: it plans by predicted runtimes.
    """
    if point.workload.get("downtime") == KEEP and KEEP not in known:
        raise ValueError(
            f"policy {point.policy.get('name', '')} keeps no downtime (workload.downtime=keep); add "
            "workload.downtime=null, or take a policy that plans its jobs around reservations"
        )
    if CANCELLED not in known and replayed.keeps_cancelled(point.workload):
        raise ValueError(
            f"policy {point.policy.get('name', '')} has no jobs that are cancelled while they wait "
            "(workload.cancelled=keep); add workload.cancelled=drop, or take a policy of Slurm's scheduler"
        )
    if point.workload.get("estimates") == estimates.LAST_TWO and estimates.LAST_TWO not in known:
        raise ValueError(
            f"policy {point.policy.get('name', '')} plans by no prediction (workload.estimates=last_two); "
            "add workload.estimates=exact, or take a policy that backfills in order of a priority"
        )
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
    """Raise ``ValueError`` with one line if batches are weeks, for families that batch jobs as they end."""
    if point.batches.weeks:
        raise ValueError(
            "batch_size=week: a week has the jobs that are submitted in it, and policy "
            f"{point.policy.get('name', '')} is measured in batches of jobs as they end; add "
            "batch_size=null, or a number of jobs"
        )


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return which of `COLUMNS` the jobs of a workload have, including those that its options fill."""
    module = module_of(workload)
    filled = set(module.fills(workload) if hasattr(module, "fills") else getattr(module, "FILLS", ()))
    if estimates.are_filled_in(workload):
        filled.add("requested")
    if memory.wanted(workload):
        filled.add("memory")
    return tuple(column for column in COLUMNS if column in filled)


def user_names(workload: Parameters, kind: str = "user") -> tuple[str, ...]:
    """Return the names of a log's users, the n-th for user number n; empty if it has no names.

    Parameters
    ----------
    kind : str
        A column of `models.jobs.groups.NAMED`, for partitions and others instead of users.
    """
    module = module_of(workload)
    if kind == "user":
        return tuple(module.user_names(workload)) if hasattr(module, "user_names") else ()
    return tuple(module.names_of(workload, kind)) if hasattr(module, "names_of") else ()


def partitions(workload: Parameters) -> dict[str, tuple[Any, int]]:
    """Return a log's large partitions by name: the value of ``workload.partition``, and the processors.

    Neither sacct nor the header of an SWF log records how many processors a partition has: the number is the
    most that its jobs had at once.

    Raises
    ------
    ValueError
        With one line if the log has one partition only, or does not record when jobs started.
    """
    found: dict[str, tuple[Any, int]] = module_of(workload).partitions(workload)
    return found


def check_values(workload: Parameters) -> None:
    """Raise ``ValueError`` with one line for an option's value not allowed, whether it is read or not."""
    if "estimates" in workload:
        estimates.wanted(workload)
    memory.wanted(workload)
    if "phases" in workload:
        Phases.of(workload)
    if "statements" in workload:
        Statements.of(workload)
    if "speedup" in workload:
        speedup.check_values(workload)


def check(point: Point) -> tuple[Sequence[str], Machine]:
    """Return the notes of a workload, and its machine; ``ValueError`` with one line if it is not possible."""
    opened = open_workload(point)
    return opened.notes, opened.machine

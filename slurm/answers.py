"""Answers of Slurm's programs, as plain data."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from models.slurm.configuration import values

FORMS_OF_TIME = "MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS, DAYS-HOURS:MINUTES[:SECONDS]"


@dataclass(frozen=True)
class Limits:
    """Limits of the cluster; ``scontrol show config``.

    Parameters
    ----------
    max_array_size : int
        Array indices must be below it.
    max_jobs : int
        Jobs and array elements, of all users, that the controller holds at a time.
    max_submit : int, optional
        Jobs and array elements that this user may have submitted at a time, if the controller reports it.
    """

    cluster: str
    version: str
    max_array_size: int
    max_jobs: int
    max_submit: int | None


@dataclass(frozen=True)
class Partition:
    """A partition; ``sinfo``.

    Parameters
    ----------
    default, up : bool
        Whether jobs that name no partition go there, and whether it starts jobs.
    time_s : float, optional
        Limit of a job's time, None if there is none.
    nodes, usable : int
        Nodes, and those that are not down, drained or failing.
    cpus, memory_mb : int
        Resources of the largest node.
    """

    name: str
    default: bool
    up: bool
    time_s: float | None
    nodes: int
    usable: int
    cpus: int
    memory_mb: int


@dataclass(frozen=True)
class Job:
    """A job, an array element, or elements that are still pending together; ``squeue``.

    Parameters
    ----------
    id : int
        Number of the job, or of the array it belongs to.
    indices : tuple of int
        Indices of the array elements; empty for a job that is not an array.
    state, reason : str
        Slurm's words, e.g. PENDING and Resources; see `slurm.reasons`.
    node : str
        Where the job runs; empty if it is not running.
    left_s : float, optional
        Seconds until its time limit, None if it has none.
    """

    id: int
    indices: tuple[int, ...]
    state: str
    reason: str
    node: str
    left_s: float | None
    name: str

    @property
    def ended(self) -> bool:
        """Whether it will no longer run (COMPLETING is not enough: its processes may still write)."""
        return self.state in ENDED


ENDED = frozenset(
    (
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL"),
        *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
    )
)
"""States of jobs that will no longer run, unless they are requeued."""

PARTITION_FORM = "%R|%P|%a|%l|%D|%c|%m|%t"
JOB_FORM = "%F|%K|%T|%r|%N|%L|%j"  # the name comes last, as it may contain anything


def seconds(text: str) -> float | None:
    """Return a duration in seconds, or None if it is unlimited (``UNLIMITED``, ``infinite``) or unknown.

    ``ValueError`` for a text that is none of Slurm's forms.

    Examples
    --------
    >>> seconds("90"), seconds("1:30"), seconds("1-12"), seconds("UNLIMITED")
    (5400, 90, 129600, None)
    """
    if text.lower() in ("unlimited", "infinite", "n/a", "invalid", "not_set"):
        return None
    with suppress(ValueError):
        if (found := values.minutes(text)) is not None:
            return found
    raise ValueError(f"{text!r} is not a duration: give one of {FORMS_OF_TIME}")


def read_partition(name: str, rows: list[list[str]]) -> Partition:
    """Return a partition from its rows of ``sinfo`` in `PARTITION_FORM` without the name."""
    down = ("down", "drain", "drng", "fail", "unk", "maint", "inval", "futr", "pow_dn")
    usable = sum(int(nodes) for *_, nodes, _, _, state in rows if not state.startswith(down))
    shown, state, limit, *_ = rows[0]
    return Partition(
        name=name,
        default=shown.endswith("*"),
        up=state == "up",
        time_s=seconds(limit),
        nodes=sum(int(row[3]) for row in rows),
        usable=usable,
        cpus=max(int(row[4]) for row in rows),
        memory_mb=max(int(row[5]) for row in rows),
    )


def read_job(line: str) -> Job:
    """Return a job from a line of ``squeue`` in `JOB_FORM`."""
    number, indices, state, reason, node, left, name = line.split("|", 6)
    return Job(
        id=int(number),
        indices=() if indices == "N/A" else tuple(_expand(indices)),
        state=state,
        reason=reason,
        node=node,
        left_s=seconds(left),
        name=name,
    )


def _expand(text: str) -> Iterable[int]:
    """Yield array indices: ``0-3,7-15:4%2`` is 0, 1, 2, 3, 7, 11, 15 (of which 2 may run at a time)."""
    for part in text.partition("%")[0].split(","):
        bounds, _, step = part.partition(":")
        first, _, last = bounds.partition("-")
        yield from range(int(first), int(last or first) + 1, int(step or 1))

"""A log in the Standard Workload Format as jobs: with requested times, memory and users."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs import machine as machines
from models.jobs.calendar import LAST_DATE, YEAR
from models.jobs.jobs import Jobs
from models.jobs.selecting import Selection
from models.jobs.swf import Filters, Log, read, select
from models.jobs.swf.header import header_number
from models.jobs.trace import Cancelled, Origin, Trace
from models.point import Parameters, Point
from models.workloads import replayed

FILLS = ("requested", "memory", "user")

NAMED = {"partition": "partition", "account": "group", "qos": "queue"}
"""Columns of `models.jobs.groups.NAMED` -> the format's."""

MOST_NUMBER = 10_000
"""Largest number of a partition or a queue whose name is taken from the header."""

read_log = replayed.read_once(read)


@replayed.opened
def open_trace(point: Point) -> tuple[Trace, Ints]:
    """Return the jobs of a workload's log that its filters keep and some host can take.

    ``workload`` has the keys of conf/workload/logs/swf.yaml, ``machine`` in `models.jobs.machine.of`. The
    load rescales the time between submissions, nothing else.

    Raises
    ------
    ValueError
        With one line that names the mistake.
    """
    workload, machine = point.workload, point.machine
    log = read_log(workload)
    hosts = machines.of(machine, log.max_processors)
    filters = Filters.of({**workload, "oversized": replayed.oversized(workload)})
    chosen = select(log, replayed.largest(point, hosts), filters)
    notes = account, *_ = chosen.describe()
    if replayed.names_no_machine(machine) and not log.names_its_machine:
        notes.append(
            f"{log.name}: its header does not give the number of processors, so {hosts.largest:,} are used, "
            "as many as the largest job has; machine.processors=NUMBER sets another number"
        )
    rows, size = chosen.rows, chosen.size
    wait = log.columns["wait"][rows]
    known, started = _started(log, chosen)
    ran = replayed.not_larger(hosts, started[known], chosen.runtime[known], size[known])
    at_once = replayed.most_at_once(*ran)
    notes.extend(replayed.notes_of_pool(log.name, *ran, hosts))
    partition = log.columns["partition"][rows]
    notes.extend(replayed.notes_of_merged(log.name, {replayed.PARTITIONS: partition}))
    down, found = _downtimes(log, workload)
    notes.extend(found)
    hosts = replace(hosts, down=down - log.columns["submit"][rows[0]])
    memory, used = np.zeros(len(rows), np.int64), None
    if hosts.has_memory:
        memory, used = _memory(log, rows, size, notes)
    kinds = {kind: column for kind, column in NAMED.items() if np.ptp(log.columns[column][rows]) > 0}
    jobs = _jobs(log, rows, chosen.arrival, chosen.runtime, size, memory, used, kinds)
    whole = log.names_its_machine and filters.partition is None and filters.queue is None
    read_jobs = Trace(
        log.name,
        jobs,
        hosts,
        tuple(notes),
        log=log,
        rows=rows,
        origin=_origin(log, account, float(log.columns["submit"][rows[0]])),
        waited=np.where(known, wait, np.nan) if known.any() else None,
        partition=partition,
        cancelled=_cancelled(log, filters, rows[0], kinds) if replayed.keeps_cancelled(workload) else None,
        own_machine=replayed.may_be_its_own(hosts, at_once, log.max_processors if whole else None),
    )
    return read_jobs, log.line[rows]


def names_of(workload: Parameters, kind: str) -> tuple[str, ...]:
    """Return the names of partitions or queues in the header, the n-th for number n; empty if it has none."""
    key = {"partition": "Partition", "qos": "Queue"}.get(kind, "")
    titles = [text.split(maxsplit=1) for text in read_log(workload).header.get(key, []) if " " in text]
    known = {int(one): title for one, title in titles if one.isascii() and one.isdecimal()}
    most = max((number for number in known if number <= MOST_NUMBER), default=0)
    return tuple(known.get(number, "") for number in range(1, most + 1))


def _jobs(
    log: Log,
    rows: Ints,
    submit: Floats,
    runtime: Floats,
    size: Ints,
    memory: Ints,
    used: Ints | None,
    kinds: Mapping[str, str],
) -> Jobs:
    requested, user = log.columns["requested_time"][rows], log.columns["user"]
    limit = np.where(requested > 0, requested, np.nan)
    names: dict[str, Any] = {kind: log.columns[column][rows] for kind, column in kinds.items()}
    known = user[rows] if (user >= 0).any() else None
    return Jobs(submit, runtime, limit, size, memory, used, known, **names)


CANCELLED = 5
"""The status of a cancelled job."""


def _cancelled(log: Log, filters: Filters, first: int, kinds: Mapping[str, str]) -> Cancelled | None:
    """Return the jobs that were cancelled while they waited, from row `first` on."""
    columns = log.columns
    waited = (columns["status"] == CANCELLED) & (columns["runtime"] <= 0) & (columns["wait"] > 0)
    lasted = np.where(waited, columns["wait"], -1.0)
    if not (waited & (columns["submit"] >= 0) & (log.sizes > 0)).any():
        return None
    of_these = replace(log, columns={**columns, "runtime": lasted}, faults={})
    try:
        rows = select(of_these, None, replace(filters, failed="keep", oversized="drop")).rows
    except ValueError:  # filters on jobs that ran leave none
        return None
    size, submit = log.sizes[rows], columns["submit"][rows] - columns["submit"][first]
    memory = np.zeros(len(rows), np.int64)
    jobs = _jobs(log, rows, submit, lasted[rows], size, memory, memory, kinds)
    return Cancelled(jobs, submit + lasted[rows], rows)


def partitions(workload: Parameters) -> dict[str, tuple[int, int]]:
    """Return the number of each partition and the processors that its jobs had at once, by its name.

    See `models.workloads.partitions`. The name comes from the header, or is the number if the header has
    none.
    """
    log = read_log(workload)
    chosen = select(log, None, replace(Filters.of(workload), partition=None))
    known, started = _started(log, chosen)
    if not known.any():
        raise ValueError(
            f"{log.name}: workload.partition=each takes as many processors as jobs had at once, but the log "
            "has no waits; give one partition, workload.partition=NUMBER"
        )
    each = (log.columns["partition"][chosen.rows], started, chosen.runtime, chosen.size)
    most = replayed.most_of_each(log.name, *(column[known] for column in each))
    titles = dict(text.split(maxsplit=1) for text in log.header.get("Partition", []) if " " in text)
    names = {number: titles.get(str(number), str(number)) for number in most}
    unique = Counter(names.values())
    return {
        name if unique[name] == 1 else str(number): (number, most[number]) for number, name in names.items()
    }


def _started(log: Log, chosen: Selection) -> tuple[np.ndarray, Floats]:
    """Return which jobs have a recorded wait, and when each started; many logs have only zeros, or none."""
    wait = log.columns["wait"][chosen.rows]
    return (wait >= 0) & (wait > 0).any(), log.columns["submit"][chosen.rows] + np.maximum(wait, 0)


def _downtimes(log: Log, workload: Parameters) -> tuple[Floats, list[str]]:
    """Return `replayed.downtimes`; empty if a wait is unknown."""
    columns = log.columns
    ran = (columns["submit"] >= 0) & (columns["runtime"] > 0) & (log.sizes > 0)
    submit, wait, runtime = (columns[name][ran] for name in ("submit", "wait", "runtime"))
    if (wait < 0).any() or not wait.any():
        return replayed.NO_DOWNTIME, []
    return replayed.downtimes(log.name, submit, submit + wait, runtime, workload)


def _origin(log: Log, account: str, first: float) -> Origin:
    """Return the header's facts about a log whose first job was submitted at `first`."""
    system = [text for key in ("Computer", "Installation") for text in log.header.get(key, [])[:1] if text]
    zero = header_number(log.name, log.header, "UnixStartTime", most=LAST_DATE)
    if zero and zero + first > LAST_DATE:
        raise ValueError(
            f"{log.name}: its first job is submitted {first / YEAR:,.0f} years after UnixStartTime; submit "
            "times are seconds from it on: correct them, or delete that line of the header"
        )
    return Origin(
        log.name,
        "Standard Workload Format",
        account,
        ", ".join(system),
        zero + first if zero else None,
        "UTC",
    )


def _memory(log: Log, rows: Ints, size: Ints, notes: list[str]) -> tuple[Ints, Ints]:
    """Return KB of whole jobs, requested and used; if only one of them is known, it stands for both.

    Section 2.1 counts requested memory.
    """
    requested, used = (np.maximum(log.columns[name][rows], 0) for name in ("requested_memory", "memory"))
    by_use, none = int(((requested == 0) & (used > 0)).sum()), int((requested + used == 0).sum())
    if by_use:
        notes.append(
            f"{log.name}: {counted(by_use, 'job', 'has')} no requested memory: the used memory is taken"
        )
    if none:
        notes.append(f"{log.name}: {counted(none, 'job', 'has')} no known memory: 0 is taken")

    def of_whole_jobs(known: Floats, other: Floats) -> Ints:
        return np.ceil(np.where(known > 0, known, other) * size).astype(np.int64)

    return of_whole_jobs(requested, used), of_whole_jobs(used, requested)

"""A site's own jobs: what Slurm's ``sacct`` prints, as text or as JSON, and the accounting of PBS and LSF.

One row is one run of a job (or a step of one). `read` recognises the format and returns a `Table`: every row
that is not a step. `select` keeps the jobs that ran and counts all other rows.

References
----------
The manual page sacct(1) of Slurm, "Job Accounting Fields" and "Job State Codes".
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.requests import Requests
from models.jobs.selecting import Selection
from models.jobs.trace import Cancelled, Origin, Trace
from models.point import Parameters, Point
from models.workloads import replayed
from models.workloads.sacct.fields import COMMAND, SacctError
from models.workloads.sacct.reading import Table, read
from models.workloads.sacct.selecting import SUBMIT, arrivals, cancelled, het_jobs, legible, select, users_of

__all__ = ["COMMAND", "SacctError", "Table", "read", "select", "users_of"]

FILTERS = ("start", "end", "cluster", "partition", "user", "arrival", "requeued", "zero_runtime")
FILLS = ("requested", "memory", "user")

AT_ONCE = "; here such jobs may start at once, and with workload.arrival=eligible only once eligible"
"""Treatment of jobs that were not eligible at first, under policies that do not read `Requests.delay`."""

MINUTE = 60.0
WORTH_A_NOTE = 0.01
"""Share of jobs, or of all waiting, from which on held jobs are noted."""

read_table = replayed.read_once(read)


def user_names(workload: Parameters) -> tuple[str, ...]:
    """Return the names of the users, the n-th for user number n."""
    return users_of(read_table(workload))


def names_of(workload: Parameters, kind: str) -> tuple[str, ...]:
    """Return the names of partitions and the like, the n-th for number n."""
    return _numbered(read_table(workload), kind)[0]


@lru_cache(maxsize=8)
def _numbered(table: Table, kind: str) -> tuple[tuple[str, ...], Ints | None]:
    """Return the names of a kind in the order in which they appear, and each row's number, from 1 on.

    There are no numbers if the file lacks the field, or has only one value of it.
    """
    columns = {"qos": table.apart.get("QOS"), "reservation": table.apart.get("reservations")}
    values = columns[kind] if kind in columns else getattr(table, kind)
    names = () if values is None else tuple(dict.fromkeys(values.tolist()))
    if values is None or len(names) < 2:
        return (), None
    number = {name: number for number, name in enumerate(names, start=1)}
    return legible(name or "none" for name in names), np.array([number[name] for name in values.tolist()])


def partitions(workload: Parameters) -> dict[str, tuple[str, int]]:
    """Return each partition with the processors that its jobs had at once."""
    table = read_table(workload)
    chosen = select(table, machine_size=None, **{**_filters(workload), "partition": None})
    of_job = table.partition[chosen.rows].astype(str)
    found = replayed.most_of_each(table.name, of_job, *_ran(table, chosen))
    return {name: (name, most) for name, most in found.items()}


def _filters(workload: Parameters) -> dict[str, Any]:
    given = {name: workload[name] for name in FILTERS if workload.get(name) is not None}
    return {**given, "oversized": replayed.oversized(workload)}


@replayed.opened
def open_trace(point: Point) -> tuple[Trace, Ints]:
    """Return the jobs of a workload's file that its filters keep and some host can take.

    ``workload`` has the keys of conf/workload/logs/sacct.yaml, ``machine`` in `models.jobs.machine.of`:
    sacct does not report the machine's size. The load rescales the time between submissions, nothing else.

    Raises
    ------
    ValueError
        With one line that names the mistake.
    """
    workload, machine = point.workload, point.machine
    table = read_table(workload)
    filters = _filters(workload)
    if replayed.names_no_machine(machine):
        ran = _ran(table, select(table, machine_size=None, **filters))
        raise ValueError(
            f"{table.name}: {table.source} does not report the size of the machine "
            f"({replayed.in_use(*ran)}); add machine.processors={replayed.machine_size(*ran)}, "
            "or choose a machine with hosts, grid.machine=[o2k]"
        )
    hosts = machines.of(machine)
    chosen = select(table, machine_size=replayed.largest(point, hosts), **filters)
    rows, ran = chosen.rows, replayed.not_larger(hosts, *_ran(table, chosen))
    at_once = replayed.most_at_once(*ran)
    account, *further = chosen.describe()
    waiting, lacking = cancelled(table, filters) if replayed.keeps_cancelled(workload) else (None, [])
    further += [f"{table.name}: {note}" for note in lacking]
    partition = table.partition[rows].astype(str)
    apart = {replayed.PARTITIONS: partition, **{name: values[rows] for name, values in table.apart.items()}}
    notes = [account, *further, *replayed.notes_of_pool(table.name, *ran, hosts)]
    notes += replayed.notes_of_merged(table.name, apart)
    memory = np.zeros(rows.size, np.int64)
    if hosts.has_memory:
        memory = np.ceil(table.memory[rows]).astype(np.int64)
        if none := int((memory == 0).sum()):
            notes.append(f"{table.name}: {counted(none, 'job', 'has')} no requested memory: 0 is taken")
    arrived = arrivals(table, workload.get("arrival") or SUBMIT)[rows]
    jobs = _jobs(table, rows, chosen.arrival, chosen.runtime, chosen.size, memory)
    waited = np.maximum(table.start[rows] - arrived, np.timedelta64(0)).astype(float)
    down, found = _downtimes(table, workload)
    notes += found
    hosts = replace(hosts, down=down - arrived[0].astype(np.int64))
    if (workload.get("arrival") or SUBMIT) == SUBMIT:
        notes += _held(table, chosen, waited)
    read_jobs = Trace(
        table.name, jobs, hosts, tuple(notes), rows=rows, ids=table.job, lines=table.line, waited=waited,
        users=users_of(table), partition=partition,
        origin=Origin(table.name, table.source, account, zero=float(arrived[0].astype(np.int64))),
        own_machine=replayed.may_be_its_own(hosts, at_once, None),
        cancelled=None if waiting is None else _cancelled(table, waiting, arrived[0], workload, hosts),
    )  # fmt: skip
    return read_jobs, table.line[rows]


def _downtimes(table: Table, workload: Parameters) -> tuple[Floats, list[str]]:
    """Return `replayed.downtimes`; a held job does not wait."""
    ran = ~np.isnat(table.start) & (table.elapsed > 0)
    arrival = table.submit if table.eligible is None else np.fmax(table.submit, table.eligible)
    arrived, start = (times[ran].astype(np.int64).astype(np.float64) for times in (arrival, table.start))
    arrived = np.minimum(arrived, start)
    return replayed.downtimes(table.name, arrived, start, table.elapsed[ran], workload)


def _held(table: Table, chosen: Selection, waited: Floats) -> list[str]:
    """Return a note on jobs that were not eligible when they were submitted."""
    if table.eligible is None:
        return []
    held = (table.eligible - table.submit)[chosen.rows].astype("timedelta64[s]")
    seconds = np.minimum(np.where(np.isnat(held), 0.0, held.astype(np.int64)), waited)
    is_held = seconds >= MINUTE
    share, of_waiting = is_held.mean(), seconds[is_held].sum() / max(waited.sum(), 1.0)
    if max(share, of_waiting) < WORTH_A_NOTE:
        return []
    return [
        f"{table.name}: {counted(int(is_held.sum()), 'job')} ({share:.1%}) became eligible a minute or more "
        "after "
        f"submission (dependencies, begin times, holds), which is {of_waiting:.1%} of all waiting{AT_ONCE}"
    ]


def _cancelled(
    table: Table, rows: Ints, first: np.datetime64, workload: Parameters, hosts: Machine
) -> Cancelled:
    """Return the jobs of some rows, which never ran, from the first arrival of jobs that ran."""
    assert table.end is not None  # `cancelled` has found the rows by these
    assert table.asked is not None
    arrived = arrivals(table, workload.get("arrival") or SUBMIT)[rows]
    submit, leaves = ((times - first).astype(np.int64).astype(float) for times in (arrived, table.end[rows]))
    size = table.asked[rows]
    memory = np.ceil(table.memory[rows]).astype(np.int64) if hosts.has_memory else np.zeros_like(size)
    return Cancelled(_jobs(table, rows, submit, leaves - submit, size, memory), leaves, rows)


def _jobs(table: Table, rows: Ints, submit: Floats, runtime: Floats, size: Ints, memory: Ints) -> Jobs:
    number = {name: number for number, name in enumerate(dict.fromkeys(table.user), start=1)}
    named: dict[str, Any] = {
        kind: numbers[rows]
        for kind in ("partition", "account", "qos", "reservation")
        if (numbers := _numbered(table, kind)[1]) is not None
    }
    return Jobs(
        submit, runtime, table.requested[rows], size, memory,
        user=np.array([number[name] for name in table.user[rows]], np.int64),
        request=_requests(table, rows, size, memory), **named,
    )  # fmt: skip


def _requests(table: Table, rows: Ints, size: Ints, memory: Ints) -> Requests:
    """Return the allocations of the jobs, which sacct reports, as their requests.

    A job may start only when it is eligible, where the file says when that is.
    """
    nodes = np.maximum(table.nodes[rows], 1)
    delay = np.zeros(rows.size)
    if table.eligible is not None:
        waited = (table.eligible[rows] - table.submit[rows]).astype("timedelta64[s]")
        delay = np.where(np.isnat(waited), 0.0, np.maximum(waited.astype(np.int64), 0).astype(float))
    columns = {"account": table.account, "qos": table.apart.get("QOS"), "constraint": table.constraint}
    names = {name: values[rows] for name, values in columns.items() if values is not None}
    if table.placed is not None:
        *where, shares, _ = table.placed[rows].T
        names |= dict(zip(("segment", "switches", "switch_wait"), where, strict=True), shares=shares > 0)
    names["het_job"] = het_jobs(table)[rows]
    return Requests.of(
        size, memory, nodes=np.minimum(nodes, size), most_nodes=np.minimum(nodes, size),
        node_memory=np.ceil(table.memory[rows] / nodes / 1024).astype(np.int64),
        cpu_memory=np.zeros(rows.size, np.int64), partition=table.partition[rows], delay=delay,
        gres={name: -(-count[rows] // nodes) for name, count in table.devices.items()},
        licences={name: count[rows] for name, count in table.licences.items()}, **names,
    )  # fmt: skip


def _ran(table: Table, chosen: Selection) -> tuple[np.ndarray, np.ndarray, Ints]:
    """Return the start, the runtime and the processors of each job, as recorded."""
    return table.start[chosen.rows].astype(np.int64), chosen.runtime.astype(np.int64), chosen.size

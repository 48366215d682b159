"""Which jobs can ever start on the nodes of a configuration, and how the others of a log are treated.

A job of a log did run, but it may never fit on the nodes and partitions of a slurm.conf of another day. Such
a misfit is left out, cut to the size of its partition, or refused (``workload.misfits``).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from models.arrays import Ints
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.jobs.trace import Trace
from models.slurm import constraints, one_job
from models.slurm.asked import Asked, MisfitError
from models.slurm.configuration import Configuration, Node, Partition
from models.workloads.replayed import CAP, REFUSE

FEATURE = re.compile(r"[^&|,()]+")

OF_MACHINE = "(all nodes)"
"""Name of the partition of a policy without a slurm.conf. Nodes and partitions of a log do not exist on the
machine then, so its jobs ask for processors only."""


def limited(found: Asked, over_limit: str, configuration: Configuration) -> Asked:
    """Return jobs in the partitions that allow their limits and sizes."""
    times = [2**62 if one.max_time is None else one.max_time for one in configuration.partitions]
    most = np.array([max(times[one] for one in place) for place in found.partitions])
    most = np.where(one_job.lifts(found, configuration, "maxtime"), 2**62, most)
    without = [one.default_time is None for one in configuration.partitions]
    is_open = ~(found.jobs.requested > 0) & np.array([without[place[0]] for place in found.partitions])
    longest = one_job.longest(found, configuration)
    found = replace(found, limit=np.where(is_open | (over_limit == "cap"), longest, found.limit))
    over = found.limit > most
    if over.any():
        job = int(np.argmax(over))
        partition = configuration.partitions[found.partitions[job][0]]
        if over_limit == "error":
            raise MisfitError(
                over,
                f"asks for {counted(found.limit[job] // 60, 'minute')}, but partition {partition.name} of "
                f"{configuration.name} allows {most[job] // 60}",
                "ask for more time than their partition allows",
                "add policy.over_limit=cap to cut their limits",
            )
        found = replace(found, limit=np.minimum(found.limit, most))
    one_job.check(found, configuration, (*one_job.OF_TIME, one_job.LEAST))
    try:
        found = one_job.in_partitions(found, configuration)
        one_job.check(found, configuration, one_job.OF_SIZE)
    except MisfitError as error:
        raise TooLargeError(found, error.lost, error.why, error.kind, error.remedy, error.waits) from None
    one_job.check_network(found, configuration)
    request = replace(found.request, most_nodes=one_job.most_nodes(found, configuration))
    nodes, cpus, memory = _needs(request)
    fits = np.zeros(len(found.jobs), bool)
    texts = constraints.effective(request)
    for here, _, members in _members(found, configuration):
        fits[here] |= _fits(members, request[here], configuration.settings.track_memory)
    if not fits.all():
        job = int(np.argmin(fits))
        partition = configuration.partitions[found.partitions[job][0]]
        kinds = [f"{count[job]} {kind}" for kind, count in request.gres.items() if count[job]]
        further = "".join(f", {each}" for each in [*kinds, *([f"features {texts[job]}"] * bool(texts[job]))])
        what = (
            f"{counted(nodes[job], 'node')}, {counted(cpus[job], 'CPU')} and {memory[job]} MB on each "
            f"node{further}"
        )
        raise TooLargeError(
            found,
            ~fits,
            f"asks for {what}, which partition {partition.name} of {configuration.name} never has",
            "ask for more than the nodes of their partition have",
            f"add {_remedy(~fits, found, partition, configuration)}",
        )
    _check_together(found, configuration)
    return found


def _check_together(found: Asked, configuration: Configuration) -> None:
    """Check that the nodes suffice for all components of each heterogeneous job, which start on different
    ones; ``MisfitError`` for jobs for which they do not."""
    nodes, cpus, memory = _needs(found.request)
    lost, lacking, first = np.zeros(len(found.jobs), bool), 0, 0
    of_job: dict[int, list[int]] = {}
    for job in found.request.components.tolist():
        of_job.setdefault(int(found.request.het_job[job]), []).append(job)
    up = [{n for n in one.nodes if configuration.nodes[n].up} for one in configuration.partitions]
    for jobs in of_job.values():
        usable = set[int]().union(*(up[place] for job in jobs for place in found.partitions[job]))
        most = max(configuration.nodes[node].cpus for node in usable)
        needed = int(np.maximum(nodes[jobs], -(-cpus[jobs] // most)).sum())
        if needed > len(usable):
            lost[jobs] = True
            lacking, first = max(lacking, needed - len(usable)), first or needed
    if lost.any():
        one = configuration.partitions[found.partitions[int(np.argmax(lost))][0]]
        each = int((-(-cpus // nodes))[lost].max())
        raise MisfitError(
            lost,
            f"is a component of a heterogeneous job of {first} nodes, and {configuration.name} has fewer",
            "are components of heterogeneous jobs that need more nodes than there are",
            f"add {lines_of(lacking, each, int(memory[lost].max()), one, configuration)}",
        )


class TooLargeError(MisfitError):
    """Jobs that ask for more than the nodes of their partitions have; `found` is what all jobs ask for."""

    def __init__(self, found: Asked, *given: Any) -> None:
        super().__init__(*given)
        self.found = found


def _members(
    found: Asked, configuration: Configuration
) -> Iterator[tuple[np.ndarray, Partition, list[Node]]]:
    """Yield the jobs with each partition and constraint, and the nodes for them that are up."""
    known, text_of = np.unique(constraints.effective(found.request).astype(str), return_inverse=True)
    meets = [constraints.nodes_with(text, configuration.nodes) for text in known]
    for number, one in enumerate(configuration.partitions):
        of_partition = np.array([number in place for place in found.partitions])
        for n, usable in enumerate(meets):
            members = [configuration.nodes[node] for node in usable & set(one.nodes)]
            yield of_partition & (text_of == n), one, [node for node in members if node.up]


def _remedy(lost: np.ndarray, found: Asked, partition: Partition, configuration: Configuration) -> str:
    """Return the remedy for jobs that never fit: a larger pool, or nodes that slurm.conf lacks."""
    nodes, cpus, memory = (most[lost] for most in _needs(found.request))
    each = -(-cpus // nodes)
    if configuration.default_partition.name == OF_MACHINE:
        whole = configuration.nodes[0].cpus
        processors = max(int((nodes * np.maximum(whole, each)).max()), -(-int(cpus.max()) // whole) * whole)
        return f"machine.processors={processors}"
    wanted_nodes = (int(nodes.max()), int(each.max()), int(memory.max()))
    texts, kinds = constraints.effective(found.request)[lost], found.request.gres.items()
    features = dict.fromkeys(word for text in texts.tolist() for word in FEATURE.findall(text))
    devices = [f"{kind}:{count[lost].max()}" for kind, count in kinds if count[lost].any()]
    more = f" Feature={','.join(features)}" * bool(features) + f" Gres={','.join(devices)}" * bool(devices)
    return lines_of(*wanted_nodes, partition, configuration, more)


def lines_of(
    n: int, cpus: int, memory: int, one: Partition, configuration: Configuration, more: str = ""
) -> str:
    """Return how to add nodes that slurm.conf lacks, which a pool of processors cannot have."""
    taken = [re.fullmatch(r"further(\d+)", node.name) for node in configuration.nodes]
    first = 1 + max((int(one[1]) for one in taken if one), default=0)
    new = f"further{first}" if n == 1 else f"further[{first}-{first + n - 1}]"
    return (
        f"policy.lines=['NodeName={new} CPUs={cpus} RealMemory={memory}{more}',"
        f"{configuration.line_of(one, new)}], with the other keys of that partition"
    )


def _needs(request: Requests) -> tuple[Ints, Ints, Ints]:
    """Return the nodes, the CPUs, and the MB on each node that jobs need."""
    memory = np.maximum(request.node_memory, request.cpu_memory * np.maximum(request.task_cpus, 1))
    return np.maximum(request.nodes, 1), request.tasks * request.task_cpus, memory


def _fits(members: Sequence[Node], request: Requests, track: bool) -> np.ndarray:
    """Return whether jobs fit on nodes that no other job uses."""
    nodes, cpus, memory = _needs(request)
    top = max((node.memory for node in members), default=0)
    each = max((node.cpus for node in members), default=0)
    found = (nodes <= len(members)) & (cpus <= sum(node.cpus for node in members))
    found &= (request.most_nodes == 0) | (cpus <= request.most_nodes * each)
    found &= (memory <= top) | (not track)
    for kind, count in request.gres.items():
        of_members = np.sort([node.devices(kind) for node in members])
        found &= nodes <= len(members) - np.searchsorted(of_members, count)
    return np.asarray(found)


def cut(jobs: Jobs, error: TooLargeError, configuration: Configuration) -> tuple[Jobs, np.ndarray]:
    """Return jobs of which those that are too large ask for no more than some partition of theirs has and
    than one job may have, and which were changed: not those whose features no node has."""
    lost, found = error.lost, error.found
    nodes, cpus, memory = _needs(found.request)
    most = {name: np.zeros(len(lost), np.int64) for name in ("nodes", "cpus", "each", "memory")}
    for here, one, members in _members(found, configuration):
        cpus_of = sorted((node.cpus for node in members), reverse=True)[: one.max_nodes or None]
        n, total, largest = len(cpus_of), sum(cpus_of), max(cpus_of, default=0)
        top = max((node.memory for node in members), default=0)
        better = here & (most["cpus"] < total)
        for name, value in (("nodes", n), ("cpus", total), ("each", largest), ("memory", top)):
            most[name][better] = value
    for group in one_job.groups(found, configuration):
        for (limit, resource), (cap, _) in group.caps.items():
            if size_of := one_job.SIZES.get((limit, resource)):
                most[size_of][group.jobs] = np.minimum(most[size_of][group.jobs], cap)
    nodes = np.minimum(nodes, most["nodes"])
    few = found.request.most_nodes > 0
    cpus = np.minimum(cpus, np.where(few, np.minimum(nodes * most["each"], most["cpus"]), most["cpus"]))
    memory = np.minimum(memory, most["memory"])
    before = _needs(found.request)
    smaller = np.logical_or.reduce([a < b for a, b in zip((nodes, cpus, memory), before, strict=True)])
    lost = lost & (cpus > 0) & smaller
    size = np.where(lost, cpus, jobs.size)
    kilobytes = np.where(lost, np.minimum(jobs.memory, nodes * most["memory"] * 1024), jobs.memory)
    if (asked := jobs.request) is None:
        return replace(jobs, size=size, memory=kilobytes), lost
    changed = {
        "nodes": nodes, "most_nodes": np.where(few, nodes, 0), "tasks": cpus,
        "task_cpus": np.ones_like(cpus), "node_tasks": np.zeros_like(cpus),
        "node_memory": memory, "cpu_memory": np.zeros_like(cpus),
    }  # fmt: skip
    columns: dict[str, Any] = {
        name: np.where(lost, values, getattr(asked, name)) for name, values in changed.items()
    }
    return replace(jobs, size=size, memory=kilobytes, request=replace(asked, **columns)), lost


def _with_components(jobs: Jobs, lost: np.ndarray) -> np.ndarray:
    """Return which jobs are lost with the other components of their heterogeneous jobs."""
    if jobs.request is None:
        return lost
    of_job = jobs.request.het_job
    return lost | ((of_job >= 0) & np.isin(of_job, of_job[lost]))


def fitted(
    trace: Trace, misfits: str, wanted: Callable[[Jobs], Asked], configuration: Configuration
) -> Trace:
    """Return a log without the jobs that can never start, or with these jobs cut.

    Parameters
    ----------
    misfits : {"drop", "cap", "refuse"}
    wanted : callable
        Returns what jobs ask for, limits cut with ``cap``; raises `MisfitError` for some that never start.

    Raises
    ------
    ValueError
        With one line, for the first misfit (``refuse``), or if no job is left.
    """
    notes: list[str] = []
    were_cut: set[str] = set()
    while True:
        try:
            limit = wanted(trace.jobs).limit
            break
        except MisfitError as error:
            n = int(error.lost.sum())
            if misfits == REFUSE:
                stop = "" if error.why.endswith("?") else ";"
                raise ValueError(
                    f"{trace.name_of(error.job)} {error.why}{stop} add workload.misfits=drop, which leaves "
                    f"out {counted(n, 'job')} (such jobs {error.kind}), or {error.remedy}"
                ) from None
            named = trace.names_of(np.flatnonzero(error.lost))
            if isinstance(error, TooLargeError) and misfits == CAP and error.kind not in were_cut:
                jobs, changed = cut(trace.jobs, error, configuration)
                were_cut, trace = were_cut | {error.kind}, replace(trace, jobs=jobs)
                if changed.any():
                    named = trace.names_of(np.flatnonzero(changed))
                    has = (
                        f"{counted(int(changed.sum()), 'job', 'was')} cut to the partition's limits "
                        "(misfits=cap)"
                    )
                    notes.append(f"{has}; such jobs {error.kind}: {named}")
                continue
            if error.lost.all():
                raise ValueError(
                    f"{trace.name}: no job is left, because all of them {error.kind}; {error.remedy}"
                ) from None
            every = _with_components(trace.jobs, error.lost)
            if len(also := np.flatnonzero(every & ~error.lost)):
                of_them = counted(len(also), "other component")
                named += f", with {of_them} of the same heterogeneous jobs ({trace.names_of(also)})"
            why = f"{counted(n, 'job', 'was')} dropped (misfits={misfits}); such jobs {error.kind}"
            notes.append(f"{why}: {named}; {error.remedy}")
            trace = trace.part(~every)
    jobs, cancelled = trace.jobs, trace.cancelled
    if misfits == CAP and (longer := jobs.requested > limit).any():
        notes.append(
            f"{counted(int(longer.sum()), 'time limit', 'was')} cut to the partition's maximum (misfits=cap)"
        )
        jobs = replace(jobs, requested=np.where(longer, limit, jobs.requested))
    while cancelled is not None and len(cancelled.jobs):
        try:
            wanted(cancelled.jobs)
            break
        except MisfitError as error:
            cancelled = cancelled.part(~_with_components(cancelled.jobs, error.lost))
    of_log = (*trace.notes, *(f"{trace.name}: {note}" for note in notes))
    return replace(trace, jobs=jobs, cancelled=cancelled, notes=of_log)

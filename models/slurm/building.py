"""From a configuration and jobs to the tables of the kernel: nodes, partitions, jobs, limits, timers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from models.arrays import Ints
from models.kernels import progress
from models.kernels.bits import WORD_BITS, words
from models.slurm.asked import Asked
from models.slurm.configuration import Configuration, Settings, versions
from models.slurm.configuration.settings import MONTH_S, YEAR_S
from models.slurm.configuration.switches import Topology
from models.slurm.configuration.values import NEVER
from models.slurm.constraints import node_sets
from models.slurm.gang import GRACE_S, SHARES, shares_cores
from models.slurm.kernel import tables
from models.slurm.limits import billed, counters, factors, sizes
from models.slurm.one_job import most_nodes, segments
from models.slurm.power import kept as kept_nodes
from models.slurm.power import longest, watts_of
from models.slurm.preemption import levels_of, rules_of_jobs
from models.slurm.priority import associations, fixed_parts
from models.slurm.scheduler import POWER_S, SLEEPS_S, Phases

MOST_RUNS = 20
"""Runs that preemption may end, on average of all jobs."""

LONGER_S = MONTH_S
"""Seconds from the latest end that jobs ask for, while reservations still come back."""

LONGEST_S = 10 * YEAR_S
"""Seconds of a time limit that count for that."""


def system_of(
    wanted: Asked, configuration: Configuration, phases: Phases, plans: int = 0, zero: float = 0.0
) -> tables.System:
    """Return the tables before the first event.

    Parameters
    ----------
    zero : float
        Seconds since the epoch of the first submission, for reservations.
    plans : int
        Number of plans of backfill cycles to record, 0 for none.
    """
    settings = replace(configuration.settings, shares_cores=shares_cores(wanted.request, configuration))
    configuration = replace(configuration, settings=settings)
    of_nodes = nodes(configuration)
    of_limits, first_charge = limits(wanted, configuration, phases, zero)
    n_licences = len(configuration.settings.licences or {})
    words, sets = node_sets(configuration, wanted.request, wanted.of_record, wanted.place)
    first_licence = len(of_limits["limits"]) - n_licences
    of_scheduler = timers(configuration, phases, len(wanted.place), plans, first_licence)
    of_scheduler["settings"]["unshared"] = _unshared(wanted, configuration, of_nodes["nodes"])
    return tables.System(
        **of_nodes,
        **partitions(configuration, sets),
        **jobs(wanted, configuration, phases, first_charge, words),
        **of_limits,
        **of_scheduler,
        **switches(configuration),
        **power(configuration, wanted, phases),
        **allocations(of_nodes["free"], wanted, configuration),
    )


def records(kind: np.dtype, **columns: Any) -> np.ndarray:
    """Return records with these columns, all others 0."""
    made = np.zeros(np.size(next(iter(columns.values()))), kind)
    for name, values in columns.items():
        made[name] = values
    return made


def in_words(groups: Sequence[Sequence[int]], n_nodes: int) -> np.ndarray:
    """Return sets of nodes as rows of words."""
    members = np.zeros((len(groups), words(n_nodes) * WORD_BITS), bool)
    for row, nodes in zip(members, groups, strict=True):
        row[list(nodes)] = True
    return np.packbits(members, axis=1, bitorder="little").view(np.uint64)


def nodes(configuration: Configuration) -> dict[str, np.ndarray]:
    """Return the tables of nodes."""
    every, n, linear = configuration.nodes, len(configuration.nodes), configuration.settings.linear
    line, cpus = _lines(configuration), [node.cpus for node in every]
    of_nodes = records(
        tables.NODE,
        cpus=cpus,
        sockets=[node.sockets for node in every],
        threads=[node.threads for node in every],
        memory=[node.memory for node in every],
        weight=[0 if linear else 2 * node.weight for node in every],
        rows=jobs_of_nodes(configuration),
        first_core=np.cumsum([0, *cpus])[:-1],
        line=line,
        ranked=np.argsort(line if linear else [node.weight for node in every], kind="stable"),
    )
    shared = _jobs_of_cores(configuration) if configuration.settings.in_rows else of_nodes["rows"]
    free = records(tables.SUPPLY, cpus=of_nodes["cpus"] * shared, memory=of_nodes["memory"])
    kinds = configuration.gres  # which examines all nodes
    gres = np.array([node.devices(kind) for node in every for kind in kinds], np.int64)
    sets = np.zeros((tables.N_SETS, words(n)), np.uint64)
    sets[tables.FREE] = in_words([range(n)], n)
    return {
        "nodes": of_nodes,
        "empty": free.copy(),
        "free": free,
        "future": free.copy(),
        "empty_gres": gres.copy(),
        "free_gres": gres,
        "future_gres": gres.copy(),
        "usable": np.zeros(n, tables.SUPPLY),
        "offers": np.zeros(n, tables.OFFER),
        "reserved_from": np.zeros(n, np.int64),
        "groups": np.zeros(n, tables.GROUP),
        "choices": np.zeros(n, tables.CHOICE),
        "sets": sets,
    }


def _unshared(wanted: Asked, configuration: Configuration, nodes: np.ndarray) -> bool:
    """Return whether all nodes are equal and without devices, and no two jobs ever share one."""
    settings = configuration.settings
    alike = all(np.unique(nodes[name]).size == 1 for name in ("cpus", "memory", "weight"))
    alone = nodes["cpus"][0] == 1 or all(configuration.exclusive) or bool(wanted.request.whole.all())
    shared = (
        settings.in_rows
        or settings.gang
        or settings.preempts
        or configuration.saves_power
        or (nodes["rows"] > 1).any()
    )
    return bool(alike and alone and not shared and not configuration.gres)


def jobs_of_nodes(configuration: Configuration) -> Ints:
    """Return how many jobs may have each node at once, by one of its partitions, which are alike; 1 but with
    `select/linear`."""
    found = np.ones(len(configuration.nodes), np.int64)
    for one in configuration.partitions if configuration.settings.linear else ():
        found[list(one.nodes)] = one.sharing.rows
    return found


def _jobs_of_cores(configuration: Configuration) -> Ints:
    """Return how many jobs may have each core of a node at once, if they have rows of cores."""
    found = np.zeros(len(configuration.nodes), np.int64)
    for one in configuration.partitions:
        found[list(one.nodes)] += one.sharing.jobs
    return found


def _lines(configuration: Configuration) -> Ints:
    """Return the place of each node's line in the order in which `select/linear` adds them: lines that are
    alike are one since Slurm 23.02, and so are all of a weight where jobs preempt others."""
    settings, first = configuration.settings, dict[tuple[object, ...], int]()
    merges = versions.rules(settings.version)["merges_lines"]
    keys = []
    for node in configuration.nodes:
        kind = (node.cpus, node.memory, node.sockets, node.threads, node.features, *sorted(node.gres.items()))
        line = first.setdefault((node.weight, *kind), node.line) if merges else node.line
        keys.append((node.weight, 0 if settings.preempts else line))
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


def partitions(configuration: Configuration, sets: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Return the tables of partitions; `sets` contains the sets of nodes of records."""
    every, settings, n_nodes = configuration.partitions, configuration.settings, len(configuration.nodes)
    n_rows = [one.sharing.jobs for one in every] if settings.in_rows else []
    levels, preempts = levels_of(configuration)
    first = [one.nodes[0] for one in every]
    return {
        "partitions": records(
            tables.PARTITION,
            tier=[one.tier for one in every],
            over=[YEAR_S if one.over_time is None else one.over_time for one in every],
            whole=configuration.exclusive,
            rows=jobs_of_nodes(configuration)[first],
            n_rows=settings.in_rows,
            most_rows=n_rows or 0,
            first_row=np.cumsum([0, *n_rows])[:-1] if n_rows else 0,
            ranked=np.argsort([-one.tier for one in every], kind="stable"),
            **of_topologies(configuration),
            shares=[SHARES[one.sharing.kind] for one in every],
        ),
        "partition_words": in_words(sets, n_nodes),
        "levels": levels,
        "preempts": preempts,
        "active": np.zeros(n_nodes * len(every) * settings.gang, np.int64),
        "rows": records(tables.ROW, listed=2 * [place for n in n_rows for place in range(n)]),
        "row_cores": np.zeros((2 * sum(n_rows), n_nodes), np.uint64),
        "cores": np.zeros((3 * settings.in_rows, n_nodes), np.uint64),
        "uses": np.zeros(2 * settings.shares_cores * n_nodes, tables.USE),
        "touched": np.zeros((len(every) * settings.shares_cores, words(n_nodes)), np.uint64),
    }


def jobs(
    wanted: Asked, configuration: Configuration, phases: Phases, first_charge: Ints, words: Ints
) -> dict[str, Any]:
    """Return the tables of jobs; `words` is the set of nodes of each record."""
    request, settings, n_jobs = wanted.request, configuration.settings, len(wanted.jobs)
    n_placed, n_members = n_jobs * settings.in_rows, n_jobs * settings.gang
    n_preempted = n_jobs * settings.preempts
    fair, association = associations(wanted, configuration)
    fixed, tested = fixed_parts(wanted, configuration)
    place = np.array([where[0] for where in wanted.partitions], np.int64)
    nodes, _, cpus = sizes(request, configuration, place)
    bills = np.array([one.billing is not None for one in configuration.partitions])[place]
    given = {
        "association": association,
        "factor": factors(request, configuration),
        "billing": np.where(bills, billed(request, configuration, place, nodes, cpus), -1),
        **rules_of_jobs(wanted, configuration),
    }
    fate = np.zeros(n_jobs, tables.FATE)
    for name in ("start", "end", "reserved"):
        fate[name] = np.nan
    asked = _asked(wanted, configuration, phases, first_charge, given)
    return {
        "jobs": asked,
        "job_gres": np.array([request.devices(kind) for kind in configuration.gres], np.int64).T.ravel(),
        **components(wanted),
        "node_answers": records(
            tables.NODE_ANSWER, node=wanted.node_answers[:, 1], after=wanted.node_answers[:, 2]
        ),
        "records": records(
            tables.RECORD,
            fixed=fixed,
            fixed_tested=tested,
            job=wanted.of_record,
            partition=wanted.place,
            priority=np.maximum(fixed, 1),
            words=words,
            counted=_counted(asked, wanted, configuration),
        ),
        "fair": fair,
        "fate": fate,
        "candidates": np.zeros(max(n_preempted, n_placed, n_jobs * settings.plans_running), tables.CANDIDATE),
        "members": np.zeros(n_members, tables.MEMBER),
        "order": np.zeros(2 * n_members, np.int64),
        "pieces": np.zeros(MOST_RUNS * n_preempted, tables.PIECE),
        "places": records(tables.PLACE, row=np.full(2 * n_placed, tables.NONE)),
        "queue": np.zeros(len(wanted.place), np.int64),
        "running": np.zeros(n_jobs, np.int64),
        "held": np.zeros(n_jobs, np.int64),
        "leaving": leaving(wanted),
        "heap": np.zeros(3 * n_jobs + 1, tables.END),
        "of_user": np.zeros(n_jobs + 1, np.int64),
        "array_running": np.zeros(int(request.array.max(initial=-1)) + 2, np.int64),
    }


def components(wanted: Asked) -> dict[str, Any]:
    """Return the tables of components of heterogeneous jobs, in order of these and of submission."""
    rows = wanted.request.components
    _, first, place, n = np.unique(
        wanted.request.het_job[rows], return_index=True, return_inverse=True, return_counts=True
    )
    made = records(tables.COMPONENT, job=rows, leader=first[place])
    made["n"][first] = n
    n_records = np.diff(wanted.first_record)[rows].sum()
    return {
        "components": made,
        "reached": np.zeros(len(rows), np.int64),
        "joint_plans": np.zeros(n_records, tables.JOINT_PLAN),
    }


def allocations(free: np.ndarray, wanted: Asked, configuration: Configuration) -> dict[str, np.ndarray]:
    """Return the tables of allocations: a node has no more of them than CPUs for jobs, beside jobs whose
    end it confirmed before other nodes did; and a job has one of a node."""
    n_jobs = len(wanted.jobs)
    most = int(free["cpus"].sum()) * (len(configuration.partitions) if configuration.settings.gang else 1)
    total, n_words = min(most + len(wanted.node_answers), n_jobs * len(free)), words(len(free))
    return {
        "entries": records(tables.ENTRY, next=np.append(np.arange(1, total), tables.NONE)),
        "upcoming": np.zeros(n_jobs + 1, tables.UPCOMING),
        "upcoming_words": np.zeros(total, tables.NODES_IN_WORD),
        "upcoming_shares": np.zeros(total, tables.SHARE),
        "node_shares": np.zeros(total, tables.NODE_SHARE),
        "views": np.zeros(len(free), tables.VIEW),
        "able": np.zeros(tables.N_CLASSES * len(free), tables.ABLE_NODE),
        "able_classes": np.zeros(tables.N_CLASSES, tables.ABLE_CLASS),
        "able_sets": np.zeros((tables.N_CLASSES * (n_words + 1), n_words), np.uint64),
        "digits": np.zeros((tables.N_SUMS * int(free["cpus"].max()).bit_length(), n_words), np.uint64),
    }


def _asked(
    wanted: Asked, configuration: Configuration, phases: Phases, first_charge: Ints, further: dict[str, Any]
) -> np.ndarray:
    given, request = wanted.jobs, wanted.request
    tasks, task_cpus = np.maximum(request.tasks, 1), np.maximum(request.task_cpus, 1)
    largest = max(node.cpus for node in configuration.nodes)
    made = np.zeros(len(given) + 1, tables.JOB)
    made[:-1] = records(
        tables.JOB,
        submit=given.submit + phases.clock,
        begin=given.submit + request.delay + phases.clock,
        runtime=wanted.runtime,
        message=wanted.message,
        leaves=wanted.leaves + phases.clock,
        answer=wanted.answer[:, 0],
        call=wanted.answer[:, 1],
        limit=wanted.limit,
        min_nodes=np.maximum(request.nodes, 1),
        least_nodes=np.maximum(request.nodes, -(-tasks * task_cpus // largest)),
        max_nodes=most_nodes(wanted, configuration),
        tasks=tasks,
        task_cpus=task_cpus,
        tasks_per_node=request.node_tasks,
        **_memory(wanted, configuration),
        whole=request.whole,
        segment=segments(request, configuration.settings),
        n_switches=request.switches,
        switch_wait=np.minimum(request.switch_wait, configuration.settings.max_switch_wait),
        asks=request.shares & ~request.whole,
        user=0 if given.user is None else np.unique(given.user, return_inverse=True)[1],
        array=request.array,
        throttle=request.throttle,
        after=request.after,
        **further,
    )
    made["first_record"], made["first_charge"] = wanted.first_record, first_charge
    made["component"] = tables.NONE
    made["component"][request.components] = np.arange(len(request.components))
    made["first_answer"] = np.searchsorted(wanted.node_answers[:, 0], np.arange(len(made)))
    return made


def _counted(jobs: np.ndarray, wanted: Asked, configuration: Configuration) -> Ints:
    """Return for each record what suffices for its job wherever it is, see `tables.RECORD`."""
    settings, every = configuration.settings, configuration.nodes
    unlike = len({node.cpus for node in every}) > 1 or any(node.threads > 1 for node in every)
    bound = settings.track_memory or settings.least_loaded or settings.busy_nodes or settings.linear
    bound = bound or settings.in_rows or settings.preempts or configuration.saves_power
    if unlike or bound or configuration.gres:
        return np.full(len(wanted.place), tables.UNCOUNTED)
    cpus, job = every[0].cpus, jobs[:-1][wanted.of_record]
    trees = of_topologies(configuration)
    by_tree = np.array(trees["n_switches"]) + np.array(trees["block_nodes"]) > 0
    whole = (job["whole"] > 0) | np.array(configuration.exclusive)[wanted.place]
    most = np.where(job["max_nodes"] > 0, np.minimum(job["max_nodes"], job["tasks"]), job["tasks"])
    most = np.maximum(most, job["min_nodes"])
    each = job["task_cpus"] * np.maximum(job["tasks_per_node"], 1)
    each = np.where(job["max_nodes"] == 1, np.maximum(each, job["task_cpus"] * job["tasks"]), each)
    alone = whole & (each <= cpus)
    single = ~whole & (job["tasks_per_node"] == 0) & ((most == 1) | (each == cpus))
    by_nodes = (alone | single) & (job["least_nodes"] <= most)
    any_cpus = ~whole & (job["max_nodes"] == 0) & (job["tasks_per_node"] == 0) & (job["task_cpus"] == 1)
    by_cpus = any_cpus & (job["min_nodes"] <= job["tasks"])
    found = np.where(by_nodes, tables.BY_NODES, np.where(by_cpus, tables.BY_CPUS, tables.UNCOUNTED))
    return np.where(by_tree[wanted.place], tables.UNCOUNTED, found)


def leaving(wanted: Asked) -> Ints:
    """Return the jobs that their users cancel, in the order of their cancellation."""
    return np.argsort(wanted.leaves, kind="stable")[: np.isfinite(wanted.leaves).sum()].astype(np.int64)


def _memory(wanted: Asked, configuration: Configuration) -> dict[str, Ints]:
    """Return the MB per node and per CPU that jobs ask for, or else their partition's default."""
    request = wanted.request
    none = (request.node_memory == 0) & (request.cpu_memory == 0)
    first = [configuration.partitions[place[0]] for place in wanted.partitions]
    return {
        "node_memory": np.where(none, [one.memory_node for one in first], request.node_memory),
        "cpu_memory": np.where(none, [one.memory_cpu for one in first], request.cpu_memory),
    }


def limits(
    wanted: Asked, configuration: Configuration, phases: Phases, zero: float
) -> tuple[dict[str, Any], Ints]:
    """Return the tables of limits and reservations, and the position of each job's first charge.

    `zero` are the seconds since the epoch of the first submission.
    """
    caps, charges, first_charge, _ = counters(wanted, configuration)
    last = wanted.jobs.submit.max(initial=0.0) + min(wanted.limit.max(initial=0), LONGEST_S)
    reserved = [
        (one, times)
        for one in configuration.reservations
        for times in one.occurrences(zero, zero + last + LONGER_S)
    ]
    of_switches = 2 * [one.nodes for topology in used_topologies(configuration) for one in topology.switches]
    kept = np.array([times for _, times in reserved], np.float64).reshape(-1, 3) + (phases.clock - zero)
    settings = configuration.settings
    # A controller is taken to start with the first submission, and its clock to show UTC.
    resets = settings.resets(zero, zero + last + LONGEST_S) if settings.counts_usage else np.zeros(0)
    return {
        "limits": caps,
        "resets": resets + (phases.clock - zero),
        "charges": charges,
        "reservations": records(tables.RESERVATION, begin=kept[:, 0], end=kept[:, 1], known=kept[:, 2]),
        "reserved_words": in_words(
            [*(one.nodes for one, _ in reserved), *of_switches], len(configuration.nodes)
        ),
    }, first_charge


def used_topologies(configuration: Configuration) -> list[Topology]:
    """Return the topologies by which jobs get nodes, each once."""
    return [one for one in dict.fromkeys(configuration.topology_of) if one.is_used]


def switches(configuration: Configuration) -> dict[str, np.ndarray]:
    """Return the tables of switches and blocks, none where jobs get nodes without them."""
    parents: list[Ints] = [np.zeros(0, np.int64)]
    every = used_topologies(configuration)
    for topology in every:
        first = sum(map(len, parents))
        parents.append(np.full(len(topology.switches), first))  # as in Slurm of one without
        for number, one in enumerate(topology.switches):
            parents[-1][list(one.below)] = first + number
    levels = [one.level for topology in every for one in topology.switches]
    return {"switches": records(tables.SWITCH, level=levels, parent=np.concatenate(parents))}


def of_topologies(configuration: Configuration) -> dict[str, list[int]]:
    """Return the columns of partitions that say by which switches their jobs get nodes."""
    every, first = used_topologies(configuration), {}
    for place, topology in enumerate(every):
        first[topology] = sum(len(one.switches) for one in every[:place])
    found = configuration.topology_of
    return {
        "first_switch": [first.get(one, 0) for one in found],
        "n_switches": [len(one.switches) for one in found],
        "block_nodes": [one.block_nodes for one in found],
        "block_levels": [one.levels for one in found],
    }


def power(configuration: Configuration, wanted: Asked, phases: Phases) -> dict[str, np.ndarray]:
    """Return the tables of power: of nodes, none where it does not matter; of groups of nodes of which some
    stay up; of changes; of jobs that wait for a boot."""
    every, n = configuration.nodes, len(configuration.nodes)
    saves = configuration.saves_power
    of_nodes = np.zeros(n if saves or configuration.watts else 0, tables.POWER)
    groups: list[tuple[int, int]] = []
    if len(of_nodes):
        times = {
            name: longest(configuration, name)
            for name in ("suspend_time", "suspend_timeout", "resume_timeout")
        }
        boots = times["resume_timeout"] if configuration.boot_time is None else configuration.boot_time
        of_nodes["boots"], of_nodes["idle_for"] = boots, times["suspend_time"]
        of_nodes["off_for"] = np.minimum(times["suspend_timeout"], NEVER // 4)
        of_nodes["since"] = math.floor(phases.clock + phases.idle)
        of_nodes["kept"], groups = kept_nodes(configuration)
        of_nodes["weight"] = [2 * node.weight for node in every]
        of_nodes["begun"] = [node.off and saves for node in every]
        of_nodes["state"] = tables.DOWN * of_nodes["begun"]
        for state, watts in watts_of(configuration).items():
            of_nodes[f"{state}_watts"] = watts
    kept = np.zeros(len(groups), tables.STAYING)
    kept["count"], kept["members"] = np.array(groups, np.int64).reshape(-1, 2).T
    request, n_jobs = wanted.request, len(wanted.jobs) * saves
    most = min(int((request.nodes + request.tasks * request.task_cpus).sum()), n_jobs * n) + n
    return {
        "power": of_nodes,
        "kept_counts": kept,
        "power_log": np.zeros(saves * 4 * most, tables.POWER_LOG),
        "booting": np.zeros(n_jobs, np.int64),
        "power_wake_ups": np.array(phases.power_wake_ups) + phases.clock,
    }


def timers(
    configuration: Configuration, phases: Phases, n_records: int, plans: int, first_licence: int = 0
) -> dict[str, Any]:
    """Return the tables of the scheduler; up to `plans` plans are recorded."""
    settings, n_nodes = configuration.settings, len(configuration.nodes)
    rules = versions.rules(settings.version)
    # A plan ends at its size, and a job that a cycle starts then still splits two segments: with licences or
    # rows of cores each job that is tested may start, otherwise one on each node.
    tested, size = min(settings.bf_max_job_test, n_records), settings.bf_node_space_size
    started = tested * (settings.plans_licences or settings.in_rows)
    n_segments = min(
        2 * tested + 2 * n_records * settings.plans_running,
        (size or settings.bf_max_job_test) + 2 + 2 * started,
    )
    n_segments += 2 * n_nodes + 16
    n_licences = len(settings.licences or {}) * settings.plans_licences
    bounded = 0 if settings.plans_licences else min(len(configuration.partitions), tables.N_BOUNDED)
    return {
        "state": _state(settings, phases, rules),
        "settings": _settings(configuration, phases, plans, first_licence, rules),
        "slices": np.array(phases.slices) + phases.clock,
        "wake_ups": np.array(phases.wake_ups) + phases.clock,
        "cycles": np.array(phases.cycles) + phases.clock,
        "pings": np.array(phases.pings) + phases.clock,
        "segments": np.zeros(n_segments, tables.SEGMENT),
        "available": np.zeros((n_segments, words(n_nodes) + n_licences), np.uint64),
        "bounds": np.zeros(n_segments * tables.N_LIMITS * bounded, tables.BOUND),
        "counts": np.zeros((n_segments + 1) * bounded, np.int64),
        "timeline": np.zeros(n_segments, np.int64),
        "suffixes": np.zeros((n_segments, words(n_nodes)), np.uint64),
        "log": np.zeros(plans, tables.PLANNED),
    }


def _settings(
    configuration: Configuration, phases: Phases, plans: int, first_licence: int, rules: Mapping[str, Any]
) -> np.ndarray:
    """Return what kernels read: of the settings what has the same name, and what other parts set."""
    settings = configuration.settings
    names = tables.SETTINGS.names or ()
    given = {name: getattr(settings, name) for name in names if hasattr(settings, name)}
    given |= {name: value for name, value in rules.items() if name in names}
    given |= {
        "ends_pass": rules["ends_pass"] and not rules["tests_on"],
        "bf_node_space_size": settings.bf_node_space_size or settings.bf_max_job_test,
        "tick": _period(phases, rules),
        "saves_power": configuration.saves_power,
        "threads": 1 if settings.linear else max(node.threads for node in configuration.nodes),
        "counts_cores": not settings.by_cpu,
        "power_period": POWER_S,
        "uptime": phases.uptime - phases.clock,
        "completing": phases.completing,
        "killing": phases.killing,
        "cycle_time": phases.cycle_time,
        "job_time": phases.job_time,
        "bf_max_time": settings.bf_max_time or settings.bf_interval,
        "suspend_grace": GRACE_S,
        "suspends": settings.preempts and settings.gang,
        "by_core": settings.in_rows and (settings.binds or not settings.by_cpu),
        "by_block": settings.by_cpu or settings.in_blocks,
        "least_loaded": settings.least_loaded or any(one.least_loaded for one in configuration.partitions),
        "reorder_count": 0 if settings.linear else settings.reorder_count,
        "used_at_end": settings.enforces,
        "n_gres": len(configuration.gres),
        "record_plans": bool(plans) or configuration.saves_power,  # plans for idle nodes matter
        "most_rows": jobs_of_nodes(configuration).max(),
        "first_licence": first_licence,
        "budgets": settings.counts_usage and bool(first_licence),
        "most_cpus": max(node.cpus for node in configuration.nodes),
    }
    return records(tables.SETTINGS, **given)


def _period(phases: Phases, rules: Mapping[str, Any]) -> float:
    """Return the seconds between two wake-ups of the background thread."""
    usual = 1.0 if rules["whole_seconds"] else SLEEPS_S
    return usual if phases.period is None else phases.period


def _state(settings: Settings, phases: Phases, rules: Mapping[str, Any]) -> np.ndarray:
    # In a deep queue the last job is submitted long before the last start.
    state = progress.record(tables.STATE, "n_started")
    first_slice = phases.slices[0] if phases.slices else phases.slice
    first_tick = (phases.wake_ups[0] if phases.wake_ups else phases.tick) + phases.clock
    whole_seconds = rules["whole_seconds"]
    values = {
        "next_tick": first_tick if phases.wake_ups or not whole_seconds else np.ceil(first_tick),
        "next_check": phases.backfill + phases.clock if settings.backfill else np.inf,
        "next_calc": phases.calculation + phases.clock if settings.recalculates else np.inf,
        "next_immediate": np.inf,
        "next_slice": first_slice + phases.clock if settings.gang else np.inf,
        "next_power": np.inf,
        "next_boot": np.inf,
        "node_update": -YEAR_S,
        "last_calc": phases.clock,
        "last_sched": np.floor(phases.passed + phases.clock),
        "last_full": np.floor(phases.full + phases.clock),
        "last_limits": np.floor(phases.limits + phases.clock),
        "last_cycle": -YEAR_S,
    }
    for name, value in values.items():
        state[name] = value
    return state

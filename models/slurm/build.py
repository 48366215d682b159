"""From a configuration and jobs to the tables of the kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.kernels import progress
from models.kernels.bits import WORD_BITS, words
from models.slurm import constraints, gang, scheduler
from models.slurm.configuration import Configuration
from models.slurm.configuration.configuration import YEAR_S
from models.slurm.kernel import tables
from models.slurm.limits import counters
from models.slurm.preemption import Preemption, exempt_of
from models.slurm.priority import Weights, fixed_parts
from models.slurm.scheduler import Phases

LONGER_S = 30 * 86400
"""Seconds from the latest end that jobs ask for, while reservations still come back."""

MOST_RUNS = 20
"""Runs that preemption may end, on average of all jobs."""

EPILOG_S = 0.1
"""Seconds until the message of an epilog that slurm.conf names; at some sites its own work takes longer."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Jobs as the scheduler sees them; arrays have the shape (n_jobs,), `partitions` a tuple for each job.

    Parameters
    ----------
    user : ndarray of str
        Name of its user, or the number where the log has no names.
    limit : ndarray of int, seconds
        In whole minutes, as Slurm keeps it.
    runtime : ndarray of float, seconds
        Until the job ends by itself.
    message : ndarray of float, seconds
        From its end until the message of its epilog, which calls the scheduler; -1 without one, as where a
        node has finished with the job before the controller asks.
    """

    jobs: Jobs
    request: Requests
    user: np.ndarray
    limit: Ints
    runtime: Floats
    partitions: tuple[tuple[int, ...], ...]
    message: Floats


def asked(
    jobs: Jobs, configuration: Configuration, message: Floats | None = None, users: Sequence[str] = ()
) -> Asked:
    """Return what jobs ask for, with the defaults of their partitions: of time else their longest, or a year.

    `users` are the names of the users, if the log has them: that of user number n is the n-th. ``ValueError``
    with one line for a job of a partition or with a device that is not there.
    """
    request = jobs.request or Requests.of(jobs.size, jobs.memory)
    numbers = {one.name: number for number, one in enumerate(configuration.partitions)}
    default = (configuration.partitions.index(configuration.default_partition),)
    known: dict[str, tuple[int, ...]] = {"": default}
    for names in dict.fromkeys(request.partition.tolist()):
        if names not in known:
            missing = [name for name in names.split(",") if name not in numbers]
            if missing:
                job = int(np.argmax(request.partition == names)) + 1
                raise ValueError(
                    f"job {job} is for partition {missing[0]}, and {configuration.name} has "
                    f"{', '.join(numbers)}; is it the log of another cluster? workload.partition=NAME "
                    "keeps one partition's jobs, policy.partitions={OLD: NEW} renames them"
                )
            tier = configuration.partitions
            known[names] = tuple(
                sorted((numbers[name] for name in names.split(",")), key=lambda number: -tier[number].tier)
            )
    for name, count in request.gres.items():
        if name not in configuration.gres and count.any():
            job = int(np.argmax(count > 0)) + 1
            raise ValueError(
                f"job {job} asks for {name}, and the nodes of {configuration.name} have "
                f"{', '.join(configuration.gres) or 'no generic resources'}; add Gres= to the NodeName lines"
            )
    places = tuple(known[names] for names in request.partition.tolist())
    if message is None:
        message = np.full(len(jobs), EPILOG_S if configuration.word("Epilog", "") else -1.0)
    limit = np.ceil(np.where(np.isnan(jobs.requested), 0, jobs.requested) / 60).astype(np.int64) * 60
    own = [(one.default_time, one.max_time, YEAR_S) for one in configuration.partitions]
    longest = [next(time for time in times if time is not None) for times in own]
    defaults = np.array([longest[place[0]] for place in places], np.int64)
    numbers_of = [0] * len(jobs) if jobs.user is None else jobs.user.tolist()
    user = np.array([users[n - 1] if 0 < n <= len(users) else str(n) for n in numbers_of], object)
    return Asked(jobs, request, user, np.where(limit > 0, limit, defaults), jobs.runtime, places, message)


def system_of(
    wanted: Asked,
    configuration: Configuration,
    phases: Phases,
    plans: int = 0,
    zero: float = 0.0,
) -> tables.System:
    """Return the tables before the first event.

    Parameters
    ----------
    zero : float
        Seconds since the epoch of the first submission, for reservations.
    plans : int
        Room for plans of backfill cycles, which are recorded if it is not 0.
    """
    jobs, request = wanted.jobs, wanted.request
    n_jobs = len(jobs)
    preemption = Preemption.of(configuration)
    line = _lines(configuration, bool(preemption.settings))
    nodes = _records(
        tables.NODE,
        cpus=[node.cpus for node in configuration.nodes],
        sockets=[node.sockets for node in configuration.nodes],
        memory=[node.memory for node in configuration.nodes],
        weight=[0 if configuration.linear else node.weight for node in configuration.nodes],
        rows=gang.rows(configuration),
        first_core=np.cumsum([0] + [node.cpus for node in configuration.nodes])[:-1],
        line=line,
        ranked=np.argsort(line, kind="stable"),
    )
    n_rows = [gang.rows_of(one) for one in configuration.partitions] * gang.in_rows(configuration)
    shared = nodes["rows"] * (not n_rows)
    for one, n in zip(configuration.partitions, n_rows, strict=False):
        shared[list(one.nodes)] += n
    gres = np.array(
        [node.devices(kind) for node in configuration.nodes for kind in configuration.gres], np.int64
    )
    free = _records(tables.SUPPLY, cpus=nodes["cpus"] * shared, memory=nodes["memory"])
    tasks, task_cpus = np.maximum(request.tasks, 1), np.maximum(request.task_cpus, 1)
    weights = Weights.of(configuration)
    first = np.concatenate([[0], np.cumsum([len(place) for place in wanted.partitions])]).astype(np.int64)
    of_job = np.repeat(np.arange(n_jobs), np.diff(first))
    place = np.array([number for numbers in wanted.partitions for number in numbers], np.int64)
    words_of, node_sets = constraints.node_sets(configuration, request, of_job, place)
    fixed, tested = fixed_parts(wanted, configuration, weights, of_job, place)
    fair, association = weights.associations(wanted, configuration)
    given = np.zeros(n_jobs + 1, tables.JOB)
    given[:-1] = _records(
        tables.JOB,
        submit=jobs.submit + phases.clock,
        begin=jobs.submit + request.delay + phases.clock,
        runtime=wanted.runtime,
        message=wanted.message,
        limit=wanted.limit,
        min_nodes=np.maximum(request.nodes, 1),
        least_nodes=np.maximum(request.nodes, -(-tasks * task_cpus // nodes["cpus"].max())),
        max_nodes=request.most_nodes,
        tasks=tasks,
        task_cpus=task_cpus,
        tasks_per_node=request.node_tasks,
        **_memory(wanted, configuration),
        whole=request.whole,
        user=0 if jobs.user is None else np.unique(jobs.user, return_inverse=True)[1],
        association=association,
        array=request.array,
        throttle=request.throttle,
        after=request.after,
    )
    given["first_record"] = first
    limits, charges, given["first_charge"], _ = counters(wanted, configuration)
    given["qos"][:-1], given["exempt"][:-1] = (
        preemption.qos_of(wanted, configuration),
        exempt_of(wanted, configuration),
    )
    offset = phases.clock - zero
    longest = min(wanted.limit.max(initial=0), 10 * YEAR_S)
    until = zero + jobs.submit.max(initial=0.0) + longest + LONGER_S
    reserved = [(one, times) for one in configuration.reservations for times in one.occurrences(zero, until)]
    kept = np.array([times for _, times in reserved], np.float64).reshape(-1, 3)
    fate = np.zeros(n_jobs, tables.FATE)
    for name in ("start", "end", "reserved"):
        fate[name] = np.nan
    total = int(free["cpus"].sum()) * (len(configuration.partitions) if gang.is_gang(configuration) else 1)
    total = min(total, n_jobs * len(nodes))  # a job has one entry on a node
    settings = _records(
        tables.SETTINGS,
        **scheduler.settings(configuration),
        **weights.settings,
        **preemption.settings,
        **gang.settings(configuration),
        tick=phases.period,
        completing=phases.completing,
        killing=phases.killing,
        cycle_time=phases.cycle_time,
        n_gres=len(configuration.gres),
        record_plans=bool(plans),
        most_rows=nodes["rows"].max(),
    )
    n_members = n_jobs if settings["gang"] else 0
    n_preempted = n_jobs if preemption.settings else 0
    n_segments = 2 * min(int(settings["bf_max_job_test"][0]), len(of_job)) + 2 * len(nodes) + 16
    sets = np.zeros((tables.N_SETS, words(len(nodes))), np.uint64)
    sets[tables.FREE] = _words([range(len(nodes))], len(nodes))
    return tables.System(
        state=_state(settings[0], phases, weights.recalculated),
        settings=settings,
        nodes=nodes,
        free=free,
        future=free.copy(),
        free_gres=gres,
        future_gres=gres.copy(),
        partitions=_records(
            tables.PARTITION,
            tier=[one.tier for one in configuration.partitions],
            over=[YEAR_S if one.over_time is None else one.over_time for one in configuration.partitions],
            whole=[configuration.linear or one.sharing == "EXCLUSIVE" for one in configuration.partitions],
            rows=[nodes["rows"][one.nodes[0]] for one in configuration.partitions],
            n_rows=bool(n_rows),
            most_rows=n_rows or 0,
            first_row=np.cumsum([0, *n_rows])[:-1] if n_rows else 0,
            ranked=np.argsort([-one.tier for one in configuration.partitions], kind="stable"),
        ),
        partition_words=_words(node_sets, len(nodes)),
        jobs=given,
        job_gres=np.array([request.devices(kind) for kind in configuration.gres], np.int64).T.ravel(),
        records=_records(
            tables.RECORD,
            fixed=fixed,
            fixed_tested=tested,
            job=of_job,
            partition=place,
            priority=np.maximum(fixed, 1),
            words=words_of,
        ),
        limits=limits,
        charges=charges,
        levels=preemption.levels,
        preempts=preemption.preempts,
        candidates=np.zeros(max(n_preempted, n_jobs * bool(n_rows)), tables.CANDIDATE),
        members=np.zeros(n_members, tables.MEMBER),
        order=np.zeros(2 * n_members, np.int64),
        active=np.zeros(len(nodes) * len(configuration.partitions) * bool(n_members), np.int64),
        slices=np.array(phases.slices) + phases.clock,
        pieces=np.zeros(MOST_RUNS * n_preempted, tables.PIECE),
        reservations=_records(
            tables.RESERVATION,
            begin=kept[:, 0] + offset,
            end=kept[:, 1] + offset,
            known=kept[:, 2] + offset,
        ),
        reserved_words=_words([one.nodes for one, _ in reserved], len(nodes)),
        fate=fate,
        entries=_records(tables.ENTRY, next=np.append(np.arange(1, total), tables.NONE)),
        rows=_records(tables.ROW, listed=2 * [place for n in n_rows for place in range(n)]),
        row_cores=np.zeros((2 * sum(n_rows), len(nodes)), np.uint64),
        places=_records(tables.PLACE, row=np.full(2 * n_jobs * bool(n_rows), tables.NONE)),
        cores=np.zeros((3 * bool(n_rows), len(nodes)), np.uint64),
        usable=np.zeros(len(nodes), tables.SUPPLY),
        queue=np.zeros(len(of_job), np.int64),
        running=np.zeros(n_jobs, np.int64),
        held=np.zeros(n_jobs, np.int64),
        heap=np.zeros(3 * n_jobs + 1, tables.END),
        offers=np.zeros(len(nodes), tables.OFFER),
        reserved_from=np.zeros(len(nodes), np.int64),
        groups=np.zeros(len(nodes), tables.GROUP),
        choices=np.zeros(len(nodes), tables.CHOICE),
        sets=sets,
        segments=np.zeros(n_segments, tables.SEGMENT),
        available=np.zeros((n_segments, words(len(nodes))), np.uint64),
        of_user=np.zeros(n_jobs + 1, np.int64),
        array_running=np.zeros(int(request.array.max(initial=-1)) + 2, np.int64),
        looks=np.array(phases.looks) + phases.clock,
        cycles=np.array(phases.cycles) + phases.clock,
        log=np.zeros(plans, tables.PLANNED),
        fair=fair,
    )


def _records(kind: np.dtype, **columns: Any) -> np.ndarray:
    """Return records with these columns, all others 0."""
    made = np.zeros(np.size(next(iter(columns.values()))), kind)
    for name, values in columns.items():
        made[name] = values
    return made


def _lines(configuration: Configuration, preempts: bool) -> Ints:
    """Return the place of each node's line in the order in which `select/linear` adds them; all of a weight
    together where jobs preempt others."""
    keys = [(node.weight, 0 if preempts else node.line) for node in configuration.nodes]
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


def _words(groups: Sequence[Sequence[int]], n_nodes: int) -> np.ndarray:
    """Return sets of nodes as rows of words."""
    members = np.zeros((len(groups), words(n_nodes) * WORD_BITS), bool)
    for row, nodes in zip(members, groups, strict=True):
        row[list(nodes)] = True
    return np.packbits(members, axis=1, bitorder="little").view(np.uint64)


def _memory(wanted: Asked, configuration: Configuration) -> dict[str, Ints]:
    """Return MB of each node and of each CPU: what was asked for, else the partition's default."""
    request = wanted.request
    none = (request.node_memory == 0) & (request.cpu_memory == 0)
    first = [configuration.partitions[place[0]] for place in wanted.partitions]
    return {
        "node_memory": np.where(none, [one.memory_node for one in first], request.node_memory),
        "cpu_memory": np.where(none, [one.memory_cpu for one in first], request.cpu_memory),
    }


def _state(settings: Any, phases: Phases, recalculated: bool) -> np.ndarray:
    state = progress.record(tables.STATE)
    recalculates = settings["multifactor"] and recalculated
    first_slice = phases.slices[0] if phases.slices else phases.slice
    values = {
        "next_tick": (phases.looks[0] if phases.looks else phases.tick) + phases.clock,
        "next_look": phases.backfill + phases.clock if settings["backfill"] else np.inf,
        "next_calc": phases.calculation + phases.clock if recalculates else np.inf,
        "next_immediate": np.inf,
        "next_slice": first_slice + phases.clock if settings["gang"] else np.inf,
        "last_calc": phases.clock,
        "last_sched": np.floor(phases.passed + phases.clock),
        "last_full": np.floor(phases.full + phases.clock),
        "last_limits": np.floor(phases.limits + phases.clock),
        "last_cycle": -YEAR_S,
    }
    for name, value in values.items():
        state[name] = value
    return state

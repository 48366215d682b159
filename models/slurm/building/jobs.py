"""Tables of jobs: what they ask for, their records in the queue, and room for what becomes of them."""

from typing import Any

import numpy as np

from models.arrays import Ints
from models.slurm.asked import Asked
from models.slurm.building.nodes import records
from models.slurm.configuration import Configuration
from models.slurm.kernel import tables
from models.slurm.preemption import exempt_of, qos_of
from models.slurm.priority import associations, fixed_parts
from models.slurm.scheduler import Phases

MOST_RUNS = 20
"""Runs that preemption may end, on average of all jobs."""


def jobs(
    wanted: Asked, configuration: Configuration, phases: Phases, first_charge: Ints, words: Ints
) -> dict[str, Any]:
    """Return the tables of jobs; `words` is the set of nodes of each record."""
    request, settings, n_jobs = wanted.request, configuration.settings, len(wanted.jobs)
    n_preempted, n_members, n_placed = (
        n_jobs * one for one in (settings.preempts, settings.gang, settings.in_rows)
    )
    fair, association = associations(wanted, configuration)
    fate = np.zeros(n_jobs, tables.FATE)
    for name in ("start", "end", "reserved"):
        fate[name] = np.nan
    return {
        "jobs": _asked(wanted, configuration, phases, first_charge, association),
        "job_gres": np.array([request.devices(kind) for kind in configuration.gres], np.int64).T.ravel(),
        "records": _in_queue(wanted, configuration, words),
        "fair": fair,
        "fate": fate,
        "candidates": np.zeros(max(n_preempted, n_placed), tables.CANDIDATE),
        "members": np.zeros(n_members, tables.MEMBER),
        "order": np.zeros(2 * n_members, np.int64),
        "pieces": np.zeros(MOST_RUNS * n_preempted, tables.PIECE),
        "places": records(tables.PLACE, row=np.full(2 * n_placed, tables.NONE)),
        "queue": np.zeros(len(wanted.place), np.int64),
        "running": np.zeros(n_jobs, np.int64),
        "held": np.zeros(n_jobs, np.int64),
        "heap": np.zeros(3 * n_jobs + 1, tables.END),
        "of_user": np.zeros(n_jobs + 1, np.int64),
        "array_running": np.zeros(int(request.array.max(initial=-1)) + 2, np.int64),
    }


def entries(free: np.ndarray, n_jobs: int, configuration: Configuration) -> np.ndarray:
    """Return room for allocations: a node has no more of them than CPUs for jobs, and a job one of a node."""
    most = int(free["cpus"].sum()) * (len(configuration.partitions) if configuration.settings.gang else 1)
    total = min(most, n_jobs * len(free))
    return records(tables.ENTRY, next=np.append(np.arange(1, total), tables.NONE))


def _asked(
    wanted: Asked, configuration: Configuration, phases: Phases, first_charge: Ints, association: Ints
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
        limit=wanted.limit,
        min_nodes=np.maximum(request.nodes, 1),
        least_nodes=np.maximum(request.nodes, -(-tasks * task_cpus // largest)),
        max_nodes=request.most_nodes,
        tasks=tasks,
        task_cpus=task_cpus,
        tasks_per_node=request.node_tasks,
        **_memory(wanted, configuration),
        whole=request.whole,
        user=0 if given.user is None else np.unique(given.user, return_inverse=True)[1],
        association=association,
        array=request.array,
        throttle=request.throttle,
        after=request.after,
        qos=qos_of(wanted, configuration),
        exempt=exempt_of(wanted, configuration),
    )
    made["first_record"], made["first_charge"] = wanted.first_record, first_charge
    return made


def _in_queue(wanted: Asked, configuration: Configuration, words: Ints) -> np.ndarray:
    fixed, tested = fixed_parts(wanted, configuration)
    return records(
        tables.RECORD,
        fixed=fixed,
        fixed_tested=tested,
        job=wanted.of_record,
        partition=wanted.place,
        priority=np.maximum(fixed, 1),
        words=words,
    )


def _memory(wanted: Asked, configuration: Configuration) -> dict[str, Ints]:
    """Return MB of each node and of each CPU: what was asked for, else the partition's default."""
    request = wanted.request
    none = (request.node_memory == 0) & (request.cpu_memory == 0)
    first = [configuration.partitions[place[0]] for place in wanted.partitions]
    return {
        "node_memory": np.where(none, [one.memory_node for one in first], request.node_memory),
        "cpu_memory": np.where(none, [one.memory_cpu for one in first], request.cpu_memory),
    }

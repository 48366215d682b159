"""Policies of the family, read from their YAML files and a slurm.conf, and checked. Loads no kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from models import checks, workloads
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.jobs.stream import CHECKED, Stream
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.slurm.build import Asked, asked
from models.slurm.configuration import Configuration, ConfigurationError, Node, Partition, read
from models.slurm.configuration.reading import of_lines
from models.slurm.limits import counters
from models.slurm.priority import Weights
from models.slurm.scheduler import Phases, Scheduler
from models.units import KB_IN_GB

OVER_LIMIT = ("error", "cap")
SHARING = ("NO", "EXCLUSIVE")

OF_MACHINE = "(all nodes)"
"""Name of the partition of a policy without a slurm.conf. Nodes and partitions of a log are not those of the
machine then, so that its jobs ask for processors only."""

WORDS = (
    "bf_interval", "bf_window", "bf_resolution", "bf_max_job_test", "bf_max_job_user", "bf_max_job_part",
    "bf_max_job_start", "bf_min_age_reserve", "default_queue_depth", "partition_job_depth", "sched_interval",
    "batch_sched_delay",
)  # fmt: skip
"""Keys of a policy that are words of SchedulerParameters."""

LINES = {
    "scheduler": "SchedulerType=sched/{}",
    "priority": "PriorityType=priority/{}",
    "weight_age": "PriorityWeightAge={}",
    "weight_fairshare": "PriorityWeightFairshare={}",
    "weight_job_size": "PriorityWeightJobSize={}",
    "weight_partition": "PriorityWeightPartition={}",
    "max_age": "PriorityMaxAge={}",
    "favor_small": "PriorityFavorSmall={}",
    "decay_half_life": "PriorityDecayHalfLife={}",
    "over_time_limit": "OverTimeLimit={}",
}
"""Further keys of a policy -> the line of slurm.conf that they stand for."""


def configuration_of(policy: Parameters, machine: Parameters) -> Configuration:
    """Return the slurm.conf of a policy, its other keys included, on the nodes of the file or of the machine.

    Raises
    ------
    ValueError
        With one line that names the mistake.
    """
    given = policy.get("lines") or []
    if not isinstance(given, list | tuple) or not all(isinstance(line, str) for line in given):
        checks.refuse("policy.lines", given, "a list of lines of a slurm.conf, or []")
    lines = list(given)
    for key, line in LINES.items():
        if policy.get(key) is not None:
            value = policy[key]
            if not isinstance(value, bool | int | float | str):
                allowed = "a value as slurm.conf has it, or null (as the file says)"
                checks.refuse(f"policy.{key}", value, allowed)
            shown = ("YES" if value else "NO") if isinstance(value, bool) else value
            lines.append(line.format(shown))
    path = policy.get("path")
    if path is not None and not isinstance(path, str):
        checks.refuse("policy.path", path, "the path of a slurm.conf, or null")
    made = of_lines("policy.lines", lines) if path is None else read(str(path), lines, policy.get("sha256"))
    words = {key: policy[key] for key in WORDS if policy.get(key) is not None}
    for key in words:
        checks.whole(words, "policy", key, "a whole number, or null (as slurm.conf says)", least=0)
    text = ",".join([made.settings.get("schedulerparameters", ""), *(f"{k}={n}" for k, n in words.items())])
    made = replace(made, settings={**made.settings, "schedulerparameters": text.strip(",")})
    if made.nodes:
        if not machines_are_open(machine):
            raise ConfigurationError(
                f"{made.name} has {len(made.nodes)} nodes, and machine {machine.get('name', '')} others; "
                "take machine=log, or a slurm.conf without NodeName lines"
            )
        if not made.partitions:
            raise ConfigurationError(
                f"{made.name} has no partitions; add policy.lines=['PartitionName=all Nodes=ALL']"
            )
        return made
    nodes = _nodes(policy, machine)
    sharing = checks.choice(policy, "policy", "sharing", SHARING, SHARING[0])
    partition = Partition(OF_MACHINE, tuple(range(len(nodes))), default=True, sharing=sharing)
    return replace(made, nodes=nodes, partitions=(partition,))


def machines_are_open(machine: Parameters) -> bool:
    """Return whether a machine leaves its processors open."""
    return all(machine.get(key) is None for key in ("processors", "hosts", *machines.SHAPES))


def _nodes(policy: Parameters, machine: Parameters) -> tuple[Node, ...]:
    """Return the nodes of a machine: its hosts, or as many of `node_cpus` CPUs as its processors make."""
    if machines_are_open(machine):
        raise ConfigurationError(
            "policy.path=null has no nodes, and neither has the machine; add policy.path=slurm.conf, or "
            "machine.processors=N"
        )
    made = machines.of(machine)
    allowed = "a positive whole number that divides the machine's processors"
    each = checks.whole(policy, "policy", "node_cpus", allowed, default=1)
    if len(made.names) > 1 or made.limits_memory:
        pairs = list(zip(made.processors.tolist(), made.memory.tolist(), strict=True))
    else:
        if made.total % each:
            checks.refuse("policy.node_cpus", each, allowed)
        pairs = [(each, min(made.memory_each * each, machines.UNLIMITED_KB))] * (made.total // each)
    return tuple(
        Node(f"n{number}", cpus, max(memory // 1024, 1), {})
        for number, (cpus, memory) in enumerate(pairs, start=1)
    )


def as_pool(configuration: Configuration) -> dict[str, Any]:
    """Return the machine of the workload: one pool, with the memory of the largest node for each CPU."""
    memory = max(node.memory for node in configuration.nodes) * 1024
    return {
        "name": configuration.name,
        "processors": sum(node.cpus for node in configuration.nodes),
        "memory_gb_per_processor": min(memory / KB_IN_GB, 2**29),
    }


def open_jobs(point: Point, configuration: Configuration) -> Stream | Trace:
    """Return the jobs of a point on the nodes of a configuration."""
    workloads.refuse_feedback(point)
    return workloads.open_workload(replace(point, machine=as_pool(configuration)))


def users_of(opened: Stream | Trace) -> tuple[str, ...]:
    """Return the names of users, if a log has them."""
    return opened.users if isinstance(opened, Trace) else ()


def zero_of(opened: Stream | Trace, configuration: Configuration) -> float:
    """Return when the first job was submitted, seconds since the epoch, which reservations need."""
    origin = opened.origin if isinstance(opened, Trace) else None
    if origin is not None and origin.zero is not None:
        return origin.zero
    if configuration.reservations:
        raise ConfigurationError(
            f"{configuration.name} has reservations, whose times are dates, and these jobs have none: take a "
            "log with dates, or leave out the ReservationName lines"
        )
    return 0.0


def wanted(jobs: Jobs, policy: Parameters, configuration: Configuration, users: Sequence[str] = ()) -> Asked:
    """Return what jobs ask for under a policy; ``ValueError`` with one line for one that can never start."""
    renamed = policy.get("partitions") or {}
    allowed = "a mapping of partitions of the log to those of slurm.conf"
    if not isinstance(renamed, Mapping):
        checks.refuse("policy.partitions", renamed, allowed)
    known = [one.name for one in configuration.partitions]
    for name in renamed.values():
        if name not in known:
            checks.refuse("policy.partitions", dict(renamed), f"{allowed}: {', '.join(known)}")
    if jobs.request is not None and configuration.default_partition.name == OF_MACHINE:
        kept = {name: getattr(jobs.request, name) for name in ("account", "qos", "delay")}
        jobs = replace(jobs, request=Requests.of(jobs.size, jobs.memory, **kept))
    if jobs.request is not None and renamed:
        names = np.array([renamed.get(name, name) for name in jobs.request.partition.tolist()], object)
        jobs = replace(jobs, request=replace(jobs.request, partition=names))
    if jobs.request is None and configuration.word("SelectType", "select/cons_tres") == "linear":
        jobs = replace(jobs, request=Requests.of(jobs.size, jobs.memory))
    over_limit = str(checks.choice(policy, "policy", "over_limit", OVER_LIMIT, "error"))
    return _limited(asked(jobs, configuration, users=users), over_limit, configuration)


def _limited(found: Asked, over_limit: str, configuration: Configuration) -> Asked:
    """Return jobs whose limits and sizes some partition of theirs allows."""
    times = [2**62 if one.max_time is None else one.max_time for one in configuration.partitions]
    most = np.array([max(times[one] for one in place) for place in found.partitions])
    if (found.limit > most).any():
        job = int(np.argmax(found.limit > most))
        partition = configuration.partitions[found.partitions[job][0]]
        if over_limit == "error":
            raise ValueError(
                f"job {job + 1} asks for {found.limit[job] // 60} minutes, and partition {partition.name} of "
                f"{configuration.name} allows {most[job] // 60}; add policy.over_limit=cap to cut them"
            )
        found = replace(found, limit=np.minimum(found.limit, most))
    request = found.request
    nodes = np.maximum(request.nodes, 1)
    cpus = request.tasks * request.task_cpus
    memory = np.maximum(request.node_memory, request.cpu_memory * np.maximum(request.task_cpus, 1))
    fits = np.zeros(len(found.jobs), bool)
    track = "MEMORY" in configuration.settings.get("selecttypeparameters", "").upper()
    for number, one in enumerate(configuration.partitions):
        members = [configuration.nodes[node] for node in one.nodes if configuration.nodes[node].up]
        here = np.array([number in place for place in found.partitions])
        top = max((node.memory for node in members), default=0)
        total = sum(node.cpus for node in members)
        each = max((node.cpus for node in members), default=0)
        narrow = (request.most_nodes > 0) & (cpus > request.most_nodes * each)
        fits |= here & ~narrow & (nodes <= len(members)) & (cpus <= total) & ((memory <= top) | (not track))
    if not fits.all():
        job = int(np.argmin(fits))
        partition = configuration.partitions[found.partitions[job][0]]
        raise ValueError(
            f"job {job + 1} asks for {nodes[job]} nodes, {cpus[job]} CPUs and {memory[job]} MB on each node, "
            f"which partition {partition.name} of {configuration.name} never has; take a larger machine, for "
            "instance machine.processors=N, or leave out such jobs"
        )
    return found


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    configuration = configuration_of(point.policy, point.machine)
    Scheduler.of(configuration)
    Weights.of(configuration)
    Phases.of(point.policy.get("phases") or {})
    opened = open_jobs(point, configuration)
    found = wanted(opened.first(CHECKED), point.policy, configuration, users_of(opened))
    zero_of(opened, configuration)
    *_, notes = counters(found, configuration)
    return [*opened.notes, *configuration.not_modelled(), *_restricted(found, configuration), *notes]


def _restricted(found: Asked, configuration: Configuration) -> list[str]:
    """Return a line for each partition whose rules of access have no effect, with its share of the jobs."""
    lines = []
    for number, one in enumerate(configuration.partitions):
        rules = [*one.restricted, *(["qos"] if one.qos and one.qos not in configuration.qos else [])]
        if rules:
            share = np.mean([number in place for place in found.partitions])
            lines.append(
                f"{configuration.name}: {', '.join(rules)} of partition {one.name} has no effect "
                f"here ({share:.1%} of the jobs)"
            )
    return lines


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: the scheduler draws no random numbers."""
    return workloads.is_stochastic(point.workload)

"""Policies of the family, read from their YAML files and a slurm.conf, and checked; no kernel is loaded."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from models import checks, keys, workloads
from models.arrays import Floats
from models.counting import counted
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.jobs.stream import CHECKED, Stream
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.slurm import bundled, constraints, gang, power
from models.slurm.asked import Asked, asked
from models.slurm.bundled import digest as digest  # part of the family's code, see `Family.digest`
from models.slurm.configuration import (
    Configuration,
    ConfigurationError,
    Node,
    Partition,
    Settings,
    Share,
    versions,
)
from models.slurm.configuration.accounting import Reservation
from models.slurm.configuration.configuration import MOST_NAMED
from models.slurm.configuration.keys import words_of
from models.slurm.configuration.reading import of_lines
from models.slurm.fitting import OF_MACHINE, fitted, limited, lines_of
from models.slurm.limits import counters, exceeded, overdue, spent
from models.slurm.preemption import levels_of
from models.slurm.scheduler import Phases
from models.slurm.unmodelled import with_share
from models.units import KB_IN_GB
from models.workloads.replayed import CANCELLED, DROP, KEEP, MISFITS, ONE_POOL
from models.workloads.sacct import AT_ONCE

MOVED = "whole numbers of nodes by partition, {FROM: {TO: 4}}"
OLD_TO_NEW = "a mapping of partitions of the log to partitions of slurm.conf"
DIVISOR = "a positive whole number that divides the machine's processors"

HOUR_S = 3600.0
KERNELS = ("backfill", "loop", "passes", "picking")
"""Modules of the kernels that all points need."""

OF_QOS = re.compile(r"\s*QosName\s*=\s*([^\s:]+)", re.IGNORECASE)
OF_POOL = re.compile(r"add machine\.processors=(\d+)")


def _lines(policy: Parameters, where: str, key: str) -> list[str]:
    given = policy[key] or []
    if not isinstance(given, list | tuple) or not all(isinstance(line, str) for line in given):
        checks.refuse(f"{where}.{key}", given, "a list of lines of a slurm.conf, or []")
    return list(given)


def _moved(policy: Parameters, where: str, key: str) -> Mapping[str, Mapping[str, int]]:
    given = policy[key]
    to = given.values() if isinstance(given, Mapping) else [None]
    if not all(isinstance(of, Mapping) and all(type(n) is int for n in of.values()) for of in to):
        checks.refuse(f"{where}.{key}", given, MOVED)
    return dict(given)


def _watts(policy: Parameters, where: str, key: str) -> Mapping[str, Mapping[str, float]]:
    if not isinstance(policy[key], Mapping):
        checks.refuse(f"{where}.{key}", policy[key], "a mapping of nodes to their watts, or null")
    found = {}
    for nodes, given in policy[key].items():
        place = f"{where}.{key}.{nodes}"
        if isinstance(given, Mapping):  # YAML reads a bare off as false
            given = {"off" if str(state).lower() == "false" else state: given[state] for state in given}
        each = checks.mapping(given, place, power.STATES)
        if missing := [state for state in power.STATES if state not in each]:
            checks.refuse(
                place,
                dict(each),
                f"watts of a node that is {', '.join(power.STATES)}; {missing[0]} is missing",
            )
        found[nodes] = {
            state: checks.number(each, place, state, "watts from 0 to 1,000,000", least=0, most=1e6)
            for state in power.STATES
        }
    return found


def _word() -> Any:
    """Declare a word of SchedulerParameters."""

    def check(policy: Parameters, where: str, key: str) -> int:
        most = words_of(Settings)[key]["most"]
        allowed = f"a whole number from 0 to {most:,}, or null (as slurm.conf says)"
        return checks.whole(policy, where, key, allowed, least=0, most=most)

    return keys.checked(check, null=True, word=True)


def _line(name: str) -> Any:
    """Declare the key of a line of slurm.conf; YAML reads version 24.10 as the number 24.1."""

    def check(policy: Parameters, where: str, key: str) -> str:
        value = policy[key]
        value = f"{value:.2f}" if key == "slurm_version" and isinstance(value, float) else value
        if not isinstance(value, bool | int | float | str):
            checks.refuse(f"{where}.{key}", value, "a value as slurm.conf has it, or null (as the file says)")
        return name.format(("YES" if value else "NO") if isinstance(value, bool) else value)

    return keys.checked(check, null=True, line=True)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The checked keys of conf/policy/slurm/_slurm.yaml, which explains each; None keeps slurm.conf's."""

    BASE = "_slurm"

    path: str | None = keys.instance(str, "the path of a slurm.conf, or null", null=True)
    slurm_version: str | None = _line("SLURM_VERSION={}")
    lines: list[str] = keys.checked(_lines)
    partitions: Mapping[str, str] | None = keys.instance(Mapping, OLD_TO_NEW, null=True)
    moved: Mapping[str, Mapping[str, int]] | None = keys.checked(_moved, null=True)
    oversubscribe: list[str] = keys.checked(_lines)
    over_limit: str = keys.choice("error", "cap")
    node_cpus: int = keys.whole(DIVISOR)
    sharing: str = keys.choice("NO", "EXCLUSIVE")
    scheduler: str | None = _line("SchedulerType=sched/{}")
    priority: str | None = _line("PriorityType=priority/{}")
    weight_age: str | None = _line("PriorityWeightAge={}")
    weight_fairshare: str | None = _line("PriorityWeightFairshare={}")
    weight_job_size: str | None = _line("PriorityWeightJobSize={}")
    weight_partition: str | None = _line("PriorityWeightPartition={}")
    max_age: str | None = _line("PriorityMaxAge={}")
    favor_small: str | None = _line("PriorityFavorSmall={}")
    decay_half_life: str | None = _line("PriorityDecayHalfLife={}")
    over_time_limit: str | None = _line("OverTimeLimit={}")
    bf_interval: int | None = _word()
    bf_window: int | None = _word()
    bf_resolution: int | None = _word()
    bf_max_job_test: int | None = _word()
    bf_max_job_user: int | None = _word()
    bf_max_job_part: int | None = _word()
    bf_max_job_start: int | None = _word()
    bf_min_age_reserve: int | None = _word()
    default_queue_depth: int | None = _word()
    partition_job_depth: int | None = _word()
    sched_interval: int | None = _word()
    batch_sched_delay: int | None = _word()
    suspend_time: str | None = _line("SuspendTime={}")
    boot_time: float | None = keys.number(
        "seconds from 0 to 65,533, or null (ResumeTimeout)", null=True, least=0, most=65_533
    )
    watts: Mapping[str, Mapping[str, float]] | None = keys.checked(_watts, null=True)
    phases: Phases = keys.checked(lambda policy, where, key: Phases.of(policy[key] or {}))

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy; ``ValueError`` with one line for a value that is not allowed."""
        return cls(**keys.read(cls, policy, "policy"))

    def given(self, kind: str) -> dict[str, Any]:
        """Return the values given as a ``line`` of slurm.conf, or as a ``word`` of SchedulerParameters."""
        declared = [one.name for one in fields(self) if kind in one.metadata]
        return {key: getattr(self, key) for key in declared if getattr(self, key) is not None}


def configuration_of(policy: Parameters, machine: Parameters) -> Configuration:
    """Return the slurm.conf of a policy, its other keys included, on the nodes of the file or of the machine;
    ``ValueError`` with one line that names the mistake."""
    rules = Rules.of(policy)
    lines = {f"policy.lines[{number}]": line for number, line in enumerate(rules.lines, start=1)}
    lines |= {f"policy.{key}": line for key, line in rules.given("line").items()}
    words, sha256 = rules.given("word"), policy.get("sha256")
    made = (
        of_lines("policy.lines", [*lines.values()], words)
        if rules.path is None
        else _read_once(rules.path, tuple(lines.items()), sha256, tuple(words.items()))
        if sha256
        else bundled.read(rules.path, lines, None, words)
    )
    made = replace(made, boot_time=rules.boot_time, watts=rules.watts or {})
    if made.nodes:
        if not machines_are_open(machine):
            raise ConfigurationError(
                f"{made.name} has {counted(len(made.nodes), 'node')}, but machine "
                f"{machine.get('name', '')} has its own; give machine=log without machine.processors, "
                "or a slurm.conf without NodeName lines"
            )
        if not made.partitions:
            raise ConfigurationError(
                f"{made.name} has no partitions; add policy.lines=['PartitionName=all Nodes=ALL']"
            )
        return with_moved(made, rules.moved or {})
    if rules.path is not None and machines_are_open(machine):
        raise ConfigurationError(
            f"{made.name} has no NodeName lines (scontrol show config prints none); append the output of "
            "scontrol show node and scontrol show partition to it, or add policy.lines=['NodeName=n[1-64] "
            "CPUs=32 RealMemory=128000','PartitionName=all Nodes=ALL'], or machine.processors=N for one pool"
        )
    nodes = _nodes(rules.node_cpus, machine)
    partition = Partition(OF_MACHINE, tuple(range(len(nodes))), default=True, sharing=Share.of(rules.sharing))
    return replace(made, nodes=nodes, partitions=(partition,))


@lru_cache(maxsize=16)
def _read_once(
    path: str, lines: tuple[tuple[str, str], ...], sha256: str, words: tuple[tuple[str, int], ...]
) -> Configuration:
    """Return the configuration of a file whose content is known, with the files that it includes."""
    return bundled.read(path, dict(lines), sha256, dict(words))


def with_moved(made: Configuration, moved: Mapping[str, Mapping[str, int]]) -> Configuration:
    """Return a configuration with nodes moved between partitions: the last ones of the first that the second
    lacks; fewer than 0 go the other way."""
    found = {one.name: one for one in made.partitions}
    for source, target, number in ((source, to, n) for source, of in moved.items() for to, n in of.items()):
        for name in (source, target):
            if name not in found:
                checks.refuse("policy.moved", name, f"partitions of {made.name}: {', '.join(found)}")
        giving, taking = (found[name] for name in ((source, target) if number > 0 else (target, source)))
        free = [node for node in giving.nodes if node not in taking.nodes]
        if number and not free:
            checks.refuse(
                f"policy.moved.{source}.{target}",
                number,
                f"0 or {'more' if number < 0 else 'fewer'}, because {taking.name} has all nodes of "
                f"{giving.name}",
            )
        if abs(number) > len(free) or abs(number) == len(giving.nodes):
            most = min(len(free), len(giving.nodes) - 1)
            checks.refuse(
                f"policy.moved.{source}.{target}",
                number,
                f"at most {most} nodes of {giving.name}, because one has to stay",
            )
        those = set(free[len(free) - abs(number) :])
        found[giving.name] = replace(giving, nodes=tuple(node for node in giving.nodes if node not in those))
        found[taking.name] = replace(taking, nodes=tuple(sorted({*taking.nodes, *those})))
    return replace(made, partitions=tuple(found.values()))


def kernels(point: Point) -> list[str]:
    """Return the modules of kernels that a point needs."""
    saves = configuration_of(point.policy, point.machine).saves_power
    return [f"models.slurm.kernel.{name}" for name in (*KERNELS, *["powering"] * saves)]


def machines_are_open(machine: Parameters) -> bool:
    """Return whether a machine leaves its processors open."""
    return all(machine.get(key) is None for key in ("processors", "hosts", *machines.SHAPES))


def _nodes(each: int, machine: Parameters) -> tuple[Node, ...]:
    """Return the nodes of a machine: its hosts, or its processors as nodes of `node_cpus` CPUs."""
    if machines_are_open(machine):
        raise ConfigurationError(
            "policy.path=null gives no nodes, and neither does the machine; replace policy.path=null by "
            "policy.path=FILE with a slurm.conf, or add machine.processors=N"
        )
    made = machines.of(machine)
    if len(made.names) > 1 or made.limits_memory:
        pairs = list(zip(made.processors.tolist(), made.memory.tolist(), strict=True))
    else:
        if made.total % each:
            checks.refuse("policy.node_cpus", each, DIVISOR)
        pairs = [(each, min(made.memory_each * each, machines.UNLIMITED_KB))] * (made.total // each)
    return tuple(
        Node(f"n{number}", cpus, max(memory // 1024, 1), {})
        for number, (cpus, memory) in enumerate(pairs, start=1)
    )


def as_pool(configuration: Configuration, machine: Parameters) -> dict[str, Any]:
    """Return the machine of the workload: one pool, with the memory of the largest node for each CPU."""
    nodes = [node for node in configuration.nodes if node.up]
    if not nodes:
        names = ",".join(node.name for node in configuration.nodes[:MOST_NAMED])
        raise ConfigurationError(
            f"{configuration.name}: all nodes are down; add policy.lines=['DownNodes={names} State=IDLE']"
        )
    memory = max(node.memory for node in nodes) * 1024
    return {
        **machine,
        **dict.fromkeys(("hosts", *machines.SHAPES)),
        "name": configuration.name,
        "processors": sum(node.cpus for node in nodes),
        "memory_gb_per_processor": min(memory / KB_IN_GB, 2**29),
    }


@dataclass(frozen=True)
class Fitting:
    """The jobs of a log that can start under a policy, see `models.slurm.fitting.fitted`."""

    policy: Parameters
    misfits: str
    configuration: Configuration = field(repr=False)  # as in the policy and the machine

    def __call__(self, trace: Trace) -> Trace:
        """Return the log without its misfits."""
        policy = {**self.policy, **({"over_limit": "cap"} if self.misfits == "cap" else {})}
        made = self.configuration
        return fitted(trace, self.misfits, lambda jobs: wanted(jobs, policy, made, trace.users), made)


def on_nodes(point: Point, configuration: Configuration) -> Point:
    """Return a point whose workload is opened on the nodes of a configuration."""
    misfits = checks.choice({"misfits": DROP, **point.workload}, "workload", "misfits", MISFITS)
    fitting = Fitting(dict(point.policy), misfits, configuration)
    return replace(point, machine=as_pool(configuration, point.machine), fitting=fitting)


def open_jobs(point: Point, configuration: Configuration) -> Stream | Trace:
    """Return the jobs of a point on the nodes of a configuration."""
    workloads.refuse_feedback(point, known=(KEEP, CANCELLED))
    return workloads.open_workload(on_nodes(point, configuration))


def open_log(point: Point) -> Trace | None:
    """Return a recorded log on the nodes of the configuration, see `models.workloads.open_log`."""
    return workloads.open_log(on_nodes(point, configuration_of(point.policy, point.machine)))


def zero_of(opened: Stream | Trace, configuration: Configuration) -> float:
    """Return when the first job was submitted, seconds since the epoch, which reservations need."""
    origin = opened.origin if isinstance(opened, Trace) else None
    if origin is not None and origin.zero is not None:
        return origin.zero
    if configuration.reservations or configuration.events:
        raise ConfigurationError(
            f"{configuration.name} has reservations or node events at given dates, but these jobs have no "
            "dates: give a log with dates, or remove the ReservationName lines and the events"
        )
    return 0.0


def with_downtimes(configuration: Configuration, opened: Stream | Trace) -> Configuration:
    """Add a reservation of all nodes for each downtime kept from a log, and one for each of `with_events`."""
    zero, every = zero_of(opened, configuration), tuple(range(len(configuration.nodes)))
    kept = [
        Reservation(f"downtime_{i}", every, zero + begin, zero + end)
        for i, (begin, end) in enumerate(opened.machine.down.tolist())
    ]
    last = zero + (float(opened.jobs.submit[-1]) if isinstance(opened, Trace) else 0.0)
    made = with_events(configuration, zero, last)
    return replace(made, reservations=(*made.reservations, *kept))


def with_events(configuration: Configuration, zero: float, last: float) -> Configuration:
    """Add a reservation of single nodes for each event from the first submission to the last one; an event
    that is not over ends then."""
    events = [
        replace(one, end=last if one.end == math.inf else one.end)
        for one in configuration.events
        if one.end > zero and one.begin < last
    ]
    return replace(configuration, reservations=(*configuration.reservations, *events))


def wanted(
    jobs: Jobs,
    policy: Parameters,
    configuration: Configuration,
    users: Sequence[str] = (),
    leaves: Floats | None = None,
) -> Asked:
    """Return what jobs ask for under a policy; ``ValueError`` with one line for one that can never start."""
    rules = Rules.of(policy)
    renamed = {str(old): str(new) for old, new in (rules.partitions or {}).items()}
    known = [one.name for one in configuration.partitions]
    for name in renamed.values():
        if name not in known:
            checks.refuse("policy.partitions", dict(renamed), f"{OLD_TO_NEW}: {', '.join(known)}")
    if jobs.request is not None and configuration.default_partition.name == OF_MACHINE:
        kept = {name: getattr(jobs.request, name) for name in ("account", "qos", "delay", "het_job")}
        jobs = replace(jobs, request=Requests.of(jobs.size, jobs.memory, **kept))
    if jobs.request is not None and renamed:
        lists = jobs.request.partition.tolist()
        each = {names: [renamed.get(name, name) for name in names.split(",")] for names in set(lists)}
        made = {names: renamed.get(names, ",".join(dict.fromkeys(parts))) for names, parts in each.items()}
        names = np.array([made[names] for names in lists], object)
        jobs = replace(jobs, request=replace(jobs.request, partition=names))
    if jobs.request is None and (configuration.settings.linear or rules.oversubscribe):
        jobs = replace(jobs, request=Requests.of(jobs.size, jobs.memory))
    found = asked(jobs, configuration, users=users, leaves=leaves)
    if rules.oversubscribe:
        lets = {one.name: k for k, one in enumerate(configuration.partitions) if gang.lets_share(one)}
        if unknown := [name for name in rules.oversubscribe if name not in lets]:
            allowed = f"partitions with OverSubscribe=YES:n, n above 1: {', '.join(lets) or 'there is none'}"
            checks.refuse("policy.oversubscribe", unknown[0], allowed)
        those = {lets[name] for name in rules.oversubscribe}
        shares = np.array([not those.isdisjoint(place) for place in found.partitions])
        found = replace(found, request=replace(found.request, shares=found.request.shares | shares))
    return limited(found, rules.over_limit, configuration)


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    configuration = configuration_of(point.policy, point.machine)
    gang.check(configuration)
    levels_of(configuration)
    opened = open_jobs(point, configuration)
    users = opened.users if isinstance(opened, Trace) else ()
    found = wanted(opened.first(CHECKED), point.policy, configuration, users)
    events = [one for one in with_downtimes(configuration, opened).reservations if one.known > -math.inf]
    *_, notes = counters(found, configuration)
    notes = [*notes, *power.check(configuration)]
    if isinstance(opened, Trace) and opened.origin is not None:
        notes += [*spent(found, configuration, opened), *overdue(found, configuration, opened)]
    if isinstance(opened, Trace) and opened.waited is not None and point.load is None:
        notes += filter(None, [exceeded(found, configuration, opened.waited)])
    if events:
        hours = sum(len(one.nodes) * (one.end - one.begin) for one in events) / HOUR_S
        notes.append(
            f"{configuration.name}: "
            f"{counted(len({node for one in events for node in one.nodes}), 'node', 'was')} down, drained or "
            f"failing for {hours:,.1f} node hours during the log: no job starts on them meanwhile"
        )
    if share := np.mean(constraints.effective(found.request) != found.request.constraint):
        notes = [*notes, f"constraints on several nodes together have no effect ({share:.1%} of the jobs)"]
    if configuration.settings.preempts and len(parts := found.request.components):
        notes = [
            *notes,
            f"components of heterogeneous jobs are not preempted here ({len(parts) / len(found.jobs):.1%} of "
            "the jobs)",
        ]
    known = configuration.settings.licences or {}
    for name, counts in found.request.licences.items():
        if name not in known and counts.any():
            share = np.mean(counts > 0)
            notes = [
                *notes,
                f"licences {name} have no effect, because Licenses= lacks them ({share:.1%} of the jobs)",
            ]
    apart = configuration.default_partition.name != OF_MACHINE
    of_log = [note for note in opened.notes if not (apart and ONE_POOL in note)]
    if apart:
        of_log = [_of_nodes(note, configuration) for note in of_log]
        form = opened.origin.form if isinstance(opened, Trace) and opened.origin else ""
        of_log.append(versions.note(configuration.name, configuration.settings.version, form))
    of_log = [note.replace(AT_ONCE, "; here, too, such jobs start only once eligible") for note in of_log]
    ids = opened.ids[opened.rows].tolist() if isinstance(opened, Trace) and opened.ids is not None else None
    of_file = [with_share(note, found, ids) for note in configuration.notes]
    of_lines = _without_jobs(Rules.of(point.policy).lines, found, configuration)
    return [*of_log, *of_file, *of_lines, *_restricted(found, configuration), *notes]


def _of_nodes(note: str, configuration: Configuration) -> str:
    """Return a note on the size of a pool for a slurm.conf with nodes."""

    def lines(found: re.Match[str]) -> str:
        up = [node for node in configuration.nodes if node.up]
        largest = max(up, key=lambda node: node.cpus)
        n = -(-(int(found[1]) - sum(node.cpus for node in up)) // largest.cpus)
        added = lines_of(n, largest.cpus, largest.memory, configuration.default_partition, configuration)
        return f"if {configuration.name} lacks some of its nodes, add {added}"

    return OF_POOL.sub(lines, note)


def _without_jobs(lines: Sequence[str], found: Asked, configuration: Configuration) -> list[str]:
    """Return a note on each QOS of ``policy.lines`` that neither a job nor a partition uses."""
    of_jobs = set(found.request.qos.tolist())
    known = ", ".join(sorted(of_jobs - {""})) or "none"
    known_here = {name.lower() for name in of_jobs} | {one.qos.lower() for one in configuration.partitions}
    return [
        f"policy.lines[{number}]: no job and no partition has QOS {given[1]}, so this line has no effect; "
        f"QOS of the jobs: {known}"
        for number, line in enumerate(lines, start=1)
        if (given := OF_QOS.match(line)) and given[1].lower() not in known_here
    ]


def _restricted(found: Asked, configuration: Configuration) -> list[str]:
    """Return a line for each partition whose rules of access have no effect, with its share of the jobs."""
    lines, unasked = list[str](), list[Partition]()
    for number, one in enumerate(configuration.partitions):
        rules = [*one.restricted, *(["qos"] if one.qos and one.qos not in configuration.qos else [])]
        if rules:
            share = np.mean([number in place for place in found.partitions])
            lines.append(
                f"{configuration.name}: {', '.join(rules)} of partition {one.name} has no effect "
                f"here ({share:.1%} of the jobs)"
            )
        if gang.lets_share(one):
            asks = found.request.shares & ~found.request.whole
            mine = asks & np.array([number in place for place in found.partitions])
            if not mine.any():
                unasked.append(one)
            elif not gang.shares_cores(found.request, configuration):
                without = (gang.unshared(configuration, each) for each in configuration.partitions)
                with_what = next(filter(None, without))
                lines.append(
                    f"{configuration.name}: OverSubscribe={one.sharing} of partition {one.name} has no "
                    f"effect, with {with_what} ({mine.mean():.1%} of the jobs use --oversubscribe there)"
                )
    if unasked:
        names = ",".join(one.name for one in unasked)
        lines.append(
            f"{configuration.name}: OverSubscribe=YES has no effect ({counted(len(unasked), 'partition')}), "
            "because no job asks to share CPUs: sacct shows --oversubscribe only in the SubmitLine of "
            f"command lines; policy.oversubscribe=[{names}] lets all jobs there ask"
        )
    return lines


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ; the scheduler itself draws no random numbers."""
    return workloads.is_stochastic(point.workload)

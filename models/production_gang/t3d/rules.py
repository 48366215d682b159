"""The rules of a scheduler of the T3D, read from a policy's YAML file and checked. Loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from models import checks, keys, workloads
from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.calendar import DAY
from models.jobs.job_classes import INTERACTIVE, JOB_CLASSES, PRODUCTION
from models.jobs.jobs import Jobs
from models.jobs.machine import one_pool
from models.jobs.stream import CHECKED
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.production_gang.systems import first_of
from models.production_gang.t3d.commands import check_commands, commands_of
from models.production_gang.t3d.nodes import Hardware
from models.production_gang.t3d.periods import HOUR, N_PERIODS, NIGHT, PRIME, PrimeTime
from models.units import KB_IN_GB

OPEN = ("always", "night", "weekend")
"""In the order of the numbers that the engine takes."""

MOST_QUEUES = 60
"""Maximum of queues: the engine has a bit for each."""

NUMBERS = ("priority", "processor_limit", "max_wait", "do_not_disturb")
SWITCHES = ("preemptable", "heeds_slices", "batch")
"""Keys of a class."""


CLASS = np.dtype([(key, np.float64) for key in NUMBERS] + [(key, np.int64) for key in SWITCHES], align=True)
"""Parameters of a class in one period: priority; processors of all its running jobs; seconds of waiting after
which a job is urgent; seconds for each processor that a job runs at least; whether its jobs can be preempted,
respect others' minimum slices, are submitted to queues."""


def _classes(policy: Parameters, above: str, key: str) -> np.ndarray:
    """Return the checked parameters of all classes; ``ValueError`` with one line for values not allowed.

    Returns
    -------
    ndarray of CLASS, shape (n_classes, 2)
        Parameters in prime time and at night.
    """
    given = checks.mapping(policy[key], f"{above}.{key}", JOB_CLASSES)
    classes = np.zeros((len(JOB_CLASSES), N_PERIODS), CLASS)
    names = CLASS.names or ()
    for row, name in zip(classes, JOB_CLASSES, strict=True):
        where = f"{above}.{key}.{name}"
        if given.get(name) is None:
            raise ValueError(f"{where} has no parameters; give {', '.join(names)}")
        its = checks.mapping(given[name], where, names)
        if missing := [one for one in names if one not in its]:
            raise ValueError(f"{where} has no {' and no '.join(missing)}; give it, or null for no limit")
        for one in NUMBERS:
            row[one] = by_period(its, where, one, none=one != "priority")
        for one in SWITCHES:
            row[one] = checks.switch(its, where, one)
    return classes


def _refuse_thrashing(classes: np.ndarray) -> None:
    """Raise ``ValueError`` with one line where jobs could preempt each other for ever, and none would run.

    One class can preempt another of its priority if its jobs become urgent, and no minimum slice protects the
    other's jobs; a cycle of such pairs, within one class or across several, makes no progress.
    """
    for period in (PRIME, NIGHT):
        its = classes[:, period]
        heeds = its["heeds_slices"][:, None] == 1
        unprotected = (its["preemptable"] == 1) & ((its["do_not_disturb"] == 0) | ~heeds)
        reaches = (
            (its["priority"][:, None] == its["priority"]) & (its["max_wait"] < inf)[:, None] & unprotected
        )
        for middle in range(len(its)):
            reaches |= reaches[:, [middle]] & reaches[middle]
        if reaches.diagonal().any():
            name = JOB_CLASSES[int(np.argmax(reaches.diagonal()))]
            raise ValueError(
                f"policy.classes.{name}: its jobs become urgent (max_wait), and no minimum slice protects "
                "jobs of its priority from each other: they would preempt each other for ever; give "
                "do_not_disturb above 0, max_wait: null, or preemptable: false"
            )


def by_period(given: Parameters, where: str, key: str, none: bool = False) -> tuple[float, float]:
    """Return a number in prime time and at night; null means inf if `none`."""
    allowed = "a number, 0 or more" + (", null" if none else "") + ", or {prime: ..., night: ...} of them"
    value = given.get(key)
    both = (
        checks.mapping(value, f"{where}.{key}", ("prime", "night"), allowed)
        if isinstance(value, Mapping)
        else {"prime": value, "night": value}
    )
    found = []
    for period in ("prime", "night"):
        number = both.get(period)
        if number is None and none and period in both:
            found.append(inf)
            continue
        if isinstance(value, Mapping):
            found.append(float(checks.number(both, f"{where}.{key}", period, allowed, least=0)))
        else:
            found.append(float(checks.number(given, where, key, allowed, least=0)))
    return found[PRIME], found[NIGHT]


@dataclass(frozen=True)
class Queue:
    """A queue of batch jobs.

    Parameters
    ----------
    name : str
    processors : int
        Processors of the largest job.
    longest : float, seconds
        The longest request.
    run_limit : tuple of float
        Limit on the processors of all its admitted jobs, in prime time and at night.
    open : int
        Index into `OPEN`.
    """

    name: str
    processors: int
    longest: float
    run_limit: tuple[float, float]
    open: int

    @classmethod
    def of(cls, given: Any, where: str) -> Queue:
        """Return a checked queue; ``ValueError`` with one line for a value not allowed."""
        row = checks.mapping(given, where, ("name", "processors", "hours", "run_limit", "open"))
        hours = row.get("hours")
        if hours is not None:
            hours = checks.number(row, where, "hours", "a positive number of hours, or null", above=0)
        return cls(
            str(row.get("name", where)),
            checks.whole(row, where, "processors"),
            inf if hours is None else hours * HOUR,
            by_period(row, where, "run_limit", none=True),
            OPEN.index(checks.choice({"open": "always", **row}, where, "open", OPEN)),
        )


def _queues(policy: Parameters, where: str, key: str) -> tuple[Queue, ...]:
    queues = policy[key]
    if not isinstance(queues, list) or len(queues) > MOST_QUEUES:
        allowed = f"a list of up to {MOST_QUEUES} {{name, processors, hours, run_limit, open}}"
        checks.refuse(f"{where}.{key}", queues, allowed)
    return tuple(Queue.of(queue, f"{where}.{key}[{number}]") for number, queue in enumerate(queues))


def _oversubscribe(policy: Parameters, above: str, key: str) -> tuple[float, float]:
    if policy[key] is None:
        return -inf, inf
    where, names = f"{above}.{key}", ("processors", "from")
    limits = checks.mapping(policy[key], where, names)
    most, least = (checks.whole(limits, where, name) for name in names)
    return most, least


def _number_of(*words: str) -> Any:
    """Declare a choice among words, stored as its index, as the engine takes it."""
    return keys.checked(lambda given, where, key: words.index(checks.choice(given, where, key, words)))


def _or_infinite(allowed: str, **limits: float) -> Any:
    """Declare a number for which null means infinite."""
    return keys.checked(
        lambda given, where, key: (
            inf if given[key] is None else float(checks.number(given, where, key, allowed, **limits))
        )
    )


@dataclass(frozen=True, kw_only=True)
class Nice:
    """Which users' jobs count as standby: see conf/policy/production_gang/_t3d.yaml."""

    BASE = "_t3d"

    above: float = _or_infinite("a number above 0, or null", above=0)
    every: float = keys.interval()
    half_life: float = keys.number(checks.SECONDS, above=0)


@dataclass(frozen=True, kw_only=True)
class InteractiveLimits:
    """Which jobs without a class are interactive: limits on their processors, and requested hours."""

    BASE = "_t3d"

    processors: int = keys.whole()
    hours: float = keys.number("a positive number of hours", above=0)


COST = "a number of seconds for each processor, 0 or more and up to a day"


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules:
    """The checked values of a policy's YAML file, which explains each key; `classes`: see `_classes`."""

    BASE = "_t3d"

    classes: np.ndarray = keys.checked(_classes)
    queues: tuple[Queue, ...] = keys.checked(_queues)
    prime_time: PrimeTime = keys.checked(PrimeTime.of)
    nice: Nice = keys.mapping(Nice)
    preemptive: bool = keys.switch()
    swap_out: float = keys.number(COST, least=0, most=DAY)
    swap_in: float = keys.number(COST, least=0, most=DAY)
    order: int = _number_of("arrival", "largest")
    blocking: int = _number_of("never", "urgent", "always")
    location: int = _number_of("ignored", "disk_last", "disk_first")
    channel: int = _number_of("own", "shared")
    weekend_days: int = keys.whole("1 (Saturdays) or 2", most=2)
    batch_limit: tuple[float, float] = keys.checked(
        lambda given, where, key: by_period(given, where, key, none=True)
    )
    oversubscribe: tuple[float, float] = keys.checked(_oversubscribe)
    aggregate_limit: float = _or_infinite("a positive number of processors, or null", least=0)
    drain_after: float = _or_infinite("a number of seconds, or null (never)", least=0)
    unclassified: str = keys.choice("by_limits", *JOB_CLASSES)
    interactive_limits: InteractiveLimits = keys.mapping(InteractiveLimits)
    commands: np.ndarray = keys.checked(commands_of)

    @classmethod
    def of(cls, policy: Parameters) -> Rules:
        """Return the rules of a policy; ``ValueError`` with one line for a value not allowed."""
        rules = cls(**keys.read(cls, policy, "policy"))
        if rules.preemptive:
            _refuse_thrashing(rules.classes)
        return rules

    def __str__(self) -> str:
        if not self.preemptive:
            return f"jobs keep their processors; {self.prime_time}"
        costs = f"{self.swap_out:g} s to write and {self.swap_in:g} s to load a processor"
        channel = " over one channel" if self.channel else ""
        return f"jobs are preempted; {self.prime_time}; {costs}{channel}"

    def job_classes(self, jobs: Jobs) -> Ints:
        """Return every job's class: the workload's, else by `unclassified`."""
        if jobs.job_class is not None:
            return np.asarray(jobs.job_class, np.int64)
        if self.unclassified != "by_limits":
            return np.full(len(jobs), JOB_CLASSES.index(self.unclassified))
        limits = self.interactive_limits
        small = (jobs.size <= limits.processors) & (requested_time(jobs) <= limits.hours * HOUR)
        return np.where(small, INTERACTIVE, PRODUCTION)

    def queues_of(self, jobs: Jobs, size: Ints) -> Ints:
        """Return the first queue whose limits each job meets; the number after the last if there is none."""
        found = np.full(len(jobs), len(self.queues))
        for number, queue in reversed(list(enumerate(self.queues))):
            found[(size <= queue.processors) & (requested_time(jobs) <= queue.longest)] = number
        return found


def requested_time(jobs: Jobs) -> Floats:
    """Return the requested times; a job without one has its runtime."""
    return np.where(np.isnan(jobs.requested), jobs.runtime, jobs.requested)


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    rules = Rules.of(point.policy)
    opened = workloads.open_workload(point)
    processors = one_pool(opened.machine, point.machine, point.policy)
    hardware = Hardware.of(point.machine, processors)
    jobs = opened.first(CHECKED)
    notes = adjustments(jobs, rules, hardware, processors, point.machine)
    if isinstance(opened, Trace):
        known = jobs.after is None and not workloads.is_stochastic(point.workload)
        check_commands(rules.commands, jobs, known)
    return (*opened.notes, *notes, str(rules))


def adjustments(
    jobs: Jobs, rules: Rules, hardware: Hardware, processors: int, machine: Parameters
) -> Sequence[str]:
    """Return notes on how jobs are adjusted; ``ValueError`` with one line if one could never run."""
    size = hardware.rounded(jobs.size)
    first = first_of(size > processors)
    if first is not None:
        raise ValueError(
            f"job {first + 1} asks for {counted(jobs.size[first], 'processor')}, a partition of "
            f"{size[first]}, and the machine has {processors}: leave out such jobs, or take a larger machine"
        )
    _check_memory(jobs, machine)
    job_class = rules.job_classes(jobs)
    queue = rules.queues_of(jobs, size)
    limits = [
        (f"policy.classes.{name}.processor_limit", its["processor_limit"].max(), job_class == number)
        for number, (name, its) in enumerate(zip(JOB_CLASSES, rules.classes, strict=True))
    ]
    is_batch = rules.classes["batch"][job_class, PRIME] == 1
    limits += [
        (f"policy.queues[{number}].run_limit", max(of.run_limit), is_batch & (queue == number))
        for number, of in enumerate(rules.queues)
    ]
    most, least = rules.oversubscribe
    limits += [
        ("policy.batch_limit", max(rules.batch_limit), is_batch & ((size < least) | (size > most))),
        ("policy.aggregate_limit", rules.aggregate_limit, np.ones(len(jobs), bool)),
    ]
    for key, limit, applies in limits:
        first = first_of(applies & (size > limit))
        if first is not None:
            raise ValueError(
                f"job {first + 1} gets {counted(size[first], 'processor')}, and {key}={limit:g}: it could "
                "never run; give a higher limit, or leave out such jobs"
            )
    notes = []
    rounded = int((size != jobs.size).sum())
    if rounded:
        notes.append(
            f"{counted(rounded, 'job', 'gets', of=len(jobs))} more processors than requested: whole nodes of "
            f"{hardware.node_processors}, and a power of two"
        )
    if jobs.job_class is None:
        counts = np.bincount(job_class, minlength=len(JOB_CLASSES))
        each = ", ".join(f"{n:,} {name}" for n, name in zip(counts, JOB_CLASSES, strict=True) if n)
        notes.append(f"the workload names no classes; unclassified={rules.unclassified} makes {each} jobs")
    outside = int((is_batch & (queue == len(rules.queues))).sum())
    if outside:
        notes.append(
            f"{counted(outside, 'job', 'is', of=len(jobs))} too large or too long for every queue of "
            "policy.queues: only policy.batch_limit limits them"
        )
    return notes


def _check_memory(jobs: Jobs, machine: Parameters) -> None:
    if machine.get("memory_gb_per_processor") is None:
        return
    allowed = "a positive number of GB, or null"
    limit = checks.number(machine, "machine", "memory_gb_per_processor", allowed, above=0) * KB_IN_GB
    first = first_of(jobs.memory > limit * jobs.size)
    if first is not None:
        raise ValueError(
            f"job {first + 1} asks for {jobs.memory[first] / jobs.size[first]:,.0f} KB a processor, and "
            f"machine.memory_gb_per_processor={machine['memory_gb_per_processor']} is {limit:,.0f} KB: leave "
            "out such jobs, or add machine.memory_gb_per_processor=null"
        )

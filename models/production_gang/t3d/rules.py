"""The rules of a scheduler of the T3D, read from a policy's YAML file and checked. Loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from models import checks, workloads
from models.arrays import Floats, Ints
from models.jobs.job_classes import INTERACTIVE, JOB_CLASSES, PRODUCTION
from models.jobs.jobs import Jobs
from models.jobs.machine import one_pool
from models.jobs.stream import CHECKED
from models.point import Parameters, Point
from models.production_gang.systems import first_of
from models.production_gang.t3d.nodes import Hardware
from models.production_gang.t3d.periods import HOUR, N_PERIODS, NIGHT, PRIME, PrimeTime
from models.units import KB_IN_GB

ORDERS = ("arrival", "largest")
BLOCKING = ("never", "urgent", "always")
LOCATIONS = ("ignored", "disk_last", "disk_first")
CHANNELS = ("own", "shared")
OPEN = ("always", "night", "weekend")
"""In the order of the numbers that the engine takes."""

MOST_QUEUES = 60
"""The engine has a bit for each of them."""

NUMBERS = ("priority", "processor_limit", "max_wait", "do_not_disturb")
SWITCHES = ("preemptable", "heeds_slices", "batch")
"""Keys of a class."""


CLASS = np.dtype([(key, np.float64) for key in NUMBERS] + [(key, np.int64) for key in SWITCHES], align=True)
"""Parameters of a class in one period: priority; processors of all its running jobs; seconds of waiting after
which a job is urgent; seconds for each processor that a job runs at least; whether its jobs can be preempted,
heed others' minimum slices, are submitted to queues."""


def classes_of(policy: Parameters) -> np.ndarray:
    """Return the checked parameters of all classes; ``ValueError`` with one line for those not allowed.

    Returns
    -------
    ndarray of CLASS, shape (n_classes, 2)
        In prime time and at night.
    """
    given = checks.mapping(policy.get("classes"), "policy.classes", JOB_CLASSES)
    classes = np.zeros((len(JOB_CLASSES), N_PERIODS), CLASS)
    keys = CLASS.names or ()
    for row, name in zip(classes, JOB_CLASSES, strict=True):
        where = f"policy.classes.{name}"
        if given.get(name) is None:
            raise ValueError(f"{where} has no parameters; give {', '.join(keys)}")
        its = checks.mapping(given[name], where, keys)
        if missing := [key for key in keys if key not in its]:
            raise ValueError(f"{where} has no {' and no '.join(missing)}; give it, or null for no limit")
        for key in NUMBERS:
            row[key] = by_period(its, where, key, none=key != "priority")
        for key in SWITCHES:
            row[key] = checks.switch(its, where, key)
    return classes


def _refuse_thrashing(classes: np.ndarray) -> None:
    """Raise ``ValueError`` with one line where jobs could preempt each other for ever, and none would run.

    One class can do so to another of its priority if its jobs become urgent, and no minimum slice protects
    those of the other; a circle of such pairs, of one class or of several, makes no progress.
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


@dataclass(frozen=True)
class Queue:
    """A queue of batch jobs.

    Parameters
    ----------
    name : str
    processors : int
        Of the largest job.
    longest : float, seconds
        The longest request.
    run_limit : tuple of float
        Processors of all its admitted jobs, in prime time and at night.
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
        keys = checks.mapping(given, where, ("name", "processors", "hours", "run_limit", "open"))
        hours = keys.get("hours")
        if hours is not None:
            hours = checks.number(keys, where, "hours", "a positive number of hours, or null", above=0)
        return cls(
            str(keys.get("name", where)),
            checks.whole(keys, where, "processors"),
            inf if hours is None else hours * HOUR,
            by_period(keys, where, "run_limit", none=True),
            OPEN.index(checks.choice(keys, where, "open", OPEN, "always")),
        )


@dataclass(frozen=True)
class Nice:
    """Which users' jobs count as standby: see conf/policy/production_gang/_t3d.yaml."""

    above: float = inf
    every: float = HOUR
    half_life: float = 7 * 24 * HOUR

    @classmethod
    def of(cls, policy: Parameters) -> Nice:
        """Return the checked values; ``ValueError`` with one line for those that are not allowed."""
        where = "policy.nice"
        given = checks.mapping(policy.get("nice") or {}, where, ("above", "every", "half_life"))
        above = given.get("above")
        if above is not None:
            above = checks.number(given, where, "above", "a number above 0, or null", above=0)
        every, half_life = (
            float(checks.number(given, where, key, checks.SECONDS, above=0, default=default))
            for key, default in (("every", HOUR), ("half_life", 7 * 24 * HOUR))
        )
        return cls(inf if above is None else float(above), every, half_life)


@dataclass(frozen=True, eq=False)
class Rules:
    """The checked values of a policy's YAML file, which explains each key; `classes`: see `classes_of`."""

    classes: np.ndarray
    queues: tuple[Queue, ...]
    prime_time: PrimeTime
    nice: Nice
    preemptive: bool
    swap_out: float
    swap_in: float
    order: int
    blocking: int
    location: int
    channel: int
    weekend_days: int
    batch_limit: tuple[float, float]
    oversubscribe: tuple[float, float]
    aggregate_limit: float
    drain_after: float
    unclassified: str
    interactive_limits: tuple[float, float]

    @classmethod
    def of(cls, policy: Parameters) -> Rules:
        """Return the rules of a policy; ``ValueError`` with one line for a value not allowed."""
        where = "policy"
        cost = "a number of seconds for each processor, 0 or more"
        queues = policy.get("queues")
        if not isinstance(queues, list) or len(queues) > MOST_QUEUES:
            allowed = f"a list of up to {MOST_QUEUES} {{name, processors, hours, run_limit, open}}"
            checks.refuse("policy.queues", queues, allowed)
        more = policy.get("oversubscribe")
        if more is not None:
            limits = checks.mapping(more, "policy.oversubscribe", ("processors", "from"))
            more = tuple(checks.whole(limits, "policy.oversubscribe", key) for key in ("processors", "from"))
        known = ("by_limits", *JOB_CLASSES)
        limits_of = "policy.interactive_limits"
        interactive = checks.mapping(
            policy.get("interactive_limits") or {}, limits_of, ("processors", "hours")
        )
        largest = checks.whole(interactive, limits_of, "processors", default=64)
        allowed = "a positive number of hours"
        hours = checks.number(interactive, limits_of, "hours", allowed, above=0, default=2)
        classes, preemptive = classes_of(policy), checks.switch(policy, where, "preemptive")
        if preemptive:
            _refuse_thrashing(classes)
        return cls(
            classes,
            tuple(Queue.of(queue, f"policy.queues[{number}]") for number, queue in enumerate(queues)),
            PrimeTime.of(policy),
            Nice.of(policy),
            preemptive,
            float(checks.number(policy, where, "swap_out", cost, least=0, default=1.0)),
            float(checks.number(policy, where, "swap_in", cost, least=0, default=1.0)),
            ORDERS.index(checks.choice(policy, where, "order", ORDERS, "largest")),
            BLOCKING.index(checks.choice(policy, where, "blocking", BLOCKING, "never")),
            LOCATIONS.index(checks.choice(policy, where, "location", LOCATIONS, "ignored")),
            CHANNELS.index(checks.choice(policy, where, "channel", CHANNELS, "own")),
            checks.whole(policy, where, "weekend_days", "1 (Saturdays) or 2", most=2, default=2),
            by_period(policy, where, "batch_limit", none=True),
            (-inf, inf) if more is None else more,
            _or_none(policy, where, "aggregate_limit", "a positive number of processors, or null"),
            _or_none(policy, where, "drain_after", "a number of seconds, or null (never)"),
            checks.choice(policy, where, "unclassified", known, "by_limits"),
            (largest, hours * HOUR),
        )

    def __str__(self) -> str:
        if not self.preemptive:
            return f"jobs keep their processors; {self.prime_time}"
        costs = f"{self.swap_out:g} s to write and {self.swap_in:g} s to load a processor"
        channel = " over one channel" if self.channel else ""
        return f"jobs are preempted; {self.prime_time}; {costs}{channel}"

    def job_classes(self, jobs: Jobs) -> Ints:
        """Return every job's class: that of the workload, else by `unclassified`."""
        if jobs.job_class is not None:
            return np.asarray(jobs.job_class, np.int64)
        if self.unclassified != "by_limits":
            return np.full(len(jobs), JOB_CLASSES.index(self.unclassified))
        largest, longest = self.interactive_limits
        small = (jobs.size <= largest) & (requested_time(jobs) <= longest)
        return np.where(small, INTERACTIVE, PRODUCTION)

    def queues_of(self, jobs: Jobs, size: Ints) -> Ints:
        """Return the first queue whose limits each job meets, one after the last where there is none."""
        found = np.full(len(jobs), len(self.queues))
        for number, queue in reversed(list(enumerate(self.queues))):
            found[(size <= queue.processors) & (requested_time(jobs) <= queue.longest)] = number
        return found


def requested_time(jobs: Jobs) -> Floats:
    """Return requested times, for a job without one its runtime."""
    return np.where(np.isnan(jobs.requested), jobs.runtime, jobs.requested)


def by_period(given: Parameters, where: str, key: str, none: bool = False) -> tuple[float, float]:
    """Return a number in prime time and at night; null is inf if `none`."""
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
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < inf:
            checks.refuse(f"{where}.{key}", value, allowed)
        found.append(float(number))
    return found[PRIME], found[NIGHT]


def _or_none(given: Parameters, where: str, key: str, allowed: str) -> float:
    if given.get(key) is None:
        return inf
    return float(checks.number(given, where, key, allowed, least=0))


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    rules = Rules.of(point.policy)
    opened = workloads.open_workload(point)
    processors = one_pool(opened.machine, point.machine, point.policy)
    hardware = Hardware.of(point.machine, processors)
    notes = adjustments(opened.first(CHECKED), rules, hardware, processors, point.machine)
    return (*opened.notes, *notes, str(rules))


def adjustments(
    jobs: Jobs, rules: Rules, hardware: Hardware, processors: int, machine: Parameters
) -> Sequence[str]:
    """Return notes on how jobs are adjusted so that they can run.

    Raises
    ------
    ValueError
        With one line, if one of them could never run.
    """
    size = hardware.rounded(jobs.size)
    first = first_of(size > processors)
    if first is not None:
        raise ValueError(
            f"job {first + 1} asks for {jobs.size[first]} processors, a partition of {size[first]}, "
            f"and the machine has {processors}: leave out such jobs, or take a larger machine"
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
                f"job {first + 1} gets {size[first]} processors, and {key}={limit:g}: it could never run; "
                "give a higher limit, or leave out such jobs"
            )
    notes = []
    rounded = int((size != jobs.size).sum())
    if rounded:
        notes.append(
            f"{rounded:,} of {len(jobs):,} jobs get more processors than they ask for: whole nodes of "
            f"{hardware.node_processors}, and a power of two"
        )
    if jobs.job_class is None:
        counts = np.bincount(job_class, minlength=len(JOB_CLASSES))
        each = ", ".join(f"{n:,} {name}" for n, name in zip(counts, JOB_CLASSES, strict=True) if n)
        notes.append(f"the workload names no classes; unclassified={rules.unclassified} makes {each} jobs")
    outside = int((is_batch & (queue == len(rules.queues))).sum())
    if outside:
        notes.append(
            f"{outside:,} of {len(jobs):,} jobs are too large or too long for every queue of policy.queues: "
            "only policy.batch_limit limits them"
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

"""The keys of conf/workload/jette1997/t3d.yaml, checked; its comments name the source of each number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from models import checks, keys
from models.arrays import Floats, Ints
from models.point import Parameters
from models.units import KB_IN_MB

FEEDBACK, SEQUENCE = REPETITION = ("feedback", "sequence")
LIMIT, USERS = REQUESTS = ("limit", "users")
HOUR = 3600.0
HOURS = 24
BATCH_CLASSES = ("express", "benchmark", "standby")
LONGEST = 8784.0
"""Hours of a limit: a year."""

MOST_WEEKS = 5217
LARGEST = 2**20
"""Processors."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """Numbers of processors, powers of two from 2 on, and the probability of each or a lower one."""

    values: Ints
    below: Floats

    @property
    def mean(self) -> float:
        """Processors."""
        return float(self.values @ np.diff(self.below, prepend=0.0))


@dataclass(frozen=True, eq=False)
class Queue:
    """Jobs of one limit (s), and their share of the jobs that are interactive, or batch."""

    name: str
    limit: float
    share: float
    sizes: Sizes


def _between(least: float, most: float) -> Any:
    return keys.number(f"a number from {least:g} to {most:g}", least=least, most=most)


def _day(group: Parameters, where: str, key: str) -> date:
    given = group[key]
    try:
        day = date.fromisoformat(str(given))
    except ValueError:
        day = date.min
    if not 1900 <= day.year < 2200:
        checks.refuse(f"{where}.{key}", given, 'a day from 1900 to 2199, for instance "1996-07-23"')
    return day


def _by_hour(group: Parameters, where: str, key: str) -> Floats:
    given = group[key]
    hours: list[Any] = given if isinstance(given, list) and len(given) == HOURS else [None]
    sound = all(isinstance(each, int | float) and not isinstance(each, bool) for each in hours)
    if not sound or not all(0 <= each < 1e9 for each in hours) or not sum(hours) > 0:
        checks.refuse(f"{where}.{key}", given, "24 numbers, 0 or more, one of them above 0")
    return np.array(hours, np.float64)


def _sizes(group: Parameters, where: str, key: str) -> Sizes:
    """Return the sizes, where there is a largest one up to that."""
    given, largest = group[key], group.get("largest", LARGEST)
    try:
        pairs = [(int(size), float(weight)) for size, weight in given]
        sound = all(size == given_size for (size, _), (given_size, _) in zip(pairs, given, strict=True))
    except (TypeError, ValueError, OverflowError):
        pairs, sound = [], False
    values = [size for size, _ in pairs]
    sound = sound and all(2 <= size <= LARGEST and size & (size - 1) == 0 for size in values)
    sound = sound and all(0 < weight < 1e9 for _, weight in pairs) and values == sorted(set(values))
    kept = [(size, weight) for size, weight in pairs if size <= largest]
    if not sound or not kept:
        checks.refuse(
            f"{where}.{key}",
            given,
            "[[processors, weight], ...], powers of two from 2 on, ascending, weights above 0"
            + (f", one of them at most {largest}" if sound else ""),
        )
    weights = np.array([weight for _, weight in kept])
    below = np.cumsum(weights) / weights.sum()
    below[-1] = 1.0
    return Sizes(np.array([size for size, _ in kept], np.int64), below)


def _hours(group: Parameters, where: str, key: str) -> float:
    allowed = f"hours above 0, at most {LONGEST:g}"
    limit = HOUR * checks.number(group, where, key, allowed, above=0, most=LONGEST)
    if limit < 60:
        checks.refuse(f"{where}.{key}", group[key], "at least a minute (0.017)")
    return float(limit)


@dataclass(frozen=True, eq=False, kw_only=True)
class QueueKeys:
    """A queue of batch jobs; `share` is relative to the other queues'."""

    BASE = "t3d"

    hours: float = keys.checked(_hours)
    share: float = _between(0, 1e9)
    sizes: Sizes = keys.checked(_sizes)


def _queues(batch: Parameters, above: str, key: str) -> tuple[Queue, ...]:
    where, given = f"{above}.{key}", batch[key]
    if not isinstance(given, Mapping) or not given:
        checks.refuse(
            where, given, "a mapping of queues: {pe32: {hours: 4, share: 1, sizes: [[32, 1]]}, ...}"
        )
    read = {
        str(name): QueueKeys(**keys.below(QueueKeys, its, f"{where}.{name}")) for name, its in given.items()
    }
    total = sum(queue.share for queue in read.values())
    if not total > 0:
        raise ValueError(f"{where}: all shares are 0; give one of the queues a share above 0")
    return tuple(Queue(name, of.hours, of.share / total, of.sizes) for name, of in read.items())


def _classes(batch: Parameters, above: str, key: str) -> tuple[float, ...]:
    where = f"{above}.{key}"
    group = checks.mapping(batch[key], where, BATCH_CLASSES)
    allowed = "a number from 0 to 1"
    shares = tuple(
        float(checks.number(group, where, name, allowed, least=0, most=1)) for name in BATCH_CLASSES
    )
    if sum(shares) > 1:
        raise ValueError(
            f"{where}: the shares sum to {sum(shares):g}; allowed: at most 1, the others are production"
        )
    return shares


def _range(memory: Parameters, where: str, key: str) -> tuple[float, float]:
    match memory[key]:
        case [int() | float() as least, int() | float() as most] if 0 < least <= most < 1e6:
            return float(least), float(most)
    checks.refuse(f"{where}.{key}", memory[key], "[from, to], MB above 0")


@dataclass(frozen=True, eq=False, kw_only=True)
class Published:
    """Numbers that are reproduced: jobs, and their processor seconds."""

    BASE = "t3d"

    jobs: float = keys.number("a number above 0", above=0, most=1e18)
    work: float = keys.number("a number above 0", above=0, most=1e18)


@dataclass(frozen=True, eq=False, kw_only=True)
class Reference:
    """A period, and the numbers that are reproduced in it, in the mean."""

    BASE = "t3d"

    first_day: date = keys.checked(_day)
    weeks: int = keys.whole(most=MOST_WEEKS)
    interactive: Published = keys.mapping(Published)
    batch: Published = keys.mapping(Published)


@dataclass(frozen=True, eq=False, kw_only=True)
class Interactive:
    """Sessions; times in seconds."""

    BASE = "t3d"

    hours: float = keys.checked(_hours)
    largest: int = keys.whole("a whole number of processors from 2 on", least=2, most=LARGEST)
    sizes: Sizes = keys.checked(_sizes)
    session_jobs: float = _between(1, 1e6)
    think_time: float = _between(0, 1e7)
    spread: float = _between(0.05, 10)
    debug: float = _between(0, 1)
    by_hour: Floats = keys.checked(_by_hour)  # relative arrivals on a weekday, shape (24,)
    weekend: float = _between(0, 1000)  # the factor on a Saturday or Sunday
    closed_users: int | None = keys.whole(
        "a whole number of users from 1 on, or null: sessions arrive by themselves", null=True, most=10**6
    )

    @property
    def queues(self) -> tuple[Queue, ...]:
        """All interactive jobs."""
        return (Queue("interactive", self.hours, 1.0, self.sizes),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Batch:
    """Batch jobs: the shares of the queues sum to 1, `classes` has the keys `BATCH_CLASSES`."""

    BASE = "t3d"

    queues: tuple[Queue, ...] = keys.checked(_queues)
    spread: float = _between(0.05, 10)
    classes: tuple[float, ...] = keys.checked(_classes)
    by_hour: Floats = keys.checked(_by_hour)
    weekend: float = _between(0, 1000)
    demand: float = _between(0, 1000)


@dataclass(frozen=True, eq=False, kw_only=True)
class Memory:
    """MB of each processor: of a share of the jobs, and of the others."""

    BASE = "t3d"

    most: tuple[float, float] = keys.checked(_range)
    share: float = _between(0, 1)
    others: tuple[float, float] = keys.checked(_range)


@dataclass(frozen=True, eq=False, kw_only=True)
class Keys:
    """The keys of conf/workload/jette1997/t3d.yaml, whose comments define them and name their sources."""

    BASE = "t3d"

    name: str
    first_day: date = keys.checked(_day)
    months: int | None = keys.whole(null=True, most=1200)
    weeks: int | None = keys.whole(null=True, most=MOST_WEEKS)
    stands_at: float | None = keys.number("an hour of the day, 0 to 24, or null", least=0, most=24, null=True)
    warmup_days: int = keys.whole("whole days, 0 to 366", least=0, most=366)
    reference: Reference = keys.mapping(Reference)
    growth: float = _between(-0.9, 10)
    repetition: str = keys.choice(*REPETITION)
    interactive: Interactive = keys.mapping(Interactive)
    batch: Batch = keys.mapping(Batch)
    requests: str = keys.choice(*REQUESTS)
    users: int = keys.whole(most=10**6)
    memory_per_processor: Memory = keys.mapping(Memory)

    @property
    def largest_job(self) -> tuple[int, int]:
        """Processors of the largest job, and the most KB that it may ask for."""
        queues, memory = (*self.interactive.queues, *self.batch.queues), self.memory_per_processor
        size = max(int(queue.sizes.values[-1]) for queue in queues)
        return size, int(np.ceil(max(memory.most[1], memory.others[1]) * KB_IN_MB * size))

    @classmethod
    def of(cls, workload: Parameters) -> Keys:
        """Read a workload's keys; ``ValueError`` with one line for what is not allowed."""
        lengths = {key: workload.get(key) for key in ("months", "weeks")}
        if sum(value is not None for value in lengths.values()) != 1:
            shown = " and ".join(f"workload.{key}={checks.shown(value)}" for key, value in lengths.items())
            raise ValueError(f"{shown}; allowed: one of them a whole number from 1 on, the other null")
        return cls(name=str(workload.get("name", "t3d")), **keys.read(cls, workload, "workload"))

"""The keys of conf/workload/jette1997/t3d.yaml, checked; its comments name the source of each number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from models import checks
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

MOST_DAYS = 36_525
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


@dataclass(frozen=True, eq=False)
class Reference:
    """A period and the numbers that are reproduced in it, in the mean: jobs, and their processor seconds."""

    first_day: date
    weeks: int
    interactive_jobs: float
    interactive_work: float
    batch_jobs: float
    batch_work: float


@dataclass(frozen=True, eq=False)
class Cycle:
    """Arrivals in each hour of a weekday, shape (24,), and the factor on a Saturday or Sunday."""

    by_hour: Floats
    weekend: float


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of conf/workload/jette1997/t3d.yaml, whose comments define them and name their sources.

    Times are in seconds and memory is in MB of a processor. `classes` are the shares of the batch jobs in
    `BATCH_CLASSES`, and the shares of the queues in `batch` sum to 1.
    """

    name: str
    first_day: date
    months: int | None
    weeks: int | None
    warmup_days: int
    reference: Reference
    growth: float
    feedback: bool
    interactive: Queue
    session_jobs: float
    think_time: float
    interactive_spread: float
    debug: float
    interactive_cycle: Cycle
    closed_users: int | None
    batch: tuple[Queue, ...]
    batch_spread: float
    classes: tuple[float, ...]
    batch_cycle: Cycle
    batch_demand: float
    requests_limit: bool
    users: int
    memory_most: tuple[float, float]
    memory_others: tuple[float, float]
    memory_share: float

    @property
    def largest_job(self) -> tuple[int, int]:
        """Processors of the largest job, and the most KB that it may ask for."""
        size = max(int(queue.sizes.values[-1]) for queue in (self.interactive, *self.batch))
        return size, int(np.ceil(max(self.memory_most[1], self.memory_others[1]) * KB_IN_MB * size))

    @classmethod
    def of(cls, workload: Parameters) -> Keys:
        """Read a workload's keys; ``ValueError`` with one line for what is not allowed."""
        months, weeks = _length(workload)
        interactive = _part(
            workload,
            "interactive",
            "hours", "largest", "sizes", "session_jobs", "think_time", "spread", "debug", "by_hour",
            "weekend", "closed_users",
        )  # fmt: skip
        batch = _part(workload, "batch", "queues", "spread", "classes", "by_hour", "weekend", "demand")
        memory = _part(workload, "memory_per_processor", "most", "share", "others")
        where = "workload.interactive"
        closed = interactive.get("closed_users")
        if closed is not None:
            allowed = "a whole number of users from 1 on, or null: sessions arrive by themselves"
            closed = checks.whole(interactive, where, "closed_users", allowed, most=10**6)
        return cls(
            name=str(workload.get("name", "t3d")),
            first_day=_day(workload, "workload"),
            months=months,
            weeks=weeks,
            warmup_days=checks.whole(
                workload, "workload", "warmup_days", "whole days, 0 to 366", least=0, most=366
            ),
            reference=_reference(workload),
            growth=_number(workload, "workload", "growth", -0.9, 10),
            feedback=checks.choice(workload, "workload", "repetition", REPETITION) == FEEDBACK,
            interactive=_interactive(interactive),
            session_jobs=_number(interactive, where, "session_jobs", 1, 1e6),
            think_time=_number(interactive, where, "think_time", 0, 1e7),
            interactive_spread=_number(interactive, where, "spread", 0.05, 10),
            debug=_number(interactive, where, "debug", 0, 1),
            interactive_cycle=_cycle(interactive, where),
            closed_users=closed,
            batch=_queues(batch),
            batch_spread=_number(batch, "workload.batch", "spread", 0.05, 10),
            classes=_classes(batch),
            batch_cycle=_cycle(batch, "workload.batch"),
            batch_demand=_number(batch, "workload.batch", "demand", 0, 1000),
            requests_limit=checks.choice(workload, "workload", "requests", REQUESTS) == LIMIT,
            users=checks.whole(workload, "workload", "users", most=10**6),
            memory_most=_range(memory, "most"),
            memory_others=_range(memory, "others"),
            memory_share=_number(memory, "workload.memory_per_processor", "share", 0, 1),
        )


def _part(group: Parameters, key: str, *known: str, where: str = "workload") -> Mapping[str, Any]:
    return checks.mapping(group.get(key), f"{where}.{key}", known)


def _number(group: Parameters, where: str, key: str, least: float, most: float) -> float:
    return float(
        checks.number(group, where, key, f"a number from {least:g} to {most:g}", least=least, most=most)
    )


def _day(group: Parameters, where: str) -> date:
    given = group.get("first_day")
    try:
        day = date.fromisoformat(str(given))
    except ValueError:
        day = date.min
    if not 1900 <= day.year < 2200:
        checks.refuse(f"{where}.first_day", given, 'a day from 1900 to 2199, for instance "1996-07-23"')
    return day


def _length(workload: Parameters) -> tuple[int | None, int | None]:
    given = {key: workload.get(key) for key in ("months", "weeks")}
    if sum(value is not None for value in given.values()) != 1:
        shown = " and ".join(
            f"workload.{key}={'null' if value is None else value}" for key, value in given.items()
        )
        raise ValueError(f"{shown}; allowed: one of them a whole number from 1 on, the other null")
    months, weeks = (
        None if value is None else checks.whole(workload, "workload", key, most=most)
        for (key, value), most in zip(given.items(), (1200, MOST_DAYS // 7), strict=True)
    )
    return months, weeks


def _reference(workload: Parameters) -> Reference:
    where = "workload.reference"
    group = _part(workload, "reference", "first_day", "weeks", "interactive", "batch")
    numbers = []
    for name in ("interactive", "batch"):
        part = _part(group, name, "jobs", "work", where=where)
        allowed = "a number above 0"
        numbers += [
            float(checks.number(part, f"{where}.{name}", key, allowed, above=0, most=1e18))
            for key in ("jobs", "work")
        ]
    weeks = checks.whole(group, where, "weeks", most=MOST_DAYS // 7)
    return Reference(_day(group, where), weeks, *numbers)


def _cycle(group: Parameters, where: str) -> Cycle:
    given = group.get("by_hour")
    hours: list[Any] = given if isinstance(given, list) and len(given) == HOURS else [None]
    sound = all(isinstance(each, int | float) and not isinstance(each, bool) for each in hours)
    if not sound or not all(0 <= each < 1e9 for each in hours) or not sum(hours) > 0:
        checks.refuse(f"{where}.by_hour", given, "24 numbers, 0 or more, one of them above 0")
    return Cycle(np.array(hours, np.float64), _number(group, where, "weekend", 0, 1000))


def _sizes(given: Any, key: str, largest: int = LARGEST) -> Sizes:
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
            key,
            given,
            "[[processors, weight], ...], powers of two from 2 on, ascending, weights above 0"
            + (f", one of them at most {largest}" if sound else ""),
        )
    weights = np.array([weight for _, weight in kept])
    below = np.cumsum(weights) / weights.sum()
    below[-1] = 1.0
    return Sizes(np.array([size for size, _ in kept], np.int64), below)


def _hours(group: Parameters, where: str) -> float:
    allowed = f"hours above 0, at most {LONGEST:g}"
    limit = HOUR * checks.number(group, where, "hours", allowed, above=0, most=LONGEST)
    if limit < 60:
        checks.refuse(f"{where}.hours", group.get("hours"), "at least a minute (0.017)")
    return float(limit)


def _interactive(group: Parameters) -> Queue:
    where = "workload.interactive"
    largest = checks.whole(
        group, where, "largest", "a whole number of processors from 2 on", least=2, most=LARGEST
    )
    sizes = _sizes(group.get("sizes"), f"{where}.sizes", largest)
    return Queue("interactive", _hours(group, where), 1.0, sizes)


def _queues(batch: Parameters) -> tuple[Queue, ...]:
    where = "workload.batch.queues"
    given = batch.get("queues")
    if not isinstance(given, Mapping) or not given:
        checks.refuse(
            where, given, "a mapping of queues: {pe32: {hours: 4, share: 1, sizes: [[32, 1]]}, ...}"
        )
    read = []
    for name in given:
        queue = _part(given, name, "hours", "share", "sizes", where=where)
        share = _number(queue, f"{where}.{name}", "share", 0, 1e9)
        read.append((name, queue, share))
    total = sum(share for _, _, share in read)
    if not total > 0:
        raise ValueError(f"{where}: all shares are 0; give one of the queues a share above 0")
    return tuple(
        Queue(
            str(name),
            _hours(queue, f"{where}.{name}"),
            share / total,
            _sizes(queue.get("sizes"), f"{where}.{name}.sizes"),
        )
        for name, queue, share in read
    )


def _classes(batch: Parameters) -> tuple[float, ...]:
    where = "workload.batch.classes"
    group = _part(batch, "classes", *BATCH_CLASSES, where="workload.batch")
    shares = tuple(_number(group, where, name, 0, 1) for name in BATCH_CLASSES)
    if sum(shares) > 1:
        raise ValueError(
            f"{where}: the shares sum to {sum(shares):g}; allowed: at most 1, the others are production"
        )
    return shares


def _range(memory: Parameters, key: str) -> tuple[float, float]:
    given = memory.get(key)
    match given:
        case [int() | float() as least, int() | float() as most] if 0 < least <= most < 1e6:
            return float(least), float(most)
    checks.refuse(f"workload.memory_per_processor.{key}", given, "[from, to], MB above 0")

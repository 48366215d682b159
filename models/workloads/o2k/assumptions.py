"""The assumptions on the jobs beyond Table 4 of Chiang and Vernon (2001): a workload's checked keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from models import checks, keys
from models.point import Parameters
from models.workloads.o2k.job_classes import CLASSES, SIZE_CLASSES, TIME_CLASSES
from models.workloads.o2k.shapes import Stiffness, Weighted
from models.workloads.o2k.table4 import TABLE_4, Month

HOUR, MINUTE = 3600, 60.0

LEVELS = ("peak", "intermediate", "low")
RATES = dict.fromkeys(LEVELS, (1e-6, 1e6))
LEAST_MEMORY = {"sj": (1, 511), "mj": (1, 4095), "lj": (1, 16383)}
STIFFNESS = dict.fromkeys(Stiffness._fields, (1e-3, 1e3))
"""Limits of each number."""


def _part(group: Parameters, where: str, key: str) -> Parameters:
    value = group.get(key)
    if not isinstance(value, Mapping):
        allowed = "the keys that conf/workload/chiang2001/_o2k.yaml has there"
        checks.refuse(f"{where}.{key}", value, allowed)
    return value


def _number(group: Parameters, where: str, key: str, least: float, most: float) -> float:
    return float(checks.number(group, where, key, f"{least:g} to {most:g}", least=least, most=most))


def _between(least: float, most: float) -> Any:
    return keys.number(f"{least:g} to {most:g}", least=least, most=most)


def _each(limits: Mapping[str, tuple[float, float]], kind: Callable[..., Any] = dict) -> keys.Check:
    """Return the check of a mapping of numbers, each between limits of its own."""

    def check(given: Parameters, above: str, key: str) -> Any:
        where, group = f"{above}.{key}", _part(given, above, key)
        return kind(**{name: _number(group, where, name, *its) for name, its in limits.items()})

    return check


def _hours(given: Parameters, where: str, key: str) -> tuple[int, int]:
    match given[key]:
        case [int(first), int(last)] if 0 <= first <= last <= 24:
            return first, last
    checks.refuse(f"{where}.{key}", given[key], "[from, until], whole hours from 0 to 24")


def _under_a_minute(workload: Parameters, above: str, key: str) -> dict[str, float]:
    """Return each time class' share: one number for all, or by month and by whether it is vst."""
    given, month = workload[key], workload["month"]
    if not isinstance(given, Mapping):
        return dict.fromkeys(TIME_CLASSES, _number(workload, above, key, 0, 0.9))
    where = f"{above}.{key}.{month}"
    shares = given.get(month)
    if not isinstance(shares, Mapping):
        checks.refuse(where, shares, "shares of jobs: {vst: ..., longer: ...}")
    checks.mapping(shares, where, ("vst", "longer"))
    vst, longer = (_number(shares, where, name, 0, 0.9) for name in ("vst", "longer"))
    return {time: vst if time == "vst" else longer for time in TIME_CLASSES}


def _requests(workload: Parameters, above: str, key: str) -> dict[str, Weighted]:
    where, group = f"{above}.{key}", _part(workload, above, key)
    least, requests = MINUTE / HOUR, {}
    for time, limit in TIME_CLASSES.items():
        requests[time] = _weighted(group.get(time), f"{where}.{time}", least, limit / HOUR, "hours")
        if requests[time][0][0] <= least:
            checks.refuse(f"{where}.{time}", group.get(time), f"more than {least:g} hours")
        least = limit / HOUR
    return requests


def _sizes(workload: Parameters, above: str, key: str) -> dict[str, Weighted]:
    where, group = f"{above}.{key}", _part(workload, above, key)
    checks.mapping(group, where, (*SIZE_CLASSES, *CLASSES))
    sizes = {}
    for name in (*SIZE_CLASSES, *(name for name in group if name in CLASSES)):
        most = SIZE_CLASSES[name[-2:]][0]
        sizes[name] = _weighted(group.get(name), f"{where}.{name}", 1, most, "processors")
        if any(processors != int(processors) for processors, _ in sizes[name]):
            checks.refuse(f"{where}.{name}", group.get(name), "whole processors")
    return sizes


def _weighted(pairs: Any, key: str, least: float, most: float, unit: str) -> Weighted:
    try:
        read = tuple((float(value), float(weight)) for value, weight in pairs)
    except (TypeError, ValueError):
        read = ()
    values = [value for value, _ in read]
    sound = all(least <= value <= most for value in values) and all(0 < weight < 1e9 for _, weight in read)
    if not read or not sound or values != sorted(set(values)):
        allowed = f"[[{unit}, weight], ...], {unit} ascending from {least:g} to {most:g}, weights above 0"
        checks.refuse(key, pairs, allowed)
    return read


def _closed_loop(workload: Parameters) -> tuple[int | None, float]:
    """Return how many jobs a user has in the system at once, None without a limit, and how many in total."""
    where, key = "workload.closed_loop", "limit"
    group = _part(workload, "workload", "closed_loop")
    jobs = _number(group, where, "jobs", 1, 1e6)
    if group.get(key) is None:
        return None, jobs
    allowed = "a whole number of jobs from 1 up, or null for no limit"
    limit = checks.whole(group, where, key, allowed, least=1, most=10**6)
    if workload.get("together") != 1:
        raise ValueError(
            f"{where}.{key}={limit} and workload.together={workload.get('together')} both set which jobs "
            "are submitted at once; set workload.together=1"
        )
    return limit, jobs


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """The keys of conf/workload/chiang2001/_o2k.yaml, whose comments define them and name their sources.

    `user_limit` and `user_jobs` are keys of ``closed_loop``.
    """

    BASE = "_o2k"

    month: Month = keys.checked(lambda given, where, key: TABLE_4[checks.choice(given, where, key, TABLE_4)])
    warmup_days: int = keys.whole("whole days, 0 to 366", least=0, most=366)
    peak_hours: tuple[int, int] = keys.checked(_hours)
    intermediate_hours: tuple[int, int] = keys.checked(_hours)
    rates: Mapping[str, float] = keys.checked(_each(RATES))
    weekend: float = _between(1e-6, 1e6)
    together: float = _between(1, 1e6)
    user_limit: int | None
    user_jobs: float
    requests: Mapping[str, Weighted] = keys.checked(_requests)
    sizes: Mapping[str, Weighted] = keys.checked(_sizes)
    least_memory_mb: Mapping[str, float] = keys.checked(_each(LEAST_MEMORY))
    serial_over_512mb: float = _between(0, 1)
    under_a_minute: Mapping[str, float] = keys.checked(_under_a_minute)
    short_enough: float = _between(0, 0.99)
    left_alone: float = _between(0, 0.9)
    memory_under_tenth: float = _between(0, 0.99)
    under_a_minute_below_1gb: float = _between(0, 1)
    size_correlation: float = _between(-1, 1)
    used_memory_correlation: float = _between(-1, 1)
    stiffness: Stiffness = keys.checked(_each(STIFFNESS, Stiffness))

    @classmethod
    def of(cls, workload: Parameters) -> Assumptions:
        """Read a workload's keys; ``ValueError`` with one line for a mistake."""
        user_limit, user_jobs = _closed_loop(workload)
        return cls(user_limit=user_limit, user_jobs=user_jobs, **keys.read(cls, workload, "workload"))

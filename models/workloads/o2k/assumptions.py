"""The assumptions on the jobs beside Table 4 of Chiang and Vernon (2001): a workload's keys, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models import checks
from models.point import Parameters
from models.workloads.o2k.job_classes import CLASSES, SIZE_CLASSES, TIME_CLASSES
from models.workloads.o2k.shapes import Stiffness, Weighted
from models.workloads.o2k.table4 import TABLE_4, Month

HOUR, MINUTE = 3600, 60.0
LEVELS = ("peak", "intermediate", "low")


@dataclass(frozen=True)
class Assumptions:
    """The keys of conf/workload/chiang2001/_o2k.yaml, whose comments define them and name their sources.

    `user_limit` and `user_jobs` are those of ``closed_loop``.
    """

    month: Month
    warmup_days: int
    peak_hours: tuple[int, int]
    intermediate_hours: tuple[int, int]
    rates: Mapping[str, float]
    weekend: float
    together: float
    user_limit: int | None
    user_jobs: float
    requests: Mapping[str, Weighted]
    sizes: Mapping[str, Weighted]
    least_memory_mb: Mapping[str, float]
    serial_over_512mb: float
    under_a_minute: Mapping[str, float]
    short_enough: float
    left_alone: float
    memory_under_tenth: float
    under_a_minute_below_1gb: float
    size_correlation: float
    used_memory_correlation: float
    stiffness: Stiffness

    @classmethod
    def of(cls, workload: Parameters) -> Assumptions:
        """Read a workload's keys; ``ValueError`` with one line for a mistake."""
        month = TABLE_4[checks.choice(workload, "workload", "month", TABLE_4)]
        user_limit, user_jobs = _closed_loop(workload)
        return cls(
            month=month,
            warmup_days=checks.whole(
                workload, "workload", "warmup_days", "whole days, 0 to 366", least=0, most=366
            ),
            peak_hours=_hours(workload, "peak_hours"),
            intermediate_hours=_hours(workload, "intermediate_hours"),
            rates={level: _number(_part(workload, "rates"), level, 1e-6, 1e6, "rates") for level in LEVELS},
            weekend=_number(workload, "weekend", 1e-6, 1e6),
            together=_number(workload, "together", 1, 1e6),
            user_limit=user_limit,
            user_jobs=user_jobs,
            requests=_requests(_part(workload, "requests")),
            sizes=_sizes(_part(workload, "sizes")),
            least_memory_mb={
                size: _number(_part(workload, "least_memory_mb"), size, 1, most, "least_memory_mb")
                for size, most in (("sj", 511), ("mj", 4095), ("lj", 16383))
            },
            serial_over_512mb=_number(workload, "serial_over_512mb", 0, 1),
            under_a_minute=_under_a_minute(workload, month),
            short_enough=_number(workload, "short_enough", 0, 0.99),
            left_alone=_number(workload, "left_alone", 0, 0.9),
            memory_under_tenth=_number(workload, "memory_under_tenth", 0, 0.99),
            under_a_minute_below_1gb=_number(workload, "under_a_minute_below_1gb", 0, 1),
            size_correlation=_number(workload, "size_correlation", -1, 1),
            used_memory_correlation=_number(workload, "used_memory_correlation", -1, 1),
            stiffness=Stiffness(
                *(
                    _number(_part(workload, "stiffness"), part, 1e-3, 1e3, "stiffness")
                    for part in Stiffness._fields
                )
            ),
        )


def _part(workload: Parameters, key: str) -> Parameters:
    value = workload.get(key)
    if not isinstance(value, Mapping):
        checks.refuse(f"workload.{key}", value, "the keys that conf/workload/chiang2001/_o2k.yaml has there")
    return value


def _number(group: Parameters, key: str, least: float, most: float, part: str = "") -> float:
    where = f"workload.{part}" if part else "workload"
    return float(checks.number(group, where, key, f"{least:g} to {most:g}", least=least, most=most))


def _hours(workload: Parameters, key: str) -> tuple[int, int]:
    match workload.get(key):
        case [int(first), int(last)] if 0 <= first <= last <= 24:
            return first, last
    checks.refuse(f"workload.{key}", workload.get(key), "[from, until], whole hours from 0 to 24")


def _closed_loop(workload: Parameters) -> tuple[int | None, float]:
    """Return how many jobs a user has in the system at once, None without limit, and submits in all."""
    group = _part(workload, "closed_loop")
    where, key = "workload.closed_loop", "limit"
    jobs = _number(group, "jobs", 1, 1e6, "closed_loop")
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


def _under_a_minute(workload: Parameters, month: Month) -> dict[str, float]:
    """Return each time class' share: one number for all, or by month and by whether it is vst."""
    given = workload.get("under_a_minute")
    if not isinstance(given, Mapping):
        return dict.fromkeys(TIME_CLASSES, _number(workload, "under_a_minute", 0, 0.9))
    where = f"under_a_minute.{month.name}"
    shares = given.get(month.name)
    if not isinstance(shares, Mapping):
        checks.refuse(f"workload.{where}", shares, "shares of jobs: {vst: ..., longer: ...}")
    checks.mapping(shares, f"workload.{where}", ("vst", "longer"))
    vst, longer = (_number(shares, key, 0, 0.9, where) for key in ("vst", "longer"))
    return {time: vst if time == "vst" else longer for time in TIME_CLASSES}


def _requests(group: Parameters) -> dict[str, Weighted]:
    least, requests = MINUTE / HOUR, {}
    for time, limit in TIME_CLASSES.items():
        requests[time] = _weighted(group.get(time), f"requests.{time}", least, limit / HOUR, "hours")
        if requests[time][0][0] <= least:
            checks.refuse(f"workload.requests.{time}", group.get(time), f"more than {least:g} hours")
        least = limit / HOUR
    return requests


def _sizes(group: Parameters) -> dict[str, Weighted]:
    checks.mapping(group, "workload.sizes", (*SIZE_CLASSES, *CLASSES))
    sizes = {}
    for name in (*SIZE_CLASSES, *(name for name in group if name in CLASSES)):
        most = SIZE_CLASSES[name[-2:]][0]
        sizes[name] = _weighted(group.get(name), f"sizes.{name}", 1, most, "processors")
        if any(processors != int(processors) for processors, _ in sizes[name]):
            checks.refuse(f"workload.sizes.{name}", group.get(name), "whole processors")
    return sizes


def _weighted(pairs: Any, key: str, least: float, most: float, unit: str) -> Weighted:
    try:
        read = tuple((float(value), float(weight)) for value, weight in pairs)
    except (TypeError, ValueError):
        read = ()
    values = [value for value, _ in read]
    sound = all(least <= value <= most for value in values) and all(0 < weight < 1e9 for _, weight in read)
    if not read or not sound or values != sorted(set(values)):
        checks.refuse(
            f"workload.{key}",
            pairs,
            f"[[{unit}, weight], ...], {unit} ascending from {least:g} to {most:g}, weights above 0",
        )
    return read

"""The experiments on the Origin 2000, fabricated so that every sentence is true."""

from typing import Any

import numpy as np
from fabricated import Experiment, Fabricated, Point

from analysis.chiang2001 import labels
from models.workloads.o2k.table4 import TABLE_4

PRESSURE = dict(zip(labels.MONTHS, (1.0, 1.1, 1.6, 1.3, 1.7, 1.2), strict=True))
"""By how much a month is worse than another."""

LXF_W = {"wait": 4.5, "wait_p95": 22.5, "wait_max": 70.0, "slowdown": 65.0}
LEVELS = {
    "ncsa_lsf": {"wait": 20.0, "wait_p95": 100.0, "wait_max": 250.0, "slowdown": 200.0},
    "easy": {"wait": 6.0, "wait_p95": 30.0, "wait_max": 60.0, "slowdown": 100.0},
    "priority_backfill": {"wait": 6.3, "wait_p95": 31.0, "wait_max": 58.0, "slowdown": 90.0},
    "lxf_w_backfill": LXF_W,
    "sjf_backfill": {"wait": 4.0, "wait_p95": 20.0, "wait_max": 66.0, "slowdown": 60.0},
    "lxf_backfill": {"wait": 4.4, "wait_p95": 22.0, "wait_max": 72.0, "slowdown": 62.0},
    "priority_backfill_4": {"wait": 6.3, "wait_p95": 31.0, "wait_max": 58.0, "slowdown": 90.0},
    "priority_backfill_16": {"wait": 6.4, "wait_p95": 31.5, "wait_max": 57.0, "slowdown": 91.0},
    "lxf_w_immediate": {**LXF_W, "wait": 4.4, "slowdown": 10.0},
    "lxf_w_soon": {**LXF_W, "slowdown": 40.0},
    "eq_spatial_0m": {"wait": 3.3, "wait_p95": 11.0, "wait_max": 77.0, "slowdown": 8.0},
    "eq_spatial_5m": {"wait": 3.32, "wait_p95": 11.1, "wait_max": 77.0, "slowdown": 8.1},
    "eq_spatial_5m_50h": {"wait": 3.4, "wait_p95": 13.0, "wait_max": 50.0, "slowdown": 8.2},
}
"""Policy -> hours, and slowdowns, of all jobs in October."""

SHARES = {"held_idle": 0.03, "started_at_once": 0.995, "overdue": 0.005, "overdue_by_ncsa_class": 0.005}


def waits(metric: str, at: Point) -> float:
    """Return a wait in seconds, a slowdown or a share."""
    if metric in SHARES:
        return SHARES[metric]
    policy, month, kind = at["policy"], at["workload"], metric.partition("_by_")[0].replace("delay", "wait")
    pressure = PRESSURE[month] if policy == "ncsa_lsf" else 1 + 0.1 * (PRESSURE[month] - 1)
    level = LEVELS[policy][kind] * pressure
    equipartition = policy.startswith("eq_spatial")
    if (policy, kind, month) == ("sjf_backfill", "wait_max", labels.FEBRUARY):
        level *= 1.75
    if (policy, kind, month) == ("sjf_backfill", "slowdown", labels.FEBRUARY):
        level *= 0.5
    if (policy, kind) == ("lxf_w_immediate", "wait_p95"):
        level *= 0.97 if month in (labels.NOVEMBER, labels.JANUARY) else 1.01
    if equipartition and kind == "wait_max" and month in (labels.FEBRUARY, labels.MARCH):
        level *= 2.5
    level *= _of_the_group(policy, kind, month, at)
    return level if kind == "slowdown" else level * labels.HOUR


def _of_the_group(policy: str, kind: str, month: str, at: Point) -> float:
    """Return a group's level relative to the level of all jobs."""
    if at.get("ncsa_class", "all").startswith("lt"):
        return 1.5 if month == labels.MARCH else 1.0
    ranged = at.get("runtime_range", "all")
    if ranged == "all":
        return 1.0
    if kind == "wait_max":
        return 0.8 if ranged == labels.RANGES[0] else 0.95
    if policy == "lxf_w_immediate" and kind in ("wait", "slowdown"):
        without = LEVELS["lxf_w_backfill"][kind] / LEVELS[policy][kind]
        return without * (0.1 if ranged == labels.RANGES[0] else 1.02)
    if policy.startswith("eq_spatial") and (kind, ranged) == ("slowdown", labels.LONGER[0]):
        return 0.5
    return 1.0


def workload(metric: str, at: Point) -> float:
    """Return what Table 4 and the text have."""
    month = TABLE_4[at["workload"].removeprefix("o2k_").replace("_", "-")]
    name = at.get("job_class", "all")
    if metric in ("number_of_jobs", "processor_demand", "memory_demand"):
        field = "jobs" if metric == "number_of_jobs" else metric
        if name == "all":
            return float(getattr(month, f"overall_{field}"))
        if (metric, name, month.name) == ("processor_demand", "lt_mj", "2000-01"):
            return 5.3  # a sentence says at most 5 %, the table has 6
        return float(getattr(month, field)[labels.CLASSES.index(name)])
    if metric == "runtime_cdf":
        return float(np.clip(np.log10(at["actual_runtime"] / 60) / 4, 0, 1))
    if metric == "arrivals":
        return 20.0 if 9 <= at["hour"] < 17 else 10.0 if 17 <= at["hour"] < 23 else 5.0
    if metric in ENDS_OF_THE_TEXT and at["workload"] in (labels.NOVEMBER, labels.MARCH):
        return ENDS_OF_THE_TEXT[metric][at["workload"] == labels.MARCH]
    return OF_THE_TEXT[metric]


ENDS_OF_THE_TEXT = {
    "over_an_hour_ends_in_a_minute": (0.12, 0.33),
    "over_ten_hours_ends_in_a_minute": (0.11, 0.42),
}
"""Shares of November and of March; the shares of all months lie in between."""

OF_THE_TEXT = {
    "under_a_minute": 0.175,
    "short_enough_for_st": 0.55,
    "memory_under_tenth": 0.3,
    "over_an_hour_ends_in_a_minute": 0.2,
    "over_ten_hours_ends_in_a_minute": 0.2,
    "memory_is_full": 0.01,
    "must_wait_for_memory": 0.005,
    "fewest_waiting_for_memory": 0.001,
    "under_a_minute_below_1gb": 0.97,
    "serial_share": 0.35,
    "power_of_two_share": 0.8,
    "serial_over_512mb": 0.5,
    "runtime_size_correlation": 0.2,
    "runtime_used_memory_correlation": 0.3,
    "memory_size_correlation": -0.3,
    "serial_memory_ratio": 1.5,
}
OF_JOBS = {
    f"{name}{suffix}": (() if not suffix else ("runtime_range",))
    for name in ("delay", "delay_p95", "delay_max", "slowdown") for suffix in ("", "_by_runtime")
}  # fmt: skip
BACKFILL = {**OF_JOBS, "delay_by_ncsa_class": ("ncsa_class",), "held_idle": (), "started_at_once": ()}
OVERDUE = {"overdue": (), "overdue_by_ncsa_class": ("ncsa_class",)}
BY_CLASS = (
    "number_of_jobs", "processor_demand", "memory_demand", "under_a_minute", "short_enough_for_st",
    "memory_under_tenth",
)  # fmt: skip
WORKLOAD = {
    **dict.fromkeys(BY_CLASS, ("job_class",)),
    "runtime_cdf": ("job_class", "actual_runtime"),
    "arrivals": ("weekday", "hour"),
    **{name: () for name in OF_THE_TEXT if name not in BY_CLASS},
}
COMMON: dict[str, Any] = {
    "groups": {
        "runtime_range": labels.RANGES,
        "ncsa_class": (*labels.CLASSES, "other"),
        "job_class": ("all", *labels.CLASSES),
        "actual_runtime": tuple(60.0 * 10 ** (k / 2) for k in range(-3, 9)),
        "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        "hour": tuple(range(24)),
    },
    "spread": {**dict.fromkeys(BY_CLASS[:3], 0.0), **dict.fromkeys(SHARES, 0.1)},
    "files": {
        "policy": lambda one: {"ties": "instant", "kill": True},
        "workload": lambda one: {
            "month": one.removeprefix("o2k_").replace("_", "-"), "peak_hours": [9, 17],
            "intermediate_hours": [17, 23],
        },
        "machine": lambda one: {},
    },
    "settings": {"axes": {"ties": "policy.ties"}},
}  # fmt: skip


def _experiment(policies: tuple[str, ...], metrics: dict[str, tuple[str, ...]], truth: Any) -> Experiment:
    grid = {"policy": policies, "workload": tuple(labels.MONTHS), "load": (np.nan,), "machine": ("o2k",)}
    return Experiment(grid, metrics, truth, **COMMON)


EXPERIMENTS = {
    "o2k_backfill": _experiment(tuple(LEVELS)[:8], {**BACKFILL, **OVERDUE}, waits),
    "o2k_immediate": _experiment(("lxf_w_backfill", "lxf_w_immediate", "lxf_w_soon"), BACKFILL, waits),
    "o2k_equipartition": _experiment(
        ("lxf_w_immediate", "lxf_w_backfill", "eq_spatial_0m", "eq_spatial_5m", "eq_spatial_5m_50h"),
        BACKFILL,
        waits,
    ),
    "o2k_workload": _experiment(("characterization",), WORKLOAD, workload),
}
MADE = Fabricated(EXPERIMENTS)

"""Datasets of the Origin 2000 experiments as a sweep writes them, made up so that every sentence is true."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from analysis.chiang2001.labels import (
    CLASSES,
    FEBRUARY,
    HOUR,
    JANUARY,
    LONGER,
    MARCH,
    MONTHS,
    NOVEMBER,
    RANGES,
)
from models.workloads.o2k.table4 import TABLE_4

LEFT, DONE, FAILED, EXCLUDED = range(4)
Point = Mapping[str, Any]
"""policy, workload (a month), and where a metric has them runtime_range, job_class, actual_runtime, ..."""

Truth = Callable[[str, Point], float]
"""(metric, point) -> true mean."""

GROUPS: dict[str, tuple[Any, ...]] = {
    "runtime_range": ("all", *RANGES),
    "job_class": ("all", *CLASSES, "other"),
    "table_class": ("all", *CLASSES),
    "actual_runtime": tuple(60.0 * 10 ** (k / 2) for k in range(-3, 9)),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "hour": tuple(range(24)),
}
PRESSURE = dict(zip(MONTHS, (1.0, 1.1, 1.6, 1.3, 1.7, 1.2), strict=True))
"""By how much a month is worse than another."""

LXF_W = {"wait": 4.5, "wait_p95": 22.5, "wait_max": 70.0, "slowdown": 65.0}
LEVELS = {
    "ncsa_lsf": {"wait": 20.0, "wait_p95": 100.0, "wait_max": 250.0, "slowdown": 200.0},
    "easy": {"wait": 6.0, "wait_p95": 30.0, "wait_max": 60.0, "slowdown": 100.0},
    "priority_backfill": {"wait": 6.3, "wait_p95": 31.0, "wait_max": 58.0, "slowdown": 90.0},
    "lxf_w_backfill": LXF_W,
    "sjf_backfill": {"wait": 4.0, "wait_p95": 20.0, "wait_max": 66.0, "slowdown": 60.0},
    "lxf_backfill": {"wait": 4.4, "wait_p95": 22.0, "wait_max": 72.0, "slowdown": 62.0},
    "lxf_w_immediate": {**LXF_W, "wait": 4.4, "slowdown": 10.0},
    "lxf_w_soon": {**LXF_W, "slowdown": 40.0},
    "eq_spatial_0m": {"wait": 3.3, "wait_p95": 11.0, "wait_max": 77.0, "slowdown": 8.0},
    "eq_spatial_5m": {"wait": 3.32, "wait_p95": 11.1, "wait_max": 77.0, "slowdown": 8.1},
    "eq_spatial_5m_50h": {"wait": 3.4, "wait_p95": 13.0, "wait_max": 50.0, "slowdown": 8.2},
}
"""Policy -> hours, and slowdowns, of all jobs in October."""

SHARES = {"held_idle": 0.03, "started_at_once": 0.995}


def waits(metric: str, at: Point) -> float:
    """Return a wait in seconds, a slowdown or a share."""
    if metric in SHARES:
        return SHARES[metric]
    policy, month, kind = at["policy"], at["workload"], metric.removesuffix("_by_class")
    pressure = PRESSURE[month] if policy == "ncsa_lsf" else 1 + 0.1 * (PRESSURE[month] - 1)
    level = LEVELS[policy][kind] * pressure
    equipartition = policy.startswith("eq_spatial")
    if (policy, kind, month) == ("sjf_backfill", "wait_max", FEBRUARY):
        level *= 1.75
    if (policy, kind, month) == ("sjf_backfill", "slowdown", FEBRUARY):
        level *= 0.5
    if (policy, kind) == ("lxf_w_immediate", "wait_p95"):
        level *= 0.97 if month in (NOVEMBER, JANUARY) else 1.01
    if equipartition and kind == "wait_max" and month in (FEBRUARY, MARCH):
        level *= 2.5
    level *= _of_the_group(policy, kind, month, at)
    return level if kind == "slowdown" else level * HOUR


def _of_the_group(policy: str, kind: str, month: str, at: Point) -> float:
    """Return a group's level relative to that of all jobs."""
    if at.get("job_class", "all").startswith("lt"):
        return 1.5 if month == MARCH else 1.0
    ranged = at.get("runtime_range", "all")
    if ranged == "all":
        return 1.0
    if kind == "wait_max":
        return 0.8 if ranged == RANGES[0] else 0.95
    if policy == "lxf_w_immediate" and kind in ("wait", "slowdown"):
        without = LEVELS["lxf_w_backfill"][kind] / LEVELS[policy][kind]
        return without * (0.1 if ranged == RANGES[0] else 1.02)
    if policy.startswith("eq_spatial") and (kind, ranged) == ("slowdown", LONGER[0]):
        return 0.5
    return 1.0


def workload(metric: str, at: Point) -> float:
    """Return what Table 4 and the text have."""
    month = TABLE_4[at["workload"].removeprefix("o2k_").replace("_", "-")]
    name = at.get("table_class", "all")
    if metric in ("number_of_jobs", "processor_demand", "memory_demand"):
        field = "jobs" if metric == "number_of_jobs" else metric
        if name == "all":
            return float(getattr(month, f"overall_{field}"))
        if (metric, name, month.name) == ("processor_demand", "lt_mj", "2000-01"):
            return 5.3  # a sentence says at most 5 %, the table has 6
        return float(getattr(month, field)[CLASSES.index(name)])
    if metric == "runtime_cdf":
        return float(np.clip(np.log10(at["actual_runtime"] / 60) / 4, 0, 1))
    if metric == "arrivals":
        return 20.0 if 9 <= at["hour"] < 17 else 10.0 if 17 <= at["hour"] < 23 else 5.0
    if metric in ENDS_OF_THE_TEXT and at["workload"] in (NOVEMBER, MARCH):
        return ENDS_OF_THE_TEXT[metric][at["workload"] == MARCH]
    return OF_THE_TEXT[metric]


ENDS_OF_THE_TEXT = {
    "over_an_hour_ends_in_a_minute": (0.12, 0.33),
    "over_ten_hours_ends_in_a_minute": (0.11, 0.42),
}
"""Shares of November and of March; those of all months lie in between."""

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
EXACT = ("processor_demand", "number_of_jobs", "memory_demand")
OF_JOBS = dict.fromkeys(("wait", "wait_p95", "wait_max", "slowdown"), ("runtime_range",))
BACKFILL: dict[str, tuple[str, ...]] = {
    **OF_JOBS, "wait_by_class": ("job_class",), "held_idle": (), "started_at_once": (),
}  # fmt: skip
TABLE = dict.fromkeys(
    (*EXACT, "under_a_minute", "short_enough_for_st", "memory_under_tenth"), ("table_class",)
)
WORKLOAD: dict[str, tuple[str, ...]] = {
    **TABLE,
    "runtime_cdf": ("table_class", "actual_runtime"),
    "arrivals": ("weekday", "hour"),
    **{name: () for name in OF_THE_TEXT if name not in TABLE},
}
EXPERIMENTS: dict[str, dict[str, Any]] = {
    "o2k_backfill": {
        "policies": ("ncsa_lsf", "easy", "priority_backfill", "lxf_w_backfill", "sjf_backfill",
                     "lxf_backfill"),
        "metrics": BACKFILL,
        "truth": waits,
    },
    "o2k_immediate": {
        "policies": ("lxf_w_backfill", "lxf_w_immediate", "lxf_w_soon"),
        "metrics": BACKFILL,
        "truth": waits,
    },
    "o2k_equipartition": {
        "policies": ("lxf_w_immediate", "lxf_w_backfill", "eq_spatial_0m", "eq_spatial_5m",
                     "eq_spatial_5m_50h"),
        "metrics": BACKFILL,
        "truth": waits,
    },
    "o2k_workload": {"policies": ("characterization",), "metrics": WORKLOAD, "truth": workload},
}  # fmt: skip
MEASURED = {"runtime_range": "_by_runtime", "job_class": "_by_ncsa_class"}
"""Dimensions without all jobs, which have a metric of their own -> how the name of the others ends."""

DIMS = {dim: {"job_class": "ncsa_class", "table_class": "job_class"}.get(dim, dim) for dim in GROUPS}
"""The dataset's names of the dimensions."""

FILE = {"month": None, "peak_hours": [9, 17], "intermediate_hours": [17, 23]}


def dataset(
    name: str,
    *,
    truth: Truth | None = None,
    noise: float = 0.01,
    unfinished: Callable[[Point], bool] = lambda at: False,
    replications: int = 10,
    months: Sequence[str] = tuple(MONTHS),
    seed: int = 1,
    **axes: Sequence[Any],
) -> xr.Dataset:
    """Fabricate the dataset of an experiment.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    truth : callable
        By default what makes every sentence true.
    noise : float
        Relative spread of months, the same for all policies, and a tenth of it for each point alone.
    unfinished : callable
        Point -> whether it is so.
    **axes
        Further axes, which change nothing.
    """
    made = EXPERIMENTS[name]
    truth = truth or made["truth"]
    grid: dict[str, Sequence[Any]] = {
        "policy": made["policies"], "workload": months, "load": [np.nan], "machine": ["o2k"], **axes,
    }  # fmt: skip
    shape = tuple(map(len, grid.values()))
    random = np.random.default_rng(seed)
    state = np.full((*shape, replications), DONE, np.int8)
    points = [
        (place, {axis: values[i] for (axis, values), i in zip(grid.items(), place, strict=True)})
        for place in np.ndindex(*shape)
    ]
    for place, at in points:
        if unfinished(at):
            state[place] = LEFT
    luck = random.standard_normal((len(months), replications))
    data = {}
    for metric, dims in made["metrics"].items():
        own = tuple(len(GROUPS[dim]) for dim in dims)
        values = np.full((*shape, replications, 1, *own), np.nan)
        spread = 0.0 if metric in EXACT else noise / 10 if metric in SHARES else noise
        for place, at in points:
            if unfinished(at):
                continue
            for group in np.ndindex(*own):
                where = {dim: GROUPS[dim][i] for dim, i in zip(dims, group, strict=True)}
                means = truth(metric, {**at, **where})
                chance = luck[place[1]] + 0.1 * random.standard_normal(replications)
                values[(*place, slice(None), 0, *group)] = means * (1 + spread * chance)
        data |= _as_measured(metric, (*grid, "replication", "batch"), dims, values)
    used = {dim for dims in made["metrics"].values() for dim in dims}
    dims = (*grid, "replication")
    flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
    settings = {"name": name, "confidence": 0.95, "replications": replications, "batches": 1, "seed": 1}
    config = {
        "settings": {**settings, "batch_size": None, "warmup": 0, "axes": {"ties": "policy.ties"}},
        "policy": {policy: {"ties": "instant", "kill": True} for policy in grid["policy"]},
        "workload": {month: {**FILE, "month": month.removeprefix("o2k_").replace("_", "-")}
                     for month in months},
        "machine": {"o2k": {}},
    }  # fmt: skip
    return xr.Dataset(
        {**data, "state": (dims, state, flags), "saturated": (tuple(grid), np.zeros(state.shape[:-1], bool))},
        coords={axis: list(values) for axis, values in grid.items()}
        | {named: list(GROUPS[dim])[dim in MEASURED :] for dim, named in DIMS.items() if dim in used},
        attrs={"title": name, "config": json.dumps(config), "headline": next(iter(made["metrics"]))},
    )


def _as_measured(
    metric: str, outer: tuple[str, ...], dims: tuple[str, ...], values: np.ndarray
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Return a metric under the dataset's names; of jobs in groups, without all jobs, which stand alone."""
    name = metric.removesuffix("_by_class")
    if name.startswith("wait"):
        name = name.replace("wait", "delay")
    inner = tuple(DIMS[dim] for dim in dims)
    if not dims or dims[0] not in MEASURED:
        return {name: ((*outer, *inner), values)}
    found = {f"{name}{MEASURED[dims[0]]}": ((*outer, *inner), values[..., 1:])}
    return found if metric.endswith("_by_class") else {name: (outer, values[..., 0])} | found

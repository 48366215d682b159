"""The experiments on the Cray T3D, fabricated so that every sentence is true."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from fabricated import Experiment, Fabricated, Point

from analysis.jette1997.labels import (
    BENCHMARK_WEEK,
    CLASSES,
    DAY,
    FIFTEEN_MONTHS,
    GANG,
    LENGTHS,
    NEVER,
    SCHEDULERS,
    THREE_WEEKS,
    UNICOS_MAX,
)
from models.production_gang.metrics import SIZES

WEEK = 7 * 86400.0
HOURS = tuple(range(24))
COORDS: dict[str, Sequence[Any]] = {
    "site_class": CLASSES,
    "runtime_range": ("under 1 min", "1 to 10 min", "10 to 100 min", "100 to 1,000 min"),
    "hour": HOURS,
    "length": LENGTHS,
    "partition": SIZES,
    "size_range": ("1", "2 to 4", "65 to 256"),
}

N_BATCHES = {FIFTEEN_MONTHS: 65, THREE_WEEKS: 21, BENCHMARK_WEEK: 7}
PERIOD = {FIFTEEN_MONTHS: WEEK, THREE_WEEKS: WEEK / 7, BENCHMARK_WEEK: WEEK / 7}
USED = {UNICOS_MAX: (0.33, 0.5), "djm": (0.34, 0.72), GANG: (0.35, 0.98)}
"""Utilization in the first and in the last week."""

LOST = {UNICOS_MAX: (0.0, 0.05, 0.12), "djm": (0.0, 0.04, 0.06), GANG: (0.008, 0.005, 0.004)}
"""Of what is not used: switching, packing, limits."""

SLOWDOWN = {UNICOS_MAX: 1.18, "djm": 1.19, GANG: 1.17}
JOBS = {"interactive": 2659 / 21 - 10, "debug": 10.0, "production": 1318 / 21, "benchmark": 10 / 21}
WORK = {"interactive": 44.5e6 / 21 - 1e5, "debug": 1e5, "production": 288.5e6 / 21, "benchmark": 1e6 / 21}
"""A day of the three weeks."""


def used(at: Point) -> float:
    """Return the utilization of a week, the highest ones in the last ten."""
    low, high = USED[at["policy"]]
    if at["workload"] == FIFTEEN_MONTHS:
        week = at["batch"]
        grown = 0.0 if week < 13 else min((week - 13) / 40, 1.0)
        return low + (high - low) * grown
    return 0.3 * low + 0.7 * high


def t3d(metric: str, at: Point) -> float:
    """Return what the paper says of the Cray T3D."""
    gang = at["policy"] == GANG
    busy, lost = used(at), LOST[at["policy"]]
    period = PERIOD[at["workload"]]
    job_class, hour, length = at.get("site_class"), at.get("hour"), at.get("length")
    days = period / 86400
    by_day = hour is not None and str(hour) in DAY
    night = hour is not None and not by_day
    late = hour is not None and hour < 5
    hourly = 1.0 if late else 3.0 if night else 20.0
    throughput = 1.21 if gang and at["workload"] == BENCHMARK_WEEK else 1.0
    return {
        "utilization": busy,
        "period": period,
        "jobs": 200.0 * days,
        "preempted_share": 0.08 if gang else 0.0,
        "switching_share": lost[0],
        "packing_loss": lost[1] * (1 - busy),
        "limits_loss": lost[2] * (1 - busy),
        "no_work_share": 1 - busy - lost[0] - (lost[1] + lost[2]) * (1 - busy),
        "no_work_weekends": 0.1 * (2 - busy),
        "no_work_weekdays": 0.1 * (1 - busy),
        "wait_by_size": 4000.0 if gang else 9000.0,
        "partition_work": 3e6 if at.get("partition") == SIZES[-2] else 1e5,
        "working_hours": 28800.0 * days,
        "demand_usual": 0.7,
        "demand_peak": 310.0,
        "day_free": 12.0,
        "day_jobs": 10.0,
        "day_processors": 148.0,
        "day_batch": 250.0,
        "day_paged_out": 150.0,
        "class_jobs": JOBS.get(job_class or "", 0.0) * days,
        "class_runtime": JOBS.get(job_class or "", 0.0) * days * 900,
        "class_work": WORK.get(job_class or "", 0.0) * days,
        "class_slowdown": SLOWDOWN[at["policy"]],
        "class_preempted": 0.05 if gang and job_class in ("interactive", "production") else 0.0,
        "class_ended": JOBS.get(job_class or "", 0.0) * days * throughput,
        "class_delivered": (1.02 if throughput > 1 else 1.0) * WORK.get(job_class or "", 0.0) * days,
        "interactive_jobs_by_hour": hourly * days,
        "interactive_runtime_by_hour": hourly * days * 900,
        "interactive_slowdown_by_hour": 1.5 if night else 1.02,
        "interactive_slowdown_max_by_hour": 1300.0 if late else 600.0 if night else 90.0,
        "interactive_begun_10s_by_hour": 0.6 if by_day else 0.3,
        "interactive_begun_60s_by_hour": 0.8 if by_day else 0.5,
        "interactive_preempted_by_hour": 0.02,
        "interactive_jobs_by_length": 20.0 * days,
        "interactive_runtime_by_length": 5000.0 * days,
        "interactive_slowdown_by_length": {LENGTHS[-1]: 1.03, LENGTHS[0]: 8.0}.get(length or "", 1.2),
        "interactive_undelayed_by_length": 0.8,
        "interactive_slowdown_max_by_length": 1300.0 if length == LENGTHS[0] else 30.0,
    }[metric]  # fmt: skip


def tradeoff(metric: str, at: Point) -> float:
    """Return a machine that thrashes with short slices and costly switches."""
    if metric in ("period", "class_runtime", "class_jobs"):
        return 3 * WEEK
    cost = float(at["switch_cost"])
    if at["do_not_disturb"] == NEVER:
        return {"utilization": 0.86, "switching_share": 0.0, "class_slowdown": 9.0, "jobs": 100.0}[metric]
    multiplier = float(at["do_not_disturb"])
    switching = 0.3 * cost / (1 + cost) / (1 + multiplier)
    return {
        "utilization": 0.95 - switching,
        "switching_share": switching,
        "class_slowdown": 1.1 + 0.05 * multiplier,
        "jobs": 100.0,
    }[metric]


WAIT = {"llnl_gang": 30.0, "unicos_max": 3000.0, "djm": 2000.0}


def compare(metric: str, at: Point) -> float:
    """Return any numbers: nothing is claimed of them."""
    return {
        "utilization": 0.7,
        "jobs": 100.0,
        "wait_by_job_class": WAIT.get(at["policy"], 800.0),
        "slowdown_by_job_class": 2.0 + WAIT.get(at["policy"], 800.0) / 100,
        "slowdown_by_runtime": 5.0,
    }[metric]


def slices(metric: str, at: Point) -> float:
    """Return schedulers with slices that are better than without, and reserved CPUs that help."""
    fcfs, reserved = at["policy"] == "fcfs", at.get("reserved")
    return {
        "utilization": at["load"],
        "jobs": 1000.0,
        "slowdown": 400.0 if fcfs else 4.0,
        "slowdown_by_size": 2.0 if reserved == "0" else 1.2,
    }[metric]


CLASS, HOUR, LENGTH = ("site_class",), ("hour",), ("length",)
RUNTIME = ("runtime_range",)
METRICS: dict[str, tuple[str, ...]] = {
    "utilization": (), "period": (), "jobs": (), "preempted_share": (), "switching_share": (),
    "packing_loss": (), "limits_loss": (), "no_work_share": (),
    "no_work_weekends": (), "no_work_weekdays": (),
    "partition_work": ("partition",), "wait_by_size": ("size_range",), "working_hours": (),
    "demand_usual": (), "demand_peak": (),
    "day_free": (), "day_jobs": (), "day_processors": (), "day_batch": (), "day_paged_out": (),
    "class_jobs": CLASS, "class_runtime": CLASS, "class_work": CLASS, "class_slowdown": CLASS,
    "class_preempted": CLASS, "class_ended": CLASS, "class_delivered": CLASS,
    **{f"interactive_{kind}_by_hour": HOUR for kind in
       ("jobs", "runtime", "slowdown", "slowdown_max", "begun_10s", "begun_60s", "preempted")},
    **{f"interactive_{kind}_by_length": LENGTH for kind in
       ("jobs", "runtime", "slowdown", "slowdown_max", "undelayed")},
}  # fmt: skip
WEIGHTS = {
    "utilization": "period", "preempted_share": "jobs", "switching_share": "period", "packing_loss": "period",
    "limits_loss": "period", "no_work_share": "period", "class_slowdown": "class_runtime",
    "class_preempted": "class_jobs", "demand_usual": "working_hours", "day_free": "working_hours",
    "day_jobs": "working_hours", "day_processors": "working_hours",
}  # fmt: skip
COMMON: dict[str, Any] = {
    "groups": COORDS,
    "noise": 0.005,
    "spread": {"period": 0.0},
    "weights": WEIGHTS,
    "files": {
        "policy": lambda one: {
            "family": "models.production_gang" if one in SCHEDULERS else "models.backfill", "system": "t3d",
        },
        "workload": lambda one: {
            "model": "t3d", "first_day": "1995-10-01" if one == FIFTEEN_MONTHS else "1996-07-23",
        },
        "machine": lambda one: {"torus": "16x4x4", "node_processors": 2, "places": "aligned"},
    },
    "settings": {"batches": 120, "batch_size": "week"},
    "attrs": {"headline": "utilization", "families": '{"models.production_gang": 1}'},
}  # fmt: skip
STREAMS = ("lublin2003", "feitelson1996_seconds")
ONE_LOAD = {"load": (np.nan,), "machine": ("t3d",)}
EXPERIMENTS = {
    "llnl_t3d": Experiment(
        {"policy": SCHEDULERS, "workload": tuple(N_BATCHES), **ONE_LOAD}, METRICS, t3d, batches=N_BATCHES,
        **{**COMMON, "replications": 6},
    ),
    "llnl_tradeoff": Experiment(
        {
            "policy": (GANG,), "workload": (THREE_WEEKS,), **ONE_LOAD,
            "do_not_disturb": ("0", "2", "10", NEVER), "switch_cost": ("0", "1", "4"),
        },
        {
            "utilization": (), "period": (), "jobs": (), "switching_share": (), "class_slowdown": CLASS,
            "class_runtime": CLASS, "class_jobs": CLASS,
        },
        tradeoff, **COMMON,
    ),
    "llnl_compare": Experiment(
        {
            "policy": (*SCHEDULERS, "easy", "fcfs", "conservative", "buddy", "best_fit"),
            "workload": (THREE_WEEKS,), **ONE_LOAD,
        },
        {
            "utilization": (), "jobs": (), "wait_by_job_class": CLASS, "slowdown_by_job_class": CLASS,
            "slowdown_by_runtime": RUNTIME,
        },
        compare, **COMMON,
    ),
    "llnl_tc2000": Experiment(
        {
            "policy": ("tc2000_gang", "easy", "fcfs"), "workload": STREAMS, "load": (0.3, 0.5),
            "machine": ("tc2000",), "placement": ("blocks", "least_crowded"),
        },
        {"utilization": (), "jobs": (), "slowdown": (), "slowdown_by_size": ("size_range",)},
        slices, groups=COORDS, files=COMMON["files"], attrs=COMMON["attrs"],
        exclude=lambda at: at["policy"] != "tc2000_gang" and at["placement"] != "blocks",
    ),
    "llnl_alpha": Experiment(
        {
            "policy": ("alpha_gang",), "workload": STREAMS, "load": (0.3, 0.5), "machine": ("alpha",),
            "reserved": ("0", "1", "2"),
        },
        {"utilization": (), "jobs": (), "slowdown": (), "slowdown_by_size": ("size_range",)},
        slices, groups=COORDS, files=COMMON["files"], attrs=COMMON["attrs"],
    ),
}  # fmt: skip
MADE = Fabricated(EXPERIMENTS)
dataset = MADE.dataset

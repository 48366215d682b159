"""McCann's experiments, fabricated so that every sentence is true."""

from functools import cache
from math import exp, log2
from typing import Any

import numpy as np
from fabricated import Experiment, Fabricated, Point

from analysis.drawings.composition import parameters
from analysis.mccann1994.claims.simulation import chain_blow_up

CLASSES = ("short", "long", "all")
SPMD = {
    "model": "spmd",
    "jobs": 1,
    "compute_time": 0.1,
    "delta": 0.0,
    "communication_time": 0.001,
    "code_bytes": 524288,
    "data_bytes": 4194304,
    "isolated_time": 30.0,
}
WORKLOADS: dict[str, dict[str, Any]] = {
    "spmd": SPMD,
    "speedup_curve": {"model": "speedup_curve", "jobs": 1, "knee": 0.08},
    "short_long": {**SPMD, "delta": 5.0, "short_time": 30.0, "long_time": 900.0, "short_fraction": 0.5},
}
ONE = "one_at_a_time"
MACHINE = {"mesh": "8x8", "context_switch": 0.0005, "bandwidth": 200 * 2**20, "memory_limit": None}
NAMES = (
    "equi", "equi_plus", "fold_never", "fold_20", "fold_50", "fold_200", "fold_15j", "fold_20j", "fold_q",
    ONE, "processor_sharing", "static_4", "static_8", "ideal_dynamic",
)  # fmt: skip
POLICIES: dict[str, dict[str, Any]] = {name: parameters("policy", name) for name in NAMES}

ROTATION_COST = {"fold_200": 0.002, "fold_50": 0.008, "fold_20": 0.03, "fold_15j": 0.003, "fold_20j": 0.0025}


def speedup(part: float) -> float:
    """Return a concave speedup on a part of the machine under which section 3.2 is true."""
    return float(np.interp(part, [0, 1 / 64, 1 / 8, 1 / 4, 1], [0, 0.1, 0.37, 0.46, 1]))


def efficiency(metric: str, at: Point) -> float:
    """Return efficiency preservation: of that speedup, or by losses that fall with the number of jobs."""
    jobs, policy = at["jobs"], at["policy"]
    if at["workload"] == "speedup_curve":
        parts = {"static_4": 4, "static_8": 8}.get(policy, jobs)
        return float(min(jobs, parts) * speedup(1 / parts))
    balanced = 1 + (0.003 + 0.0015 * at["delta"]) * log2(jobs)
    if jobs & (jobs - 1) == 0:
        return balanced
    if policy in ("equi", "equi_plus"):
        loss = 0.14 * (4 / jobs) ** 0.6 * (1.1 if jobs % 2 else 0.9)
        return balanced - loss - 0.08 * (policy == "equi")
    return balanced - ROTATION_COST.get(policy, 0.0)


def fairness(metric: str, at: Point) -> float:
    """Return a bound that nears 1 as rotation gets faster, and more at even numbers of jobs."""
    jobs, q = at["jobs"], at["q"]
    if jobs & (jobs - 1) == 0:
        return 1.0
    part = 1.0 if q is None or q >= 1 else 0.6 * q**1.5 * (1 if jobs % 2 else 0.3)
    return 1 + 0.6 * part if metric == "most_loaded_ratio" else 1 - 0.5 * part


CAPACITY = {"equi": 0.983, "equi_plus": 0.99, "fold_20": 1.005, "fold_200": 1.015, "fold_20j": 1.016}


def birth_death(metric: str, at: Point) -> float:
    """Return a blow-up factor; with a limit, equipartition is best at four jobs."""
    free = CAPACITY.get(at["policy"], 1.02) - at["load"]
    limit = at["memory_limit"] or 64
    if at["policy"] == "equi_plus":
        return (1 - 0.2 * at["load"] * exp(-((log2(limit) - 2) ** 2))) / free
    return (1 + 0.05 / limit * (at["memory_limit"] is not None)) / free


@cache
def chain(policy: str) -> float:
    """Return the blow-up factor of equal jobs at load 0.5."""
    return chain_blow_up(POLICIES[policy], WORKLOADS["short_long"], MACHINE, 0.5, 30.0)


def simulation(metric: str, at: Point) -> float:
    """Return what the chain says, for every mix."""
    policy, kind, p = at["policy"], at["job_class"], at["short_fraction"]
    if (kind, p) in (("long", 1.0), ("short", 0.0)):
        return float("nan")
    if metric == "blow_up_cv":
        return {ONE: 8.0, "processor_sharing": 0.99}.get(policy, 1.0)
    alone = {"short": 30.0, "long": 900.0}.get(kind, 30.0 * p + 900.0 * (1 - p))
    blow_up = 2.5 if policy in (ONE, "processor_sharing") else chain(policy)
    return alone * blow_up if metric == "class_response_time" else blow_up


def memory(metric: str, at: Point) -> float:
    """Return response times that small limits lengthen, except for all jobs under EQUI+."""
    limit, kind, fold = at["memory_limit"] or 64, at["job_class"], at["policy"] == "fold_never"
    if metric == "blow_up_cv":
        return 1 + 1 / limit
    growth = 1 + (0.2 / limit if fold or kind == "short" else -0.2 / limit)
    return {"short": 60.0, "long": 1800.0, "all": 900.0}[kind] * growth * (0.6 if fold else 1.0)


def schedules(metric: str, at: Point) -> float:
    """Return numbers of epochs and reallocations in the order that chapter 6 proves or says."""
    policy, jobs, power = at["policy"], at.get("jobs", 8), at["processors"] != 140
    if metric == "uninterrupted_in_group":
        return {"buddy_schedule": 0.5, "buddy_schedule_reversed": 0.4}.get(policy, 0.0)
    if metric == "epochs":
        more = {"greedy_largest": 1.1, "equi_epoch": 1.0 if power else 1.05}
        return jobs * more.get(policy, 1.0)
    cost = {"equi_epoch": 1.2, "greedy_largest": 1.3, "optimal_epoch": 1.2, "optimal_schedule": 0.9}
    return jobs * at["processors"] * cost.get(policy, 1.0)


def _limited_policies(at: Point) -> bool:
    return at["memory_limit"] is not None and at["policy"] not in ("equi_plus", "fold_never")


JOBS = tuple(range(1, 41))
COMMON: dict[str, Any] = {
    "luck": (),
    "own": 0.3,
    "files": {
        "policy": lambda one: POLICIES.get(one, {}),
        "workload": lambda one: WORKLOADS.get(one, {}),
        "machine": lambda one: MACHINE,
    },
    "settings": {"batch_size": 1},
}
EXACT: dict[str, Any] = {**COMMON, "noise": 0.0, "replications": 1, "exact": True}
SIMULATED: dict[str, Any] = {**COMMON, "noise": 0.004, "replications": 6, "batches": 10}
OF_CLASSES: dict[str, Any] = {**SIMULATED, "groups": {"job_class": CLASSES}}
TIMES = dict.fromkeys(("class_response_time", "blow_up", "blow_up_cv"), ("job_class",))
MESH = {"machine": ("mesh8x8",)}
EXPERIMENTS = {
    "efficiency_preservation": Experiment(
        {
            "policy": [name for name in POLICIES if name not in ("fold_q", ONE, "processor_sharing")],
            "workload": ["spmd", "speedup_curve"], "load": [None], "jobs": JOBS,
            "delta": [0.0, 5.0, 10.0, 20.0], **MESH,
        },
        {"efficiency_preservation": ()}, efficiency,
        exclude=lambda at: (
            (at["policy"] in ("static_4", "static_8", "ideal_dynamic")) == (at["workload"] == "spmd")
            or (at["workload"] == "speedup_curve" and at["delta"] > 0)
        ), **EXACT,
    ),
    "fairness": Experiment(
        {
            "policy": ["equi", "equi_plus", "fold_q"], "workload": ["spmd"], "load": [None], "jobs": JOBS,
            "q": [None, 1.0, 8 / 15, 4 / 15], **MESH,
        },
        {"most_loaded_ratio": (), "least_loaded_ratio": ()}, fairness,
        exclude=lambda at: at["policy"] != "fold_q" and at["q"] is not None, **EXACT,
    ),
    "birth_death": Experiment(
        {
            "policy": ["equi", "equi_plus", "fold_never", "fold_20", "fold_200", "fold_20j"],
            "workload": ["spmd"], "load": [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95],
            "memory_limit": [None, 1, 2, 4, 8, 16, 64], **MESH,
        },
        {"blow_up": (), "jobs_in_system": ()}, birth_death, exclude=_limited_policies,
        saturated=lambda at: at["policy"] == "fold_20" and at["load"] >= 0.9, **EXACT,
    ),
    "partitioning": Experiment(
        {
            "policy": ["equi", "equi_plus", "fold_never", "fold_50", "fold_15j", ONE, "processor_sharing"],
            "workload": ["short_long"], "load": [0.5], "short_fraction": [0.0, 0.25, 0.5, 0.75, 1.0], **MESH,
        },
        TIMES, simulation, **OF_CLASSES,
    ),
    "partitioning_memory": Experiment(
        {
            "policy": ["equi_plus", "fold_never"], "workload": ["short_long"], "load": [0.5],
            "memory_limit": [None, 1, 2, 3, 4, 8, 16], "admission_overhead": [0.005, 0.03], **MESH,
        },
        TIMES, memory, **OF_CLASSES,
    ),
    "memory_schedules": Experiment(
        {
            "policy": ["buddy_schedule", "buddy_schedule_reversed", "equi_epoch", "greedy_largest",
                       "optimal_buddy", "optimal_epoch", "optimal_schedule"],
            "workload": ["minimum_uniform", "minimum_powers", "minimum_small_heavy"], "load": [None],
            "processors": [16, 64, 140], "jobs": [4, 5, 8, 11, 16, 32], **MESH,
        },
        {"reallocations": (), "epochs": (), "uninterrupted_in_group": ()}, schedules,
        **{**SIMULATED, "noise": 0.01, "own": 0.0},
    ),
    "memory_examples": Experiment(
        {
            "policy": ["buddy_schedule", "equi_epoch", "greedy_largest"],
            "workload": ["mccann1994_fig6_4", "mccann1994_fig6_9"], "load": [None],
            "processors": [16], **MESH,
        },
        {"reallocations": (), "epochs": ()}, schedules, **EXACT,
    ),
}  # fmt: skip
MADE = Fabricated(EXPERIMENTS)

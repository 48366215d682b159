"""Datasets of the study across families as a sweep writes them, made so that every sentence is true."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fabricated import Experiment, Fabricated, Point

from analysis.families.labels import GANG, PARTITIONING, SPACE
from analysis.study.axes import RUNTIME, SIZE

SPACES = ("easy", "fcfs", "conservative", "lxf_w_backfill", "lxf_w_immediate")
GANGS = ("best_fit", "buddy", "migration")
PARTITIONS = ("equi_plus", "fold_200", "processor_sharing")
FAMILY = dict.fromkeys(SPACES, SPACE) | dict.fromkeys(GANGS, GANG) | dict.fromkeys(PARTITIONS, PARTITIONING)
GRID: dict[str, Sequence[Any]] = {
    "policy": (*SPACES, *GANGS, *PARTITIONS),
    "workload": ("feitelson1996_seconds", "lublin2003"),
    "load": (0.5, 0.7, 0.8, 0.95),
    "machine": ("pe128",),
    "level": (math.nan, 2.0, 3.0, 5.0),
    "queue": ("fcfs", "backfill"),
    "switch_cost": (0, 5, 10, 20),
    "requests": ("real", "exact"),
    "speedup": ("linear", "downey", "unlimited"),
}
SLICE = 100.0
METRICS: dict[str, tuple[str, ...]] = {
    "bounded_slowdown": (), "response_time": (), "response_time_p95": (), "response_time_max": (), "wait": (),
    "wait_max": (), "utilization": (), "bounded_slowdown_by_runtime": (RUNTIME.dim,),
    "bounded_slowdown_by_size": (SIZE.dim,),
}  # fmt: skip
GROUPS = {RUNTIME.dim: ("under 1 min", "1 to 10 min", "10 to 100 min"), SIZE.dim: ("1", "2 to 4", "5 to 16")}
AHEAD = {
    "easy": 20.0, "fcfs": 100.0, "conservative": 16.0, "lxf_w_backfill": 10.0, "lxf_w_immediate": 2.4,
    "best_fit": 5.0, "buddy": 4.5, "migration": 4.0, "equi_plus": 2.0, "fold_200": 2.2,
    "processor_sharing": 1.5,
}  # fmt: skip
"""Mean bounded slowdown at a load of 0.5."""

LEVELS = {2.0: 0.8, 3.0: 0.5, 5.0: 0.3}
"""Of EASY's, with a backfilled queue."""


def allowed(at: Point) -> bool:
    """Whether the experiment has a point, as its ``exclude`` says."""
    family, bounded = FAMILY[at["policy"]], not math.isnan(at["level"])
    gang = family == GANG
    if not gang and (bounded or at["queue"] == "backfill" or at["switch_cost"]):
        return False
    if gang and (not bounded and at["queue"] == "backfill"):
        return False
    asks = at["queue"] == "backfill" if gang else family == SPACE and at["policy"] != "fcfs"
    if at["requests"] in ("exact", "f3", "f10") and not asks:
        return False
    speedups = {
        "processor_sharing": ("unlimited",),
        "equi_plus": ("linear", "downey"),
        "fold_200": ("linear", "downey"),
    }
    if at["speedup"] not in speedups.get(at["policy"], ("linear",)):
        return False
    if gang and at["switch_cost"]:
        return (
            at["policy"] == "buddy" and at["requests"] == "real" and not (bounded and at["queue"] == "fcfs")
        )
    return True


def slowdown(at: Point) -> float:
    """Return a slowdown that grows with the load, and with the cost of switches."""
    policy, steep = at["policy"], 2.0 if FAMILY[at["policy"]] == SPACE else 1.2
    base = AHEAD[policy]
    if FAMILY[policy] == GANG and not math.isnan(at["level"]):
        base = AHEAD["easy"] * LEVELS[at["level"]] * (1.5 if at["queue"] == "fcfs" else 1.0)
    if at["speedup"] == "downey":
        base *= 1.5
    if policy == "conservative" and at["workload"] == "lublin2003":
        base *= 1.6
    exact = 1.1 if at["requests"] == "exact" else 1.0
    cost = 1 + at["switch_cost"] / SLICE * 8.0 * at["load"]
    return base * exact * cost * (at["load"] / 0.5) ** steep


def truth(metric: str, at: Point) -> float:
    """Return what makes every sentence true."""
    policy, found = at["policy"], slowdown(at)
    if metric == "utilization":
        return min(at["load"], 0.97 if policy != "fcfs" else 0.72) - 0.001
    if policy == "fcfs" and at["load"] > 0.75:
        return math.nan
    if metric == "wait":
        return 0.5 if FAMILY[policy] == GANG else 100 * found
    if metric == "wait_max":
        return 1e5 if policy != "lxf_w_backfill" else 8e4
    if metric == "response_time_p95" and policy == "lxf_w_immediate":
        return 1e5
    scale = {"response_time": 600.0, "response_time_p95": 3000.0, "response_time_max": 9000.0}.get(
        metric, 1.0
    )
    if metric == "response_time" and FAMILY[policy] == GANG and at["level"] == 5.0:
        found = (0.8 if at["queue"] == "fcfs" else 0.6) * AHEAD["buddy"] * (at["load"] / 0.5) ** 1.2
    if metric in ("response_time", "bounded_slowdown", "response_time_max") and policy == "lxf_w_immediate":
        found = 1.1 * AHEAD["equi_plus"] * (at["load"] / 0.5) ** 1.2
    if metric == "bounded_slowdown_by_runtime":  # gang scheduling makes the long jobs pay
        long = GROUPS[RUNTIME.dim].index(at[RUNTIME.dim])
        return found if FAMILY[policy] != GANG else found * (0.2, 1.0, 9.0)[long]
    return found * scale


def policy(name: str) -> Mapping[str, Any]:
    """Return the parameters of a policy."""
    return {"family": FAMILY[name], **({"slice": SLICE, "switch_cost": 0} if FAMILY[name] == GANG else {})}


def saturated(at: Point) -> bool:
    """Whether a point has no mean."""
    return math.isnan(truth("bounded_slowdown", at))


MADE = Fabricated({
    "families": Experiment(
        GRID, METRICS, truth, GROUPS, exclude=lambda at: not allowed(at), saturated=saturated,
        noise=0.05, own=0.2, spread={"utilization": 0.02},
        files={"policy": policy, "workload": lambda name: {"model": "lublin2003"},
               "machine": lambda name: {"processors": 128}},
        settings={"axes": {"level": "policy.slots_limit"}},
        attrs={"families": json.dumps({GANG: 1, SPACE: 1, PARTITIONING: 1})},
        units={name: "s" for name in METRICS if name.startswith(("response_time", "wait"))},
    )
})  # fmt: skip

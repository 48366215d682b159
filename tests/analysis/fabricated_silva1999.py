"""The experiments on Concurrent Gang, fabricated so that every sentence is true."""

from typing import Any

from fabricated import Experiment, Fabricated, Point

from analysis.silva1999.labels import (
    COMMUNICATION,
    COMPUTATION,
    GANG,
    IO,
    MIXED,
    PRIORITIES,
    ROUND_ROBIN,
    STATES,
    SYNCHRONIZATION,
    UNCOORDINATED,
    WORKLOADS,
)

POLICIES = (GANG, ROUND_ROBIN, PRIORITIES, UNCOORDINATED)
CAUSES = ("communication", "io", "synchronization")
GAINS = {
    IO: (1.0, 1.08, 1.35, 1.1),
    COMPUTATION: (1.0, 1.02, 1.03, 1.03),
    COMMUNICATION: (1.0, 1.05, 1.25, 0.9),
    SYNCHRONIZATION: (1.0, 0.9, 1.25, 0.8),
}
"""Completed jobs relative to gang scheduling, in the order of `POLICIES`."""

IDLE = {
    IO: (1.0, 0.75, 0.5, 0.8),
    COMPUTATION: (1.0, 0.8, 0.75, 0.75),
    COMMUNICATION: (1.0, 0.9, 0.8, 1.2),
    SYNCHRONIZATION: (1.0, 1.2, 0.8, 1.4),
}
"""The same of the idle time."""

IDLE_SHARE, EMPTY_SHARE, SWITCHING_SHARE = 0.4, 0.3, 0.001
CAUSE_OF = {IO: "io", COMMUNICATION: "communication", SYNCHRONIZATION: "synchronization"}


def n_pes(at: Point) -> int:
    """Return how many PEs a point's machine has."""
    return (
        int(at["processors"])
        if "processors" in at
        else {"torus4x4": 16, "torus4x8": 32, "pe128": 128}[at["machine"]]
    )


def tasks(metric: str, at: Point) -> float:
    """Return what the paper says of the four workloads."""
    time = float(at.get("horizon", 20000.0))
    total = n_pes(at) * time
    number = POLICIES.index(at["policy"])
    name, gains = at["workload"], GAINS[at["workload"]]
    idle = IDLE_SHARE * IDLE[name][number] * total
    empty = min(EMPTY_SHARE * IDLE[name][number] * total, idle)
    if name == COMPUTATION:
        empty = idle
    busy = total - idle - SWITCHING_SHARE * total
    jobs = time / 100 * gains[number]
    if metric == "pe_time":
        state = at["pe_state"]
        waits = {CAUSE_OF.get(name, ""): idle - empty}
        return {"busy": busy, "switching": SWITCHING_SHARE * total, "empty": empty, **waits}.get(state, 0.0)
    if metric == "task_wait":
        return 0.5 * busy * (1 - 0.2 * number * (number < 3)) * (at["cause"] == CAUSE_OF.get(name))
    return {
        "jobs": jobs,
        "throughput": 3600 * jobs / time,
        "period": time,
        "idle_time": idle,
        "idle_time_of_tasks": 1.5 * idle,
        "utilization": busy / total,
        "local_share": 0.2 * (number in (1, 2)),
    }[metric]


KINDS = ("computation", "communication", "io", "synchronization")
CLASSES = (*KINDS, "other")


def mixed(metric: str, at: Point) -> float:
    """Let local schedulers prefer jobs that need no coordination, and I/O the more the larger alpha is."""
    kind, alpha = at["statement_class"], float(at["emphasis"])
    coordinated = kind in ("communication", "synchronization")
    if metric == "busy_of_class":
        return 0.0 if kind == "other" else 1e5
    if metric == "local_of_class":
        share = {GANG: 0.0, ROUND_ROBIN: 0.3}.get(at["policy"], 0.2 if coordinated else 0.4)
        return mixed("busy_of_class", at) * share * (1 + 0.1 * alpha * (kind == "io"))
    return 100.0 * (1.3 if at["policy"] == GANG else 1.0)


def scale(metric: str, at: Point) -> float:
    """Return a switch that costs nothing but what a central controller takes for it."""
    total = n_pes(at) * 4000.0
    share = SWITCHING_SHARE + 0.5 * float(at["central_cost"]) * n_pes(at) / 10
    if metric == "utilization":
        return 0.8 - share
    time = {"busy": 0.8 - share, "switching": share, "empty": 0.2}
    return {"jobs": 40.0, "pe_time": total * time.get(at.get("pe_state", ""), 0.0)}[metric]


SCHEMES = (
    "first_fit",
    "best_fit",
    "left_right_size",
    "left_right_slots",
    "min_max_load",
    "min_avg_load",
    "buddy",
)


def idling(metric: str, at: Point) -> float:
    """Return an idling ratio that falls with the load."""
    return 0.6 - 0.2 * at["load"] + 0.01 * SCHEMES.index(at["scheme"])


TASKS: dict[str, tuple[str, ...]] = {
    "jobs": (), "throughput": (), "period": (), "idle_time": (), "idle_time_of_tasks": (), "utilization": (),
    "local_share": (), "pe_time": ("pe_state",),
    "task_wait": ("cause",),
}  # fmt: skip
GROUPS = {"pe_state": STATES, "cause": CAUSES, "statement_class": CLASSES}
FOUR = {"policy": POLICIES, "workload": tuple(WORKLOADS), "load": (1.5,)}
ASSUMPTIONS = ("default", "alpha 1", "beta 0.1", "slice 2.5 s")
POLICY = {"family": "models.concurrent_gang", "returns": "at_once", "slice": 10.0, "alpha": 2.0, "beta": 0.5}
COMMON: dict[str, Any] = {
    "groups": GROUPS,
    "spread": {"period": 0.0},
    "files": {
        "policy": lambda one: POLICY,
        "workload": lambda one: {"model": "jann1997", "statements": {"io_time": 5.0}},
        "machine": lambda one: {"context_switch": 0.0005},
    },
    "settings": {"axes": {"horizon": "policy.horizon"}},
    "attrs": {"families": '{"models.concurrent_gang": 1}'},
}
HORIZONS = (1e4, 2e4, 3e4, 4e4)
EXPERIMENTS = {
    "concurrent_gang": Experiment(
        {**FOUR, "machine": ("torus4x4", "torus4x8"), "horizon": HORIZONS}, TASKS, tasks, **COMMON
    ),
    "concurrent_gang_mixed": Experiment(
        {
            "policy": POLICIES, "workload": (MIXED,), "load": (0.9,), "machine": ("torus4x4",),
            "emphasis": (2.0, 1.0, 4.0),
        },
        {f"{one}_of_class": ("statement_class",) for one in ("busy", "local", "response")}, mixed, **COMMON,
    ),
    "concurrent_gang_sensitivity": Experiment(
        {**FOUR, "machine": ("torus4x4",), "assumption": ASSUMPTIONS}, TASKS, tasks, **COMMON
    ),
    "concurrent_gang_scale": Experiment(
        {
            "policy": (PRIORITIES,), "workload": (COMPUTATION, SYNCHRONIZATION), "load": (1.5,),
            "machine": ("processors16",), "processors": (64, 256, 1024, 4096),
            "central_cost": (0.0, 0.0001, 0.0005, 0.002),
        },
        {"jobs": (), "utilization": (), "pe_time": ("pe_state",)}, scale, **COMMON,
    ),
    "idling_ratio": Experiment(
        {
            "policy": (GANG,), "workload": (COMPUTATION,), "load": (0.3, 0.9, 1.5),
            "machine": ("torus4x4", "pe128"), "scheme": SCHEMES,
        },
        {"idling_ratio": ()}, idling, **COMMON,
    ),
}  # fmt: skip
MADE = Fabricated(EXPERIMENTS)

"""Datasets of the Concurrent Gang experiments as a sweep writes them, made so that every sentence is true."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from analysis.silva1999.labels import (
    COMMUNICATION,
    COMPUTATION,
    GANG,
    IO,
    PRIORITIES,
    ROUND_ROBIN,
    STATES,
    SYNCHRONIZATION,
    UNCOORDINATED,
    WORKLOADS,
)

LEFT, DONE = 0, 1
Point = Mapping[str, Any]
"""Values on all axes of the grid, and pe_state or cause where a metric has them."""

Truth = Callable[[str, Point], float]
"""(metric, point) -> true mean."""

POLICIES = (GANG, ROUND_ROBIN, PRIORITIES, UNCOORDINATED)
CAUSES = ("communication", "io", "synchronization")
GAINS = {
    IO: (1.0, 1.08, 1.15, 1.1),
    COMPUTATION: (1.0, 1.02, 1.03, 1.03),
    COMMUNICATION: (1.0, 1.05, 1.1, 0.9),
    SYNCHRONIZATION: (1.0, 0.9, 1.1, 0.8),
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
        "workload_changes": 2 * jobs,
        "pes_told": 6 * jobs,
    }[metric]


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
    "local_share": (), "workload_changes": (), "pes_told": (), "pe_time": ("pe_state",),
    "task_wait": ("cause",),
}  # fmt: skip
EXACT = {"period"}
GROUPS = {"pe_state": STATES, "cause": CAUSES}
FOUR: dict[str, Sequence[Any]] = {"policy": POLICIES, "workload": tuple(WORKLOADS), "load": (1.5,)}
ASSUMPTIONS = ("default", "alpha 1", "beta 0.1", "slice 2.5 s")
EXPERIMENTS: dict[str, dict[str, Any]] = {
    "concurrent_gang": {
        "grid": {**FOUR, "machine": ("torus4x4", "torus4x8"), "horizon": (1e4, 2e4, 3e4, 4e4)},
        "metrics": TASKS,
        "truth": tasks,
    },
    "concurrent_gang_sensitivity": {
        "grid": {**FOUR, "machine": ("torus4x4",), "assumption": ASSUMPTIONS},
        "metrics": TASKS,
        "truth": tasks,
    },
    "concurrent_gang_scale": {
        "grid": {
            "policy": (PRIORITIES,), "workload": (COMPUTATION, SYNCHRONIZATION), "load": (1.5,),
            "machine": ("processors16",), "processors": (64, 256, 1024, 4096),
            "central_cost": (0.0, 0.0001, 0.0005, 0.002),
        },
        "metrics": {"jobs": (), "utilization": (), "pe_time": ("pe_state",)},
        "truth": scale,
    },
    "idling_ratio": {
        "grid": {
            "policy": (GANG,), "workload": (COMPUTATION,), "load": (0.3, 0.9, 1.5),
            "machine": ("torus4x4", "pe128"), "scheme": SCHEMES,
        },
        "metrics": {"idling_ratio": ()},
        "truth": idling,
    },
}  # fmt: skip


def dataset(
    name: str,
    *,
    truth: Truth | None = None,
    noise: float = 0.01,
    unfinished: Callable[[Point], bool] = lambda at: False,
    replications: int = 10,
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
        Relative spread of sequences of jobs, the same for all schedulers; a tenth of it for each point.
    unfinished : callable
        Point -> whether it is so.
    **axes
        Further axes, or other values on those of the experiment.
    """
    made = EXPERIMENTS[name]
    truth = truth or made["truth"]
    grid: dict[str, Sequence[Any]] = {**made["grid"], **axes}
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
    luck = random.standard_normal((len(grid["workload"]), replications))
    dims, data = (*grid, "replication"), {}
    for metric, own_dims in made["metrics"].items():
        own = tuple(len(GROUPS[dim]) for dim in own_dims)
        values = np.full((*shape, replications, 1, *own), np.nan)
        for place, at in points:
            if unfinished(at):
                continue
            for group in np.ndindex(*own):
                where = {dim: GROUPS[dim][i] for dim, i in zip(own_dims, group, strict=True)}
                chance = luck[place[1]] + 0.1 * random.standard_normal(replications)
                spread = 0.0 if metric in EXACT else noise
                values[(*place, slice(None), 0, *group)] = truth(metric, {**at, **where}) * (
                    1 + spread * chance
                )
        data[metric] = ((*dims, "batch", *own_dims), values)
    flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
    settings = {"name": name, "confidence": 0.95, "replications": replications, "batches": 1, "seed": 1}
    file = {
        "family": "models.concurrent_gang",
        "returns": "at_once",
        "slice": 10.0,
        "alpha": 2.0,
        "beta": 0.5,
    }
    config = {
        "settings": {**settings, "batch_size": None, "warmup": 0, "axes": {"horizon": "policy.horizon"}},
        "policy": dict.fromkeys(grid["policy"], file),
        "workload": {one: {"model": "jann1997", "statements": {"io_time": 5.0}} for one in grid["workload"]},
        "machine": {one: {"context_switch": 0.0005} for one in grid["machine"]},
    }
    used = {dim for own_dims in made["metrics"].values() for dim in own_dims}
    return xr.Dataset(
        {**data, "state": (dims, state, flags), "saturated": (tuple(grid), np.zeros(shape, bool))},
        coords={axis: list(values) for axis, values in grid.items()}
        | {dim: list(GROUPS[dim]) for dim in used},
        attrs={
            "title": name, "config": json.dumps(config), "headline": next(iter(made["metrics"])),
            "families": json.dumps({"models.concurrent_gang": 1}),
        },
    )  # fmt: skip

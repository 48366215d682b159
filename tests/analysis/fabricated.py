"""Datasets as the sweep writes them, made up so that it is known what an analysis must find in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

SCHEMES = (
    "first_fit",
    "best_fit",
    "left_right_size",
    "left_right_slots",
    "min_max_load",
    "min_avg_load",
    "buddy",
    "migration",
)
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97)
LEFT, DONE, FAILED, EXCLUDED = range(4)
METRICS = {
    "slowdown": "slowdown (response time / runtime)",
    "unifications": "fraction of terminations that lead to a slot unification",
    "slots_per_job": "slots in which a job runs",
    "utilization": "delivered PE time / capacity",
    "used_slots": "used slots",
}
WORKLOAD = {
    "name": "feitelson1996",
    "model": "feitelson1996",
    "size_order": 1.0,
    "emphasis": {
        "powers_of_two": 100.0,
        "squares": 10.0,
        "multiples_of_ten": 10.0,
        "full_machine": 100.0,
        "one_more": 3.0,
    },
    "long_probability_small": 0.05,
    "long_probability_full": 0.25,
    "short_mean": 1.0,
    "long_mean": 7.0,
    "run_length_order": 2.5,
    "run_length_max": 1000,
    "repetition": "feedback",
    "rerun_runtime": "same",
    "load_reference": "sequence",
}

POLICY = {
    "family": "models.gang",
    "alternation": "exclusive",
    "precedence": "arrival",
    "unification": True,
    "remapping": False,
    "job_limit": 1000,
}

SATURATION = {"min_max_load": 0.9, "min_avg_load": 0.9}
"""Lowest saturated loads where the paper is right."""

COST = {"min_max_load": 1.4, "min_avg_load": 1.5, "buddy": 0.75, "migration": 0.78}
WITHOUT_ALTERNATION = {"buddy": 2.2, "migration": 1.05}
UNIFICATIONS = {"buddy": 0.008, "migration": 0.05, "min_max_load": 0.001, "min_avg_load": 0.0008}
SLOTS = {"buddy": 2.1, "migration": 1.2, "min_max_load": 1.4, "min_avg_load": 1.35}
USED = {"migration": 0.8, "buddy": 1.1}


def truth(
    metric: str, scheme: str, load: float, alternation: str = "exclusive", unification: bool = True
) -> float:
    """Return the mean that makes every sentence of the paper true."""
    if metric == "utilization":
        return load
    if metric == "unifications":
        return UNIFICATIONS.get(scheme, 0.002) * (0.85 + 0.1 * load) * unification
    if metric == "slots_per_job":
        return 1 + (SLOTS.get(scheme, 1.7) - 1) * load * (alternation != "none")
    queueing = 0.5 * load**2 / (1.06 - load)
    if metric == "used_slots":
        return 1 + 2 * queueing * USED.get(scheme, 1.0)
    cost = COST.get(scheme, 1.0)
    if scheme == "migration" and load > 0.9:
        cost = 0.72
    if alternation == "none":
        cost *= WITHOUT_ALTERNATION.get(scheme, 1.3)
    elif alternation == "shared":
        cost *= WITHOUT_ALTERNATION.get(scheme, 1.1) ** -0.5
    return 1 + queueing * cost


def dataset(
    *,
    schemes: Sequence[str] = SCHEMES,
    loads: Sequence[float] = LOADS,
    alternations: Sequence[str] = ("none", "shared", "exclusive"),
    unifications: Sequence[bool] = (True, False),
    replications: int = 1,
    batches: int = 30,
    noise: float = 0.01,
    saturation: Mapping[str, float] | None = None,
    unfinished: Callable[[str, float], bool] = lambda scheme, load: False,
    mean: Callable[..., float] = truth,
    name: str = "packing",
    workload: str = "feitelson1996",
    features: bool = True,
    readings: Mapping[str, Sequence[Any]] | None = None,
    exclude: Callable[[Mapping[str, Any]], bool] = lambda point: False,
    seed: int = 1,
) -> xr.Dataset:
    """Fabricate a dataset by DESIGN.md's contract.

    Parameters
    ----------
    saturation : dict of str to float
        Scheme -> lowest saturated load; utilisation stays below that load from there on.
    unfinished : callable
        (scheme, load) -> whether its tasks are still to be run.
    mean : callable
        (metric, scheme, load, alternation, unification) -> true mean.
    features : bool
        Without, the dataset has no axes for them, as a trace study.
    readings : dict of str to sequence
        Further axes; they change nothing but the luck.
    exclude : callable
        Point -> whether the grid leaves it out, beside what the packing experiment excludes.
    """
    saturation = SATURATION if saturation is None else saturation
    random = np.random.default_rng(seed)
    axes: dict[str, Sequence[Any]] = {
        "policy": schemes,
        "workload": [workload],
        "load": loads,
        "machine": ["pe128"],
    }
    if features:
        axes |= {"alternation": alternations, "unification": unifications}
    axes |= readings or {}
    shape = tuple(len(values) for values in axes.values())
    # Common random numbers: much of a batch's luck is the same for all schemes.
    luck = random.standard_normal((len(loads), replications, batches))
    state = np.full((*shape, replications), EXCLUDED, np.int8)
    saturated = np.zeros(shape, bool)
    level = {metric: np.full(shape, np.nan) for metric in METRICS}
    for place in np.ndindex(*shape):
        point = {axis: values[i] for (axis, values), i in zip(axes.items(), place, strict=True)}
        scheme, load = point["policy"], point["load"]
        alternation, unification = point.get("alternation", "exclusive"), point.get("unification", True)
        if not unification and (alternation != "exclusive" or scheme == "migration"):
            continue
        if exclude(point):
            continue
        if unfinished(scheme, load):
            state[place] = LEFT
            continue
        state[place] = DONE
        full = load >= saturation.get(scheme, np.inf)
        saturated[place] = full
        for metric in METRICS:
            level[metric][place] = mean(metric, scheme, load, alternation, unification)
            if full and metric == "utilization":
                level[metric][place] = min(level[metric][place], saturation[scheme] - 0.03)
            elif full:
                level[metric][place] *= 3
    data = {}
    shared_luck = luck.reshape(1, 1, len(loads), *(1,) * (len(shape) - 3), replications, batches)
    for metric, means in level.items():
        # Utilisation is known far better than the rest: it is a time average of all PEs.
        spread = noise * (0.1 if metric == "utilization" else 1.0)
        own = random.standard_normal((*shape, replications, batches))
        data[metric] = means[..., None, None] * (1 + spread * (shared_luck + 0.5 * own))
    dims = (*axes, "replication")
    variables = {m: ((*dims, "batch"), data[m], {"units": "1", "long_name": METRICS[m]}) for m in METRICS}
    flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
    settings = {"name": name, "confidence": 0.95, "replications": replications, "batches": batches}
    settings |= {
        "batch_size": 1000,
        "warmup": 1,
        "seed": 1,
        "grid": {axis: list(v) for axis, v in axes.items()},
    }
    config = {
        "settings": settings,
        "policy": {scheme: {**POLICY, "name": scheme, "scheme": scheme} for scheme in schemes},
        "workload": {workload: {**WORKLOAD, "name": workload}},
        "machine": {"pe128": {"name": "pe128", "processors": 128}},
    }
    return xr.Dataset(
        {
            **variables,
            "state": (dims, state, flags),
            "saturated": (tuple(axes), saturated),
            "suspected": (dims, np.broadcast_to(saturated[..., None], state.shape)),
            "seconds": (dims, np.full(state.shape, 0.1)),
        },
        coords={axis: list(values) for axis, values in axes.items()},
        attrs={
            "title": name,
            "config": json.dumps(config),
            "command": f"python -m sweep +experiment={name}",
            "commit": "0" * 40,
        },
    )


def write(folder: Path, data: xr.Dataset) -> Path:
    """Write a dataset where the sweep would and return its folder."""
    results = folder / json.loads(data.attrs["config"])["settings"]["name"]
    results.mkdir(parents=True)
    data.to_netcdf(results / f"{results.name}.nc")
    return results

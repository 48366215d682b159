"""A log under several policies as the sweep writes it, made up so that it is known who wins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from models.jobs.groups import GROUPS
from models.jobs.measures import METRICS, OF_MACHINE

LEFT, DONE, FAILED, EXCLUDED = range(4)
FACTORS = {
    "fcfs": {"all": 20.0},
    "easy": {"all": 1.0},
    "copy": {"all": 1.0},
    "quick": {"all": 0.7, "under 1 min": 0.2, "10 to 100 min": 1.6, "1": 0.5},
    "slow": {"all": 1.4, "17 to 64": 3.0},
}
"""Policy -> group -> its mean wait over that under easy; `copy` is easy by another name."""

USERS = {"1": 17.0, "2": 4.0, "others": np.nan}
PRESENT = {
    "runtime_range": ("under 1 min", "1 to 10 min", "10 to 100 min"),
    "job_class": ("vst_sj", "other"),
    "size_range": ("1", "17 to 64"),
    "user_rank": tuple(USERS),
}
"""Groups that have jobs."""


def dataset(
    policies: Sequence[str] = tuple(FACTORS),
    *,
    batches: int = 40,
    declared: int = 50,
    noise: float = 0.05,
    users: bool = True,
    states: Mapping[str, int] | None = None,
    ties: Sequence[str] = ("instant",),
    name: str = "what_if",
) -> xr.Dataset:
    """Fabricate a dataset.

    Parameters
    ----------
    policies : sequence of str
    batches, declared : int
        Batches that the log has, and that were asked for.
    noise : float
        Of a policy's own; all of them share much more.
    users : bool
        Whether the log knows who submitted a job.
    states : dict of str to int
        Of policies that are not done.
    ties : sequence of str
        Values of another axis, which change nothing.
    name : str
        Of the experiment.
    """
    random = np.random.default_rng(7)
    axes = {
        "policy": list(policies),
        "workload": ["mine"],
        "load": [np.nan],
        "machine": ["log"],
        "ties": list(ties),
    }
    shape = tuple(map(len, axes.values()))
    shared = random.gamma(4.0, 0.25, batches)
    data: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    jobs = {dim: random.poisson(60, (batches, len(PRESENT[dim]))) for dim in GROUPS}
    own = random.standard_normal((len(policies), batches))
    for metric in METRICS:
        dims = (*axes, "replication", "batch", *metric.dims)
        labels = GROUPS[metric.dims[0]].labels if metric.dims else ()
        values = np.full((*shape, 1, declared, *([len(labels)] if labels else [])), np.nan)
        if metric.name in OF_MACHINE:
            values[..., :batches] = 0.6 + 0.01 * random.standard_normal(batches)
        elif metric.name == "period":
            values[..., :batches] = 1e5
        for place, group in enumerate(labels):
            dim = metric.dims[0]
            there = ("others",) if dim == "user_rank" and not users else PRESENT[dim]
            if group not in ("all", *there):
                values[..., :batches, place] = 0 if metric.name.startswith(("jobs", "work")) else np.nan
                continue
            number = jobs[dim].sum(axis=1) if group == "all" else jobs[dim][:, PRESENT[dim].index(group)]
            for row, policy in enumerate(policies):
                factor = FACTORS[policy].get(group, FACTORS[policy]["all"])
                luck = own[row] if policy != "copy" else own[list(policies).index("easy")]
                made = 3600 * factor * shared * (1 + noise * luck)
                if metric.name.startswith("jobs"):
                    made = number
                elif metric.name == "work_by_user":
                    made = number * 1e4
                elif metric.name == "user_number":
                    made = np.full(batches, USERS.get(group, np.nan))
                values[row, ..., :batches, place] = made
        data[metric.name] = (dims, values)
    tasks = (*axes, "replication")
    state = np.full((*shape, 1), DONE, np.int8)
    for policy, one in (states or {}).items():
        state[list(policies).index(policy)] = one
    flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
    settings = {"name": name, "confidence": 0.95, "batches": declared, "batch_size": 250}
    config = {
        "settings": settings,
        "policy": {
            policy: {"discipline": "backfill", "weights": {"wait": 0, "expansion": 1}} for policy in policies
        },
        "workload": {"mine": {"model": "sacct", "path": "sha256:0"}},
        "machine": {"log": {"n_pes": None}},
    }
    return xr.Dataset(
        {**data, "state": (tasks, state, flags), "saturated": (tasks, np.zeros((*shape, 1), bool))},
        coords=axes | {dim: list(group.labels) for dim, group in GROUPS.items()},
        attrs={"title": name, "config": json.dumps(config), "headline": "wait"},
    )


def write(folder: Path, data: xr.Dataset) -> Path:
    """Write a dataset where the sweep would, and return its folder."""
    results = folder / str(data.attrs["title"])
    results.mkdir(parents=True)
    data.to_netcdf(results / f"{data.attrs['title']}.nc")
    return results

"""A log under several policies as the sweep writes it, made up so that it is known who wins."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from fabricated import DONE
from omegaconf import OmegaConf

from models.backfill.metrics import METRICS, OF_JOBS
from models.jobs.measures import COMMON, Measures, declared

CONF = Path(__file__).parents[2] / "conf" / "groups"
MEASURES = Measures.of(
    {"groups": {name: OmegaConf.to_object(OmegaConf.load(CONF / f"{name}.yaml"))
                for name in ("runtime", "size", "user")}}
)  # fmt: skip
LABELS = {grouping.dim: grouping.labels for grouping in MEASURES.groups}

FACTORS = {
    "fcfs": {"all": 20.0},
    "easy": {"all": 1.0},
    "copy": {"all": 1.0},
    "quick": {"all": 0.7, "under 1 min": 0.2, "10 to 100 min": 1.6, "1": 0.5},
    "slow": {"all": 1.4, "17 to 64": 3.0},
}
"""Policy -> group -> its mean wait over that under easy; `copy` is easy by another name."""

MEANS = ("wait", "response_time", "slowdown", "bounded_slowdown", "delay")
"""Measures of jobs."""

USERS = {"1": 17.0, "2": 4.0, "others": np.nan}
PRESENT = {
    "runtime_range": ("under 1 min", "1 to 10 min", "10 to 100 min"),
    "size_range": ("1", "17 to 64"),
    "user_rank": tuple(USERS),
}
"""Groups that have jobs."""


def dataset(
    policies: Sequence[str] = tuple(FACTORS),
    *,
    batches: int = 40,
    most: int = 50,
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
    batches, most : int
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
    data: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, str]]] = {}
    jobs = {dim: random.poisson(60, (batches, len(PRESENT[dim]))) for dim in LABELS}
    own = random.standard_normal((len(policies), batches))
    for metric in (*declared(COMMON, MEASURES, OF_JOBS), *METRICS):
        dims = (*axes, "replication", "batch", *metric.dims)
        dim = metric.dims[0] if metric.dims else ""
        labels = LABELS[dim] if dim else ("all",)
        weight = {"weight": metric.weight} if metric.weight else {}
        values = np.full((*shape, 1, most, len(labels)), np.nan)
        if not dim and not (metric.name == "jobs" or metric.name.startswith(MEANS)):
            values[..., :batches, 0] = 0.6 + 0.01 * random.standard_normal(batches)
            if metric.name == "period":
                values[..., :batches, 0] = 1e5
            data[metric.name] = (dims, values[..., 0], weight)
            continue
        for place, group in enumerate(labels):
            there = ("others",) if dim == "user_rank" and not users else PRESENT.get(dim, labels)
            if group not in there:
                values[..., :batches, place] = 0 if metric.name.startswith(("jobs", "work")) else np.nan
                continue
            number = jobs[dim][:, PRESENT[dim].index(group)] if dim else jobs["runtime_range"].sum(axis=1)
            for row, policy in enumerate(policies):
                factor = FACTORS[policy].get(group, FACTORS[policy]["all"])
                luck = own[row] if policy != "copy" else own[list(policies).index("easy")]
                made = 3600 * factor * shared * (1 + noise * luck)
                if metric.name.startswith("jobs"):
                    made = number
                elif metric.name == "work_by_user":
                    made = number * 1e4
                elif metric.name == "number_by_user":
                    made = np.full(batches, USERS.get(group, np.nan))
                values[row, ..., :batches, place] = made
        data[metric.name] = (dims, values if dim else values[..., 0], weight)
    tasks = (*axes, "replication")
    state = np.full((*shape, 1), DONE, np.int8)
    for policy, one in (states or {}).items():
        state[list(policies).index(policy)] = one
    flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
    settings = {"name": name, "confidence": 0.95, "batches": most, "batch_size": 250}
    config = {
        "settings": settings,
        "policy": {
            policy: {"discipline": "backfill", "weights": {"wait": 0, "expansion": 1}} for policy in policies
        },
        "workload": {"mine": {"model": "sacct", "path": "sha256:0"}},
        "machine": {"log": {"processors": None}},
    }
    return xr.Dataset(
        {**data, "state": (tasks, state, flags), "saturated": (tuple(axes), np.zeros(shape, bool))},
        coords=axes | {dim: list(labels) for dim, labels in LABELS.items()},
        attrs={"title": name, "config": json.dumps(config), "headline": "wait"},
    )

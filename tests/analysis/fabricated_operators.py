"""A log under several policies as the sweep writes it, made up so that it is known who wins."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from fabricated import Experiment, fabricate
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
    ties : sequence of str
        Values of another axis, which change nothing.
    name : str
        Of the experiment.
    """
    random = np.random.default_rng(7)
    shared = random.gamma(4.0, 0.25, batches)
    jobs = {dim: random.poisson(60, (batches, len(PRESENT[dim]))) for dim in LABELS}
    own = random.standard_normal((len(policies), batches))
    luck = dict(zip(policies, own, strict=True))
    luck["copy"] = luck.get("easy", own[0])
    metrics = (*declared(COMMON, MEASURES, OF_JOBS), *METRICS)
    true = {}
    for metric in metrics:
        dim = metric.dims[0] if metric.dims else ""
        labels = LABELS[dim] if dim else ("all",)
        values = np.full((len(policies), 1, 1, 1, len(ties), most, len(labels)), np.nan)
        if not dim and not (metric.name == "jobs" or metric.name.startswith(MEANS)):
            of_machine = 0.6 + 0.01 * random.standard_normal(batches)
            values[..., :batches, 0] = 1e5 if metric.name == "period" else of_machine
        else:
            for place, group in enumerate(labels):
                if group not in PRESENT.get(dim, labels):
                    values[..., :batches, place] = 0 if metric.name.startswith(("jobs", "work")) else np.nan
                    continue
                number = jobs[dim][:, PRESENT[dim].index(group)] if dim else jobs["runtime_range"].sum(axis=1)
                for row, policy in enumerate(policies):
                    factor = FACTORS[policy].get(group, FACTORS[policy]["all"])
                    made = 3600 * factor * shared * (1 + noise * luck[policy])
                    if metric.name.startswith("jobs"):
                        made = number
                    elif metric.name == "work_by_user":
                        made = number * 1e4
                    elif metric.name == "number_by_user":
                        made = np.full(batches, USERS.get(group, np.nan))
                    values[row, ..., :batches, place] = made
        true[metric.name] = values if dim else values[..., 0]
    grid = {"policy": policies, "workload": ["mine"], "load": [np.nan], "machine": ["log"], "ties": ties}
    experiment = Experiment(
        grid, {metric.name: metric.dims for metric in metrics}, lambda metric, at: np.nan, LABELS,
        noise=0.0, replications=1, batches=most, settings={"batch_size": 250}, attrs={"headline": "wait"},
        weights={metric.name: metric.weight for metric in metrics if metric.weight},
        files={
            "policy": lambda one: {"discipline": "backfill", "weights": {"wait": 0, "expansion": 1}},
            "workload": lambda one: {"model": "sacct", "path": "sha256:0"},
            "machine": lambda one: {"processors": None},
        },
    )  # fmt: skip
    return fabricate(name, experiment, true=true).drop_vars(["capacity", "capacity_se", "capacity_upper"])

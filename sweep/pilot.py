"""Lengths of runs that a pilot determines: ``batches=auto``, ``warmup=auto``, and a ``budget`` of time.

A run that begins in an empty system is long enough if it is many relaxation times long
(`sweep.statistics.length`). Relaxation times are not known beforehand. So the points are first run for a
short time; if that is less than thirty relaxation times, they are run again for three times as long, because
short runs underestimate the relaxation time. The resulting lengths replace ``auto`` before the study is
planned: its identity, its dataset and a rerun contain the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console

from sweep import executors, run
from sweep.config.settings import AUTO, Config, Precision, Settings, seconds_of, shown
from sweep.errors import RunError, SweepError
from sweep.executors import Detached
from sweep.plan.data import Plan
from sweep.plan.expansion import expand
from sweep.progress import duration, say
from sweep.statistics import MIN_REPLICATIONS, length
from sweep.store.folder import Folder

if TYPE_CHECKING:
    import xarray as xr

WARMUP, RUN = 4.0, 20.0
"""Relaxation times of a warm-up and of a run; a run shorter than ten relaxation times is marked."""

FIRST, GROWTH, LONGEST = 30, 3, 270
"""Batches of the first pilot, the factor by which it grows while it is too short, and their maximum."""

TRUSTED = 30
"""Relaxation times from which a pilot's estimate of them is used: estimates from shorter pilots scatter by a
factor of two and more (five replications of packing at 0.9: 2 to 9 batches from 30, 9 to 12 from 240)."""

LOCAL = {"name": "dask"}
"""Runs the pilot where the study's executor only submits."""


class Pilot(NamedTuple):
    """The results of a pilot at each load: arrays of one length.

    loads : ascending
    relaxation : relaxation time in batches; NaN where no policy keeps up
    variance : squared coefficient of variation of a batch, the mean of all points
    seconds : for one batch of all points and replications together
    """

    loads: Sequence[float]
    relaxation: np.ndarray
    variance: np.ndarray
    seconds: np.ndarray


def settled(config: Config, folder: Folder, console: Console) -> Config:
    """Return a config whose lengths are numbers, after a pilot if some are not.

    Raises
    ------
    SweepError
        If the study cannot have a pilot, or its budget is too small for runs that are long enough.
    """
    settings = config.settings
    if AUTO not in (settings.batches, settings.warmup):
        if settings.budget is not None and not settings.tune:
            raise SweepError(
                f"budget={settings.budget} decides how long runs are: add batches=auto, or omit budget="
            )
        return config
    if not isinstance(settings.batch_size, int) or settings.precision.checkpoints is not None:
        raise SweepError(
            "batches=auto and warmup=auto need batches of a given number of jobs (batch_size=1000) and no "
            "precision.checkpoints"
        )
    budget = None if settings.budget is None else seconds_of(settings.budget)
    if settings.budget is not None and budget is None:
        raise SweepError(
            f"budget={settings.budget}: give a time on this machine, e.g. budget=10min, 90s or 2h"
        )
    found = _piloted(config, folder, console)
    if found is None:
        least: dict[str, Any] = {
            name: n for name, n in (("batches", FIRST), ("warmup", 1)) if getattr(settings, name) == AUTO
        }
        words = " ".join(f"{name}={n}" for name, n in least.items())
        say(console, f"a run begins with a pilot that sets the lengths of runs; this plan assumes {words}")
        return replace(config, settings=replace(settings, **least, budget=None))
    known = np.nan_to_num(found.relaxation, nan=0.0)
    warmup = np.maximum(np.ceil(WARMUP * known), 1)
    batches = np.maximum(np.ceil(RUN * known), FIRST)
    if budget is not None:
        batches = _within(budget, found, warmup, batches, settings)
    lengths = {"batches": _by_load(found.loads, batches), "warmup": _by_load(found.loads, warmup)}
    chosen = {name: numbers for name, numbers in lengths.items() if getattr(settings, name) == AUTO}
    words = " ".join(f"{name}={shown(numbers)}" for name, numbers in chosen.items())
    if np.isfinite(found.relaxation).any():
        least, most = (f(found.relaxation) for f in (np.nanmin, np.nanmax))
        words = f"relaxation times are {least:.1f} to {most:.1f} batches, hence {words}"
    say(console, words)
    return replace(config, settings=replace(settings, **chosen, budget=None))


def _piloted(config: Config, folder: Folder, console: Console) -> Pilot | None:
    """Run the pilot until it is long enough, and return its results; None if nothing is to be run."""
    from sweep.store import loading  # imports xarray, which plans of other studies do not need

    given = config.settings.executor
    executor = LOCAL if isinstance(executors.create(given, []), Detached) else given
    lengths: Any = FIRST
    longest = FIRST
    while True:
        there = Folder(folder.path / "pilot" / str(longest), config.settings.name)
        settings = replace(
            config.settings, output=str(there.path), action="run", batches=lengths, warmup=0,
            replications=None, precision=Precision(), schedule=None, fresh=False, replace=True, budget=None,
            executor=executor,
        )  # fmt: skip
        plan = expand(replace(config, settings=settings))
        is_endless = plan.settings.batches != 1 if plan.settings.is_program else plan.endless.any()
        if plan.deterministic is not None or not is_endless:
            what = (
                "this program returns once"
                if plan.settings.is_program
                else "these workloads end by themselves"
            )
            raise SweepError(
                f"batches=auto, warmup=auto: {what}, so there is no length to choose; give numbers"
            )
        if config.settings.action != "run" and run.read(plan, there, console).left():
            return None
        if status := run.run(plan, there, console, [], summarise=False):
            raise RunError(f"the pilot in {there.path} did not end (status {status})")
        found = _seen(loading.with_all_axes(loading.loaded(there.dataset)), plan)
        n = np.array([settings.checkpoints(load)[0] for load in found.loads])
        longer = (TRUSTED * found.relaxation > n) & (n < LONGEST)
        if not longer.any():
            return found
        grown = np.where(longer, np.minimum(GROWTH * n, LONGEST), n)
        lengths, longest = _by_load(found.loads, grown), int(grown.max())
        say(console, f"the pilot was too short; running it again with batches={shown(lengths)}")


def _seen(data: xr.Dataset, plan: Plan) -> Pilot:
    metric = plan.metrics[plan.headline]
    inner = [dim for dim in metric.dims if dim in data.dims]
    values = data[metric.name].where(~data["saturated"].astype(bool))
    values = values.isel(dict.fromkeys(inner, 0))
    values = values.transpose("load", ..., "replication", "batch")
    n_loads, n_batches = values.sizes["load"], values.sizes["batch"]
    points = values.values.reshape(n_loads, -1, values.sizes["replication"], n_batches)
    counts = (~np.isnan(points)).sum(axis=(2, 3), keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(points, axis=(2, 3), keepdims=True) / counts
        spread = np.sqrt(np.nansum((points - mean) ** 2, axis=(2, 3), keepdims=True) / counts)
        relaxation = length.relaxation_time(points)
        varies = np.where(counts[:, :, 0, 0] > 1, (spread / mean)[:, :, 0, 0] ** 2, np.nan)
        n_points = np.maximum((~np.isnan(varies)).sum(axis=1), 1)
        variance = np.nansum(varies, axis=1) / n_points
    # The same rule marks points as too short: the median of all policies, and no less than at lower loads.
    of_loads = [np.nanmedian(row) if np.isfinite(row).any() else np.nan for row in relaxation]
    seconds = data["seconds"].transpose("load", ...).values.reshape(n_loads, -1)
    ran = np.array([plan.settings.checkpoints(load)[0] for load in data["load"].values.tolist()])
    of_a_batch = np.nansum(seconds, axis=1) / plan.replications / ran
    return Pilot(data["load"].values.tolist(), np.fmax.accumulate(np.array(of_loads)), variance, of_a_batch)


def _within(
    budget: float, found: Pilot, warmup: np.ndarray, least: np.ndarray, settings: Settings
) -> np.ndarray:
    """Return numbers of batches that use the budget with the least sum of squared relative errors.

    A mean of n batches has a relative variance of v / n, and they take c n seconds: the sum over loads is
    least where n is proportional to the root of v / c, and no run is shorter than long enough.
    """
    executor = executors.create(settings.executor, [])
    if isinstance(executor, Detached):
        raise SweepError(f"budget={settings.budget} goes with executors that run here, e.g. executor=dask")
    replications = MIN_REPLICATIONS if settings.replications is None else settings.replications
    cost = found.seconds * replications / executor.workers
    needed = float((cost * (warmup + least)).sum())
    if needed > budget:
        raise SweepError(
            f"budget={settings.budget}: runs that are long enough take {duration(needed)}; give more time, "
            "fewer loads, or replications=5"
        )
    relaxation = np.nan_to_num(found.relaxation, nan=0.5)
    weight = np.sqrt(found.variance * 2 * relaxation / np.maximum(found.seconds, 1e-9))
    low, high = 0.0, 1.0
    batches = least
    while (cost * (warmup + np.maximum(least, high * weight))).sum() < budget and high < 1e12:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        tried = np.maximum(least, np.floor(middle * weight))
        fits = (cost * (warmup + tried)).sum() <= budget
        batches, low, high = (tried, middle, high) if fits else (batches, low, middle)
    return batches


def _by_load(loads: Sequence[Any], numbers: np.ndarray) -> Any:
    """Return numbers by load in the form of a setting; one number if all are equal."""
    whole = [int(number) for number in numbers]
    if len(set(whole)) == 1:
        return whole[0]
    kept: Mapping[float, int] = {
        (0 if i == 0 else load): number
        for i, (load, number) in enumerate(sorted(zip(loads, whole, strict=True)))
        if i == 0 or number != whole[i - 1]
    }
    return dict(kept)

"""The papers' studies, fabricated once a session, with their verdicts and figures."""

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import yaml  # type: ignore[import-untyped] # types only by another package
from fabricated import Change, Fabricated, change, packing
from matplotlib.figure import Figure

from analysis.claims import Claim
from analysis.errors import DrawingError
from analysis.figures import style
from analysis.paper import Paper
from analysis.study import Study

KEYS = ("feitelson1996", "mccann1994", "chiang2001", "silva1999", "jette1997")
LOADS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97)
PACKING = Fabricated({"packing": packing(loads=LOADS, noise=0.002, replications=6, batches=8)})
"""In which all is clear."""


def paper(key: str) -> Paper:
    """Return a paper."""
    return import_module(f"analysis.{key}").PAPER


def made(key: str) -> Fabricated:
    """Return the fabricated experiments of a paper."""
    return PACKING if key == KEYS[0] else import_module(f"fabricated_{key}").MADE


EXPERIMENTS = [(key, name) for key in KEYS for name in made(key).experiments]


@cache
def false(key: str) -> dict[str, dict[str, Change]]:
    """Return experiment -> claim -> what makes it false: the rows of ``false/KEY.yaml``, see `change`."""
    found = yaml.safe_load((Path(__file__).parent / "false" / f"{key}.yaml").read_text())
    return {name: {claim: change(**row) for claim, row in rows.items()} for name, rows in found.items()}


def of(key: str, data: xr.Dataset, **reading: str) -> Study:
    """Return the study of a dataset as its paper sees it."""
    axes = paper(key).axes
    return Study(data, Path("results") / data.attrs["title"], reading, axes=axes).under(axes)


def study(key: str, name: str, **changed: Any) -> Study:
    """Return a fabricated study, see `Fabricated.dataset`."""
    return of(key, made(key).dataset(name, **changed))


@cache
def true(key: str, name: str) -> Study:
    """Return the study in which every sentence is true."""
    return of(key, made(key).true(name))


def verdicts(key: str, found: Study) -> dict[str, str]:
    """Return the verdict on each claim, under the first reading."""
    return {claim.id.removeprefix(f"{key}-"): claim.verdict for claim in claims(key, found)}


def claims(key: str, found: Study) -> Sequence[Claim]:
    """Return the claims under the first reading."""
    return paper(key).claims(found.readings["A"])


def drawn(key: str, found: Study, *names: str, render: bool = False) -> dict[str, Figure]:
    """Return the figures that can be drawn, or the named ones among them, by name.

    With `render` they are drawn to the end, without the layout that takes most of the time.
    """
    figures = {}
    with style.styled():
        for picture in paper(key).pictures(found, None):
            if names and picture.name not in names:
                continue
            try:
                figures[picture.name] = picture.draw()
            except DrawingError:
                continue
            if render:
                figures[picture.name].set_layout_engine(None)
                figures[picture.name].draw_without_rendering()
    return figures


@cache
def figures(key: str, name: str) -> dict[str, Figure]:
    """Return the figures of the study in which every sentence is true."""
    return drawn(key, true(key, name), render=True)


SUMS = ("jobs", "work", "runtime", "delivered", "ended")
"""Ends of the names of counts and sums, which are 0 without jobs."""

KEPT = ("load", "jobs", "workload", "machine", "horizon", "processors", "replication", "batch")
"""Axes along which policies and their settings are compared, not axes of policies."""


def _with(key: str, name: str, change: Callable[[str, np.ndarray, tuple[int, ...]], np.ndarray]) -> Study:
    """Return a study with other values; `change` gets the axes of policies and of their settings."""
    data, declared = made(key).true(name).copy(), made(key).experiments[name]
    for metric, found in data.data_vars.items():
        if metric in declared.metrics or str(metric).startswith("capacity"):
            axes = [i for i, dim in enumerate(found.dims) if dim in declared.grid and dim not in KEPT]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # points that a grid leaves out
                values = change(str(metric), found.values, tuple(axes))
            data[metric] = found.copy(data=np.where(np.isfinite(found.values), values, np.nan))
    return of(key, data.assign(saturated=data["saturated"] & False))


def alike(key: str, name: str) -> Study:
    """Return a study whose policies, and their settings, are all alike."""
    return _with(key, name, lambda _, values, axes: np.nanmean(values, axes, keepdims=True))


def turned(key: str, name: str) -> Study:
    """Return a study whose policies, and their settings, are in the opposite order."""

    def turn(_: str, values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        return np.nanmin(values, axes, keepdims=True) + np.nanmax(values, axes, keepdims=True) - values

    return _with(key, name, turn)


def without_jobs(key: str, name: str) -> Study:
    """Return a study in which no job was measured: counts and sums are 0, means have no value."""
    return _with(key, name, lambda metric, *_: 0.0 if metric.partition("_by_")[0].endswith(SUMS) else np.nan)

"""The points of a plot: their estimates, what became of them, and a table of all that is seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.explorer import choice as chosen
from analysis.explorer.choice import Choice
from analysis.figures.load_plot import Line
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED, FAILED, SATURATED, UNFINISHED, Curve
from analysis.study.study import state_names
from sweep.statistics import MIN_REPLICATIONS


@dataclass(frozen=True)
class Spot:
    """A point of the plot.

    Parameters
    ----------
    line, value : str
        Its line, and its value on the axis.
    x : float
        Where it stands on the axis.
    mean, half_width : float
        In the metric's own unit, or a ratio; NaN where there is none.
    status : str
        `analysis.study.curve.DONE` and the like.
    done, of : int
        Replications that are done, and that there will be.
    doubtful : int
        Replications that look saturated, at a point that is not.
    exact : bool
        It was solved, without chance.
    place : dict of str to str
        Every axis with its value.
    """

    line: str
    value: str
    x: float
    mean: float
    half_width: float
    status: str
    done: int
    of: int
    doubtful: int
    exact: bool
    place: dict[str, str]

    @property
    def is_drawn(self) -> bool:
        """Whether there is a mean to be drawn."""
        return math.isfinite(self.mean)

    @property
    def is_solid(self) -> bool:
        """Whether nothing is to be said against it."""
        return self.is_drawn and math.isfinite(self.half_width) and self.status == DONE and not self.doubtful

    @property
    def remark(self) -> str:
        """What a reader has to know of it, in words; empty where there is nothing."""
        if self.status == SATURATED:
            return "saturated: the policy does not keep up with the load, so that there is no mean"
        if self.status == FAILED:
            return "failed: a replication raised an error; action=status shows it"
        if self.status == UNFINISHED:
            return f"not finished: {self.done} of {self.of} replications are done"
        if self.doubtful:
            return f"doubtful: {self.doubtful} of {self.of} replications look saturated"
        if not self.is_drawn:
            return "no such jobs"
        if not math.isfinite(self.half_width):
            return (
                f"interval withheld: fewer than {MIN_REPLICATIONS} replications, and too few batches to judge"
            )
        return "exact: solved, not simulated" if self.exact else ""


def spots(study: Study, choice: Choice) -> list[Spot]:
    """Return the points of all lines, line by line along the axis; those that the grid has not are left out.

    Where one axis is both, each of its values is a line of one point.
    """
    if choice.lines == choice.along:
        found = [replace(spot, line=spot.value) for spot in _of_line(study, choice, choice.shown[0])]
    else:
        found = [spot for line in choice.shown for spot in _of_line(study, choice, line)]
    return [spot for spot in found if spot.status != EXCLUDED and spot.line in choice.shown]


def _of_line(study: Study, choice: Choice, line: str) -> Iterator[Spot]:
    along = chosen.values(study, choice.along)
    curve = _curve(study, choice, line, along)
    found = Line.of(curve)
    if choice.reference:
        found = Line.ratio(curve, _curve(study, choice, line, along, choice.reference))
    states = state_names(study.data["state"])
    for i, value in enumerate(along):
        place = chosen.place(study, choice, line, value)
        at = {axis: study.values_of(axis).index(place[axis]) for axis in map(str, study.status.dims)}
        mean, half = float(found.mean[i]), float(found.half_width[i])
        yield Spot(
            line, value, float(curve.x[i]), mean, half, curve.status[i],
            int((states.isel(at) == "done").sum()), int(study.data.sizes["replication"]),
            curve.doubtful[i] if curve.doubtful else 0, bool(study.exact.isel(at)), place,
        )  # fmt: skip


def _curve(study: Study, choice: Choice, line: str, along: Sequence[str], policy: str = "") -> Curve:
    """Return the samples of a line at all values of the axis, of another policy in these places if asked."""
    places = [chosen.place(study, choice, line, value) for value in along]
    if policy:
        places = [{**place, "policy": policy} for place in places]
    if chosen.is_scale(study, choice.along):
        return _along(study, choice.metric, choice.along, places[0])
    parts = [_at(study, choice.metric, place) for place in places]
    return Curve(
        np.arange(len(parts), dtype=float),
        np.stack([part.values[0] for part in parts]),
        tuple(part.status[0] for part in parts),
        study.confidence,
        choice.along,
        all(part.exact for part in parts),
        tuple(part.doubtful[0] if part.doubtful else 0 for part in parts),
    )


def _along(study: Study, metric: str, along: str, place: dict[str, str]) -> Curve:
    rest = {axis: value for axis, value in place.items() if axis not in (along, "policy")}
    return study.curve(metric, place["policy"], along=along, **rest)


def _at(study: Study, metric: str, place: dict[str, str]) -> Curve:
    """Return the samples of one point, as a curve of it."""
    curve = _along(study, metric, "load", place)
    kept = np.zeros(len(curve.x), bool)
    kept[chosen.values(study, "load").index(place["load"])] = True
    return curve.part(kept)


def table(study: Study, choice: Choice, found: Sequence[Spot]) -> pd.DataFrame:
    """Return what is seen, one row a point, in the metric's own unit.

    Returns
    -------
    DataFrame
        The axes, ``metric``, ``unit``, ``relative_to``, ``mean``, ``half_width``, ``low``, ``high``,
        ``confidence``, ``status``, ``replications_done``, ``replications``, ``doubtful_replications``,
        ``seed``; a saturated point has no mean.
    """
    unit = "1" if choice.reference else str(study.data[choice.metric].attrs.get("units", "1"))
    rows = [
        {
            **spot.place,
            "metric": choice.metric,
            "unit": unit,
            "relative_to": choice.reference,
            "mean": spot.mean,
            "half_width": spot.half_width,
            "low": spot.mean - spot.half_width,
            "high": spot.mean + spot.half_width,
            "confidence": study.confidence,
            "status": spot.status,
            "replications_done": spot.done,
            "replications": spot.of,
            "doubtful_replications": spot.doubtful,
            "seed": study.settings.get("seed", ""),
        }
        for spot in found
    ]
    return pd.DataFrame(rows)

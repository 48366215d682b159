"""What the readings of the paper change: curves, ranks and verdicts side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.claims.comparisons import AxisRange, listed
from analysis.errors import DrawingError
from analysis.feitelson1996.claims import claims
from analysis.feitelson1996.figures.curves import SLOWDOWN_RANGE
from analysis.feitelson1996.labels import KEY, SLOWDOWN
from analysis.figures import load_plot, style, verdict_map
from analysis.figures.load_plot import Line, LoadPlot, bars
from analysis.figures.policies import look
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import EXCLUDED, Curve
from sweep import statistics

COLUMNS = 4
"""Panels side by side."""

RANKED_AT = AxisRange("the highest loads (0.85 to 0.95)", 0.85, 0.95)


def pictures(study: Study) -> Iterator[Picture]:
    """Yield comparisons of the readings, if the study has several."""
    if len(study.readings) < 2:
        return
    yield Picture(
        "readings-slowdown",
        "Slowdown under each reading",
        "Fig. 8 under every reading of the paper that this experiment tries. " + bars(study),
        partial(_multiples, study),
    )
    yield Picture(
        "readings-ranks",
        "Schemes under each reading",
        "Slowdown relative to the mean of all schemes, averaged over the loads from 0.85 up "
        "at which all of them are stable, with intervals from paired batches. Left of the line is better "
        "than average. Schemes that saturate there are left out.",
        partial(_ranks, study),
    )
    yield Picture(
        "readings-verdicts",
        "Verdicts under each reading",
        f"Every claim of the paper, tested under every reading. {_key(study)}",
        partial(_verdicts, study),
        with_claims=True,
    )


def _key(study: Study) -> str:
    return "; ".join(f"{letter}: {one.title}" for letter, one in study.readings.items()) + "."


def _multiples(study: Study) -> Figure:
    plots = []
    for letter, one in study.readings.items():
        curves = {policy: one.curve(SLOWDOWN, policy) for policy in one.policies}
        there = {policy: curve for policy, curve in curves.items() if not curve.where(EXCLUDED).all()}
        lines = {policy: Line.of(curve) for policy, curve in there.items()}
        plots.append(LoadPlot(lines, "Mean slowdown", f"{letter}: {one.title}", SLOWDOWN_RANGE))
    return load_plot.draw_panels(plots, "Slowdown under each reading", min(COLUMNS, len(plots)))


def _ranks(study: Study) -> Figure:
    found = {letter: _Ranked.of(one) for letter, one in study.readings.items()}
    if not any(one.loads.size for one in found.values()):
        raise DrawingError("under no reading two schemes are finished and stable at a load from 0.85 up")
    figure = Figure(figsize=(7.4, 0.34 * len(found) + 1.5), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    for row, one in enumerate(found.values()):
        _draw_ranks(axes, row, one)
    axes.set_ylim(len(found) - 0.5, -0.5)
    at = {letter: listed("load", one.loads) for letter, one in found.items() if one.loads.size}
    several = len(set(at.values())) > 1
    own = {letter: f" (at {wording})" for letter, wording in at.items() if several}
    names = [
        textwrap.fill(f"{letter}: {one.title}{own.get(letter, '')}", 42)
        for letter, one in study.readings.items()
    ]
    axes.set_yticks(range(len(found)), names, fontsize=7)
    loads = "the loads named" if several else next(iter(at.values()))
    axes.set_xlabel(f"Slowdown / mean slowdown of all schemes, at {loads}")
    axes.grid(visible=False, axis="y")
    shown = [policy for policy in study.policies if any(policy in one.curves for one in found.values())]
    handles = load_plot.legend_handles(dict.fromkeys(shown, _NO_LINE))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    lost = [
        f"{letter}: {', '.join(look(policy).label for policy in one.lost)}"
        for letter, one in found.items()
        if one.loads.size and one.lost
    ]
    if lost:
        style.put_note(
            figure, textwrap.fill(f"Left out, as saturated or not finished there: {'; '.join(lost)}.", 110)
        )
    return figure


_NOWHERE, _NEVER = np.full(1, np.nan), np.zeros(1, bool)
_NO_LINE = Line(_NOWHERE, _NOWHERE, _NOWHERE, _NEVER, _NEVER)


@dataclass(frozen=True)
class _Ranked:
    """What can be ranked under one reading.

    Parameters
    ----------
    curves : dict of str to Curve
        Of schemes that are finished and stable at some of the loads; none where nothing is ranked.
    loads : ndarray
        At which they are compared.
    lost : tuple of str
        The other schemes that this reading has.
    reason : str
        Why nothing is ranked.
    """

    confidence: float
    curves: Mapping[str, Curve]
    loads: np.ndarray
    lost: tuple[str, ...]
    reason: str

    @classmethod
    def of(cls, study: Study) -> _Ranked:
        """Choose the schemes and the loads of a study of one reading."""
        every = {policy: study.curve(SLOWDOWN, policy) for policy in study.policies}
        every = {policy: curve for policy, curve in every.items() if not curve.where(EXCLUDED).all()}
        reasons = {policy: _reason(curve) for policy, curve in every.items()}
        sound = {policy: curve for policy, curve in every.items() if not reasons[policy]}
        lost = tuple(policy for policy in every if policy not in sound)
        loads, reason = np.zeros(0), ""
        if len(sound) > 1:
            loads, reason = RANKED_AT.choose(list(sound.values()))[0], _reason(*sound.values())
        elif sound:
            reason = f"only {look(next(iter(sound))).label} {'is stable there' if lost else 'was run'}"
        else:
            reason = next(iter(reasons.values()), "not run")
        return cls(study.confidence, {} if reason else sound, loads, lost, reason)


def _reason(*curves: Curve) -> str:
    """Return in few words why curves cannot be compared at the highest loads; empty if they can."""
    inside = curves[0].x >= RANKED_AT.low - 1e-9
    if all(curve.where(EXCLUDED)[inside].all() for curve in curves):
        return f"not run at a load from {RANKED_AT.low:g} up"
    return RANKED_AT.choose(curves)[1].replace(f" at {RANKED_AT.name}", "")


def _draw_ranks(axes: Axes, row: int, ranked: _Ranked) -> None:
    """Draw the schemes of one reading into a row, or say why there are none."""
    if ranked.reason:
        place = axes.get_yaxis_transform()
        axes.text(
            0.5, row, ranked.reason, fontsize=7, color="#666666", ha="center", va="center", transform=place,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )  # fmt: skip
        return
    values = {policy: curve.over(ranked.loads) for policy, curve in ranked.curves.items()}
    average = np.mean(list(values.values()), axis=0)
    for number, (policy, mine) in enumerate(values.items()):
        found = statistics.paired_ratio(mine, average, ranked.confidence)
        sign, y = look(policy), row + 0.09 * (number - (len(values) - 1) / 2)
        half = None if np.isnan(found.half_width) else found.half_width
        axes.errorbar(found.mean, y, xerr=half, fmt=sign.marker, color=sign.color, ms=4, elinewidth=0.9)


def _verdicts(study: Study) -> Figure:
    found = verdict_map.verdicts(study.readings, claims, KEY)
    return verdict_map.draw(found, list(study.readings))

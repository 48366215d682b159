"""What the readings of the paper change: curves, ranks and verdicts side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.claims import VERDICTS
from analysis.claims.comparisons import AxisRange
from analysis.errors import DrawingError
from analysis.feitelson1996.claims import claims
from analysis.feitelson1996.figures.curves import SLOWDOWN_RANGE
from analysis.feitelson1996.labels import KEY, SLOWDOWN
from analysis.figures import load_plot, style
from analysis.figures.load_plot import Line, LoadPlot, bars
from analysis.figures.policies import look
from analysis.figures.style import VERDICT_COLORS, VERDICT_SIGNS
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import EXCLUDED
from sweep import statistics

COLUMNS = 4
"""Panels side by side."""

RANKED_AT = AxisRange("the two highest loads from 0.85 up", 0.85, highest=2)


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
        "Slowdown relative to the mean of all schemes, averaged over the highest two loads from 0.85 up "
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
    readings = study.readings
    n_columns = min(COLUMNS, len(readings))
    n_rows = -(-len(readings) // n_columns)
    figure = Figure(figsize=(7.4, (7.6 / n_columns) * n_rows + 0.9), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    lines: dict[str, Line] = {}
    drawn: list[Line] = []
    for axes, (letter, one) in zip(panels, readings.items(), strict=False):
        curves = {policy: one.curve(SLOWDOWN, policy) for policy in one.policies}
        lines = {
            policy: Line.of(curve) for policy, curve in curves.items() if not curve.where(EXCLUDED).all()
        }
        drawn += lines.values()
        # So small a panel has no room for counts.
        load_plot.draw_lines(axes, LoadPlot(lines, "", "", SLOWDOWN_RANGE, counted=False), tick=0.2)
        axes.set_title(textwrap.fill(f"{letter}: {one.title}", 30), fontsize=7, fontweight="normal")
        axes.set(xlabel="", ylabel="")
    for axes in panels[len(readings) :]:
        axes.set_visible(False)
    figure.supxlabel("Offered load (fraction of capacity)", fontsize=9)
    figure.supylabel("Mean slowdown", fontsize=9)
    schemes = load_plot.legend_handles(dict.fromkeys(lines, _NO_LINE))
    handles = schemes + load_plot.special_signs(drawn)
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def _ranks(study: Study) -> Figure:
    readings = study.readings
    figure = Figure(figsize=(7.4, 0.3 * len(readings) + 1.3), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    shown = [_draw_ranks(axes, row, one) for row, one in enumerate(readings.values())]
    if not any(shown):
        raise DrawingError("under no reading two schemes are finished and stable at a load from 0.85 up")
    axes.set_ylim(len(readings) - 0.5, -0.5)
    names = [textwrap.fill(f"{letter}: {one.title}", 42) for letter, one in readings.items()]
    axes.set_yticks(range(len(readings)), names, fontsize=7)
    axes.set_xlabel("Slowdown / mean slowdown of all schemes")
    axes.grid(visible=False, axis="y")
    handles = load_plot.legend_handles(dict.fromkeys(study.policies, _NO_LINE))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


_NOWHERE, _NEVER = np.full(1, np.nan), np.zeros(1, bool)
_NO_LINE = Line(_NOWHERE, _NOWHERE, _NOWHERE, _NEVER, _NEVER)


def _draw_ranks(axes: Axes, row: int, study: Study) -> bool:
    """Draw the schemes of one reading into a row; tell whether there were any."""
    curves = {policy: study.curve(SLOWDOWN, policy) for policy in study.policies}
    sound = {p: c for p, c in curves.items() if not RANKED_AT.choose([c])[1]}
    loads, reason = (
        RANKED_AT.choose(list(sound.values())) if len(sound) > 1 else (np.zeros(0), "too few schemes")
    )
    if reason:
        return False
    values = {policy: curve.over(loads) for policy, curve in sound.items()}
    average = np.mean(list(values.values()), axis=0)
    for number, (policy, mine) in enumerate(values.items()):
        found = statistics.paired_ratio(mine, average, study.confidence)
        style, y = look(policy), row + 0.09 * (number - (len(values) - 1) / 2)
        half = None if np.isnan(found.half_width) else found.half_width
        axes.errorbar(found.mean, y, xerr=half, fmt=style.marker, color=style.color, ms=4, elinewidth=0.9)
    return True


def _verdicts(study: Study) -> Figure:
    readings = study.readings
    table = [{claim.id: claim.verdict for claim in claims(one)} for one in readings.values()]
    ids = list(table[0])
    figure = Figure(figsize=(min(7.4, 3.2 + 0.5 * len(readings)), 0.2 * len(ids) + 0.8), layout="constrained")
    axes = figure.subplots()
    signs = [
        (column, row, verdicts[name]) for column, verdicts in enumerate(table) for row, name in enumerate(ids)
    ]
    for verdict in VERDICTS:
        # Markers: a box around the sign would be as wide as the sign.
        places = np.array([(x, y) for x, y, said in signs if said == verdict]).reshape(-1, 2)
        axes.plot(*places.T, "s", ms=10, color=VERDICT_COLORS[verdict], mec="none")
    for column, row, verdict in signs:
        axes.text(
            column,
            row,
            VERDICT_SIGNS[verdict],
            ha="center",
            va="center_baseline",
            fontsize=8,
            fontweight="bold",
            color="white",
        )
    axes.set_xlim(-0.5, len(readings) - 0.5)
    axes.set_ylim(len(ids) - 0.5, -0.5)
    axes.set_yticks(range(len(ids)), [name.removeprefix(f"{KEY}-") for name in ids], fontsize=7.5)
    axes.set_xticks(range(len(readings)), list(readings), fontsize=9)
    axes.xaxis.tick_top()
    style.bare(axes)
    key = ", ".join(f"{VERDICT_SIGNS[verdict]} {verdict}" for verdict in VERDICTS)
    figure.supxlabel(key, fontsize=8, color="#444444")
    return figure

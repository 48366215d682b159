"""Figs. 8 and 10 to 13, further curves that the paper does not show, and the effect of its readings."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.feitelson1996 import labels
from analysis.feitelson1996.claims import claims
from analysis.figures import load_plot, verdict_map
from analysis.figures.captions import captioned
from analysis.figures.load_plot import Line, LoadPlot, bars
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import SATURATED, Curve

SLOWDOWN_RANGE = (1.0, 12.0)
"""From the least that a slowdown can be to a little beyond the upper end of Figs. 8, 12 and 13, 10."""

TICKS = range(1, 13)

REFERENCE = "best_fit"
"""The scheme to which the others are compared: the best of the simple ones according to the conclusions."""

RELATIVE = (
    " Right: each scheme's slowdown relative to best fit's, from paired batches under the same sequence of "
    "jobs; variation that all schemes have in common cancels, so small differences become visible."
)

FOOTNOTE_5 = "Migration is not plotted: without unifications it would not be migration (paper, footnote 5)."

PERCENT = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Ticks of unifications, whose axis is logarithmic: migration has ten times as many as the others."""

SUSTAINED = (90.0, 95.0)
"""Utilizations of section 4.2, percent."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures that are curves over the load, as far as the grid has their points."""
    no_unification, no_alternation = (
        off in study.values_of(axis) for axis, off in (("unification", "false"), ("alternation", "none"))
    )
    drawn = {"fig8": _slowdown, "fig10": _unifications, "fig11": _slots}
    if no_unification:
        off = {"unification": "false"}
        drawn["fig12"] = partial(_slowdown, features=off, without=("migration",), note=FOOTNOTE_5)
    if no_alternation and study.usual()["alternation"] != "none":
        drawn["fig13"] = partial(_slowdown, features={"alternation": "none"})
    drawn |= {"utilization": _utilization, "used-slots": _used_slots}
    relative = RELATIVE if REFERENCE in study.policies else ""
    return captioned(labels.KEY, study, drawn, relative=relative, footnote=FOOTNOTE_5)


def _curves(
    study: Study, metric: str, features: dict[str, str] | None = None, without: Sequence[str] = ()
) -> dict[str, Curve]:
    policies = [policy for policy in study.policies if policy not in without]
    curves = study.curves(metric, policies, **features or {})
    if not curves:
        raise DrawingError("this grid lacks the figure's points")
    return curves


def _slowdown(
    study: Study, features: dict[str, str] | None = None, without: Sequence[str] = (), note: str = ""
) -> Figure:
    """Draw slowdowns, and beside them their ratios to the reference."""
    curves = _curves(study, labels.SLOWDOWN, features, without)
    lines = {policy: Line.of(curve) for policy, curve in curves.items()}
    note = f"{note}\n{bars(study)}" if note else bars(study)
    limits = _range(lines)
    ticks = [tick for tick in TICKS if tick <= limits[1]]
    plots = [LoadPlot(lines, labels.YLABELS[labels.SLOWDOWN], "Slowdown", limits, note, yticks=ticks)]
    if REFERENCE in curves:
        ratios = {policy: Line.ratio(curve, curves[REFERENCE]) for policy, curve in curves.items()}
        if any(line.drawn.any() for policy, line in ratios.items() if policy != REFERENCE):
            label = "Slowdown / slowdown of best fit"
            plots.append(LoadPlot(ratios, label, "Relative to best fit", note=note))
    return load_plot.draw(*plots)


def _range(lines: dict[str, Line]) -> tuple[float, float]:
    """Return the paper's range of slowdowns, or a smaller one where all points and bars stay far below."""
    low, high = SLOWDOWN_RANGE
    drawn = [line for line in lines.values() if line.drawn.any()]
    highest = max((float(line.mean[line.drawn].max()) for line in drawn), default=high)
    ends = [np.fmax(line.mean, line.high)[line.drawn & (line.mean <= high)] for line in drawn]
    reach = max((float(end.max()) for end in ends if end.size), default=high)
    return low, min(high, max(4.0, 1.1 * highest, 1.02 * reach))


def _unifications(study: Study) -> Figure:
    lines = {policy: Line.of(curve) for policy, curve in _curves(study, labels.UNIFICATIONS).items()}
    means = np.concatenate([100 * line.mean[line.drawn & (line.mean > 0)] for line in lines.values()])
    low, high = (0.8 * means.min(), 1.5 * means.max()) if means.size else (PERCENT[0], PERCENT[-1])
    ticks = [tick for tick in PERCENT if low <= tick <= high]
    return load_plot.draw(
        LoadPlot(
            lines, labels.YLABELS[labels.UNIFICATIONS], "Slot unifications", (low, high), bars(study),
            scale=100, yscale="log", yticks=ticks,
        )
    )  # fmt: skip


def _slots(study: Study) -> Figure:
    titles = {
        labels.SLOTS_PER_JOB: "Slots per job, over job-time",
        labels.SLOTS_OVER_JOBS: "Slots per job, over jobs",
    }
    metrics = [metric for metric in titles if metric in study.data]
    plots = []
    for metric in metrics:
        lines = {policy: Line.of(curve) for policy, curve in _curves(study, metric).items()}
        top = None if any(line.drawn.any() for line in lines.values()) else 2.0
        plots.append(LoadPlot(lines, labels.YLABELS[metric], titles[metric], (1.0, top), bars(study)))
    if not plots:
        raise DrawingError("the dataset has no slots per job")
    return load_plot.draw(*plots)


def _utilization(study: Study) -> Figure:
    curves = _curves(study, labels.UTILIZATION)
    upper = {policy: curve.part(curve.x >= FROM_LOAD) for policy, curve in curves.items()}
    if any((curve.shown | curve.where(SATURATED)).any() for curve in upper.values()):
        curves = upper
    offered = _offered(list(curves.values()))
    lines = {policy: Line.delivered(curve, offered) for policy, curve in curves.items()}
    highest = max(
        (100 * line.mean[line.drawn].max() for line in lines.values() if line.drawn.any()), default=0
    )
    top = max(HEADROOM, 1.2 * highest)
    figure = load_plot.draw(
        LoadPlot(
            lines, labels.YLABELS[labels.UTILIZATION], "Utilization, delivered minus offered",
            (None, top), bars(study), scale=100,
        )
    )  # fmt: skip
    axes = figure.axes[-1]
    limits = axes.get_xlim(), axes.get_ylim()
    axes.axhline(0, color="#888888", linewidth=0.8, linestyle=(0, (5, 3)), zorder=1)
    _annotate(axes, "offered load", (limits[0][1], 0.0), "right")
    loads = np.array(limits[0])
    for threshold in SUSTAINED:
        axes.plot(
            loads, threshold - 100 * loads, color="#888888", linewidth=0.8, linestyle=(0, (2, 2)), zorder=1
        )
        _annotate(axes, f"  {threshold:g} %", ((threshold - top) / 100, top), "left", -9)
    axes.set(xlim=limits[0], ylim=limits[1])
    return figure


def _offered(curves: Sequence[Curve]) -> np.ndarray:
    """Return the load that the same jobs offered in each run, shape (n_loads, replications, batches).

    It is the median of what the schemes deliver that keep up, so that common variation cancels; the nominal
    load where fewer than three do.
    """
    found = np.stack([np.where(one.stable[:, None, None], one.values, np.nan) for one in curves])
    known = np.isfinite(found).sum(axis=0) >= MIN_SCHEMES
    offered = np.broadcast_to(curves[0].x[:, None, None], known.shape).copy()
    offered[known] = np.nanmedian(found[:, known], axis=0)
    return offered


MIN_SCHEMES = 3
"""Fewest schemes whose median is the offered load."""


def _annotate(axes: Axes, text: str, at: tuple[float, float], side: str, up: float = 3) -> None:
    axes.annotate(text, at, xytext=(0, up), textcoords="offset points", fontsize=7, color="#666666", ha=side)


HEADROOM = 1.6
"""Space above the offered load, percent: a batch may deliver more, from work offered before it."""

FROM_LOAD = 0.7
"""Load from which the utilization is shown: below it, all schemes deliver the offered load."""


def _used_slots(study: Study) -> Figure:
    lines = {policy: Line.of(curve) for policy, curve in _curves(study, labels.USED_SLOTS).items()}
    return load_plot.draw(
        LoadPlot(lines, labels.YLABELS[labels.USED_SLOTS], "Used slots", (0, None), bars(study))
    )


COLUMNS = 4
"""Panels side by side."""


def of_readings(study: Study) -> Iterator[Picture]:
    """Yield comparisons of the readings, if the study has several."""
    if len(study.readings) < 2:
        return
    drawn = {"readings-slowdown": _multiples, "readings-verdicts": _verdicts}
    key = "; ".join(f"{letter}: {one.title}" for letter, one in study.readings.items()) + "."
    yield from captioned(labels.KEY, study, drawn, key=key)


def _multiples(study: Study) -> Figure:
    plots = []
    for letter, one in study.readings.items():
        curves = one.curves(labels.SLOWDOWN, one.policies)
        lines = {policy: Line.of(curve) for policy, curve in curves.items()}
        plots.append(LoadPlot(lines, "Mean slowdown", f"{letter}: {one.title}", SLOWDOWN_RANGE))
    return load_plot.draw_panels(plots, "Slowdown under each reading", min(COLUMNS, len(plots)))


def _verdicts(study: Study) -> Figure:
    found = verdict_map.verdicts(study.readings, claims, labels.KEY)
    titles = [f"{letter}: {one.title}" for letter, one in study.readings.items()]
    return verdict_map.draw(found, list(study.readings), titles)

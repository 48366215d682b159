"""Exact numbers: speedup and efficiency preservation, fairness, the birth-death chain (chapters 3 and 5)."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import AnalysisError, DrawingError, require_points
from analysis.figures import style
from analysis.figures.load_plot import LoadPlot, draw, draw_lines
from analysis.figures.panels import Series, panels, plot
from analysis.figures.policies import shaded, style_of
from analysis.figures.style import ACCENT, NEUTRAL, SchemeStyle
from analysis.mccann1994 import labels
from analysis.study import Study
from sweep.policy_names import label

SPACE_SHARING = (*labels.EQUIPARTITION, *labels.FOLDING)
PRESERVATION = "Efficiency preservation"
STATIC = ("static_4", "static_8", "ideal_dynamic")

SPREAD, DELTAS = ("fold_never", "equi_plus"), (0.0, 5.0, 10.0, 20.0)
"""Policies of Fig. 5.3 and the spreads of thread compute times, ms."""

MOST, LEAST = "Most heavily loaded job", "Most lightly loaded job"
METRICS = {MOST: labels.MOST_LOADED, LEAST: labels.LEAST_LOADED}
MARKERS = {MOST: "^", LEAST: "v"}

Q = {"I = ∞": None, "I = 8/15 E": 8 / 15, "I = 4/15 E": 4 / 15}
"""Rotation intervals of Fig. 5.5, in times of a job alone: just above E/2 is the worst case below E."""

OF_LIMITS = ("equi_plus", "fold_never")
LOADS_SHOWN = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Of Fig. 5.7: below a half, few jobs are in the system at once."""

NEAR = (0.97, 1.025)
"""Efficiency preservation in which most policies lie."""

BLOW_UPS = (2, 5, 10, 20, 50, 100, 200)
FACTOR = "Mean blow-up factor"


def _speedup(study: Study) -> Figure:
    from models.partitioning.static.efficiency import SpeedupCurve

    try:
        workload = study.parameters("workload", "speedup_curve")
    except AnalysisError:
        raise DrawingError("this dataset has no workload speedup_curve") from None
    curve = SpeedupCurve(float(workload["knee"]))
    x = np.linspace(0, 1, 201)
    relative = [curve._speedup(part) / curve._speedup(1.0) for part in x.tolist()]
    figure, axes = style.page(5.4, 3.3)
    axes.plot(x, relative, color=ACCENT)
    for parts, tie in ((4, "1/4"), (8, "1/8")):
        height = curve._speedup(1 / parts) / curve._speedup(1.0)
        axes.plot([1 / parts] * 2, [0, height], color=NEUTRAL, linewidth=0.8, linestyle=":")
        axes.plot(1 / parts, height, "o", color=ACCENT, mec="white", mew=0.5)
        axes.annotate(f"{tie}: {height:.2f}", (1 / parts, height), xytext=(4, -10), ha="left",
                      textcoords="offset points", fontsize=8, color="#444444")  # fmt: skip
    axes.set(
        title="Speedup of a hypothetical application",
        xlabel="Fraction of the machine",
        ylabel="Speedup / speedup on the machine",
        xlim=(0, 1.01),
        ylim=(0, 1.06),
    )
    return figure


def _static(study: Study) -> Figure:
    series = [
        Series(labels.EFFICIENCY, policy, {"workload": "speedup_curve", "delta": 0.0}) for policy in STATIC
    ]
    title = "Static partitions and an ideal"
    return draw(plot(study, labels.JOBS, series, PRESERVATION, title, ylim=(0, None)))


def _balanced(study: Study) -> Figure:
    names = [policy for policy in study.ordered("policy", SPACE_SHARING) if policy not in STATIC]
    series = [Series(labels.EFFICIENCY, policy, {"delta": 0.0}) for policy in names]
    made = partial(
        plot, study, labels.JOBS, series, PRESERVATION, guides={1.0: ""}, xscale="linear", spacing=0.03
    )
    moderate, many = (range(2, 17, 2), (16, 24, 32, 40, 48, 56, 64))
    return panels(
        [
            made("Up to 16 jobs", xlim=(0.8, 16.2), xticks=(1, *moderate)),
            made("The same near 1", xlim=(0.8, 16.2), xticks=(1, *moderate), ylim=NEAR),
            made("More jobs", xlim=(15.5, 64.5), xticks=many),
        ],
        "Balanced jobs (δ = 0)",
        stacked=True,
    )


def _spread(study: Study) -> Figure:
    series = [
        Series(labels.EFFICIENCY, policy, {"delta": delta}, style)
        for policy in SPREAD
        for delta, style in zip(DELTAS, shaded(policy, [f"δ = {delta:g}" for delta in DELTAS]), strict=True)
    ]
    title = "Thread compute times from U(100 − δ, 100 + δ) ms"
    return draw(plot(study, labels.JOBS, series, PRESERVATION, title, guides={1.0: ""}))


def _fairness(study: Study, title: str, policies: Mapping[str, tuple[str, float | None]]) -> Figure:
    plots = [_panel(study, name, policy, q) for name, (policy, q) in policies.items()]
    require_points(any(line.drawn.any() for one in plots for line in one.lines.values()))
    figure = Figure(figsize=(7.4, 1.75 * len(plots) + 0.8), layout="constrained")
    for axes, one in zip(figure.subplots(len(plots), 1, sharex=True), plots, strict=True):
        draw_lines(axes, one)
        _fill(axes, one)
        axes.set_title(one.title, fontsize=9, fontweight="normal")
        axes.label_outer()
    style.put_headline(figure, title)
    style.key_below(figure, [_side(side, NEUTRAL).legend_handle() for side in METRICS], 2)
    return figure


def _panel(study: Study, name: str, policy: str, q: float | None) -> LoadPlot:
    color = style_of(policy).color
    series = [Series(metric, policy, {"q": q}, _side(side, color)) for side, metric in METRICS.items()]
    title = label(policy) if name == policy else name
    return plot(
        study,
        labels.JOBS,
        series,
        "Load / equal share",
        title,
        ylim=(0.2, 2.05),
        guides={1.0: ""},
        xscale="linear",
        xlim=(0.5, 64.5),
        xticks=(1, *range(8, 65, 8)),
        spacing=0.0,
    )


def _fill(axes: Axes, one: LoadPlot) -> None:
    """Shade the area between the two bounds."""
    if len(one.lines) == len(METRICS):
        most, least = (one.lines[side] for side in METRICS)
        axes.fill_between(
            most.x, least.mean, most.mean, color=one.styles[MOST].color, alpha=0.12, linewidth=0, zorder=1
        )


def _side(name: str, color: str) -> SchemeStyle:
    return SchemeStyle(name, color, MARKERS[name], "-" if name == MOST else "--")


def _loads(study: Study) -> Figure:
    names = study.ordered("policy", SPACE_SHARING)
    series = [Series(labels.BLOW_UP, policy, {"memory_limit": None}) for policy in names]
    return draw(plot(study, labels.LOADS, series, FACTOR, "Unlimited memory", ylim=(0, 20)))


def _limits(study: Study) -> Figure:
    series = [
        Series(labels.BLOW_UP, policy, {"load": load}, style)
        for policy in OF_LIMITS
        for load, style in zip(
            LOADS_SHOWN, shaded(policy, [f"ρ = {load:g}" for load in LOADS_SHOWN]), strict=True
        )
    ]
    return draw(plot(study, labels.LIMITS, series, FACTOR, "Limited memory", yscale="log", yticks=BLOW_UPS))


EFFICIENCIES = {"fig3-1": _speedup, "fig3-2": _static, "fig5-2": _balanced, "fig5-3": _spread}
FAIRNESS = {
    "fig5-4": partial(
        _fairness,
        title="Fairness of Equipartition",
        policies={name: (name, None) for name in labels.EQUIPARTITION},
    ),
    "fig5-5": partial(
        _fairness, title="Fairness of Folding", policies={name: ("fold_q", q) for name, q in Q.items()}
    ),
}
BIRTH_DEATH = {"fig5-6": _loads, "fig5-7": _limits}
"""Figures in the paper's order -> functions that draw them."""

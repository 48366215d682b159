"""Figs. 3.1, 3.2, 5.2 and 5.3: speedup and efficiency preservation."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import AnalysisError, DrawingError
from analysis.figures.captions import captioned
from analysis.figures.load_plot import draw
from analysis.figures.panels import Series, panels, plot
from analysis.figures.policies import shaded
from analysis.figures.style import ACCENT, NEUTRAL
from analysis.mccann1994.labels import EFFICIENCY, EQUIPARTITION, FOLDING, JOBS, KEY
from analysis.paper import Picture
from analysis.study import Study

YLABEL = "Efficiency preservation"
STATIC = ("static_4", "static_8", "ideal_dynamic")

SPREAD, DELTAS = ("fold_never", "equi_plus"), (0.0, 5.0, 10.0, 20.0)
"""Policies of Fig. 5.3 and the spreads of thread compute times, ms."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    drawn = {"fig3-1": _speedup, "fig3-2": _static, "fig5-2": _balanced, "fig5-3": _spread}
    return captioned(KEY, study, drawn)


def _speedup(study: Study) -> Figure:
    from models.partitioning.static.efficiency import SpeedupCurve

    try:
        workload = study.parameters("workload", "speedup_curve")
    except AnalysisError:
        raise DrawingError("this dataset has no workload speedup_curve") from None
    curve = SpeedupCurve(float(workload["knee"]))
    x = np.linspace(0, 1, 201)
    relative = [curve._speedup(part) / curve._speedup(1.0) for part in x.tolist()]
    figure = Figure(figsize=(5.4, 3.3), layout="constrained")
    axes = figure.subplots()
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
    series = [Series(EFFICIENCY, policy, {"workload": "speedup_curve", "delta": 0.0}) for policy in STATIC]
    title = "Static partitions and an ideal"
    return draw(plot(study, JOBS, series, YLABEL, title, ylim=(0, None)))


def _balanced(study: Study) -> Figure:
    order = (*EQUIPARTITION, *FOLDING)
    names = [*order, *(policy for policy in study.policies if policy not in (*order, *STATIC))]
    series = [Series(EFFICIENCY, policy, {"delta": 0.0}) for policy in names]
    made = partial(plot, study, JOBS, series, YLABEL, guides={1.0: ""}, xscale="linear", spacing=0.03)
    moderate, many = (range(2, 17, 2), (16, 24, 32, 40, 48, 56, 64))
    return panels(
        [
            made("Up to 16 jobs", xlim=(0.8, 16.2), xticks=(1, *moderate)),
            made("More jobs", xlim=(15.5, 64.5), xticks=many),
        ],
        "Balanced jobs (δ = 0)",
        stacked=True,
    )


def _spread(study: Study) -> Figure:
    series = [
        Series(EFFICIENCY, policy, {"delta": delta}, style)
        for policy in SPREAD
        for delta, style in zip(DELTAS, shaded(policy, [f"δ = {delta:g}" for delta in DELTAS]), strict=True)
    ]
    title = "Thread compute times from U(100 − δ, 100 + δ) ms"
    return draw(plot(study, JOBS, series, YLABEL, title, guides={1.0: ""}))

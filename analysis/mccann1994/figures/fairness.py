"""Figs. 5.4 and 5.5: how far the most and the least loaded job are from their equal share."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.errors import require_points
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.figures.load_plot import LoadPlot, draw_lines
from analysis.figures.panels import Series, plot
from analysis.figures.policies import look
from analysis.figures.style import NEUTRAL, SchemeStyle
from analysis.mccann1994.labels import JOBS, KEY, LEAST_LOADED, MOST_LOADED
from analysis.paper import Picture
from analysis.study import Study
from sweep.policy_names import label

MOST, LEAST = "Most heavily loaded job", "Most lightly loaded job"
METRICS = {MOST: MOST_LOADED, LEAST: LEAST_LOADED}
MARKERS = {MOST: "^", LEAST: "v"}

Q = {"I = ∞": None, "I = 8/15 E": 8 / 15, "I = 4/15 E": 4 / 15}
"""Rotation intervals of Fig. 5.5, in times of a job alone: just above E/2 is the worst case below E."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    equi = {name: (name, None) for name in ("equi", "equi_plus")}
    fold = {name: ("fold_q", q) for name, q in Q.items()}
    drawn = {
        "fig5-4": partial(_draw, title="Fairness of Equipartition", panels=equi),
        "fig5-5": partial(_draw, title="Fairness of Folding", panels=fold),
    }
    return captioned(KEY, study, drawn)


def _draw(study: Study, title: str, panels: Mapping[str, tuple[str, float | None]]) -> Figure:
    plots = [_panel(study, name, policy, q) for name, (policy, q) in panels.items()]
    require_points(any(line.drawn.any() for one in plots for line in one.lines.values()))
    figure = Figure(figsize=(7.4, 1.75 * len(plots) + 0.8), layout="constrained")
    for axes, one in zip(figure.subplots(len(plots), 1, sharex=True), plots, strict=True):
        draw_lines(axes, one)
        _fill(axes, one)
        axes.set_title(one.title, fontsize=9, fontweight="normal")
        axes.label_outer()
    style.put_headline(figure, title)
    figure.legend(handles=_key(), loc="outside lower center", ncols=2)
    return figure


def _panel(study: Study, name: str, policy: str, q: float | None) -> LoadPlot:
    color = look(policy).color
    series = [Series(metric, policy, {"q": q}, _side(side, color)) for side, metric in METRICS.items()]
    title = label(policy) if name == policy else name
    return plot(
        study,
        JOBS,
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
    """Shade what is between the two bounds."""
    if len(one.lines) == len(METRICS):
        most, least = (one.lines[side] for side in METRICS)
        axes.fill_between(
            most.x, least.mean, most.mean, color=one.looks[MOST].color, alpha=0.12, linewidth=0, zorder=1
        )


def _key() -> Sequence[Line2D]:
    return [_side(side, NEUTRAL).legend_handle() for side in METRICS]


def _side(name: str, color: str) -> SchemeStyle:
    return SchemeStyle(name, color, MARKERS[name], "-" if name == MOST else "--")

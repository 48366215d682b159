"""Claims without a figure in the paper: scalability, idling ratio (section 1.1), classes of jobs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.figures.category_plot import CategoryPlot, Estimates, panels
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.panels import grid
from analysis.figures.policies import shaded, style_of
from analysis.figures.style import SchemeStyle
from analysis.silva1999 import labels
from analysis.silva1999.claims import Tester, measured, switching
from analysis.silva1999.figures.horizons import check, schedulers
from analysis.silva1999.labels import size
from analysis.study import Study
from analysis.study.curve import DONE, Curve, Sample, ends
from sweep.statistics import Paired

CLOCK = "#0072b2"
CENTRAL = "#d55e00"
MARKERS = "so^vD"

Measured = Callable[[Tester, str, str, str], Sample]
"""(tester, workload, cost, size) -> share."""


def _utilization(test: Tester, name: str, cost: str, size: str) -> Sample:
    return test.sample(
        labels.UTILIZATION, labels.PRIORITIES, name, **{labels.PROCESSORS: size, labels.CENTRAL_COST: cost}
    )


def _draw(study: Study, measured: Measured, ylabel: str, title: str, **settings: Any) -> Figure:
    test = Tester(study)
    sizes = sorted(study.values_of(labels.PROCESSORS), key=float)
    costs = sorted(study.values_of(labels.CENTRAL_COST), key=float)
    x = np.array([float(size) for size in sizes])
    plots: list[LoadPlot] = []
    for name in labels.workloads(study):
        lines = {
            _controlled(cost): _line(
                x, [measured(test, name, cost, size) for size in sizes], study.confidence
            )
            for cost in costs
        }
        styles = {_controlled(cost): _style_of(number, cost, len(costs)) for number, cost in enumerate(costs)}
        plots.append(
            LoadPlot(
                lines, "" if plots else ylabel, labels.workload(name), scale=100.0, xlabel="PEs",
                xlim=(x[0] / 1.3, x[-1] * 1.3), xscale="log", xticks=x.tolist(), styles=styles, dodge=0.0,
                **settings,
            )
        )  # fmt: skip
    check(plots, labels.PROCESSORS)
    return grid([plots], title, height=2.9)


def _line(x: np.ndarray, samples: list[Sample], confidence: float) -> Line:
    found = [one.mean(confidence) for one in samples]
    finished = np.array([one.status == DONE for one in samples])
    return Line(x, *ends(found), np.zeros(len(x), bool), finished)


def _controlled(cost: str) -> str:
    return f"controller, {1000 * float(cost):g} ms per PE" if float(cost) else "clock signal"


def _style_of(number: int, cost: str, n: int) -> SchemeStyle:
    marker = MARKERS[number % len(MARKERS)]
    if not float(cost):
        return SchemeStyle(_controlled(cost), CLOCK, marker)
    return SchemeStyle(
        _controlled(cost), style.shade(CENTRAL, 0.55 * (1 - number / max(n - 1, 1))), marker, "--"
    )


OF_SCALE = {
    "scale-switching": partial(
        _draw, measured=switching, ylabel="Time for switching (%)", title="Cost of switching",
        yscale="log", ylim=(None, None),
    ),
    "scale-utilization": partial(
        _draw, measured=_utilization, ylabel="Utilization (%)", title="Utilization over the number of PEs",
        ylim=(None, None),
    ),
}  # fmt: skip
"""Name of a figure -> function that draws it."""


REFERENCE = "first_fit"
"""The paper's scheme, with which the others are compared."""

AIR = 0.08
"""Margin beside the lowest and the highest load."""

APART = 0.1
"""The schemes at one load stand side by side over this share of the way to the next load."""


def draw_idling(study: Study) -> Figure:
    """Draw the ratio under each scheme, and its difference from the reference's."""
    scheduler = labels.GANG if labels.GANG in study.policies else study.policies[0]
    rows: list[list[LoadPlot]] = [[], []]
    for name in study.values_of(labels.MACHINE):
        curves = {
            scheme: study.curve(
                labels.IDLING_RATIO, scheduler, **{labels.MACHINE: name, labels.SCHEME: scheme}
            )
            for scheme in study.values_of(labels.SCHEME)
        }
        curves = {one: curve for one, curve in curves.items() if curve.there}
        if not curves:
            raise DrawingError("this grid lacks the figure's points")
        x = next(iter(curves.values())).x
        settings: dict[str, Any] = {
            "scale": 100.0,
            "xlim": (float(x.min() - AIR), float(x.max() + AIR)),
            "styles": {scheme: style_of(scheme) for scheme in curves},
            "dodge": APART * (float(np.diff(x).min()) if len(x) > 1 else 10 * AIR) / len(curves),
        }
        lines = {scheme: Line.of(curve) for scheme, curve in curves.items()}
        beside = bool(rows[0])  # another machine, whose axes have their label
        label = "" if beside else "Idling ratio (%)"
        rows[0].append(LoadPlot(lines, label, size(study, name), (0, None), **settings))
        reference = curves.get(REFERENCE)
        less = {
            scheme: difference(curve, reference)
            for scheme, curve in curves.items()
            if reference is not None and scheme != REFERENCE
        }
        label = "" if beside else "Difference from first fit (points)"
        rows[1].append(LoadPlot(less, label, "", guides={0.0: ""}, **settings))
    check(rows[0], labels.SCHEME)
    rows = [row for row in rows if any(plot.lines for plot in row)]
    return grid(rows, "Idling ratio of the trace diagram under gang scheduling")


def difference(curve: Curve, reference: Curve) -> Line:
    """Return a metric minus the reference's, paired run by run, where both can be drawn."""
    found = Line.paired(Paired.difference, curve, reference)
    return Line(curve.x, found.mean, found.low, found.high, np.zeros(len(curve.x), bool), found.finished)


SHOWN = {"local": 100.0, "response": 1.0}
"""Quantity -> factor that scales its values."""

LABELS = {"local": "Computing outside own slots (%)", "response": "Mean response time (s)"}


def draw_classes(study: Study) -> Figure:
    """Draw the share of each class's computing outside its slots, and its response time."""
    test, classes = Tester(study), [one for one in study.values_of(labels.CLASS) if one != "other"]
    alphas = sorted(study.values_of(labels.ALPHA), key=float)
    lines = {(one, study.usual().get(labels.ALPHA, "")): style_of(one) for one in schedulers(study)}
    if len(alphas) > 1:
        shades = shaded(labels.PRIORITIES, [f"α = {float(alpha):g}" for alpha in alphas])
        lines = {key: one for key, one in lines.items() if key[0] != labels.PRIORITIES}
        lines |= {(labels.PRIORITIES, alpha): one for alpha, one in zip(alphas, shades, strict=True)}
    styles = {one.label: one for one in lines.values()}
    plots = []
    for measure, scale in SHOWN.items():
        series = {}
        for (name, alpha), one in lines.items():
            at = {labels.ALPHA: alpha} if alpha else {}
            found = [
                measured(test, measure, name, labels.MIXED, "", **{labels.CLASS: kind}, **at)
                for kind in classes
            ]
            series[one.label] = Estimates.of(found, study.confidence, scale)
        names = ["I/O" if kind == "io" else kind.capitalize() for kind in classes]
        plots.append(
            CategoryPlot(
                names, series, styles, LABELS[measure], "Class of the jobs", joined=False, any_names=True
            )
        )
    return panels(plots, "Jobs of all classes on one machine", 2, height=2.8)

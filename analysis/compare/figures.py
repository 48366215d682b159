"""One curve a policy over the load, for each of the common measures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.compare.labels import CAPTION, LINEAR, MEASURES
from analysis.errors import DrawingError
from analysis.figures import load_plot, policies
from analysis.figures.load_plot import Line, LoadPlot, bars
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import EXCLUDED


def pictures(study: Study) -> Iterator[Picture]:
    """Yield a figure for each common measure that the dataset has, for each workload."""
    for metric, label in MEASURES.items():
        if metric in study.data:
            title = label.partition(" (")[0]
            yield Picture(metric, title, CAPTION.format(label=title), partial(_draw, study, metric, label))


def _draw(study: Study, metric: str, label: str) -> Figure:
    curves = {policy: study.curve(metric, policy) for policy in study.policies}
    lines = {policy: Line.of(curve) for policy, curve in curves.items() if not curve.where(EXCLUDED).all()}
    if not lines:
        raise DrawingError("its points are not in this grid")
    positive = all((line.mean[line.drawn] > 0).all() for line in lines.values())
    scale = "log" if metric not in LINEAR and positive else "linear"
    title, looks = label.partition(" (")[0], policies.apart(list(lines))
    return load_plot.draw(LoadPlot(lines, label, title, note=bars(study), yscale=scale, looks=looks))

"""What the readings of the paper change: curves and verdicts side by side."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from analysis.feitelson1996.claims import claims
from analysis.feitelson1996.figures.curves import SLOWDOWN_RANGE
from analysis.feitelson1996.labels import KEY, SLOWDOWN
from analysis.figures import load_plot, verdict_map
from analysis.figures.captions import captioned
from analysis.figures.load_plot import Line, LoadPlot
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import EXCLUDED

COLUMNS = 4
"""Panels side by side."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield comparisons of the readings, if the study has several."""
    if len(study.readings) < 2:
        return
    drawn = {"readings-slowdown": _multiples, "readings-verdicts": _verdicts}
    key = "; ".join(f"{letter}: {one.title}" for letter, one in study.readings.items()) + "."
    yield from captioned(KEY, study, drawn, key=key)


def _multiples(study: Study) -> Figure:
    plots = []
    for letter, one in study.readings.items():
        curves = {policy: one.curve(SLOWDOWN, policy) for policy in one.policies}
        there = {policy: curve for policy, curve in curves.items() if not curve.where(EXCLUDED).all()}
        lines = {policy: Line.of(curve) for policy, curve in there.items()}
        plots.append(LoadPlot(lines, "Mean slowdown", f"{letter}: {one.title}", SLOWDOWN_RANGE))
    return load_plot.draw_panels(plots, "Slowdown under each reading", min(COLUMNS, len(plots)))


def _verdicts(study: Study) -> Figure:
    found = verdict_map.verdicts(study.readings, claims, KEY)
    return verdict_map.draw(found, list(study.readings))

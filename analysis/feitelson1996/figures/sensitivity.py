"""What the readings of the paper change: curves and verdicts side by side."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.feitelson1996.claims import claims
from analysis.feitelson1996.figures.curves import SLOWDOWN_RANGE
from analysis.feitelson1996.labels import KEY, SLOWDOWN
from analysis.figures import load_plot, verdict_map
from analysis.figures.load_plot import Line, LoadPlot, bars
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import EXCLUDED

COLUMNS = 4
"""Panels side by side."""


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


def _verdicts(study: Study) -> Figure:
    found = verdict_map.verdicts(study.readings, claims, KEY)
    return verdict_map.draw(found, list(study.readings))

"""The idling ratio (section 1.1) of the trace diagram under packing schemes."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures.captions import captioned
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.panels import grid
from analysis.figures.policies import look
from analysis.paper import Picture
from analysis.silva1999.figures.panels import check
from analysis.silva1999.labels import GANG, IDLING_RATIO, KEY, MACHINE, SCHEME, size
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED, Curve
from sweep import statistics

REFERENCE = "first_fit"
"""The paper's scheme, with which the others are compared."""

AIR = 0.08
"""Beside the lowest and the highest load."""

APART = 0.1
"""The schemes at one load stand side by side over this share of the way to the next load."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure."""
    scheduler = GANG if GANG in study.policies else study.policies[0]
    return captioned(KEY, study, {"idling-ratio": partial(_draw, scheduler=scheduler)})


def _draw(study: Study, scheduler: str) -> Figure:
    rows: list[list[LoadPlot]] = [[], []]
    for name in study.values_of(MACHINE):
        curves = {
            scheme: study.curve(IDLING_RATIO, scheduler, **{MACHINE: name, SCHEME: scheme})
            for scheme in study.values_of(SCHEME)
        }
        curves = {
            one: curve for one, curve in curves.items() if len(curve.x) and not curve.where(EXCLUDED).all()
        }
        if not curves:
            raise DrawingError("its points are not in this grid")
        x = next(iter(curves.values())).x
        settings: dict[str, Any] = {
            "scale": 100.0,
            "xlim": (float(x.min() - AIR), float(x.max() + AIR)),
            "looks": {scheme: look(scheme) for scheme in curves},
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
    check(rows[0], SCHEME)
    rows = [row for row in rows if any(plot.lines for plot in row)]
    return grid(rows, "Idling ratio of the trace diagram under gang scheduling")


def difference(curve: Curve, reference: Curve) -> Line:
    """Return a metric minus that of a reference, paired run by run, where both can be drawn."""
    mean, half = np.full((2, len(curve.x)), np.nan)
    for place in np.flatnonzero(curve.shown & reference.shown):
        found = statistics.paired_difference(curve.values[place], reference.values[place], curve.confidence)
        mean[place], half[place] = found.mean, found.half_width
    finished = curve.where(DONE) & reference.where(DONE)
    return Line(curve.x, mean, half, np.zeros(len(curve.x), bool), finished)

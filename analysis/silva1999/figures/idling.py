"""The idling ratio (section 1.1) of the trace diagram under packing schemes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures.load_plot import Line, LoadPlot, bars
from analysis.figures.policies import look
from analysis.paper import Picture
from analysis.silva1999.figures.panels import check, grid
from analysis.silva1999.labels import GANG, IDLING_RATIO, MACHINE, SCHEME, machine
from analysis.study import Study
from analysis.study.curve import EXCLUDED


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure."""
    scheduler = GANG if GANG in study.policies else study.policies[0]
    yield Picture(
        "idling-ratio",
        "Idling ratio over the load",
        "Idle slots of a period over all its slots (section 1.1), averaged over the time in which there are jobs, "
        "for packing schemes that move no job. Jobs compute only, so that a slot is idle for one reason: no task "
        f"is mapped to it. {bars(study)} The paper defines the ratio and shows none.",
        partial(_draw, study, scheduler),
    )


def _draw(study: Study, scheduler: str) -> Figure:
    plots = []
    for name in study.values_of(MACHINE):
        lines = {}
        for scheme in study.values_of(SCHEME):
            curve = study.curve(IDLING_RATIO, scheduler, **{MACHINE: name, SCHEME: scheme})
            if len(curve.x) and not curve.where(EXCLUDED).all():
                lines[scheme] = Line.of(curve)
        if not lines:
            raise DrawingError("its points are not in this grid")
        x = next(iter(lines.values())).x
        limits = (float(x.min() - 0.06), float(x.max() + 0.06))
        looks = {scheme: look(scheme) for scheme in lines}
        plots.append(
            LoadPlot(
                lines,
                "Idling ratio (%)",
                machine(name),
                (0, None),
                scale=100.0,
                xlim=limits,
                looks=looks,
                dodge=0.008,
            )
        )
    check(plots, SCHEME)
    return grid([plots], "Idling ratio of the trace diagram under gang scheduling", height=3.0)

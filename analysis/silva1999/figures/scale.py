"""Scalability: what switching costs, and what is left to compute, over the number of PEs."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.panels import grid
from analysis.figures.style import SchemeStyle
from analysis.paper import Picture
from analysis.silva1999 import labels
from analysis.silva1999.claims import Tester, switching
from analysis.silva1999.figures.panels import check
from analysis.study import Study
from analysis.study.curve import DONE
from analysis.study.sample import Sample

CLOCK = "#0072b2"
CENTRAL = "#d55e00"
MARKERS = "so^vD"

Measured = Callable[[Tester, str, str, str], Sample]
"""(tester, workload, cost, size) -> share."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield both figures."""
    drawn = {
        "scale-switching": partial(
            _draw, measured=switching, ylabel="Time for switching (%)", title="What switching costs",
            yscale="log", ylim=(None, None),
        ),
        "scale-utilization": partial(
            _draw, measured=_utilization, ylabel="Utilization (%)", title="What is left to compute",
            ylim=(0, None),
        ),
    }  # fmt: skip
    return captioned(labels.KEY, study, drawn, policy=labels.policy(labels.PRIORITIES))


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
        looks = {_controlled(cost): _look(number, cost, len(costs)) for number, cost in enumerate(costs)}
        plots.append(
            LoadPlot(
                lines, "" if plots else ylabel, labels.workload(name), scale=100.0, xlabel="PEs",
                xlim=(x[0] / 1.3, x[-1] * 1.3), xscale="log", xticks=x.tolist(), looks=looks, dodge=0.0,
                **settings,
            )
        )  # fmt: skip
    check(plots, labels.PROCESSORS)
    return grid([plots], title, height=2.9)


def _line(x: np.ndarray, samples: list[Sample], confidence: float) -> Line:
    found = [(one if one.shown else Sample.absent()).interval(confidence) for one in samples]
    finished = np.array([one.status == DONE for one in samples])
    return Line(
        x, np.array([one.mean for one in found]), np.array([one.half_width for one in found]),
        np.zeros(len(x), bool), finished,
    )  # fmt: skip


def _controlled(cost: str) -> str:
    return f"controller, {1000 * float(cost):g} ms a PE" if float(cost) else "clock signal"


def _look(number: int, cost: str, n: int) -> SchemeStyle:
    marker = MARKERS[number % len(MARKERS)]
    if not float(cost):
        return SchemeStyle(_controlled(cost), CLOCK, marker)
    return SchemeStyle(
        _controlled(cost), style.shade(CENTRAL, 0.55 * (1 - number / max(n - 1, 1))), marker, "--"
    )

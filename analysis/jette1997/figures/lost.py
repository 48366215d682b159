"""What becomes of the processor time, stacked: used, switching, packing, limits, no work."""

from collections.abc import Iterator, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import require_points
from analysis.figures import stacked_bars, style
from analysis.figures.captions import captioned
from analysis.figures.stacked_bars import Shares
from analysis.jette1997 import derived, labels
from analysis.paper import Picture
from analysis.study import Study

LOOKS = {
    labels.UTILIZATION: ("used by jobs", "#0072b2", ""),
    labels.SWITCHING: ("switching", "#111111", ""),
    labels.PACKING: ("packing: a job waits, and fits nowhere", "#d55e00", ""),
    labels.LIMITS: ("limits keep all that wait", "#e69f00", ""),
    labels.NO_WORK: ("no work", "#e6e6e6", ""),
}
"""Share -> name, colour and hatches, from the left."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure."""
    return captioned(labels.KEY, study, {"lost": _draw})


def shares(study: Study, policy: str, workload: str) -> Shares:
    """Return the share of each cause of `LOOKS`, none where a point has not run."""
    found = {metric: derived.of_months(study, metric, policy, workload, 1, labels.MONTHS) for metric in LOOKS}
    if not all(one.shown for one in found.values()):
        return {}
    return {metric: float(np.nanmean(one.values)) for metric, one in found.items()}


def _draw(study: Study) -> Figure:
    panels = {
        labels.workload_title(workload): {
            policy: shares(study, policy, workload) for policy in labels.schedulers(study)
        }
        for workload in labels.workloads(study)
    }
    require_points(any(found for rows in panels.values() for found in rows.values()))
    n_bars = max(map(len, panels.values()))
    figure = Figure(figsize=(7.4, len(panels) * (0.34 * n_bars + 0.5) + 1.2), layout="constrained")
    places = figure.subplots(len(panels), 1, sharex=True, squeeze=False).ravel()
    for axes, (name, rows) in zip(places, panels.items(), strict=True):
        stacked_bars.draw(axes, rows, LOOKS)
        _numbers(axes, rows)
        axes.set_title(name[:1].upper() + name[1:], fontsize=9, fontweight="normal")
    places[-1].set_xlabel("Share of all processor time (%)")
    style.put_headline(figure, "What becomes of the processor time")
    figure.legend(handles=stacked_bars.key(LOOKS, list(LOOKS)), loc="outside lower center", ncols=3)
    return figure


def _numbers(axes: Axes, rows: Mapping[str, Shares]) -> None:
    """Write the larger shares into their bars."""
    for row, found in enumerate(rows.values()):
        begin = 0.0
        for metric, share in found.items():
            if share >= 0.05:
                axes.text(
                    100 * (begin + share / 2), row, f"{100 * share:.0f}", ha="center", va="center",
                    fontsize=7.5, color=style.text_on(LOOKS[metric][1]),
                )  # fmt: skip
            begin += share
    axes.set_xlim(0, 100.5)

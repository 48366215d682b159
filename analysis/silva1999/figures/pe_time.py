"""Use of the time of a PE, stacked, for each scheduler: of a study, or of one simulation of each."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from analysis.drawings.scene import positive, valid
from analysis.errors import require_points
from analysis.figures import stacked_bars, style
from analysis.figures.captions import captioned
from analysis.figures.stacked_bars import Shares
from analysis.paper import Picture
from analysis.silva1999 import labels
from analysis.silva1999.engine import FAMILY, SOURCE, point, title
from analysis.silva1999.figures.horizons import schedulers
from analysis.study import Study
from sweep.plan import families

LOCAL = "local"
"""Busy time of tasks outside their own slot."""

PARTS = {
    labels.BUSY: ("computing in its slot", "#0072b2", ""),
    LOCAL: ("computing, chosen locally", "#99ccee", "////"),
    "switching": ("switching", "#111111", ""),
    "empty": ("idle: empty slot", "#e6e6e6", ""),
    "communication": ("idle: waits for a message", "#cc79a7", ""),
    "io": ("idle: waits for I/O", "#e69f00", ""),
    "synchronization": ("idle: waits at a barrier", "#009e73", ""),
}
"""What a PE does -> name, colour and hatches, from the left."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield a figure for each machine, the first one without its name."""
    if labels.PE_STATE not in study.data.dims:
        return
    time = labels.last(study)
    until = f" until {float(time):,.0f} s" if time else ""
    for number, name in enumerate(study.values_of(labels.MACHINE)):
        drawn = {f"pe-time-{name}" if number else "pe-time": partial(_draw, name=name)}
        yield from captioned(labels.KEY, study, drawn, "pe-time", size=labels.size(study, name), until=until)


def _draw(study: Study, name: str) -> Figure:
    names = labels.workloads(study)
    panels = {one: {each: _shares(study, each, one, name) for each in schedulers(study)} for one in names}
    require_points(any(shares for rows in panels.values() for shares in rows.values()))
    return stacked(
        {labels.workload(one): rows for one, rows in panels.items()},
        f"Use of the time of a PE, {labels.size(study, name)}",
    )


def _shares(study: Study, scheduler: str, name: str, on: str) -> Shares:
    """Return the shares of a point, none where it has not run."""
    point = {labels.WORKLOAD: name, labels.MACHINE: on} | (
        {labels.HORIZON: labels.last(study)} if labels.last(study) else {}
    )
    found = {
        state: study.sample(labels.PE_TIME, scheduler, **point, pe_state=state) for state in labels.STATES
    }
    if not all(one.shown for one in found.values()):
        return {}
    time = {state: float(np.nanmean(one.values)) for state, one in found.items()}
    local = study.sample(labels.LOCAL_SHARE, scheduler, **point).values * found[labels.BUSY].values
    return shares(time, float(np.nanmean(local)))


def shares(time: Mapping[str, float], local: float) -> Shares:
    """Return shares of a whole from times by state, and the part of the busy time that was filled locally."""
    whole = sum(time.values())
    parts = {**time, LOCAL: local, labels.BUSY: time[labels.BUSY] - local}
    return {state: parts[state] / whole for state in PARTS}


def stacked(panels: Mapping[str, Mapping[str, Shares]], title: str) -> Figure:
    """Draw a panel for each workload with a bar for each scheduler.

    Parameters
    ----------
    panels : dict of str to dict of str to Shares
        Title of a panel -> scheduler -> shares, none where there is no bar.
    """
    n_columns = min(2, len(panels))
    n_rows = -(-len(panels) // n_columns)
    n_bars = max(map(len, panels.values()))
    figure, places = style.page(
        7.4, n_rows * (0.3 * n_bars + 0.55) + 1.1, n_rows, n_columns, sharex=True, squeeze=False
    )
    for axes, (name, bars) in zip(places.ravel(), panels.items(), strict=False):
        stacked_bars.draw(axes, bars, PARTS)
        axes.set(xlim=(0, 109), xticks=[0, 20, 40, 60, 80, 100])
        for row, found in enumerate(bars.values()):
            if found:
                idle = sum(found[state] for state in labels.STATES[2:])
                axes.text(101, row, f"{100 * idle:.0f} %", va="center", fontsize=7.5, color="#444444")
        axes.set_title(name, fontsize=9, fontweight="normal")
    for axes in places.ravel()[len(panels) :]:
        axes.set_visible(False)
    for row in places:
        for axes in row[1:]:
            axes.set_yticklabels([])
    for axes in places[-1]:
        axes.set_xlabel("Share of the PEs' time (%)")
    style.put_headline(figure, title)
    used = [
        state
        for state in PARTS
        if any(s.get(state, 0) > 0 for bars in panels.values() for s in bars.values())
    ]
    style.key_below(figure, stacked_bars.key(PARTS, used), 4)
    return figure


PE_TIMES = {**{key: value for key, value in SOURCE.items() if key != "policy"}, "time": "20000"}


def pe_time(settings: Mapping[str, str]) -> Figure:
    """Draw a bar for each scheduler."""
    until = positive(settings, "time")
    bars = {name: valid(_simulated, {**settings, "policy": name}, until) for name in labels.SCHEDULERS}
    return stacked({f"{title(settings)}, until {until:,.0f} s": bars}, "Use of the time of a PE")


def _simulated(settings: Mapping[str, str], until: float) -> Shares:
    metrics = families.find(FAMILY).simulate(point(settings, horizon=until)).metrics
    time = dict(zip(labels.STATES, metrics[labels.PE_TIME][0].tolist(), strict=True))
    return shares(time, float(metrics[labels.LOCAL_SHARE][0]) * time[labels.STATES[0]])

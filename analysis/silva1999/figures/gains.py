"""Gains over gang scheduling, workload by workload, on each machine or under each assumption."""

import textwrap
from collections.abc import Iterator, Mapping
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import require_points
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.figures.policies import style_of
from analysis.figures.verdict_map import name_of
from analysis.paper import Picture
from analysis.silva1999.claims import Tester
from analysis.silva1999.figures.horizons import schedulers
from analysis.silva1999.labels import GANG, IDLE, JOBS, KEY, MACHINE, last, size, workload, workloads
from analysis.study import Study

METRICS = {JOBS: "Completed jobs / gang's", IDLE: "Total idle time / gang's"}
LETTERS = 34
"""Characters of a row's name on one line."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure of one reading, if the grid has gang scheduling and something beside it."""
    if not _gains(study):
        return
    rows = {
        f"{workload(name)}, {size(study, on)}": (study, name, on)
        for name in workloads(study)
        for on in study.values_of(MACHINE)
    }
    drawn = {"gains": partial(draw, title="Gains over gang scheduling")}
    yield from captioned(KEY, study, drawn, subject=rows, until=_until(study))


def of_readings(study: Study) -> Iterator[Picture]:
    """Yield a figure for each workload, with a row for each reading."""
    if not _gains(study):
        return
    for name in workloads(study):
        first = study.usual()[MACHINE]
        rows = {f"{letter}: {name_of(one)}": (one, name, first) for letter, one in study.readings.items()}
        title = f"Gains over gang scheduling: {workload(name)}"
        drawn, texts = {f"gains-{name}": partial(draw, title=title)}, {"title": title, "until": _until(study)}
        yield from captioned(KEY, study, drawn, "gains-of-readings", rows, **texts)


def _gains(study: Study) -> bool:
    return GANG in study.policies and len(study.policies) > 1


def _until(study: Study) -> str:
    time = last(study)
    return f"until {float(time):,.0f} s" if time else "at the end of the run"


def draw(rows: Mapping[str, tuple[Study, str, str]], title: str) -> Figure:
    """Draw points with intervals, a row for each study, workload and machine.

    Parameters
    ----------
    rows : dict of str to (Study, str, str)
        Name -> study under one reading, workload, machine.
    """
    figure, places = style.page(7.4, 0.36 * len(rows) + 1.4, 1, len(METRICS), sharey=True)
    others = [name for name in schedulers(next(iter(rows.values()))[0]) if name != GANG]
    drawn = 0
    for axes, (metric, label) in zip(places, METRICS.items(), strict=True):
        axes.axvline(1.0, color="#888888", linewidth=0.8, zorder=1)
        for row, (study, name, on) in enumerate(rows.values()):
            drawn += _row(axes, row, Tester(study), metric, name, on, others)
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
    require_points(drawn)
    names = [textwrap.fill(name, LETTERS) for name in rows]
    places[0].set_yticks(range(len(rows)), names, fontsize=7.5)
    places[0].set_ylim(len(rows) - 0.5, -0.5)
    style.put_headline(figure, title)
    style.key_below(figure, [style_of(name).legend_handle() for name in others], 4)
    return figure


def _row(axes: Axes, row: int, test: Tester, metric: str, name: str, on: str, others: list[str]) -> int:
    """Draw the schedulers of one row; return of how many there is a point."""
    gang = test.sample(metric, GANG, name, **{MACHINE: on})
    drawn = 0
    for number, scheduler in enumerate(others):
        one = test.sample(metric, scheduler, name, **{MACHINE: on})
        if not (one.shown and gang.shown):
            continue
        found = one.against(gang).ratio(test.study.confidence)
        bar = None if found.withheld else [[found.mean - found.low], [found.high - found.mean]]
        y, shown = row + 0.17 * (number - (len(others) - 1) / 2), style_of(scheduler)
        axes.errorbar(
            found.mean, y, xerr=bar, fmt=shown.marker, color=shown.color, ms=4, elinewidth=0.9, zorder=3
        )
        drawn += 1
    return drawn

"""The map of where each claim holds: claims in rows, what the paper leaves open in columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.claims import VERDICTS
from analysis.figures import style
from analysis.figures.style import VERDICT_COLORS, VERDICT_SIGNS
from analysis.paper import Picture
from analysis.report.table import Cell, Table
from analysis.silva1999.claims import claims
from analysis.silva1999.labels import KEY, name_of
from analysis.study import Study

TONES = {"holds": "better", "fails": "worse", "inconclusive": "open"}
SAID = {"holds": "holds", "fails": "fails", "inconclusive": "open"}
COLUMN, ROW = 0.36, 0.24
"""Width of a column and height of a row, inches."""


def columns(study: Study) -> dict[str, Study]:
    """Return what the columns are: the readings by name, then other loads that only the first reading has."""
    found = {name_of(one): one for one in study.readings.values()}
    for load in study.values_of("load")[1:]:
        (one, *others) = study.selected({"load": load}).readings.values()
        if not others and len(found) > 1:
            found[f"load {load}"] = one
    return found


def verdicts(study: Study) -> dict[str, dict[str, str]]:
    """Return claim -> name of a column -> verdict, for every claim that some column has."""
    found: dict[str, dict[str, str]] = {}
    for name, one in columns(study).items():
        for claim in claims(one):
            found.setdefault(claim.id.removeprefix(f"{KEY}-"), {})[name] = claim.verdict
    return found


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the map, if the study has several readings and sentences to test."""
    if len(study.readings) > 1 and verdicts(study):
        yield Picture(
            "map",
            "Where each claim holds",
            "Every claim (rows) under every assumption on what the paper leaves open (columns), one "
            "assumption at a time: all else is as in the first column. Open: the intervals do not "
            "decide, or the points have not been run.",
            partial(_map, study),
        )


def _map(study: Study) -> Figure:
    table, names = verdicts(study), list(columns(study))
    figure = Figure(
        figsize=(max(5.4, 3.0 + COLUMN * len(names)), ROW * len(table) + 2.0), layout="constrained"
    )
    axes = figure.subplots()
    for row, found in enumerate(table.values()):
        for column, name in enumerate(names):
            if name not in found:
                continue
            verdict = found[name]
            axes.plot(column, row, "s", ms=12, color=VERDICT_COLORS[verdict], mec="none")
            axes.text(
                column, row, VERDICT_SIGNS[verdict], ha="center", va="center_baseline", fontsize=8,
                fontweight="bold", color="white",
            )  # fmt: skip
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_yticks(range(len(table)), list(table), fontsize=7.5)
    told = [textwrap.fill(name, 24) for name in names]
    axes.set_xticks(range(len(names)), told, fontsize=7.5, rotation=60, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    style.bare(axes)
    key = ", ".join(f"{VERDICT_SIGNS[verdict]} {SAID[verdict]}" for verdict in VERDICTS)
    figure.supxlabel(key, fontsize=8, color="#444444")
    return figure


def tables(study: Study) -> Iterator[Table]:
    """Yield the same as a table of the report."""
    if len(study.readings) < 2 or not (table := verdicts(study)):
        return
    names = list(columns(study))
    rows = []
    for name, found in table.items():
        cells = [found.get(column) for column in names]
        rows.append([Cell(name), *(Cell(SAID[one], TONES[one]) if one else Cell("–") for one in cells)])
    counts = []
    for column in names:
        there = [found.get(column) for found in table.values()]
        counts.append(Cell(" · ".join(str(there.count(verdict)) for verdict in VERDICTS)))
    rows.append([Cell("hold, fail, open"), *counts])
    yield Table(
        "map",
        "Where each claim holds",
        "Every claim under every assumption on what the paper leaves open, one at a time; all else is as "
        "in the first column.",
        ("claim", *names),
        rows,
    )

"""Each metric over the first axis of numbers, or over categories, and its ratios to a reference."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.compare import heat_map
from analysis.compare.labels import CAPTION, NAMELESS, compared, metrics, title
from analysis.compare.layout import Cell, Layout
from analysis.errors import DrawingError, require_points
from analysis.figures import category_plot, load_plot
from analysis.figures.category_plot import CategoryPlot, Estimates
from analysis.figures.load_plot import LOAD, Line, LoadPlot, bars
from analysis.figures.style import NEUTRAL, SchemeStyle
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import EXCLUDED
from sweep.numbers import PERCENT, PURE, Unit, unit_of

WIDE_RANGE = 10.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""

MOST_COLUMNS = 3
"""Most panels side by side."""

SMALL = 0.01
"""Largest value of a share below which it is in percent."""

FEW_TICKS = 9
"""Largest number of values of an axis that all have a tick."""

RATIOS = (
    "Mean relative to {reference}, paired batch by batch or replication by replication, under the same "
    "{shared}; values below 1 are smaller."
)


def pictures(study: Study) -> Iterator[Picture]:
    """Yield a figure for each metric, followed by its ratios to the reference."""
    layout = Layout.of(study)
    drawn, _ = metrics(study)
    pairs = compared(study, drawn) if layout.compared else []
    for metric in drawn:
        text = [_axes_in_words(layout, metric), layout.cells(metric, _panel_axes(layout, metric))[1]]
        text += [CAPTION] if len(json.loads(study.data.attrs.get("families", "{}"))) > 1 else []
        caption = " ".join(part for part in text if part)
        yield Picture(metric, title(study, metric), caption, partial(_draw, layout, metric, None))
        if heat_map.fits(layout):
            yield heat_map.picture(layout, metric)
        if metric in pairs:
            yield Picture(
                f"{metric}-against-reference",
                f"{title(study, metric)} against {layout.against}",
                f"{RATIOS.format(reference=layout.against, shared=study.shared)} {caption}",
                partial(_draw, layout, metric, layout.reference),
            )


def _axes_in_words(layout: Layout, metric: str) -> str:
    over = layout.along or _categories(layout, metric)
    panels = [axis for axis in _panel_axes(layout, metric) if len(layout.values(metric, axis)) > 1]
    text = f"Over {_name(over)}" if over else "Each separately"
    if over != layout.lines and len(layout.names) > 1:
        text += f"; a line for each {_each(layout.lines)}"
    return text + (f"; a panel for each {' and '.join(map(_each, panels))}." if panels else ".")


def _each(axis: str) -> str:
    return axis if axis in NAMELESS else f"value of {_name(axis)}"


def _name(axis: str) -> str:
    return "offered load" if axis == "load" else axis.replace("_", " ")


def _categories(layout: Layout, metric: str) -> str:
    """Return the axis whose values are categories, if there is no axis of numbers."""
    return next(iter([*layout.study.own_axes(metric), *layout.facets]), layout.lines)


def _panel_axes(layout: Layout, metric: str) -> list[str]:
    axes = [*layout.facets, *layout.study.own_axes(metric)]
    return axes if layout.along else [axis for axis in axes if axis != _categories(layout, metric)]


def _draw(layout: Layout, metric: str, reference: str | None) -> Figure:
    names = layout.measured(metric)
    require_points(names)
    if reference is not None and (reference not in names or len(names) < 2):
        raise DrawingError(
            f"{layout.word(reference)} and another line must have this metric; reference=NAME chooses another"
        )
    return (_over_numbers if layout.along else _over_categories)(layout, metric, reference)


def _over_numbers(layout: Layout, metric: str, reference: str | None) -> Figure:
    cells, _ = layout.cells(metric, _panel_axes(layout, metric))
    names = [name for name in layout.measured(metric) if name != reference]
    all_lines = []
    for cell in cells:
        curves = {name: layout.curve(metric, name, cell) for name in names}
        curves = {name: curve for name, curve in curves.items() if not curve.where(EXCLUDED).all()}
        if reference is None:
            all_lines.append({name: Line.of(curve) for name, curve in curves.items()})
        else:
            below = layout.curve(metric, reference, cell)
            all_lines.append({name: Line.ratio(curve, below) for name, curve in curves.items()})
    cells, all_lines = _nonempty(cells, all_lines)
    label, unit, settings = _vertical(layout, metric, reference, [
        line.mean for lines in all_lines for line in lines.values()
    ])  # fmt: skip
    settings |= _horizontal(layout, all_lines)
    if len(all_lines) > 1 and layout.along == "load":
        settings["xlabel"] = "Offered load"
    headline, titles = _headline(layout, metric, reference), [layout.label(cell) for cell in cells]
    if len(cells) == 1:
        titles = ["\n".join(filter(None, [headline, *titles]))]
    note, scale = bars(layout.study), 1 / unit.size
    plots = [
        LoadPlot(lines, label, title, note=note, scale=scale, styles=layout.styles, **settings)
        for title, lines in zip(titles, all_lines, strict=True)
    ]
    if len(plots) == 1:
        return load_plot.draw(plots[0])
    order, n_columns = _arranged(cells)
    return load_plot.draw_panels([plots[i] for i in order], headline, n_columns)


def _arranged(cells: list[Cell]) -> tuple[list[int], int]:
    """Return the order of panels and their columns: of two axes, one is vertical, one horizontal."""
    counts = {axis: len({cell[axis] for cell in cells}) for axis in cells[0]}
    varied = [axis for axis, n in counts.items() if n > 1]
    across = next((axis for axis in reversed(varied) if counts[axis] <= MOST_COLUMNS), None)
    if len(varied) < 2 or across is None:
        return list(range(len(cells))), 2 if len(cells) in (2, 4) else 3
    values = list(dict.fromkeys(cell[across] for cell in cells))
    rows: dict[tuple[str, ...], list[int]] = {}
    for i, cell in enumerate(cells):
        rows.setdefault(tuple(value for axis, value in cell.items() if axis != across), []).append(i)
    if any([cells[i][across] for i in row] != values for row in rows.values()):
        return list(range(len(cells))), 3
    return [i for row in rows.values() for i in row], len(values)


def _nonempty(
    cells: list[Cell], all_lines: list[dict[str, Line]]
) -> tuple[list[Cell], list[dict[str, Line]]]:
    """Return the panels with a drawn or saturated point; all panels if there are none."""
    kept = [
        i for i, lines in enumerate(all_lines)
        if any(line.drawn.any() or line.saturated.any() for line in lines.values())
    ] or range(len(cells))  # fmt: skip
    return [cells[i] for i in kept], [all_lines[i] for i in kept]


def _headline(layout: Layout, metric: str, reference: str | None) -> str:
    name = title(layout.study, metric)
    return name if reference is None else f"{name}, relative to {layout.against}"


def _vertical(
    layout: Layout, metric: str, reference: str | None, means: list[np.ndarray]
) -> tuple[str, Unit, dict[str, Any]]:
    """Return the label of the vertical axis, its unit and its scale."""
    values = np.concatenate(means) if means else np.zeros(0)
    known = values[np.isfinite(values)]
    wide = known.size > 0 and (known > 0).all() and known.max() > WIDE_RANGE * known.min()
    scale: dict[str, Any] = {"yscale": "log" if wide else "linear"}
    if wide:
        scale["ylim"] = (known.min() / 3, None)  # bars down to 0 would take most of the axis
    if reference is not None:
        ticks = _ticks(known, PURE) if wide else ()
        if not wide:
            scale["ylim"] = (0.0, None)
        return (
            f"Relative to {layout.against}",
            PURE,
            {**scale, "yticks": ticks, "guides": {1.0: layout.against}},
        )
    most = float(known.max(initial=0.0))
    text = unit_of(layout.study.data[metric].attrs.get("units", "1"), [most])
    text = PERCENT if text is PURE and 0 < most < SMALL else text
    name = title(layout.study, metric)
    scale["yticks"] = _ticks(known, text) if wide else ()
    if wide:
        scale["ylim"] = (known.min() / 3 / text.size, None)
    if not wide and known.size and (known >= 0).all():
        scale["ylim"] = (0.0, None)
    return f"{name} ({text.name.strip()})" if text.name else name, text, scale


def _ticks(known: np.ndarray, unit: Unit) -> tuple[float, ...]:
    """Return few round numbers for the ticks of a logarithmic axis."""
    low, high = (
        math.floor(math.log10(known.min() / unit.size)),
        math.ceil(math.log10(known.max() / unit.size)),
    )
    within = (1, 2, 5) if known.max() < 200 * known.min() else (1,)
    return tuple(digit * 10.0**power for power in range(low - 1, high + 1) for digit in within)


def _horizontal(layout: Layout, all_lines: list[dict[str, Line]]) -> dict[str, Any]:
    """Return the settings of the axis of numbers; for loads, the settings of every figure."""
    if layout.along == "load":
        return {"xlabel": LOAD}
    x = np.unique(np.concatenate([line.x for lines in all_lines for line in lines.values()]))
    target = layout.study.data[layout.along].attrs.get("long_name", layout.along)
    name = layout.along.replace("_", " ")
    label = name if target in (name, layout.along) else f"{name} ({target})"
    ticks = x.tolist() if x.size <= FEW_TICKS else ()
    if x[0] > 0 and x[-1] >= 8 * x[0]:
        return {
            "xlabel": label,
            "xlim": (x[0] / 1.15, 1.15 * x[-1]),
            "xscale": "log",
            "xticks": ticks,
            "dodge": 0,
        }
    air = 0.05 * (x[-1] - x[0])
    return {
        "xlabel": label, "xlim": (x[0] - air, x[-1] + air), "xticks": ticks,
        "dodge": load_plot.DODGE * (x[-1] - x[0]),
    }  # fmt: skip


def _over_categories(layout: Layout, metric: str, reference: str | None) -> Figure:
    over = _categories(layout, metric)
    cells, _ = layout.cells(metric, _panel_axes(layout, metric))
    names = [name for name in layout.measured(metric) if name != reference]
    alone = over == layout.lines
    every = [] if alone else layout.every_cell(metric, [*_panel_axes(layout, metric), over])
    panels = []
    for cell in cells:
        here = names if alone else [one[over] for one in every if cell.items() <= one.items()]
        points: dict[str, list[tuple[str, Cell]]]
        points = {name: [(name, {**cell, over: value}) for value in here] for name in names}
        if alone:  # if the categories are the lines, they are one series
            points = {"": [(name, cell) for name in names]}
        series = {name: _estimates(layout, metric, each, reference) for name, each in points.items()}
        panels.append((cell, here, series))
    panels = [panel for panel in panels if any(map(_shows, panel[2].values()))] or panels
    means = [one.mean for *_, series in panels for one in series.values()]
    label, unit, settings = _vertical(layout, metric, reference, means)
    least = settings.pop("ylim", (None,))[0] if settings["yscale"] == "log" else None
    for key in ("ylim", "yticks"):
        settings.pop(key, None)
    plots = [
        CategoryPlot(
            [_category(layout, over, value, cell) for value in here],
            {name: _scaled(one, unit) for name, one in series.items()},
            {"": SchemeStyle("mean", NEUTRAL, "o", "")} if alone else layout.styles,
            label,
            title=layout.label(cell),
            least=least,
            joined=over.endswith("_range"),
            any_names=True,
            **settings,
        )
        for cell, here, series in panels
    ]
    wide = len(plots) == 1 or max(len(plot.categories) for plot in plots) > 6
    height = 3.4 if len(plots) == 1 else 2.5
    headline = _headline(layout, metric, reference)
    return category_plot.panels(plots, headline, 1 if wide else 2, height=height)


def _shows(one: Estimates) -> bool:
    return bool(one.drawn.any()) or (one.saturated is not None and bool(one.saturated.any()))


def _estimates(
    layout: Layout, metric: str, points: Sequence[tuple[str, Cell]], reference: str | None
) -> Estimates:
    """Return the means of lines at points, or their ratios to a reference's."""
    confidence, mine = layout.study.confidence, [layout.sample(metric, *point) for point in points]
    if reference is None:
        return Estimates.of(mine, confidence)
    others = [layout.sample(metric, reference, cell) for _, cell in points]
    return Estimates.ratios(mine, others, confidence)


def _scaled(one: Estimates, unit: Unit) -> Estimates:
    return replace(one, mean=one.mean / unit.size, low=one.low / unit.size, high=one.high / unit.size)


def _category(layout: Layout, over: str, value: str, cell: Cell) -> str:
    if over == layout.lines:
        return layout.styles[value].label
    return layout.study.user_label(value, cell) if over == "user_rank" else value

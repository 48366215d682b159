"""The page: controls at the left, the plot in the middle, one point and its pictures below."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.document import Document

from analysis.errors import AnalysisError
from analysis.explorer import choice as chosen
from analysis.explorer import plot, points, remaking, rerun, sights, words
from analysis.explorer.choice import Choice
from analysis.explorer.painter import Painter, SupersededError
from analysis.explorer.points import Spot
from analysis.explorer.source import Source
from analysis.explorer.viewport import Viewport
from analysis.study import Study

REFRESH_S = 2.0
"""Time between two looks at the dataset's file."""

NARROW = 820
"""Width of a window, pixels, below which the legend is under the plot."""

NO_POLICY = "Nothing"

TO_PNG = """
const found = [];
const look = (view) => {
  if (view.model && view.model.type === 'Figure') found.push(view);
  for (const child of view.child_views || []) look(child);
};
for (const root of Bokeh.index.roots) look(root);
if (found.length) {
  found[0].export('png', true).canvas.toBlob((blob) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, 'image/png');
}
"""
"""What the browser shows becomes a file, as far as it is zoomed."""

STYLE = """
:host { font: 14px/1.45 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; color: #1f2933; }
p { margin: 0 0 6px; } .quiet { color: #5f6b76; } .bad { color: #a1260d; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; margin: 6px 0; }
dt { color: #5f6b76; } dd { margin: 0; overflow-wrap: anywhere; }
code { font-size: 12.5px; user-select: all; background: #f2f4f6; border-radius: 4px; padding: 2px 5px; }
table { border-collapse: collapse; font-size: 13px; } .wide { overflow-x: auto; }
th, td { text-align: right; padding: 2px 12px 2px 0; white-space: nowrap; border-bottom: 1px solid #edf0f2; }
th:first-child, td:first-child { text-align: left; } thead th { color: #5f6b76; font-weight: 600; }
img { max-width: 100%; height: auto; display: block; }
@media (max-width: 500px) { dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: 6px; } }
"""


class Page:
    """What one browser window shows of a dataset.

    Parameters
    ----------
    source : Source
    logs : sequence of Path
        Folders with log files, for drawings.
    """

    def __init__(self, source: Source, logs: Sequence[Path] = ()) -> None:
        self._source, self._logs = source, logs
        self._study = source.study
        self._choice = Choice.first(self._study)
        self._spots: list[Spot] = []
        self._zoom: plot.Zoom | None = None
        self._spot: Spot | None = None
        self._painter = Painter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._document: Document | None = None
        self._is_closed = False
        self._is_syncing = False
        self._make_widgets()
        self._sync()
        self._show()

    # What the page is made of.

    def _make_widgets(self) -> None:
        wide: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (0, 0, 10, 0)}
        self._metric = pn.widgets.Select(name="Measure", **wide)
        self._along = pn.widgets.Select(name="Across", **wide)
        self._lines = pn.widgets.Select(name="A line for each", **wide)
        self._at: dict[str, pn.widgets.Select] = {}
        self._fixed = pn.Column(sizing_mode="stretch_width", margin=0)
        self._reference = pn.widgets.Select(name="Compare with", **wide)
        self._scale = pn.widgets.Select(
            name="Vertical scale", options={told: key for key, told in plot.SCALES.items()}, **wide
        )
        self._shown = pn.widgets.CheckBoxGroup(sizing_mode="stretch_width", margin=(0, 0, 0, 0))
        self._shown_title = _text("", margin=(2, 0, 2, 0))
        for widget in (self._metric, self._along, self._lines, self._reference, self._shown):
            widget.param.watch(self._chosen, "value")
        self._scale.param.watch(lambda event: self._show(), "value")
        self._status = _text(margin=0)
        self._caption = _text(margin=(0, 0, 4, 0))
        self._plot = pn.pane.HoloViews(sizing_mode="stretch_width", margin=0, linked_axes=False)
        self._csv = pn.widgets.FileDownload(
            callback=self._as_csv, filename=f"{self._study.name}.csv", label="Save numbers (CSV)",
            button_type="default", width=170, margin=(0, 8, 0, 0),
        )  # fmt: skip
        self._png = pn.widgets.Button(name="Save picture (PNG)", width=170, margin=(0, 8, 0, 0))
        self._png.js_on_click(args={"name": f"{self._study.name}.png"}, code=TO_PNG)
        self._numbers = _text(margin=0)
        self._viewport = Viewport()
        self._viewport.param.watch(self._resized, "width")
        small: dict[str, Any] = {"width": 240, "margin": (0, 10, 8, 0)}
        self._line = pn.widgets.Select(name="Line", **small)
        self._value = pn.widgets.Select(name="Value", **small)
        for widget in (self._line, self._value):
            widget.param.watch(self._picked, "value")
        self._told = _text(margin=(0, 0, 10, 0))
        self._sight = pn.widgets.Select(name="Picture", width=300, margin=(0, 10, 8, 0))
        self._replication = pn.widgets.Select(
            name="Replication", options=[0], value=0, width=110, margin=(0, 10, 8, 0)
        )
        self._begin = pn.widgets.TextInput(
            name="From (36h, 2d, 500s)", placeholder="what suits", width=150, margin=(0, 10, 8, 0)
        )
        self._end = pn.widgets.TextInput(name="To", placeholder="what suits", width=150, margin=(0, 10, 8, 0))
        self._draw = pn.widgets.Button(name="Draw", button_type="primary", width=100, margin=(19, 0, 8, 0))
        self._draw.on_click(self._paint)
        self._sight.param.watch(lambda event: self._times(), "value")
        self._state = _text(margin=0)
        self._image = _text(margin=0)

    def template(self) -> pn.Template:
        """Return the page."""
        found = pn.Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
        found.add_variable("name", self._study.name)
        parts = {
            "status": self._status,
            "controls": pn.Column(
                self._metric, self._along, self._lines, self._fixed, self._reference, self._scale,
                self._shown_title, self._shown, sizing_mode="stretch_width", margin=0,
            ),
            "caption": self._caption,
            "plot": self._plot,
            "downloads": pn.FlexBox(self._png, self._csv),
            "point": pn.Column(
                pn.FlexBox(self._line, self._value), self._told, sizing_mode="stretch_width", margin=0
            ),
            "picture": pn.Column(
                pn.FlexBox(self._sight, self._replication, self._begin, self._end, self._draw),
                self._state, self._image, sizing_mode="stretch_width", margin=0,
            ),
            "numbers": self._numbers,
            "viewport": self._viewport,
        }  # fmt: skip
        for name, part in parts.items():
            found.add_panel(name, part)
        return found

    def close(self) -> None:
        """End what still draws and looks."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        self._painter.close()

    # From the dataset to the widgets.

    def _sync(self) -> None:
        """Let the widgets offer what the study has, and show what is chosen."""
        study, choice = self._study, self._choice
        self._is_syncing = True
        try:
            groups = chosen.metrics(study)
            self._metric.param.update(
                groups={
                    told: {words.metric_name(study, name): name for name in names}
                    for told, names in _apart(study, groups).items()
                },
                value=choice.metric,
            )
            varied = chosen.axes(study, choice.metric)
            names = {words.axis_name(axis): axis for axis in varied or ["policy"]}
            self._along.param.update(options=names, value=choice.along)
            rest = {told: axis for told, axis in names.items() if axis != choice.along}
            self._lines.param.update(options=rest or names, value=choice.lines, visible=bool(rest))
            for axis, value in choice.at.items():
                self._widget_at(axis).param.update(
                    options={
                        words.value_name(study, axis, one, choice.at): one for one in study.values_of(axis)
                    },
                    value=value,
                )
            for axis, widget in self._at.items():
                widget.visible = axis in choice.at
            policies = {words.value_name(study, "policy", one): one for one in chosen.references(study)}
            self._reference.param.update(
                options={NO_POLICY: "", **policies}, value=choice.reference, visible=bool(policies)
            )
            looks = words.line_looks(study, choice)
            self._shown.param.update(
                options={looks[name].label: name for name in chosen.values(study, choice.lines)},
                value=list(choice.shown),
                visible=choice.lines != choice.along,
            )
            self._shown_title.param.update(
                object="<strong>Lines</strong>", visible=choice.lines != choice.along
            )
        finally:
            self._is_syncing = False

    def _widget_at(self, axis: str) -> pn.widgets.Select:
        """Return the control of an axis on which the study is seen at one value; it is made once."""
        if axis not in self._at:
            widget = pn.widgets.Select(
                name=words.axis_name(axis), sizing_mode="stretch_width", margin=(0, 0, 10, 0)
            )
            widget.param.watch(self._chosen, "value")
            self._at[axis] = widget
            self._fixed.append(widget)
        return self._at[axis]

    def _chosen(self, event: Any) -> None:
        """Take over what was chosen."""
        if self._is_syncing:
            return
        old = self._choice
        shown = tuple(self._shown.value) if event.obj is self._shown else old.shown
        if event.obj is self._shown and not shown:
            self._sync()  # at least one line is drawn
            return
        at = {**old.at, **{axis: widget.value for axis, widget in self._at.items() if widget.visible}}
        wanted = Choice(
            self._metric.value, self._along.value, self._lines.value, at, self._reference.value, shown
        )
        if event.obj is self._along and wanted.along == old.lines:
            wanted = replace(wanted, lines=old.along)
        self._choice = chosen.normal(self._study, wanted)
        self._sync()
        self._show()

    def _resized(self, event: Any) -> None:
        if (event.old < NARROW) != (event.new < NARROW):
            self._show()

    # From the choice to what is seen.

    def _show(self, view: plot.View = plot.ALL) -> None:
        """Draw the plot and tell its numbers."""
        study, choice = self._study, self._choice
        self._spots = points.spots(study, choice)
        self._status.object = self._state_of_run()
        drawable = any(spot.is_drawn or spot.status == "saturated" for spot in self._spots)
        self._caption.object = self._told_of_plot(drawable)
        self._plot.visible = drawable
        if drawable:
            narrow = self._viewport.width < NARROW
            drawing = plot.drawn(study, choice, self._spots, self._scale.value, narrow=narrow, view=view)
            taps = plot.selection(drawing.target)
            taps.param.watch(lambda event: self._tapped(drawing.order, event.new), "index")
            self._zoom = plot.Zoom(drawing)
            self._plot.object = drawing.overlay
        self._numbers.object = self._as_table()
        self._offer_points()

    def _state_of_run(self) -> str:
        source = self._source
        live = " Still running: this page follows it." if source.is_running else ""
        told = f"{words.tally(self._study)}. Written {source.written}.{live}"
        bad = f"<p class='bad' role='alert'>{words.escaped(source.problem)}</p>" if source.problem else ""
        return f"<div role='status' class='quiet'>{words.escaped(told)}</div>{bad}"

    def _told_of_plot(self, drawable: bool) -> str:
        study, choice = self._study, self._choice
        name = words.escaped(words.metric_name(study, choice.metric))
        if not drawable:
            at = words.escaped(words.where(study, choice.at)) or "these values"
            why = (
                "none of these points has been run yet" if self._spots else f"the grid has no points at {at}"
            )
            return f"<p role='status'><strong>{name}</strong>: {why}. Choose other values at the left.</p>"
        compared = ""
        if choice.reference:
            compared = (
                f" divided by that of {words.escaped(words.value_name(study, 'policy', choice.reference))}, "
                "under the same jobs: below 1 is less"
            )
        hollow = (
            " Hollow points: see their note."
            if any(s.is_drawn and not s.is_solid for s in self._spots)
            else ""
        )
        bars = "" if bool(study.exact.all()) else f" Bars: {study.confidence:.0%} confidence intervals."
        return (
            f"<p><strong>{name}</strong>{compared}.{bars}{hollow} "
            "<span class='quiet'>Point at a point for its numbers, click it to draw what happens "
            "there.</span></p>"
        )

    def _as_table(self) -> str:
        study, choice = self._study, self._choice
        unit = words.unit_of(study, choice, self._spots)
        looks = words.line_looks(study, choice)
        along = chosen.values(study, choice.along)
        found = {(spot.line, spot.value): spot for spot in self._spots}
        head = "".join(
            f"<th scope='col'>{words.escaped(words.value_name(study, choice.along, value, choice.at))}</th>"
            for value in along
        )
        rows = []
        for name in choice.shown:
            cells = []
            for value in along:
                spot = found.get((name, value))
                text = "" if spot is None else words.estimate(spot, unit)
                if spot is not None and not spot.is_drawn:
                    text = spot.status if spot.status != "done" else words.NOTHING
                cells.append(f"<td>{words.escaped(text)}</td>")
            rows.append(f"<tr><th scope='row'>{words.escaped(looks[name].label)}</th>{''.join(cells)}</tr>")
        label = words.escaped(words.value_label(study, choice, unit))
        over = words.escaped(words.along_label(study, choice))
        return (
            "<div class='wide' tabindex='0' role='region' aria-label='Numbers of the plot'><table>"
            f"<caption style='text-align:left'>{label}, by {over}</caption>"
            f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )

    def _as_csv(self) -> io.StringIO:
        file = io.StringIO()
        points.table(self._study, self._choice, self._spots).to_csv(file, index=False)
        file.seek(0)
        return file

    # One point.

    def _offer_points(self) -> None:
        """Let a point be chosen by hand; the one that is chosen stays so where it is still there."""
        study, choice = self._study, self._choice
        looks = words.line_looks(study, choice)
        old = self._spot
        self._is_syncing = True
        try:
            lines = {looks[name].label: name for name in choice.shown}
            values = {
                words.value_name(study, choice.along, value, choice.at): value
                for value in chosen.values(study, choice.along)
                if any(spot.value == value for spot in self._spots)
            }
            line = old.line if old and old.line in lines.values() else choice.shown[0]
            here = [spot.value for spot in self._spots if spot.line == line]
            value = old.value if old and old.value in here else next(iter(here), None)
            self._line.param.update(
                options=lines, value=line, visible=choice.lines != choice.along,
                name=words.axis_name(choice.lines),
            )  # fmt: skip
            self._value.param.update(options=values, value=value, name=words.axis_name(choice.along))
        finally:
            self._is_syncing = False
        self._tell()

    def _picked(self, event: Any) -> None:
        if not self._is_syncing:
            self._tell()

    def _tapped(self, order: Sequence[Spot], index: Sequence[int]) -> None:
        """Show the point that was clicked, and draw what happens there."""
        if not index:
            return
        hit = [order[i] for i in index]
        # Of several on top of each other, clicking again takes the next one.
        after = hit.index(self._spot) + 1 if self._spot in hit else 0
        spot = hit[after % len(hit)]
        self._is_syncing = True
        self._line.value, self._value.value = spot.line, spot.value
        self._is_syncing = False
        self._tell()
        if self._sight.visible:
            self._paint()

    def _tell(self) -> None:
        """Tell all of the point that is chosen, and what can be drawn of it."""
        study, choice, old = self._study, self._choice, self._spot
        line = self._value.value if choice.lines == choice.along else self._line.value
        found = [spot for spot in self._spots if (spot.line, spot.value) == (line, self._value.value)]
        self._spot = found[0] if found else None
        spot = self._spot
        if spot is None:
            self._told.object = "<p role='status'>The grid has no such point.</p>"
        else:
            unit = words.unit_of(study, choice, self._spots)
            rows = [
                *words.facts(study, choice, spot, unit),
                *((words.axis_name(axis), value) for axis, value in spot.place.items()),
                ("Seeds", rerun.seeds(study, spot.place)),
            ]
            told = "".join(
                f"<dt>{words.escaped(name)}</dt><dd>{words.escaped(text)}</dd>" for name, text in rows
            )
            typed = rerun.command(study, spot.place)
            again = f"<code>{words.escaped(typed)}</code>" if typed else "not by a command: see the notebook"
            self._told.object = f"<dl>{told}<dt>Run it again</dt><dd>{again}</dd></dl>"
        if spot is None or old is None or spot.place != old.place:
            self._image.object = self._state.object = ""
        policy = {} if spot is None else study.config.get("policy", {}).get(spot.place["policy"], {})
        names = sights.offered(policy) if policy else []
        titles = {sights.SIGHTS[name].title: name for name in names}
        self._sight.options = titles
        if names and self._sight.value not in names:
            self._sight.value = names[0]
        for widget in (self._sight, self._replication, self._draw):
            widget.visible = bool(names)
        self._replication.options = list(range(study.data.sizes["replication"]))
        self._times()
        if spot is not None and not names:
            self._state.object = (
                "<p class='quiet'>Nothing to draw: this family makes no schedule of jobs.</p>"
            )

    def _times(self) -> None:
        """Offer a stretch of time, or a moment."""
        sight = sights.SIGHTS.get(self._sight.value) if self._sight.visible else None
        self._begin.visible = sight is not None
        self._end.visible = sight is not None and sight.window
        self._begin.name = "From (36h, 2d, 500s)" if sight and sight.window else "At (36h, 2d, 500s)"

    def _paint(self, event: Any = None) -> None:
        """Have drawn what happens at the point; the page goes on answering."""
        spot, sight = self._spot, self._sight.value
        if spot is None or sight is None:
            return
        window = sights.SIGHTS[sight].window
        try:
            point = remaking.point_of(self._study, spot.place, self._replication.value, self._logs)
        except AnalysisError as error:
            self._failed(str(error))
            return
        ends = (self._end.value or "").strip() if window else ""
        request = sights.Request(sight, point, (self._begin.value or "").strip(), ends)
        title = f"{sights.SIGHTS[sight].title}: {request.title}"
        self._state.object = (
            f"<p role='status'>Drawing: {words.escaped(title)} … The run is made anew; the first one after "
            "an update compiles for a minute or two.</p>"
        )
        self._state.loading = True
        self._in_background(self._drawn(request, spot, title))

    async def _drawn(self, request: sights.Request, spot: Spot, title: str) -> None:
        """Wait for a picture and show it, unless another one is wanted by then."""
        try:
            picture = await self._painter.draw(request)
        except SupersededError:
            return
        except AnalysisError as error:
            self._soon(partial(self._failed, str(error)))
            return
        self._soon(partial(self._put, picture, spot, title, f"{self._study.name}-{request.sight}.png"))

    def _failed(self, problem: str) -> None:
        self._state.loading = False
        self._state.object = f"<p class='bad' role='alert'>{words.escaped(problem)}</p>"
        self._image.object = ""

    def _put(self, picture: bytes, spot: Spot, title: str, file: str) -> None:
        """Show a picture, unless another point was chosen meanwhile."""
        self._state.loading = False
        if self._spot is None or self._spot.place != spot.place:
            self._state.object = ""
            return
        data = base64.b64encode(picture).decode()
        link = f"download='{words.escaped(file)}' href='data:image/png;base64,{data}'"
        self._image.object = (
            f"<img alt='{words.escaped(title)}' src='data:image/png;base64,{data}'><p><a {link}>Save this "
            "picture</a></p>"
        )
        self._state.object = "<p role='status' class='quiet'>Drawn.</p>"

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start what takes long; what it changes on the page it hands to `_soon`."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _soon(self, change: Callable[[], None]) -> None:
        """Change the page from the background: a callback of its own holds the page only while it runs."""
        if self._document is not None and not self._is_closed:
            self._document.add_next_tick_callback(change)

    # While a sweep runs.

    def follow(self) -> None:
        """Begin to show the dataset anew whenever it has changed; called once the page is there."""
        self._document = pn.state.curdoc
        self._in_background(self._follow())

    async def _follow(self) -> None:
        while not self._is_closed:
            await asyncio.sleep(REFRESH_S)
            problem = self._source.problem
            study = await asyncio.get_running_loop().run_in_executor(None, self._source.refresh)
            if study is not self._study or problem != self._source.problem:
                self._soon(partial(self._renewed, study))

    def _renewed(self, study: Study) -> None:
        if study is self._study:
            self._status.object = self._state_of_run()
            return
        self._study = study
        before, self._choice = self._choice, chosen.normal(study, self._choice)
        self._sync()
        # Somebody may look at a part of it; elsewhere the same part would mean nothing.
        zoom = self._zoom if before == self._choice else None
        self._show(zoom.view if zoom else plot.ALL)


def _text(text: str = "", **settings: Any) -> pn.pane.HTML:
    return pn.pane.HTML(text, stylesheets=[STYLE], sizing_mode="stretch_width", **settings)


def _apart(study: Study, groups: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the lists of metrics; of two of the same words the later one is left out."""
    seen: set[str] = set()
    found: dict[str, list[str]] = {}
    for told, names in groups.items():
        for name in names:
            words_of = words.metric_name(study, name)
            if words_of not in seen:
                seen.add(words_of)
                found.setdefault(told, []).append(name)
    return found

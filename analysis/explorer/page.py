"""The page: controls at the left, the plot in the middle, one point and its pictures below."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import panel as pn
from bokeh.document import Document

from analysis.errors import AnalysisError
from analysis.explorer import choice as chosen
from analysis.explorer import plot, points, remaking, views, words
from analysis.explorer.choice import AUTO, Choice
from analysis.explorer.painter import Painter, SupersededError
from analysis.explorer.source import Source
from analysis.explorer.viewport import Viewport
from analysis.study import Study
from analysis.study.curve import SATURATED

REFRESH_S = 2.0
"""Time between two checks of the dataset's file."""

NARROW = 820
"""Width of a window, pixels, below which the legend is under the plot."""

CONTROLS = {
    "metric": "Measure", "along": "Across", "lines": "A line for each", "reference": "Compare with",
    "scale": "Vertical scale",
}  # fmt: skip
"""Field of `Choice` -> name of its control."""

SCALES = {"Automatic": AUTO, "Linear": "linear", "Logarithmic": "log"}

TO_PNG = """
const [figure] = [...Bokeh.index.query((view) => view.model.type === 'Figure')];
figure?.export('png', true).canvas.toBlob((blob) => {
  Object.assign(document.createElement('a'), {href: URL.createObjectURL(blob), download: name}).click();
}, 'image/png');
"""
"""Saves the plot as the browser shows it, as far as it is zoomed."""

STYLE = """
:host { font: 14px/1.45 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; color: #1f2933; }
p { margin: 0 0 6px; } .quiet { color: #5f6b76; } .bad { color: #a1260d; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; margin: 6px 0; }
dt { color: #5f6b76; } dd { margin: 0; overflow-wrap: anywhere; }
code { font-size: 12.5px; user-select: all; background: #f2f4f6; border-radius: 4px; padding: 2px 5px; }
@media (max-width: 500px) { dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: 6px; } }
"""

WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
SMALL: dict[str, Any] = {"margin": (0, 10, 8, 0)}


class Page:
    """The page of one browser window.

    Parameters
    ----------
    logs : sequence of Path
        Folders with log files, for pictures.
    """

    def __init__(self, source: Source, logs: Sequence[Path] = ()) -> None:
        self._source, self._logs = source, logs
        self._study = source.study
        self._choice = Choice.first(self._study)
        self._points = pd.DataFrame()
        self._point: Any = None  # a row of the points
        self._drawing: plot.Drawing | None = None
        self._painter = Painter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._document: Document | None = None
        self._is_closed = self._is_offering = False
        self._make_widgets()
        self._offer()
        self._show()

    def _make_widgets(self) -> None:
        select, button = pn.widgets.Select, pn.widgets.Button
        wide: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (0, 0, 10, 0)}
        self._controls = {key: select(name=title, **wide) for key, title in CONTROLS.items()}
        self._controls["scale"].options = SCALES
        self._at = {
            axis: select(name=words.axis_name(axis), **wide)
            for axis in dict.fromkeys(axis for name in self._metrics() for axis in self._axes(name))
        }
        self._shown = pn.widgets.CheckBoxGroup(**WIDE)
        for widget in (*self._controls.values(), *self._at.values(), self._shown):
            widget.param.watch(self._choose, "value")
        self._viewport = Viewport()
        self._viewport.param.watch(self._resize, "width")
        self._status, self._caption, self._facts, self._state = (_html() for _ in range(4))
        self._plot = pn.pane.HoloViews(linked_axes=False, **WIDE)
        self._numbers = pn.pane.DataFrame(sizing_mode="stretch_width", bold_rows=True)
        self._csv = pn.widgets.FileDownload(
            callback=self._as_csv, filename=f"{self._study.name}.csv", label="Save numbers (CSV)", width=170
        )
        self._png = button(name="Save picture (PNG)", width=170)
        self._png.js_on_click(args={"name": f"{self._study.name}.png"}, code=TO_PNG)
        self._line, self._value = (select(width=240, **SMALL) for _ in range(2))
        for widget in (self._line, self._value):
            widget.param.watch(lambda event: self._describe(), "value")
        self._view = select(name="Picture", width=300, **SMALL)
        self._view.param.watch(lambda event: self._offer_times(), "value")
        runs = list(range(self._study.data.sizes["replication"]))
        self._replication = select(name="Replication", options=runs, width=110, **SMALL)
        self._begin, self._end = (
            pn.widgets.TextInput(name=name, placeholder="automatic", width=150, **SMALL)
            for name in ("From (36h, 2d, 500s)", "To")
        )
        self._draw = button(name="Draw", button_type="primary", width=100, margin=(19, 0, 8, 0))
        self._draw.on_click(lambda event: self._paint())
        self._image = pn.pane.PNG(sizing_mode="scale_width", max_width=1100, visible=False)
        self._save = pn.widgets.FileDownload(label="Save this picture", width=170, visible=False)

    def template(self) -> pn.Template:
        """Return the page."""
        found = pn.Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
        found.add_variable("name", self._study.name)
        controls = [self._controls[key] for key in CONTROLS]
        request = pn.FlexBox(self._view, self._replication, self._begin, self._end, self._draw)
        parts = {
            "status": self._status,
            "controls": pn.Column(*controls[:3], *self._at.values(), *controls[3:], self._shown, **WIDE),
            "caption": self._caption,
            "plot": self._plot,
            "downloads": pn.FlexBox(self._png, self._csv),
            "point": pn.Column(pn.FlexBox(self._line, self._value), self._facts, **WIDE),
            "picture": pn.Column(request, self._state, self._image, self._save, **WIDE),
            "numbers": self._numbers,
            "viewport": self._viewport,
        }
        for name, part in parts.items():
            found.add_panel(name, part)
        return found

    def close(self) -> None:
        """End all background work."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        self._painter.close()

    # From the dataset to the controls, and back to the choice.

    def _metrics(self) -> list[str]:
        return [name for names in chosen.metrics(self._study).values() for name in names]

    def _axes(self, metric: str) -> list[str]:
        return chosen.axes(self._study, metric)

    @contextmanager
    def _offering(self) -> Iterator[None]:
        """Change widgets without taking the change for a choice of the reader."""
        before, self._is_offering = self._is_offering, True
        try:
            yield
        finally:
            self._is_offering = before

    def _offer(self) -> None:
        """Set the options of all controls, and their values to those of the choice."""
        study, choice = self._study, self._choice
        names = {words.axis_name(axis): axis for axis in self._axes(choice.metric) or ["policy"]}
        rest = {name: axis for name, axis in names.items() if axis != choice.along}
        policies = {words.value_name(study, "policy", one): one for one in chosen.references(study)}
        looks, several = words.line_looks(study, choice), choice.lines != choice.along
        with self._offering():
            groups = {
                title: {words.title(study, name): name for name in reversed(metrics)}
                for title, metrics in chosen.metrics(study).items()
            }
            groups = {title: dict(reversed(names.items())) for title, names in groups.items()}
            self._controls["metric"].param.update(groups=groups, value=choice.metric)
            self._controls["along"].param.update(options=names, value=choice.along)
            self._controls["lines"].param.update(
                options=rest or names, value=choice.lines, visible=bool(rest)
            )
            self._controls["reference"].param.update(
                options={"Nothing": "", **policies}, value=choice.reference, visible=bool(policies)
            )
            self._controls["scale"].value = choice.scale
            for axis, widget in self._at.items():
                widget.visible = axis in choice.at
                if axis in choice.at:
                    known = {
                        words.value_name(study, axis, one, choice.at): one for one in study.values_of(axis)
                    }
                    widget.param.update(options=known, value=choice.at[axis])
            lines = {looks[name].label: name for name in chosen.values(study, choice.lines)}
            self._shown.param.update(options=lines, value=list(choice.shown), visible=several)

    def _choose(self, event: Any) -> None:
        """Take over what the reader has chosen."""
        if self._is_offering:
            return
        old = self._choice
        wanted = replace(
            old,
            **{key: widget.value for key, widget in self._controls.items()},
            at={**old.at, **{axis: widget.value for axis, widget in self._at.items() if widget.visible}},
        )
        if event.obj is self._shown:
            wanted = replace(wanted, shown=tuple(event.new) or old.shown)  # at least one line is drawn
        if event.obj is self._controls["along"] and wanted.along == old.lines:
            wanted = replace(wanted, lines=old.along)
        self._choice = chosen.normal(self._study, wanted)
        self._offer()
        self._show()

    def _resize(self, event: Any) -> None:
        if (event.old < NARROW) != (event.new < NARROW):
            self._show()

    # From the choice to the plot and its numbers.

    def _show(self, view: plot.View | None = None) -> None:
        """Draw the plot, and list its numbers and points."""
        study, choice = self._study, self._choice
        found = words.described(study, choice, points.points(study, choice))
        self._points = found
        drawable = bool((found["mean"].notna() | (found["status"] == SATURATED)).any())
        self._status.object = self._state_of_run()
        self._caption.object = self._captioned(drawable)
        self._plot.visible = drawable
        if drawable:
            narrow = self._viewport.width < NARROW
            drawing = plot.drawn(study, choice, found, narrow=narrow, view=view)
            drawing.clicked.param.watch(lambda event: self._click(drawing, event.new), "index")
            self._drawing, self._plot.object = drawing, drawing.overlay
        self._numbers.object = self._table()
        self._offer_points()

    def _state_of_run(self) -> str:
        source = self._source
        live = " Still running: this page follows it." if source.is_running else ""
        text = f"{words.tally(self._study)}. Written {source.written}.{live}"
        return _message(text, "status", "quiet") + (source.problem and _message(source.problem))

    def _captioned(self, drawable: bool) -> str:
        study, choice = self._study, self._choice
        name = f"<strong>{escape(words.title(study, choice.metric))}</strong>"
        if not drawable:
            at = escape(words.where(study, choice.at)) or "these values"
            no = "none of these points has been run yet" if len(self._points) else f"the grid excludes {at}"
            return f"<p role='status'>{name}: {no}. Choose other values at the left.</p>"
        if choice.reference:
            other = escape(words.value_name(study, "policy", choice.reference))
            name += f" divided by that of {other}, under the same jobs: below 1 is less"
        bars = "" if bool(study.exact.all()) else f" Bars: {study.level} confidence intervals."
        is_hollow = self._points["mean"].notna() & ~self._points["solid"]
        hollow = " Hollow points: see their note." if is_hollow.any() else ""
        hint = "Point at a point for its numbers, click it to draw its schedule."
        return f"<p>{name}.{bars}{hollow} <span class='quiet'>{hint}</span></p>"

    def _table(self) -> pd.DataFrame:
        """Return the numbers of the plot: a row for each line, a column for each value of the axis."""
        study, choice, found = self._study, self._choice, self._points
        looks = words.line_looks(study, choice)
        wide = found.pivot(index="line", columns="value", values="estimate")
        wide = wide.reindex(index=list(choice.shown), columns=chosen.values(study, choice.along)).fillna("")
        wide.index = pd.Index([looks[name].label for name in wide.index])
        wide.columns = pd.Index(
            [words.value_name(study, choice.along, value, choice.at) for value in wide.columns]
        )
        unit = words.unit_of(study, choice, found)
        label = f"{words.value_label(study, choice, unit)}, by {words.along_label(study, choice)}"
        return wide.rename_axis(columns=label)

    def _as_csv(self) -> io.StringIO:
        return io.StringIO(points.table(self._points).to_csv(index=False))

    # One point.

    def _offer_points(self) -> None:
        """Offer the points for a choice by hand; the one that is chosen stays so while it exists."""
        study, choice, old, found = self._study, self._choice, self._point, self._points
        looks = words.line_looks(study, choice)
        lines = {looks[name].label: name for name in choice.shown}
        values = {
            words.value_name(study, choice.along, value, choice.at): value
            for value in chosen.values(study, choice.along)
            if value in set(found["value"])
        }
        line = old.line if old is not None and old.line in choice.shown else choice.shown[0]
        here = list(found[found["line"] == line]["value"])
        value = old.value if old is not None and old.value in here else next(iter(here), None)
        with self._offering():
            self._line.param.update(
                options=lines, value=line, visible=choice.lines != choice.along,
                name=words.axis_name(choice.lines),
            )  # fmt: skip
            self._value.param.update(options=values, value=value, name=words.axis_name(choice.along))
        self._describe()

    def _click(self, drawing: plot.Drawing, index: Sequence[int]) -> None:
        """Choose the point that was clicked, and draw its picture."""
        hit = [drawing.points.iloc[i] for i in index]
        if not hit:
            return
        # Of several on top of each other, another click takes the next one.
        places = [one.place for one in hit]
        now = self._point.place if self._point is not None else None
        one = hit[(places.index(now) + 1) % len(hit) if now in places else 0]
        with self._offering():
            self._line.value, self._value.value = one.line, one.value
        self._describe()
        if self._view.visible:
            self._paint()

    def _describe(self) -> None:
        """Show the numbers of the point that is chosen, and offer its pictures."""
        if self._is_offering:
            return
        study, choice, old, found = self._study, self._choice, self._point, self._points
        value = self._value.value
        line = value if choice.lines == choice.along else self._line.value
        here = found[(found["line"] == line) & (found["value"] == value)]
        self._point = point = None if here.empty else here.iloc[0]
        if point is None:
            self._facts.object = _message("The grid excludes this point.", "status", "")
        else:
            rows = {
                words.measure(study, choice): point.estimate,
                f"{study.level} interval": point.interval,
                "Replications": point.runs,
                **({"Note": point.note} if point.note else {}),
                **{words.axis_name(axis): value for axis, value in point.place.items()},
                "Seeds": point.seeds,
            }
            text = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows.items())
            command = point.command or "no command: see the notebook"
            text += f"<dt>Run it again</dt><dd><code>{escape(command)}</code></dd>"
            self._facts.object = f"<dl>{text}</dl>"
        if point is None or old is None or point.place != old.place:
            self._put()
        policy = {} if point is None else study.config.get("policy", {}).get(point.place["policy"], {})
        names = views.offered(policy) if policy else []
        self._view.options = {views.VIEWS[name].title: name for name in names}
        if names and self._view.value not in names:
            self._view.value = names[0]
        for widget in (self._view, self._replication, self._draw):
            widget.visible = bool(names)
        self._offer_times()
        if point is not None and not names:
            self._put("There is no picture: this family makes no schedule of jobs.")

    def _offer_times(self) -> None:
        """Offer a period of time, or a moment, as the picture shows it."""
        view = views.VIEWS.get(self._view.value) if self._view.visible else None
        is_period = view is not None and view.window
        self._begin.visible, self._end.visible = view is not None, is_period
        self._begin.name = f"{'From' if is_period else 'At'} (36h, 2d, 500s)"

    def _paint(self) -> None:
        """Draw the picture of the point in the background; the page stays responsive."""
        point, name = self._point, self._view.value
        if point is None or name is None:
            return
        try:
            made = remaking.point_of(self._study, point.place, self._replication.value, self._logs)
        except AnalysisError as error:
            self._put(str(error), "alert", "bad")
            return
        end = (self._end.value or "").strip() if views.VIEWS[name].window else ""
        request = views.Request(name, made, (self._begin.value or "").strip(), end)
        title = f"{views.VIEWS[name].title}: {request.title}"
        more = "The run is repeated; the first one after an update compiles for a minute or two."
        self._put(f"Drawing: {title} … {more}")
        self._state.loading = True
        self._in_background(self._painted(request, point.place, title))

    async def _painted(self, request: views.Request, place: dict[str, str], title: str) -> None:
        """Wait for a picture and show it, unless another one has been requested meanwhile."""
        try:
            picture = await self._painter.draw(request)
        except SupersededError:
            return
        except AnalysisError as error:
            self._soon(partial(self._put, str(error), "alert", "bad"))
            return
        self._soon(partial(self._show_picture, request, place, title, picture))

    def _show_picture(
        self, request: views.Request, place: dict[str, str], title: str, picture: bytes
    ) -> None:
        self._put()
        if self._point is not None and self._point.place == place:
            self._image.param.update(object=picture, alt_text=title, visible=True)
            name = f"{self._study.name}-{request.view}.png"
            self._save.param.update(file=io.BytesIO(picture), filename=name, visible=True)

    def _put(self, message: str = "", role: str = "status", tone: str = "quiet") -> None:
        """Show a message in place of the picture, or nothing."""
        self._state.loading = False
        self._state.object = message and _message(message, role, tone)
        self._image.visible = self._save.visible = False

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start what takes long; it changes the page through `_soon` only."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _soon(self, change: Callable[[], None]) -> None:
        """Change the page from the background: a callback of its own locks the page only while it runs."""
        if self._document is not None and not self._is_closed:
            self._document.add_next_tick_callback(change)

    # While a sweep runs.

    def follow(self) -> None:
        """Begin to reload the dataset whenever it has changed; called once the page is open."""
        self._document = pn.state.curdoc
        self._in_background(self._follow())

    async def _follow(self) -> None:
        while not self._is_closed:
            await asyncio.sleep(REFRESH_S)
            problem = self._source.problem
            study = await asyncio.get_running_loop().run_in_executor(None, self._source.refresh)
            if study is not self._study or problem != self._source.problem:
                self._soon(partial(self._renew, study))

    def _renew(self, study: Study) -> None:
        if study is self._study:
            self._status.object = self._state_of_run()
            return
        self._study = study
        before, self._choice = self._choice, chosen.normal(study, self._choice)
        self._offer()
        # The reader may have zoomed in; under another choice the same part would mean nothing.
        is_same = before == self._choice and self._drawing is not None
        self._show(self._drawing.view if is_same and self._drawing else None)


def _html(text: str = "") -> pn.pane.HTML:
    return pn.pane.HTML(text, stylesheets=[STYLE], **WIDE)


def _message(text: str, role: str = "alert", tone: str = "bad") -> str:
    return f"<p role='{role}' class='{tone}'>{escape(text)}</p>"

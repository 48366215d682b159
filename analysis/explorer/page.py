"""The page of a dataset: controls at the side, the plot in the middle, one point and its pictures below."""

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

from analysis.drawings import remaking
from analysis.errors import AnalysisError
from analysis.explorer import choice as chosen
from analysis.explorer import plot, points, views, words
from analysis.explorer.choice import AUTO, HEAT_MAP, LINES, PARALLEL, Choice
from analysis.explorer.painter import Painter, SupersededError
from analysis.explorer.source import Source
from analysis.study import Study
from models.counting import counted
from sweep.policy_names import named

REFRESH_S = 2.0
"""Time between two checks of the dataset's file."""

CONTROLS = {
    "metric": "Measure", "along": "Across", "lines": "A line for each", "reference": "Compare with",
    "scale": "Vertical scale", "kind": "Show as",
}  # fmt: skip
"""Field of `Choice` -> name of its control."""

SCALES = {"Automatic": AUTO, "Linear": "linear", "Logarithmic": "log"}

STYLE = """
p { margin: 0 0 6px; } .quiet { opacity: .75; } .bad { color: #c2410c; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; margin: 6px 0; }
dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 500px) { dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: 6px; } }
"""
PAPER = ":host { filter: var(--pictures, none); }"
"""Style of pictures, which a dark page inverts."""

COPY = "navigator.clipboard.writeText(command.value)"

WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (0, 0, 10, 0)}
SMALL: dict[str, Any] = {"margin": (0, 10, 8, 0)}


class Page:
    """The page of a dataset in one browser window.

    Parameters
    ----------
    logs : sequence of Path
        Folders with log files, for pictures.
    query : dict of str to str
        The part of the address that holds the reader's choice.
    on_choice : callable
        Receives that part after each choice of the reader.
    """

    def __init__(
        self,
        source: Source,
        logs: Sequence[Path] = (),
        query: dict[str, str] | None = None,
        on_choice: Callable[[dict[str, str]], None] = lambda query: None,
    ) -> None:
        self._source, self._logs, self._on_choice = source, logs, on_choice
        self._study = source.study
        self._choice = Choice.of_query(self._study, query or {})
        self._points = pd.DataFrame()
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
        self._controls = {key: select(name=title, **WIDE) for key, title in CONTROLS.items()}
        self._controls["scale"].options, self._controls["kind"].options = SCALES, [LINES, HEAT_MAP, PARALLEL]
        every = [axis for name in self._metrics() for axis in chosen.axes(self._study, name)]
        self._at = {axis: select(name=words.axis_name(axis), **WIDE) for axis in dict.fromkeys(every)}
        self._shown = pn.widgets.CheckBoxGroup(**WIDE)
        for widget in (*self._controls.values(), *self._at.values(), self._shown):
            widget.param.watch(self._choose, "value")
        self._status, self._caption, self._facts, self._state = (
            pn.pane.HTML("", stylesheets=[STYLE], sizing_mode="stretch_width", margin=0) for _ in range(4)
        )
        self._progress = pn.indicators.Progress(visible=False, bar_color="info", **WIDE)
        self._plot = pn.pane.Bokeh(min_height=380, stylesheets=[PAPER], **WIDE)
        self._table = pn.widgets.Tabulator(
            disabled=True, selectable=False, show_index=False, pagination="local", page_size=12,
            layout="fit_data_stretch", **WIDE,
        )  # fmt: skip
        self._table.param.watch(lambda event: self._soon(self._fade), "filters")
        self._table.on_click(lambda event: self._take(self._table.value.index[event.row]))
        self._csv = pn.widgets.FileDownload(
            callback=self._as_csv, filename=f"{self._study.name}.csv", label="Save numbers (CSV)", width=170
        )
        self._numbers = pn.Card(
            self._table, self._csv, title="All numbers of this plot", collapsed=True, **WIDE
        )
        self._point = select(name="One point", **WIDE)
        self._point.param.watch(lambda event: self._describe(), "value")
        self._command = pn.widgets.TextAreaInput(name="Run it again", disabled=True, auto_grow=True, **WIDE)
        self._copy = button(name="Copy the command", width=170, **SMALL)
        self._copy.js_on_click(args={"command": self._command}, code=COPY)
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
        self._image = pn.pane.PNG(
            sizing_mode="scale_width", max_width=1100, visible=False, stylesheets=[PAPER]
        )
        self._chart = pn.pane.Bokeh(visible=False, stylesheets=[PAPER], **WIDE)
        self._save = pn.widgets.FileDownload(label="Save this picture", width=170, visible=False)

    @property
    def side(self) -> pn.Column:
        """The controls."""
        controls = [self._controls[key] for key in CONTROLS]
        return pn.Column(*controls[:3], *self._at.values(), *controls[3:], self._shown, **WIDE)

    @property
    def main(self) -> pn.Column:
        """The plot, one point and its picture, and all numbers."""
        request = pn.FlexBox(self._view, self._replication, self._begin, self._end, self._draw)
        one = [self._point, self._facts, self._command, self._copy, request, self._state]
        return pn.Column(
            self._status, self._progress, self._caption, self._plot, *one, self._chart, self._image,
            self._save, self._numbers,
            **WIDE, styles={"flex": "1 1 460px", "min-width": "0"},
        )  # fmt: skip

    def close(self) -> None:
        """End all background work."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        self._painter.close()

    # From the dataset to the controls, and back to the choice.

    def _metrics(self) -> list[str]:
        return [name for names in chosen.metrics(self._study).values() for name in names]

    @contextmanager
    def _offering(self) -> Iterator[None]:
        """Change widgets without taking the change for a choice of the reader."""
        before, self._is_offering = self._is_offering, True
        try:
            yield
        finally:
            self._is_offering = before

    def _offer(self) -> None:
        """Set the options of all controls, and set their values from the choice."""
        study, choice = self._study, self._choice
        axes = {words.axis_name(axis): axis for axis in chosen.axes(study, choice.metric) or ["policy"]}
        rest = {name: axis for name, axis in axes.items() if axis != choice.along}
        others = chosen.references(study, choice)
        policies = {words.value_name(study, chosen.reference_axis(study, choice), one): one for one in others}
        styles, several = words.line_styles(study, choice), choice.lines != choice.along
        with self._offering():
            # Of two metrics with the same name, reports draw the first.
            groups = {
                title: {words.title(study, name): name for name in reversed(metrics)}
                for title, metrics in chosen.metrics(study).items()
            }
            groups = {title: dict(reversed(names.items())) for title, names in groups.items()}
            self._controls["metric"].param.update(groups=groups, value=choice.metric)
            self._controls["along"].param.update(options=axes, value=choice.along)
            self._controls["lines"].param.update(options=rest or axes, value=choice.lines, visible=bool(rest))
            self._controls["reference"].param.update(
                options={"Nothing": "", **policies}, value=choice.reference, visible=bool(policies)
            )
            self._controls["scale"].param.update(value=choice.scale, visible=choice.kind == LINES)
            self._controls["along"].visible = choice.kind != PARALLEL
            self._controls["kind"].param.update(value=choice.kind, visible=several)
            for axis, widget in self._at.items():
                widget.visible = axis in choice.at and choice.kind != PARALLEL
                if axis in choice.at:
                    known = {
                        words.value_name(study, axis, one, choice.at): one for one in study.values_of(axis)
                    }
                    widget.param.update(options=known, value=choice.at[axis])
            lines = {styles[name].label: name for name in chosen.values(study, choice.lines)}
            self._shown.param.update(options=lines, value=list(choice.shown), visible=several)

    def _choose(self, event: Any) -> None:
        """Apply the reader's choice: the page shows at once that it is busy.

        This is not a coroutine: Panel would run it after `_offering` has ended, so the page would take its
        own changes for a choice, and revert what the reader has chosen meanwhile.
        """
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
        self._choice = choice = chosen.normal(self._study, wanted)
        self._offer()
        self._on_choice(choice.query)
        self._soon(partial(self._plot.param.update, loading=True))
        self._in_background(self._described(choice))

    async def _described(self, choice: Choice) -> None:
        await asyncio.to_thread(self._source.described, choice)
        self._soon(partial(self._show_choice, choice))

    def _show_choice(self, choice: Choice) -> None:
        if choice is self._choice:  # otherwise the reader has made another choice
            self._show()
            self._plot.loading = False

    # From the choice to the plot and its numbers.

    def _show(self, view: plot.View | None = None) -> None:
        """Draw the plot, and list its numbers and points."""
        study, choice = self._study, self._choice
        self._points = found = self._source.described(choice)
        drawable = bool((found["mean"].notna() | found["status"].isin(points.ASIDE)).any())
        self._status.object = self._state_of_run()
        self._caption.object = self._captioned(drawable)
        self._plot.visible = drawable
        self._drawing = None
        if drawable:
            self._drawing = drawing = plot.drawn(study, choice, found, view=view)
            drawing.targets.selected.on_change("indices", lambda key, old, new: self._click(drawing, new))
        self._list()
        if self._drawing:  # the plot is complete before the browser knows it
            self._plot.object = self._drawing.figure
            if self._drawing.brushes:
                self._drawing.brushes.changed = self._list
        old = self._point.value
        headings = list(found["heading"])
        with self._offering():
            self._point.param.update(
                options=headings, value=old if old in headings else next(iter(headings), None)
            )
        self._describe()

    def _list(self) -> None:
        """List the points; with parallel coordinates, the ones in all ranges that are marked."""
        found, brushes = self._points, self._drawing and self._drawing.brushes
        if brushes and self._drawing:
            found = found.loc[self._drawing.points.index[brushes.kept]]
        table, filters = words.listed(self._study, self._choice, found)
        self._table.param.update(value=table, header_filters=filters)
        self._fade()

    def _fade(self) -> None:
        """Fade the lines of parallel coordinates that the table does not list."""
        if self._drawing and self._drawing.brushes:
            self._drawing.brushes.fade(self._drawing.points.index.isin(self._table.current_view.index))

    def _state_of_run(self) -> str:
        source = self._source
        done, total = source.tasks
        self._progress.param.update(visible=source.is_running, value=100 * done // max(total, 1))
        text = f"{words.tally(self._study)}. Written {source.written}."
        if done < total:
            live = "The sweep is still running; this page is updated."
            text += f" {counted(done, 'run', 'is', of=total)} done. "
            text += live if source.is_running else "No sweep is running: the same command continues this one."
        return _message(text, "status", "quiet") + (source.problem and _message(source.problem))

    def _captioned(self, drawable: bool) -> str:
        study, choice = self._study, self._choice
        name = f"<strong>{escape(words.title(study, choice.metric))}</strong>"
        if not drawable:
            at = escape(words.where(study, choice.at)) or "these values"
            no = "none of these points has been run yet" if len(self._points) else f"the grid excludes {at}"
            return f"<p role='status'>{name}: {no}. Choose other values on the left.</p>"
        if choice.reference:
            other = escape(words.value_name(study, chosen.reference_axis(study, choice), choice.reference))
            name += f" relative to {other}, under the same {study.shared}: below 1 is less"
        has_bars = choice.kind == LINES and bool((self._points["half_width"] > 0).any())
        bars = f" Bars: {study.level} confidence intervals." if has_bars else ""
        is_hollow = self._points["mean"].notna() & ~self._points["solid"]
        hollow = " Hollow points have a note." if choice.kind == LINES and is_hollow.any() else ""
        to = "choose it" if study.is_program else "draw its schedule"
        hint = f"Hover over a point for its numbers, click it to {to}."
        if choice.kind == PARALLEL:
            hint += (
                " Draw a box over an axis to keep only the points in it, and outside all axes to keep all."
            )
            hint += " A filter of the table below does the same."
        return f"<p>{name}.{bars}{hollow} <span class='quiet'>{hint}</span></p>"

    def _as_csv(self) -> io.StringIO:
        return io.StringIO(points.table(self._points, self._study.axes_shown).to_csv(index=False))

    # One point.

    @property
    def _one(self) -> Any:
        """The row of the chosen point, None if there is none."""
        here = self._points[self._points["heading"] == self._point.value]
        return None if here.empty else here.iloc[0]

    def _take(self, row: int) -> None:
        """Choose a point of the table."""
        self._point.value = self._points["heading"][row]

    def _click(self, drawing: plot.Drawing, index: Sequence[int]) -> None:
        """Choose the point that was clicked, and draw its picture."""
        hit = [drawing.points.iloc[i]["heading"] for i in index]
        if hit:  # of several overlapping points, another click takes the next one
            now = self._point.value
            self._point.value = hit[(hit.index(now) + 1) % len(hit) if now in hit else 0]
            if self._view.visible:
                self._paint()

    def _describe(self) -> None:
        """Show the numbers of the chosen point, and offer its pictures."""
        if self._is_offering:
            return
        study, choice, point = self._study, self._choice, self._one
        rows = {}
        if point is not None:
            rows = {
                words.measure(study, choice): point.estimate,
                f"{study.level} interval": point.interval,
                "Replications": point.runs,
                **({"Note": point.note} if point.note else {}),
                **{
                    words.axis_name(axis): named(point.place[axis]) if axis == "policy" else point.place[axis]
                    for axis in study.axes_shown
                },
                "Seeds": point.seeds,
            }
        text = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows.items())
        self._facts.object = f"<dl>{text}</dl>"
        self._command.value = point.command if rows else ""
        self._command.visible = self._copy.visible = bool(self._command.value)
        self._put()
        policy = study.config.get("policy", {}).get(point.place["policy"], {}) if rows else {}
        names = views.offered(policy) if policy else []
        value = self._view.value if self._view.value in names else next(iter(names), None)
        self._view.param.update(options={views.known()[name].title: name for name in names}, value=value)
        for widget in (self._view, self._replication, self._draw):
            widget.visible = bool(names)
        self._offer_times()
        if rows and not names and not study.is_program:
            self._put("No schedule can be drawn: this family does not schedule single jobs.")

    def _offer_times(self) -> None:
        """Offer a period of time, or a moment, as the picture shows it."""
        view = views.known().get(self._view.value) if self._view.visible else None
        is_period = view is not None and view.window
        self._begin.visible, self._end.visible = view is not None, is_period
        self._begin.name = f"{'From' if is_period else 'At'} (36h, 2d, 500s)"

    def _paint(self) -> None:
        """Draw the picture of the point in the background; the page stays responsive."""
        point, name = self._one, self._view.value
        if point is None or name is None:
            return
        try:
            made = remaking.point_of(self._study, point.place, self._replication.value, self._logs)
        except AnalysisError as error:
            self._put(str(error), "alert", "bad")
            return
        end = (self._end.value or "").strip() if views.known()[name].window else ""
        request = views.Request(name, made, (self._begin.value or "").strip(), end)
        title = f"{views.known()[name].title}: {request.title}"
        more = "The run is repeated; the first one after an update compiles for a minute or two."
        self._put(f"Drawing: {title} … {more}")
        self._soon(partial(self._state.param.update, loading=True))
        self._in_background(self._painted(request, point.heading, title))

    async def _painted(self, request: views.Request, heading: str, title: str) -> None:
        """Wait for a picture and show it, unless another one has been requested meanwhile."""
        try:
            picture = await self._painter.draw(request)
        except SupersededError:
            return
        except AnalysisError as error:
            self._soon(partial(self._put, str(error), "alert", "bad"))
            return
        self._soon(partial(self._show_picture, request, heading, title, picture))

    def _show_picture(
        self, request: views.Request, heading: str, title: str, picture: bytes | pd.DataFrame
    ) -> None:
        self._put()
        if self._point.value != heading:
            return
        if isinstance(picture, pd.DataFrame):
            self._chart.param.update(object=plot.schedule(picture, title), visible=True)
            return
        self._image.param.update(object=picture, alt_text=title, visible=True)
        name = f"{self._study.name}-{request.view}.png"
        self._save.param.update(file=io.BytesIO(picture), filename=name, visible=True)

    def _put(self, message: str = "", role: str = "status", tone: str = "quiet") -> None:
        """Show a message in place of the picture, or nothing."""
        self._state.loading = False
        self._state.object = message and _message(message, role, tone)
        self._image.visible = self._save.visible = self._chart.visible = False

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a long task; it changes the page only through `_soon`."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _soon(self, change: Callable[[], object]) -> None:
        """Change the page from the background, in one message to the browser.

        A separate callback locks the page only while it runs, and its messages are sent in their order:
        Panel's own may overtake others, whose models the browser then lacks.
        """

        if (document := self._document) is None or self._is_closed:
            return

        def held() -> None:
            document.hold("combine")
            try:
                with document.models.freeze():
                    change()
            finally:
                document.unhold()

        document.add_next_tick_callback(held)

    # While a sweep runs.

    def follow(self) -> None:
        """Begin to reload the dataset whenever it has changed; called once the page is open."""
        self._document = pn.state.curdoc
        self._in_background(self._follow())

    async def _follow(self) -> None:
        seen = None
        while not self._is_closed:
            await asyncio.sleep(REFRESH_S)
            study = await asyncio.get_running_loop().run_in_executor(None, self._source.refresh)
            before, seen = seen, (self._source.problem, self._source.is_running)
            if study is not self._study or before != seen:
                self._soon(partial(self._renew, study))

    def _renew(self, study: Study) -> None:
        if study is self._study:
            self._status.object = self._state_of_run()
            return
        self._study = study
        before, self._choice = self._choice, chosen.normal(study, self._choice)
        self._offer()
        # The reader may have zoomed in; the same part would not fit another choice.
        is_same = before == self._choice and self._drawing is not None
        self._show(self._drawing.view if is_same and self._drawing else None)


def _message(text: str, role: str = "alert", tone: str = "bad") -> str:
    return f"<p role='{role}' class='{tone}'>{escape(text)}</p>"

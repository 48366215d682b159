"""The explorer in a real browser: the plot, every control, a run under way, the keyboard, narrow windows."""

import csv
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS, launched, playwright
from explored import LOADS, packing

from analysis.explorer.source import Source
from sweep.store import collect
from sweep.store.loading import loaded
from sweep.store.state import read

sync_api, pytestmark = playwright(), MARKS

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_MS = 300_000
"""On a machine that is busy with other tests."""

FIGURE = """
  const [figure] = [...Bokeh.index.query((view) => view.model.type === 'Figure')];
  const target = figure.model.renderers.find((one) => one.data_source?.data?.heading);
"""

RANGES = f"""() => {{ {FIGURE}
  const ends = (range) => ({{
    start: range.start,
    end: range.end,
    all: range.reset_start === range.start && range.reset_end === range.end,
  }});
  return {{x: ends(figure.model.x_range), y: ends(figure.model.y_range)}};
}}"""
"""The part of the plot that is shown."""

POINTS = f"""() => {{ {FIGURE}
  const box = figure.canvas_view.el.getBoundingClientRect();
  const data = target.data_source.data;
  return [...data.heading].map((heading, i) => ({{
    heading,
    estimate: data.estimate[i],
    note: data.note[i],
    x: figure.frame.x_scale.compute(data.at[i]) + box.left,
    y: figure.frame.y_scale.compute(data.y[i]) + box.top,
  }}));
}}"""
"""The texts of each point, and its place on the screen."""

AXES = f"""() => {{ {FIGURE}
  return {{
    x: figure.model.below[0].axis_label,
    y: figure.model.left[0].axis_label,
    ticks: figure.model.left[0].type,
    names: figure.model.center.concat(figure.model.right, figure.model.below)
      .filter((one) => one.type === 'Legend')
      .flatMap((one) => one.items.map((item) => item.label.value)),
    below: figure.model.below.some((one) => one.type === 'Legend'),
  }};
}}"""


FORMATS = f"""() => {{ {FIGURE}
  const axes = [...figure.model.below, ...figure.model.left].filter((one) => one.formatter);
  return axes.map((axis) => axis.formatter.format);
}}"""
"""How the ticks of the axes are written."""


@pytest.fixture(scope="module")
def folder(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the results that may grow."""
    copied = tmp_path_factory.mktemp("page") / "packing"
    shutil.copytree(results, copied)
    return copied


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of a page, as the command prints it."""
    with socket.socket() as free:  # not the same one in two processes that run these tests
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "analysis", "explore", str(folder), f"port={port}"]
    seen = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}
    env = {name: value for name, value in os.environ.items() if name not in seen} | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        # Tests may run in the background, where a shell has Ctrl-C ignored; a user's terminal has not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as server:
        lines = []
        while not lines or "Ctrl-C" not in lines[-1]:
            lines.append(server.stdout.readline())
            assert lines[-1], "the server ended"
        assert (
            server.stdout.readline()
            == "no browser could be opened: open this address in a browser on this machine\n"
        )
        try:
            yield re.findall(r"http://127\.0\.0\.1:\d+/\?token=\S+", lines[-1])[0]
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=300) == 0


class Window:
    """A page in the browser, all its requests and all its messages."""

    def __init__(self, browser: Any, address: str, width: int = 1400, ready: str = "") -> None:
        self.requests: list[str] = []
        self.messages: list[str] = []
        self.page = browser.new_context(viewport={"width": width, "height": 1000}).new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("console", lambda message: self.messages.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        self.page.goto(address)
        self.page.wait_for_function(
            f"() => {{ try {{ {'' if ready else FIGURE} return !!({ready or 'target'}); }} "
            "catch { return false; } }"
        )

    @property
    def foreign(self) -> list[str]:
        """Requests to other hosts."""
        return [url for url in self.requests if not re.match(r"(https?|ws)://127\.0\.0\.1:|data:|blob:", url)]

    def until(self, what: str, script: str = AXES) -> Any:
        """Wait until a condition on what a script returns (``it``) is true; return that."""
        self.page.wait_for_function(
            f"() => {{ try {{ const it = ({script})(); return {what}; }} catch {{ return false; }} }}"
        )
        return self.page.evaluate(script)

    def still(self, n: int) -> Any:
        """Return the points once there are `n` of them and none moves any more."""
        before, points = None, self.until(f"it.length === {n}", POINTS)
        while points != before:
            self.page.wait_for_timeout(500)
            before, points = points, self.page.evaluate(POINTS)
        return points

    def choose(self, label: str, option: str) -> None:
        """Choose in a list of what to see."""
        self.page.get_by_role("combobox", name=label, exact=True).select_option(option)


@pytest.fixture(scope="module")
def window(address: str) -> Iterator[Window]:
    """A page at 1400 pixels; at the end no other host was contacted, and there was no error."""
    with sync_api.sync_playwright() as player:
        browser = launched(player)
        found = Window(browser, address)
        yield found
        assert found.foreign == []
        assert [one for one in found.messages if one.startswith(("error", "warning"))] == []
        browser.close()


def test_every_visit_has_the_same_ticks(window: Window, address: str) -> None:
    again = Window(window.page.context.browser, address)
    assert again.page.evaluate(FORMATS) == window.page.evaluate(FORMATS) == ["0,0.[0000]"] * 2
    again.page.context.close()


def test_a_tooltip_has_the_numbers_seeds_and_command(window: Window, folder: Path) -> None:
    study = Source(folder).study
    at = {"policy": "buddy", "load": 0.75, "alternation": "exclusive"}
    value = float(study.data.slowdown_mean.sel(at).squeeze())
    points = window.page.evaluate(POINTS)
    assert len(points) == 6
    assert sum(point["note"].startswith("saturated: the policy does not keep up") for point in points) == 2
    point = next(one for one in points if "Buddy, offered load 0.75" in one["heading"])
    window.page.mouse.move(point["x"], point["y"])
    tooltip = window.page.locator(".bk-Tooltip")
    tooltip.get_by_text(point["estimate"]).first.wait_for()
    assert float(point["estimate"].partition(" ±")[0]) == pytest.approx(value, rel=0.05)
    for text in ("seed 1, workload feitelson1996, replications 0 to 4", "grid.load=[0.75]", "5 of 5 done"):
        tooltip.get_by_text(text).first.wait_for()


def test_every_control_changes_what_is_drawn(window: Window) -> None:
    page = window.page
    axes = window.until("it.y === 'Mean slowdown'")
    assert axes["names"] == ["Best fit", "Buddy"]
    window.choose("Measure", "Mean response time")
    assert "(s)" in window.until("it.y.startsWith('Mean response')")["y"]
    window.choose("Measure", "Mean slowdown")
    window.choose("Compare with", "Buddy")
    window.until("it.y.includes('relative to Buddy')")
    window.choose("Compare with", "Nothing")
    window.choose("Vertical scale", "Logarithmic")
    window.until("it.ticks === 'LogAxis'")
    window.choose("Vertical scale", "Automatic")
    window.until("it.ticks === 'LinearAxis'")
    window.choose("Alternation", "none")
    window.until("it.length === 4", POINTS)  # 0.75 is not in the grid there
    window.choose("Alternation", "exclusive")
    window.choose("A line for each", "Alternation")
    assert window.until("it.names.some((name) => name.startsWith('alternation'))")["names"] == [
        "alternation exclusive", "alternation none",
    ]  # fmt: skip
    window.choose("Policy", "Buddy")
    window.choose("Across", "Alternation")
    window.until("it.x.startsWith('Alternation')")
    window.choose("Across", "Offered load")
    window.until("it.x.startsWith('Offered load')")
    window.choose("A line for each", "Policy")
    window.until("it.names.includes('Best fit')")
    page.get_by_role("checkbox", name="Best fit").uncheck()
    window.until("it.names.join() === 'Buddy'")
    page.get_by_role("checkbox", name="Best fit").check()
    window.until("it.names.length === 2")


def test_numbers_are_saved(window: Window, folder: Path, tmp_path: Path) -> None:
    page = window.page
    page.get_by_text("All numbers of this plot").click()
    with page.expect_download() as saved:
        page.get_by_text("Save numbers (CSV)").click()
    saved.value.save_as(tmp_path / "seen.csv")
    with (tmp_path / "seen.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    with loaded(folder / "packing.nc") as data:
        for row in rows:
            at = {"policy": row["policy"], "load": float(row["load"]), "alternation": row["alternation"]}
            here = data.sel(at).squeeze()
            for column, name in (("mean", "slowdown_mean"), ("half_width", "slowdown_ci")):
                assert float(row[column] or "nan") == pytest.approx(float(here[name]), nan_ok=True)


LINES = """() => {
  const [figure] = [...Bokeh.index.query((view) => view.model.type === 'Figure')];
  const lines = figure.model.renderers.find((one) => one.glyph.type === 'MultiLine').data_source.data;
  const box = figure.canvas_view.el.getBoundingClientRect();
  return {
    vivid: [...lines.heading].filter((heading, i) => lines.alpha[i] > 0.5),
    at: (x, y) => [figure.frame.x_scale.compute(x) + box.left, figure.frame.y_scale.compute(y) + box.top],
  };
}"""
"""The lines of parallel coordinates that are not faded."""


def test_brushes_and_filters_keep_lines_and_rows(window: Window) -> None:
    page, rows = window.page, window.page.locator(".tabulator-row")

    def drag(*corners: tuple[float, float]) -> None:
        """Draw a box."""
        page.locator(".bk-Canvas").first.scroll_into_view_if_needed()
        (x, y), (right, top) = (page.evaluate(f"({LINES})().at({a}, {b})") for a, b in corners)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(right, top, steps=5)
        page.mouse.up()

    window.choose("Show as", "Parallel coordinates")
    if not rows.first.is_visible():
        page.get_by_text("All numbers of this plot").click()
    window.until("it.vivid.length === 10", LINES)
    drag((0.9, 0.3), (1.1, 0.8))  # over the axis of loads: 0.75 is in the middle
    found = window.until("it.vivid.length === 2", LINES)["vivid"]
    assert all("offered load 0.75" in heading for heading in found)
    rows.nth(1).wait_for()
    assert rows.count() == 2
    cells = page.locator(".tabulator-header-filter input")
    cells.first.click()
    page.locator(".tabulator-edit-list-item").filter(has_text="Buddy").click()
    assert "Buddy" in window.until("it.vivid.length === 1", LINES)["vivid"][0]
    rows.first.click()
    chosen = page.get_by_role("combobox", name="One point")
    sync_api.expect(chosen).to_have_value(found[1], timeout=PATIENCE_MS)
    drag((0.3, 0.3), (0.6, 0.8))  # beside the axes
    window.until("it.vivid.length === 5", LINES)
    page.locator(".tabulator-col-title").get_by_text("Mean", exact=True).click()
    page.wait_for_timeout(1000)
    means = page.locator(".tabulator-cell[tabulator-field=Mean]").all_inner_texts()
    known = [float(mean) for mean in means if mean not in ("", "-", "NaN")]
    assert len(known) >= 3
    assert known == sorted(known)
    window.choose("Show as", "Lines")
    window.until("it.length === 6", POINTS)


def test_a_click_draws_a_picture_and_the_page_stays_responsive(window: Window) -> None:
    page = window.page
    page.get_by_role("checkbox", name="Best fit").uncheck()  # its points lie on top of the other ones
    point = next(one for one in window.still(3) if "Buddy, offered load 0.75" in one["heading"])
    page.mouse.move(700, 30)
    page.mouse.click(point["x"], point["y"])
    picture = page.get_by_role(
        "img", name=re.compile("Ousterhout matrix at a moment: Buddy, feitelson1996, load 0.75")
    )
    page.get_by_text("Drawing: Ousterhout matrix").or_(picture).first.wait_for()
    window.choose("Vertical scale", "Logarithmic")
    window.until("it.ticks === 'LogAxis'")  # while it is being drawn, or just after
    window.choose("Vertical scale", "Automatic")
    page.get_by_role("checkbox", name="Best fit").check()
    picture.wait_for()
    assert picture.evaluate("one => one.naturalWidth") > 800
    assert "grid.policy" in page.get_by_role("textbox", name="Run it again").input_value()
    with page.expect_download() as saved:
        page.get_by_text("Save this picture").click()
    assert saved.value.suggested_filename == "packing-matrix.png"


def test_a_link_shows_the_same_in_a_window_that_asks_no_network(window: Window, address: str) -> None:
    window.choose("Show as", "Heat map")
    window.choose("Alternation", "none")
    window.page.wait_for_url("**alternation=none**")
    pasted = f"{address}&{window.page.url.partition('?')[2]}"  # in a browser that has no cookie
    again = Window(window.page.context.browser, pasted, width=360, ready="Bokeh.index.roots.length")
    assert "token" not in again.page.url
    again.page.get_by_role("combobox", name="Show as").wait_for()
    assert again.page.get_by_role("combobox", name="Show as").input_value() == "Heat map"
    assert again.page.get_by_role("combobox", name="Alternation").input_value() == "none"
    assert again.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert again.foreign == []
    again.page.close()  # a page behind another one may not be drawn
    window.choose("Show as", "Lines")
    window.choose("Alternation", "exclusive")
    window.until("it.length === 6", POINTS)


def test_a_reload_and_a_second_tab_need_no_token(window: Window) -> None:
    window.choose("Show as", "Heat map")
    window.page.wait_for_url("**kind=Heat**")
    again = window.page.context.new_page()
    for page, load in ((again, lambda: again.goto(window.page.url)), (window.page, window.page.reload)):
        load()
        page.get_by_role("combobox", name="Show as").wait_for()
        assert page.get_by_role("combobox", name="Show as").input_value() == "Heat map"
    again.close()
    window.choose("Show as", "Lines")
    window.until("it.length === 6", POINTS)
    stranger = window.page.context.browser.new_page()
    assert stranger.goto(window.page.url).status == 403
    assert "open the address that `python -m analysis explore` printed" in stranger.inner_text("body")
    stranger.close()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])  # the same site, another one
def test_a_page_of_another_origin_gets_nothing(name: str, window: Window, address: str) -> None:
    """Not even in a browser that is signed in."""
    own = address.partition("?")[0]
    paths = ["components/json/C/css/x", "autoload.js", "static/js/bokeh.min.js", ""]
    body = f"<img src='{own}{paths[0]}'><iframe src='{own}'></iframe>"
    body += "".join(f"<script src='{own}{path}'></script>" for path in paths[1:3])

    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    page, asked, answers = window.page.context.new_page(), set(), {}
    page.on("request", lambda one: asked.add(one.url.removeprefix(own)))
    page.on("response", lambda one: answers.update({one.url.removeprefix(own): one.status}))
    with HTTPServer(("127.0.0.1", 0), Foreign) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://{name}:{server.server_port}/", wait_until="networkidle")
        server.shutdown()
    assert {*paths} <= asked
    assert answers[""] == 403  # of others the browser may show no answer to a foreign page
    assert {status for path, status in answers.items() if path in paths} <= {403, 404}
    answers.clear()
    assert page.goto(address).status == 200  # typed, whatever page was there before
    page.close()


def test_the_page_follows_a_run(window: Window, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = window.page
    page.get_by_text("10 points: ").wait_for()
    window.choose("Compare with", "Buddy")
    window.until("it.y.includes('relative to Buddy')")
    seen: list[str] = []
    zoomed = zoom(window)

    def write_and_look(collection: collect.Collection, came: bool = True) -> None:
        """Write the dataset in the middle of the run, and check the page then."""
        found = read(collection._plan, collection._folder)
        if found.left() and not seen:
            collection.write(found)
            page.get_by_text("The sweep is still running; this page is updated.").wait_for()
            seen.append(page.get_by_text("18 points: ").inner_text())

    monkeypatch.setattr(collect.Collection, "write_if_due", write_and_look)
    packing(folder, [*LOADS[:1], 0.6, 0.7, *LOADS[1:]]).run(progress=False)
    assert "unfinished" in seen[0]
    window.until("it.length === 10", POINTS)
    page.get_by_text(re.compile(r"18 points: \d+ finished, \d+ saturated\. Written")).wait_for()
    assert window.page.evaluate(AXES)["y"] == "Mean slowdown, relative to Buddy"  # the choice stays
    assert window.page.evaluate(RANGES) == zoomed  # and so does the zoom
    page.locator(".bk-tool-icon-reset").click()
    window.until("it.x.all && it.y.all", RANGES)


def zoom(window: Window) -> Any:
    """Zoom into the middle of the plot; return the part that is shown then."""
    page = window.page
    assert window.page.evaluate(RANGES)["x"]["all"]
    page.locator(".bk-tool-icon-auto-box-zoom").click()
    box = page.locator(".bk-Canvas").first.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.7 * box["height"], steps=5)
    page.mouse.up()
    return window.until("!it.x.all && !it.y.all", RANGES)

"""The report in a real browser: on screens and phones, in the dark, on paper, by keyboard, scripts off."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import MARKS, launched, playwright
from fabricated import METRICS, dataset, write
from matplotlib.figure import Figure

from analysis.paper import Picture
from analysis.registry import opened
from analysis.report import points, writing
from analysis.report.writing import draw_picture

sync_api, pytestmark = playwright(), MARKS

LOADS = (0.3, 0.7, 0.9)


def small() -> Figure:
    figure = Figure(figsize=(7, 3))
    figure.subplots().plot([0, 1], [0, 1])
    return figure


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with claims, one figure, and 12 points."""
    data = dataset(loads=LOADS, schemes=("best_fit", "buddy"), alternations=("exclusive", "shared"))
    axes = data["state"].dims[:-1]
    for name in METRICS:
        values = data[name].mean(("replication", "batch"))
        data[f"{name}_mean"] = (axes, values.values)
        data[f"{name}_ci"] = (axes, np.abs(values.values) / 20)
    results = write(tmp_path_factory.mktemp("browser"), data)
    study, paper = opened(results)
    picture = Picture("fig8", "Fig. 8: Slowdown", "A line.", small)
    writing.report(results, writing.content(study, paper), [draw_picture(picture, results / "figures")])
    return results / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as engine:
        started = launched(engine)
        yield started
        started.close()


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Callable[..., Any]]:
    """Open the report; at the end there may be no error and no request to a network."""
    contexts, wrong = [], []

    def page(width: int = 1400, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        found = context.new_page()
        found.on("console", lambda message: wrong.append(message.text))
        found.on("pageerror", lambda error: wrong.append(str(error)))
        found.on(
            "request",
            lambda asked: None if asked.url.startswith(("file:", "data:")) else wrong.append(asked.url),
        )
        found.goto(report.as_uri())
        return found

    yield page
    for context in contexts:
        context.close()
    assert not wrong


def column(page: Any, number: int) -> list[str]:
    return page.evaluate(
        "i => [...document.querySelectorAll('#all-points tbody tr')].filter(r => !r.hidden)"
        ".map(r => r.cells[i].dataset.key ?? r.cells[i].textContent)",
        number,
    )


@pytest.mark.parametrize("width", [1400, 390])
def test_no_page_is_wider_than_the_window(page: Callable[..., Any], width: int) -> None:
    shown = page(width)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    shown.goto(f"{shown.url}#large-fig8")
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scripts", [True, False])
def test_a_figure_is_enlarged_and_closed_by_keyboard(page: Callable[..., Any], scripts: bool) -> None:
    shown = page(java_script_enabled=scripts)
    widths = "images => images.map(image => image.getBoundingClientRect().width)"
    before = max(shown.locator("figure img").evaluate_all(widths))
    picture = shown.locator("a.picture").first  # the main figure is among all figures again
    picture.focus()
    shown.keyboard.press("Enter")
    assert max(shown.locator("figure img").evaluate_all(widths)) > 1.3 * before
    shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    assert shown.url.endswith("#fig8")
    if scripts:
        picture.click()
        shown.keyboard.press("Escape")
        assert shown.url.endswith("#fig8")


def test_the_points_sort_and_filter(page: Callable[..., Any], report: Path) -> None:
    shown = page()
    frame = points.frame(opened(report.parent)[0])
    heads = shown.locator("#all-points th")
    titles = [heads.nth(i).inner_text().strip(" ↕") for i in range(heads.count())]
    assert titles[:3] == ["policy", "load", "alternation"]
    mean = titles.index("mean slowdown") if "mean slowdown" in titles else len(titles) - 1
    rows = len(column(shown, 0))
    assert rows == len(frame)
    unsorted = column(shown, mean)
    heads.nth(mean).locator("button").click()
    upward = [float(value) for value in column(shown, mean)]
    assert upward == sorted(map(float, unsorted)) != [float(value) for value in unsorted]
    assert heads.nth(mean).get_attribute("aria-sort") == "ascending"
    heads.nth(mean).locator("button").press("Enter")
    assert [float(value) for value in column(shown, mean)] == upward[::-1]
    every = [*zip(column(shown, 0), column(shown, 1), strict=True)]
    for number in (0, 1):
        shown.locator(".choose select").nth(number).select_option(index=1)
    (policy,), (load,) = set(column(shown, 0)), set(column(shown, 1))
    assert shown.locator(".choose output").inner_text() == f"{every.count((policy, load))} of {rows} shown"

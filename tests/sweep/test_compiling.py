"""Every command that may compile kernels reports it when that takes a while."""

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure
from numba import njit

import sweep
from analysis import command, registry
from analysis.paper import Drawing
from models.kernels import cache
from models.point import Point
from sweep import compiling
from sweep.config import chosen, locate
from sweep.plan import families

POINT = Point(chosen.parameters("policy", "easy", {}, [locate.conf_folder()]), {}, {})


def test_what_takes_a_while_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cache, "complete", lambda modules: time.sleep(0.5))
    monkeypatch.setattr(compiling, "SILENT_S", 0.05)
    compiling.ready(POINT)
    assert capsys.readouterr().err == f"{compiling.NOTICE}\n"
    monkeypatch.setattr(compiling, "SILENT_S", 60.0)
    compiling.ready(POINT)
    assert capsys.readouterr().err == ""


def test_an_interrupt_that_the_compiler_swallows_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def swallow(modules: object) -> None:
        sys.unraisablehook(SimpleNamespace(exc_value=KeyboardInterrupt()))  # type: ignore[arg-type]
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr(cache, "complete", swallow)
    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        compiling.warm_up([(families.find("models.backfill"), [POINT])], print)
    assert sys.unraisablehook is before


def successor(x: float) -> float:
    return x + 1.0


class AskedError(Exception):
    """Kernels were asked for; nothing needs to be simulated."""


@pytest.fixture(autouse=True)
def _asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    if "capsys" not in request.fixturenames:
        monkeypatch.setattr(compiling, "ready", asked)


def asked(point: Point) -> None:
    raise AskedError


def test_a_notebooks_simulation_has_its_kernels_first() -> None:
    with pytest.raises(AskedError):
        sweep.simulate("easy", workload="lublin2003", machine=16, load=0.5, jobs=10)


@pytest.mark.parametrize(
    "drawing",
    [
        ("trace_diagram", "workload=io_intensive", "time=2000", "slices=12"),
        ("gantt", "policy=easy", "jobs=10"),
    ],
)
def test_a_drawing_has_its_kernels_first(drawing: tuple[str, ...]) -> None:
    with pytest.raises(AskedError):
        command.main(["draw", *drawing])


@pytest.mark.parametrize("of_them", [1, 3])
def test_a_drawing_that_compiles_on_its_way_says_so_once(
    of_them: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Geometry has no simulation whose kernels could be made ready: what it compiles in all counts."""

    def draw(settings: object) -> Figure:
        for _ in range(of_them):
            njit(successor)(1.0)  # which no cache has
        return Figure()

    known = {"equi": Drawing(draw, {}, "")}
    monkeypatch.setattr(registry, "drawings", lambda: known)
    monkeypatch.setattr(compiling, "SILENT_S", 0.001)
    assert command.main(["draw", "equi"]) == 0
    assert capsys.readouterr().err == f"{compiling.NOTICE}\n"
    monkeypatch.setattr(compiling, "SILENT_S", 60.0)
    assert command.main(["draw", "equi"]) == 0
    assert capsys.readouterr().err == ""

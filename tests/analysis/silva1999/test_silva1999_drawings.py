"""Drawings of tasks from the engine, against what a job must do, and a tiny study from run to report."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import sweep
from analysis import command
from analysis.drawings.composition import parameters
from analysis.figures import style
from analysis.registry import drawings
from analysis.silva1999 import engine
from analysis.silva1999.drawings.trace_diagram import IDLE, LOCAL_HEIGHT, TRACE_DIAGRAM
from analysis.silva1999.engine import Diagram, diagram, gradings
from models.point import Batches, Point


def draw(name: str, **settings: str) -> Figure:
    drawing = drawings()[name]
    with style.styled():
        return drawing.draw({**drawing.settings, **settings})


def point(policy: str, kinds: Any, jobs: dict[str, list[float]], **changed: Any) -> Point:
    """Return a point of given jobs on 4 PEs, all of whose statements have the given length."""
    statements = {
        "kinds": kinds, "seconds": 1.0, "costs": "regular", "spacing": "regular", "io_time": 5.0,
        "message_bytes": 0, "barrier_latency": 0.0, "partners": "ring",
    }  # fmt: skip
    return Point(
        parameters("policy", f"concurrent_gang/{policy}", changed),
        {**parameters("workload", "arrays", {"jobs": None, "statements": statements}), "jobs": jobs},
        {**parameters("machine", "torus4x4"), "torus": "2x2", "context_switch": 0.0},
        None, Batches(1000, 0, (1,)), (1, 2, 3),
    )  # fmt: skip


ALONE = {"submit": [0.0], "runtime": [200.0], "processors": [2]}
TWO = {"submit": [0.0, 5.0], "runtime": [100.0, 100.0], "processors": [4, 4]}
HALVES = [{"share": 0.5, "kinds": "io"}, {"share": 0.5, "kinds": "computation"}]


def test_two_jobs_of_the_whole_machine_take_turns_in_a_diagram_of_two_rows() -> None:
    found = diagram(point("gang", "computation", TWO), 0.0, 12)
    assert found.n_pes == 4
    assert found.signals.tolist() == [10.0 * n for n in range(13)]
    assert found.n_rows.tolist() == [1, *[2] * 11]
    assert found.rows.tolist() == [0, *[1, 0] * 5, 1]
    assert found.changes.tolist() == [0.0, 5.0]
    assert found.period == (2, 2)
    assert found.cycle == (0.0, 5.0, True)
    line = found.timeline
    on_first = (line.pe == 0) & (line.state == 0)
    turns = sorted(zip(line.begin[on_first].tolist(), line.job[on_first].tolist(), strict=True))
    assert [job for _, job in turns] == [0, 1] * 6
    assert [begin for begin, _ in turns] == pytest.approx([10.0 * n for n in range(12)])


def test_period_and_cycle_of_a_made_diagram() -> None:
    rows = np.array([1, 0, 1, 2, 0, 1, 2, 0])
    n_rows = np.array([2, 3, 3, 3, 3, 3, 3, 3])
    changes = np.array([3.0, 12.0, 95.0])
    made = Diagram(None, 10.0 * np.arange(9), rows, n_rows, changes, 4)  # type: ignore[arg-type]
    assert made.period == (4, 3), "the first period has a workload change in it"
    assert made.cycle == (3.0, 12.0, True), "the one until 95 is not all shown"
    none = Diagram(None, 10.0 * np.arange(3), np.array([-1, -1]), np.array([0, 0]), changes[:1], 4)  # type: ignore[arg-type]
    assert none.period is None
    assert none.cycle == (3.0, 20.0, False)


def test_a_task_alone_changes_phase_when_its_input_and_output_must_be_done() -> None:
    """100 s of computation in steps of 10 s with 5 s of I/O each: 150 s, which is a clock signal."""
    found = gradings(point("concurrent_gang", HALVES, ALONE), 260.0)
    assert [(one.job, one.task) for one in found] == [(0, 0), (0, 1)]
    for one in found:
        assert one.change == 150.0
        assert one.time.tolist() == [10.0 * n for n in range(1, 25)], "it ends as the last signal comes"
        assert one.time[one.after].tolist() == [10.0 * n for n in range(16, 25)]
        # Of 30 s 20 are computed and 10 are I/O; slices measure 10, 5 and 5 s of computation.
        measures = np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]] * 5 + [[1.0, 0.0]] * 9)
        expected = [measures[max(0, n - 4) : n + 1].mean(axis=0) for n in range(24)]
        assert one.computation == pytest.approx(np.array(expected)[:, 0])
        assert one.io == pytest.approx(np.array(expected)[:, 1])


def area(figure: Figure, keep: Any) -> float:
    """Return the PE seconds that the rectangles of a diagram cover."""
    found = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle) and keep(patch)]
    return sum(patch.get_width() for patch in found)


def is_local(patch: Rectangle) -> bool:
    return patch.get_height() == pytest.approx(LOCAL_HEIGHT)


def of(color: str) -> Any:
    return lambda patch: patch.get_facecolor() == to_rgba(color)


@pytest.mark.parametrize("policy", ["gang", "concurrent_gang"])
def test_a_trace_diagram_shows_all_of_every_pes_time(policy: str) -> None:
    settings = {"policy": policy, "time": "1000", "slices": "6"}
    figure = draw("trace_diagram", **settings)

    def lanes(patch: Any) -> bool:
        return bool(patch.get_height() < 1)  # the marked slot is a whole lane high

    assert area(figure, lanes) == pytest.approx(16 * 60)
    found = diagram(engine.point({**TRACE_DIAGRAM, **settings}), 1000.0, 6)
    line = found.timeline
    seconds = np.clip(line.end, 1000, 1060) - np.clip(line.begin, 1000, 1060)
    local = (line.state == 0) & ~line.owns
    assert area(figure, is_local) == pytest.approx(
        seconds[local].sum() + seconds[(line.state == 1) & ~line.owns].sum()
    )
    assert (area(figure, is_local) > 0) == (policy == "concurrent_gang")
    assert area(figure, of(IDLE)) == pytest.approx(seconds[line.state == 2].sum())
    assert seconds[line.state == 4].sum() > 0
    hatched = area(figure, lambda patch: patch.get_hatch() == "....")
    assert hatched == pytest.approx(seconds[line.state == 4].sum())


def test_pe_time_is_drawn_for_each_scheduler() -> None:
    figure = draw("pe_time", time="2000", workload="synchronization_intensive")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["Gang scheduling", "Concurrent Gang, round robin", "Concurrent Gang", "Uncoordinated"]
    assert area(figure, lambda patch: True) == pytest.approx(400)


@pytest.mark.exhaustive
def test_a_tiny_study_from_run_to_report(tmp_path: Path) -> None:
    folder = tmp_path / "concurrent_gang"
    study = sweep.Study(
        "concurrent_gang",
        grid={"horizon": [1000.0, 2000.0]},
        replications=5,
        executor="serial",
        output=folder,
    )
    data = study.run()
    # Every PE second is somewhere, and what is idle is what is neither computing nor switching.
    n_pes = np.array([16, 32])[:, None]
    total = data.pe_time.sum("pe_state").transpose(..., "machine", "horizon")
    assert np.allclose(total, n_pes * np.array([1000.0, 2000.0]))
    idle = data.pe_time.sel(pe_state=["empty", "communication", "io", "synchronization"]).sum("pe_state")
    assert np.allclose(idle, data.idle_time)
    assert command.main([str(folder)]) == 0
    assert (folder / "report.html").stat().st_size > 100_000
    found = {one["id"]: one for one in json.loads((folder / "claims.json").read_text())}
    assert len(found) == 21
    ratio = data.jobs.sel(policy="concurrent_gang") / data.jobs.sel(policy="gang")
    assert np.isfinite(ratio).any()

"""Pictures of schedules: no processor twice at a time, what is drawn is what the models did."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from analysis.command import main
from analysis.drawings import drawings as drawings_of
from analysis.drawings.gantt import HELD, PREEMPTED, PROMISED, boxes, draw_gantt
from analysis.drawings.packing import pack
from analysis.drawings.queue import draw_queue
from analysis.drawings.scene import Scene, scene
from analysis.figures import style
from analysis.registry import drawings
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, Schedule

DRAWINGS = drawings_of("ncsa_lsf", "o2k_2000_01")
SYNTHETIC = {"policy": "easy", "workload": "synthetic", "load": "0.9", "jobs": "150"}


def ask(name: str, **given_: str) -> Mapping[str, str]:
    return {**DRAWINGS[name].settings, **given_}


def by_hand(held: bool = False) -> Scene:
    """Hosts of 4 processors; job 1 is preempted for job 2, job 3 starts an hour before it was promised."""
    size, runtime = np.array([4, 4, 2]), np.array([7200.0, 600.0, 3600.0])
    jobs = Jobs(np.zeros(3), runtime, runtime, size, np.zeros(3, np.int64))
    machine = Machine(("a", "b"), np.array([4, 4]), np.array([1, 1]))
    pieces = Pieces(
        np.array([0, 1, 0, 2]), np.array([0, 0, 0, 1]),
        np.array([0.0, 3600.0, 4200.0, 3600.0]), np.array([3600.0, 4200.0, 7800.0, 7200.0]),
        np.array([4, 4, 4, 2]),
    )  # fmt: skip
    one, zero = np.ones(1), np.zeros(1)
    kept = Pieces(np.array([1]), np.array([1]), zero, 3600 * one, np.array([4])) if held else None
    made = Schedule(
        jobs, machine, np.array([0.0, 3600.0, 3600.0]), np.array([7800.0, 4200.0, 7200.0]),
        np.array([0, 0, 1]), waited=np.array([600.0, 3600.0, 3600.0]),
        preempted=np.array([True, False, False]), promised=np.array([np.nan, np.nan, 7200.0]),
        pieces=pieces, held=kept,
    )  # fmt: skip
    return Scene(made, slice(None), 0.0, 7800.0, "by hand")


def crowded(draw_: st.DrawFn) -> tuple[np.ndarray, ...]:
    """Pieces that a host of 8 processors can hold, and their jobs."""
    capacity = 8
    placed: list[tuple[int, int, int, int]] = []
    for job in range(draw_(st.integers(1, 25))):
        begin, length = draw_(st.integers(0, 30)), draw_(st.integers(1, 12))
        used = [sum(p for b, e, p, _ in placed if b <= t < e) for t in range(begin, begin + length)]
        if free := capacity - max(used):
            placed.append((begin, begin + length, draw_(st.integers(1, free)), job))
    return tuple(np.array(column, float) for column in zip(*placed, strict=True))


@settings(max_examples=20)
@given(st.composite(crowded)())
def test_no_processor_is_drawn_twice_at_a_time(pieces: tuple[np.ndarray, ...]) -> None:
    begin, end, processors, job = pieces
    placed = pack(begin, end, processors, job.astype(int), 8)
    used = np.zeros((50, 8), int)
    drawn = np.zeros(len(begin))
    for piece, (low, high) in placed:
        used[int(begin[piece]) : int(end[piece]), round(low) : round(high)] += 1
        drawn[piece] += high - low
    assert used.max() <= 1
    assert drawn == pytest.approx(processors)


def test_a_job_keeps_its_processors_from_piece_to_piece() -> None:
    begin, end = np.array([0.0, 0.0, 5.0]), np.array([10.0, 5.0, 9.0])
    placed = pack(begin, end, np.array([2.0, 3.0, 2.0]), np.array([0, 1, 1]), 8)
    runs = dict(placed)
    assert runs[1].low <= runs[2].low < runs[2].high <= runs[1].high


def test_a_gantt_chart_has_the_area_of_the_work() -> None:
    shown = scene(ask("gantt", **SYNTHETIC))
    one = boxes(shown, 0, 0.0, np.inf)
    area = float(((one.end - one.begin) * (one.high - one.low)).sum())
    assert area == pytest.approx(float(shown.schedule.jobs.size @ shown.schedule.jobs.runtime))


def test_preemptions_promises_and_idle_processors_are_visible() -> None:
    with style.styled():
        above, below = draw_gantt(by_hand(held=True), 0.0, 7800.0).axes[:2]
    assert (above.get_ylabel(), below.get_ylabel()) == ("a", "b")
    # Minutes: taken away after the first hour, given back ten minutes later.
    assert {low for low, _ in spans(above, PREEMPTED)} == {60.0, 70.0}
    assert (60.0, 120.0) in spans(below, PROMISED)
    (hatched,) = (one for one in below.collections if one.get_hatch())
    assert to_hex(hatched.get_edgecolor()[0]) == HELD  # type: ignore[arg-type]


def spans(axes: Axes, color: str) -> list[tuple[float, float]]:
    """Return from where to where lines of a colour lead, along the time axis."""
    found = [one for one in axes.collections if isinstance(one, LineCollection)]
    paths = [
        np.asarray(path.vertices)
        for one in found
        if to_hex(one.get_edgecolor()[0]) == color  # type: ignore[arg-type]
        for path in one.get_paths()
    ]
    return [(round(float(path[0, 0]), 6), round(float(path[-1, 0]), 6)) for path in paths]


def test_queue_and_utilization_are_those_of_the_schedule() -> None:
    with style.styled():
        above, below = draw_queue(by_hand(held=True), 0.0, 7800.0).axes
    busy, idle = (np.asarray(line.get_ydata()) for line in above.get_lines())
    assert busy.tolist() == pytest.approx([50, 75, 75, 50, 0])
    assert idle.tolist() == pytest.approx([50, 0])
    assert np.asarray(below.get_lines()[0].get_ydata()).tolist() == pytest.approx([2, 0])


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_command_draws(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert name in drawings()
    words = [f"{key}={value}" for key, value in SYNTHETIC.items()]
    assert main(["draw", name, *words, f"output={tmp_path}"]) == 0
    files = capsys.readouterr().out.split()
    assert [Path(file).suffix for file in files] == [".pdf", ".svg", ".png"]
    assert all(Path(file).stat().st_size > 1000 for file in files)

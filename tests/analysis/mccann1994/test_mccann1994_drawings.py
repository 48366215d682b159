"""Pictures on request show what the policies do."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analysis.figures import style
from analysis.mccann1994.drawings import DRAWINGS
from analysis.mccann1994.drawings.schedules import EXAMPLES, draw_example
from analysis.mccann1994.labels import LARGE, REST


def draw(name: str, **settings: str) -> Figure:
    drawing = DRAWINGS[name]
    with style.styled():
        return drawing.draw({**drawing.settings, **settings})


def shown(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_visible()]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def faces(axes: Axes) -> list[Rectangle]:
    """Return filled rectangles, without their separate edges."""
    return [p for p in axes.patches if isinstance(p, Rectangle) and p.get_facecolor()[3] > 0]


def covered(axes: Axes) -> np.ndarray:
    """Return by how many rectangles each processor is covered."""
    columns, rows = (round(max(axes.get_xlim())), round(max(axes.get_ylim())))
    count = np.zeros((rows, columns), int)
    for face in faces(axes):
        x, y = (round(value) for value in face.get_xy())
        count[y : y + round(face.get_height()), x : x + round(face.get_width())] += 1
    return count


def test_equi_draws_the_worked_example() -> None:
    (axes,) = shown(draw("equi", jobs="11"))
    assert Counter(texts(axes)) == {"4×6": 8, "5×4": 2, "6×4": 1}
    assert Counter(to_hex(face.get_facecolor()) for face in faces(axes)) == {REST: 8, LARGE: 3}


@pytest.mark.parametrize(
    ("name", "settings", "n"),
    [
        ("equi", {}, 16),
        ("equi", {"processors": "16x32", "jobs": "11"}, 1),
        ("folding", {}, 6),
        ("folding", {"processors": "32x16", "jobs": "21"}, 1),
        ("folding_rotation", {"processors": "8x8", "jobs": "7"}, 8),
        ("folding_cycle", {}, 9),
        ("folding_cycle", {"processors": "4x8", "partitions": "12"}, 1),
        ("local_changes", {}, 2),
    ],
)
def test_partitions_tile_the_mesh_in_every_picture(name: str, settings: Mapping[str, str], n: int) -> None:
    axes = shown(draw(name, **settings))
    assert len(axes) == n
    for one in axes:
        assert (covered(one) == 1).all()


def test_threads_are_drawn_on_their_processors() -> None:
    (axes,) = shown(draw("kernel_mapping"))
    counts = [[int(text) for text in texts(axes)[row : row + 5]] for row in (0, 5, 10)]
    assert counts == np.outer([3, 3, 2], [2, 2, 1, 2, 1]).tolist()
    _, mapped = shown(draw("equi_plus_mapping"))
    lines = [np.array(line.get_data()) for line in mapped.lines if len(line.get_xdata()) == 64]
    assert [line[:, 0].tolist() for line in lines] == [[0.5, 3.5], [0.5, 4.5], [0.5, 11.5], [0.5, 12.5]]
    even, odd = shown(draw("thread_order"))
    columns = [texts(axes)[::16] for axes in (even, odd)]
    assert columns == [["3", "2", "1", "0"], ["0", "1", "2", "3"]]


def test_the_walk_over_eighteen_partitions_breaks() -> None:
    titles = [axes.get_title(loc="center") for axes in shown(draw("local_changes"))]
    assert titles == ["17 partitions: closed", "18 partitions: 1 step to no neighbour"]


def test_fig_6_5_has_the_epochs_of_the_text() -> None:
    with style.styled():
        (axes,) = shown(draw_example("fig6-5"))
    assert [(box.get_xy(), box.get_width(), box.get_height()) for box in faces(axes)] == [
        ((0, 0.0), 16, 0.25), ((0, 0.25), 8, 0.5), ((8, 0.25), 8, 0.5), ((0, 0.75), 16, 0.25),
    ]  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_schedules_fill_their_interval(name: str) -> None:
    processors, requirements, policies, _ = EXAMPLES[name]
    with style.styled():
        places = shown(draw_example(name))
    assert len(places) == len(policies)
    for axes in places:
        boxes = faces(axes)
        assert len(boxes) == len(requirements)
        areas = [box.get_width() * box.get_height() for box in boxes]
        assert areas == pytest.approx([processors / len(requirements)] * len(boxes))
        assert sorted(int(text.partition("→")[0]) for text in texts(axes)) == sorted(requirements)


def test_thick_lines_are_the_reallocations_that_count() -> None:
    (axes,) = shown(draw("schedule"))
    lines = np.concatenate([np.array(lines.get_segments())[:, :, 0] for lines in axes.collections])
    assert np.diff(lines).sum() == 40
    assert axes.get_title(loc="left") == "BUDDY\n40 processors reallocated, 4 spans"
    assert len(shown(draw("schedule", policy="buddy_schedule,equi_epoch"))) == 2


def test_a_schedule_on_a_mesh_has_a_picture_for_each_moment() -> None:
    above, *meshes = shown(draw("mesh_schedule"))
    assert len(faces(above)) == 8
    assert [axes.get_title(loc="center") for axes in meshes] == [
        "0 to 1/4 T", "1/4 T to 1/2 T", "1/2 T to 3/4 T", "3/4 T to T",
    ]  # fmt: skip
    assert all((covered(axes) == 1).all() for axes in meshes)

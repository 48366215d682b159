"""Figs. 6.2 to 6.11: schedules of an interval T as boxes, and one of them on a mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle as Patch

from analysis.drawings.composition import parameters
from analysis.drawings.scene import mesh_of, numbers, valid, whole
from analysis.errors import AnalysisError
from analysis.figures.policies import style_of
from analysis.figures.style import shade
from analysis.mccann1994.drawings.mesh import WIDTH, Piece, draw_mesh
from sweep.policy_names import label

if TYPE_CHECKING:
    from models.medium_term.schedule import Box, Schedule


class Example(NamedTuple):
    """A list of minimum requirements in the dissertation, and the policies that schedule it there."""

    processors: int
    requirements: tuple[int, ...]
    policies: tuple[str, ...]
    epochs: tuple[int, ...] = ()
    """Order in which the figure has the policy's epochs; by default the policy's own."""

    def schedules(self) -> list[Schedule]:
        """Return the schedule of each policy."""
        found = [schedule_of(policy, self.processors, self.requirements) for policy in self.policies]
        return [_in_order(one, self.epochs) for one in found] if self.epochs else found


EXAMPLES = {
    "fig6-2": Example(16, (2, 2, 4, 8, 8, 8, 8, 16), ("buddy_schedule",)),
    "fig6-4": Example(16, (2, 2, 4, 4, 4, 8, 8, 8), ("buddy_schedule",)),
    "fig6-5": Example(16, (16, 8, 8, 16), ("equi_epoch",), epochs=(1, 0, 2)),
    "fig6-7": Example(12, (2, 3, 3, 4, 4, 4, 5, 6), ("equi_epoch",)),
    "fig6-8": Example(140, (20,) * 10, ("equi_epoch", "optimal_epoch")),
    "fig6-9": Example(16, (4, 4, 4, 4, 8), ("equi_epoch", "greedy_largest")),
    "fig6-10": Example(16, (2, 2, 4, 4, 4, 8, 8, 8), ("buddy_schedule", "equi_epoch")),
    "fig6-11": Example(16, (2, 2, 4, 4, 8, 8, 8, 8), ("buddy_schedule",)),
}

MOST_MOMENTS = 24
"""Meshes on a page."""


def schedule_of(policy: str, processors: int, requirements: Sequence[int]) -> Schedule:
    """Return the policy's own schedule; `AnalysisError` where it has none for these numbers."""
    from models.medium_term.engine import make_schedule

    found = parameters("policy", f"medium_term/{policy}")
    return valid(make_schedule, found, processors, requirements)


def draw_example(name: str) -> Figure:
    """Draw an example of the dissertation under each of its policies."""
    return _side_by_side(EXAMPLES[name])


def schedule(settings: Mapping[str, str]) -> Figure:
    """Draw the schedule of a list of requirements."""
    policies = settings["policy"].split(",")
    example = Example(
        whole(settings, "processors"), tuple(numbers(settings, "requirements")), tuple(policies)
    )
    return _side_by_side(example)


def mesh_schedule(settings: Mapping[str, str]) -> Figure:
    """Draw which rectangle of a mesh each job has, from each reallocation to the next (Fig. 6.11)."""
    from models.medium_term.realisation import realise

    rows, columns = mesh_of(settings)
    policy = settings["policy"]
    found = schedule_of(policy, rows * columns, numbers(settings, "requirements"))
    placements = valid(realise, found, rows, columns)
    moments = [*found.starts, Fraction(1)]
    if len(found.starts) > MOST_MOMENTS:
        raise AnalysisError(
            f"{len(found.starts)} moments of reallocation, at most {MOST_MOMENTS} can be drawn: give fewer "
            "requirements"
        )
    colors = _colors(policy, found)
    n_columns = min(4, len(found.starts))
    n_rows = -(-len(found.starts) // n_columns)
    side = WIDTH / n_columns * rows / columns
    figure = Figure(figsize=(WIDTH, 2.9 + n_rows * (0.92 * side + 0.3)), layout="constrained")
    grid = figure.add_gridspec(1 + n_rows, n_columns, height_ratios=[2.6, *[0.92 * side + 0.3] * n_rows])
    above = figure.add_subplot(grid[0, :])
    draw_boxes(above, policy, found)
    above.set_ylabel("Time")
    for number, (start, end) in enumerate(pairwise(moments)):
        pieces = [
            Piece(one.rectangle, colors[box.minimum], _text(box), bold=one.start == start > 0)
            for one, box in zip(placements, found.boxes, strict=True)
            if one.start <= start < one.end
        ]
        axes = figure.add_subplot(grid[1 + number // n_columns, number % n_columns])
        draw_mesh(axes, rows, columns, pieces, f"{_time(start)} to {_time(end)}", 0.9 * WIDTH / n_columns)
    figure.supxlabel(
        f"On {rows} × {columns} processors: bold rectangles have just been allocated.",
        fontsize=7.5,
        color="#666666",
    )
    return figure


def _in_order(found: Schedule, epochs: Sequence[int]) -> Schedule:
    """Return an epoch schedule with its epochs in another order."""
    from models.medium_term.schedule import Schedule

    moments, begin, boxes = [*found.starts, Fraction(1)], Fraction(0), []
    for epoch in epochs:
        boxes += [box._replace(y=begin) for box in found.boxes if box.y == moments[epoch]]
        begin += moments[epoch + 1] - moments[epoch]
    return Schedule(found.processors, tuple(sorted(boxes)))


def _side_by_side(example: Example) -> Figure:
    schedules, policies = example.schedules(), example.policies
    figure = Figure(figsize=(3.7 * max(1.45, len(policies)), 3.1), layout="constrained")
    places = figure.subplots(1, len(policies), squeeze=False)[0]
    for axes, policy, found in zip(places, policies, schedules, strict=True):
        draw_boxes(axes, policy, found)
    places[0].set_ylabel("Time")
    return figure


def draw_boxes(axes: Axes, policy: str, found: Schedule) -> None:
    """Draw a schedule, time running upwards; thick lines are the reallocations that it counts."""
    colors = _colors(policy, found)
    for box in found.boxes:
        y, height = float(box.y), float(box.height)
        axes.add_patch(
            Patch(
                (box.x, y),
                box.width,
                height,
                facecolor=colors[box.minimum],
                edgecolor="#555555",
                linewidth=0.8,
            )
        )
        axes.text(box.x + box.width / 2, y + height / 2, _text(box), ha="center", va="center", fontsize=8)
        if box.height < 1:
            axes.hlines(y + height, box.x, box.x + box.width, color="#222222", linewidth=2.0, zorder=4)
    axes.set(xlim=(0, found.processors), ylim=(0, 1.012), xlabel=f"Processors ({found.processors})")
    axes.set_yticks([float(t) for t in (*found.starts, 1)], [_time(t) for t in (*found.starts, Fraction(1))])
    axes.grid(visible=False)
    axes.set_title(
        f"{label(policy)}\n{found.reallocations} processors reallocated, "
        f"{found.epochs} {'epochs' if found.is_epoch_schedule else 'spans'}",
        fontsize=8.5, fontweight="normal",
    )  # fmt: skip


def _colors(policy: str, found: Schedule) -> dict[int, str]:
    """Return a colour for each requirement, in the policy's hue: the larger, the darker."""
    needs = sorted({box.minimum for box in found.boxes})
    light = np.linspace(0.88, 0.5, len(needs)) if len(needs) > 1 else [0.7]
    return {need: shade(style_of(policy).color, float(part)) for need, part in zip(needs, light, strict=True)}


def _text(box: Box) -> str:
    """Return a job's requirement and, if it is larger, its allocation."""
    return f"{box.minimum}" if box.width == box.minimum else f"{box.minimum}→{box.width}"


def _time(moment: Fraction) -> str:
    if moment.denominator == 1:
        return "T" if moment else "0"
    return f"{moment} T"

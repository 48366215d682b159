"""Pictures of an Ousterhout matrix: rows are slots, columns are PEs, a colour is a job.

Hatched cells are alternates: the job named there is mapped to another slot and also runs in this one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from analysis.figures import style

FREE = -1

# Tol's "light" scheme: eight muted colours on which black text is legible. A job keeps its colour through a
# series of pictures because its number decides.
JOB_COLORS = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00")

LETTER = 5.5
"""Width of a letter in a cell, points."""

LABELLED = 48
"""Machines of up to this number of PEs have space for job names in every run of cells."""


@dataclass(frozen=True)
class MatrixState:
    """The matrix at one moment.

    Parameters
    ----------
    mapped : ndarray of int, shape (n_slots, n_pes)
        Number of the job mapped to each PE of each slot, FREE where there is none.
    alternates : tuple of (slot, job)
        In which foreign slots jobs run, on their own PEs.
    """

    mapped: np.ndarray
    alternates: tuple[tuple[int, int], ...] = ()

    def pes(self, job: int) -> np.ndarray:
        """Return the PEs to which a job is mapped."""
        return np.flatnonzero((self.mapped == job).any(axis=0))

    def slots_of(self, job: int) -> int:
        """Return the number of slots in which a job runs."""
        return 1 + sum(other == job for _, other in self.alternates)


def alternates(
    mapped: np.ndarray, alternation: str, precedence: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Return in which foreign slots jobs run.

    Parameters
    ----------
    mapped : ndarray of int, shape (n_slots, n_pes)
    alternation : {"none", "shared", "exclusive"}
        As in `models.gang.alternation`: under shared two jobs may fill the same free PEs.
    precedence : sequence of int
        Jobs in the order in which they may take free PEs; only ``exclusive`` depends on it.
    """
    if alternation == "none":
        return ()
    found = []
    for slot, row in enumerate(mapped):
        free = row == FREE
        for job in precedence:
            pes = (mapped == job).any(axis=0)
            if (row == job).any() or not free[pes].all():
                continue
            found.append((slot, job))
            if alternation == "exclusive":
                free = free & ~pes
    return tuple(found)


def draw_matrix(axes: Axes, state: MatrixState, title: str, names: dict[int, str] | None = None) -> None:
    """Draw the matrix into axes, first slot on top.

    Parameters
    ----------
    names : dict of int to str, optional
        Job -> text in its cells; its number by default.
    """
    n_slots, n_pes = state.mapped.shape
    names = names or {}
    for slot, row in enumerate(state.mapped):
        axes.add_patch(
            Rectangle((0, slot), n_pes, 1, facecolor="#f4f4f4", edgecolor="#bbbbbb", linewidth=0.6)
        )
        for first, last in _runs(row):
            _draw_run(axes, slot, first, last, int(row[first]), names, n_pes)
    _draw_alternates(axes, state, names)
    axes.set_xlim(0, n_pes)
    axes.set_ylim(max(n_slots, 1), 0)
    step = 1 if n_pes <= 16 else n_pes // 8
    axes.set_xticks(np.arange(0, n_pes, step) + 0.5, [str(pe) for pe in range(0, n_pes, step)])
    axes.set_yticks(np.arange(n_slots) + 0.5, [str(slot + 1) for slot in range(n_slots)])
    style.bare(axes)
    axes.set_xlabel("PE")
    axes.set_ylabel("Slot")
    axes.set_title(title, fontsize=8.5, fontweight="normal")


def _draw_run(
    axes: Axes, slot: int, first: int, last: int, job: int, names: dict[int, str], n_pes: int
) -> None:
    """Draw neighbouring PEs of one job in its own slot."""
    color = JOB_COLORS[job % len(JOB_COLORS)]
    axes.add_patch(
        Rectangle((first, slot), last - first, 1, facecolor=color, edgecolor="#333333", linewidth=0.7)
    )
    text = names.get(job, str(job))
    grid = axes.get_subplotspec()
    points = 72 * axes.figure.bbox.width / axes.figure.dpi / (grid.get_gridspec().ncols if grid else 1)
    if (last - first) * points >= LETTER * len(text) * n_pes:
        axes.text((first + last) / 2, slot + 0.5, text, ha="center", va="center", fontsize=7)


def _draw_alternates(axes: Axes, state: MatrixState, names: dict[int, str]) -> None:
    """Hatch the PEs on which jobs run in foreign slots; several jobs on one PE share its height."""
    n_slots, n_pes = state.mapped.shape
    sharing = np.zeros((n_slots, n_pes), int)
    for slot, job in state.alternates:
        sharing[slot, state.pes(job)] += 1
    rank = np.zeros_like(sharing)
    for slot, job in state.alternates:
        pes = state.pes(job)
        height = 1 / sharing[slot, pes].max()
        top = slot + rank[slot, pes].max() * height
        rank[slot, pes] += 1
        belongs = np.isin(np.arange(n_pes), pes)
        for first, last in _runs(np.where(belongs, job, FREE)):
            color = JOB_COLORS[job % len(JOB_COLORS)]
            axes.add_patch(
                Rectangle(
                    (first, top),
                    last - first,
                    height,
                    facecolor="white",
                    edgecolor=color,
                    hatch="////",
                    linewidth=0.5,
                )
            )
            if n_pes <= LABELLED and height > 0.3:
                axes.text(
                    (first + last) / 2,
                    top + height / 2,
                    names.get(job, str(job)),
                    ha="center",
                    va="center",
                    fontsize=6,
                    color="#333333",
                    bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"},
                )


def _runs(row: np.ndarray) -> list[tuple[int, int]]:
    """Return first and past-the-last PE of each stretch of one job."""
    edges = np.flatnonzero(np.diff(row)) + 1
    starts = [0, *edges.tolist()]
    ends = [*edges.tolist(), len(row)]
    return [(first, last) for first, last in zip(starts, ends, strict=True) if row[first] != FREE]

"""How long the analysis of a study takes, and its files against drawing each figure anew for every format."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeAlias

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.paper import Picture
from analysis.registry import opened
from benchmarks.measure import cpu_seconds, in_turn, median_ratio, python
from benchmarks.record import Cell, Findings, Table, Target

WALL_TARGET_S = 3.0
RATIO_TARGET = 0.75
STUDY = ("+experiment=packing", "replications=5", "batches=1", "warmup=0", "batch_size=200")
"""The points of the packing study in runs as short as can be: their length is no part of the question."""

FEW = "grid.load=[0.5,0.7,0.9]"

Writer: TypeAlias = Callable[[Figure, Path, str], object]


def run(quick: bool) -> Findings:
    """Time the whole command, and the files of each of its figures both ways, in turn."""
    rounds = 3 if quick else 7
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made:
        results = Path(made) / "packing"
        python("-m", "sweep", *STUDY, *([FEW] if quick else []), f"output={results}")
        commands = [python("-m", "analysis", str(results)) for _ in range(rounds)]
        study, paper = opened(results)
        pictures = {one.name: one for one in paper.pictures(study, None) if _figure(one) is not None}
        taken = in_turn(
            {
                (name, write): partial(_seconds, one, write, Path(made))
                for name, one in pictures.items()
                for write in (style.save, anew)
            },
            rounds,
        )
    rows: list[list[Cell]] = []
    ratios = []
    for name in pictures:
        once, each = taken[name, style.save], taken[name, anew]
        ratios.append(median_ratio(once, each))
        rows.append([name, 1e3 * min(once), 1e3 * min(each), ratios[-1]])
    wall, cpu = median(one.wall for one in commands), min(one.cpu for one in commands)
    return Findings(
        [
            Table(
                f"python -m analysis, {rounds} runs", ["", "wall s", "least CPU s"], [["packing", wall, cpu]]
            ),
            Table(
                f"CPU for the files of a figure, least of {rounds}",
                ["", "drawn once, ms", "for each format, ms", "ratio"],
                rows,
            ),
        ],
        [
            Target("the analysis of packing, wall", wall, WALL_TARGET_S, "s"),
            Target(
                "a figure drawn once over one drawn for each format, CPU", median(ratios), RATIO_TARGET, ""
            ),
        ],
    )


def anew(figure: Figure, folder: Path, name: str) -> None:
    """Save a figure as matplotlib does: drawn for each format, once its layout is known."""
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
    for ending in style.FORMATS:
        packed = {"pil_kwargs": {"compress_level": 3}} if ending == "png" else {}
        figure.savefig(folder / f"{name}.{ending}", **packed)


def _figure(picture: Picture) -> Figure | None:
    with style.styled():
        try:
            return picture.draw()
        except DrawingError:
            return None


def _seconds(picture: Picture, write: Writer, folder: Path) -> float:
    """Return the CPU time of a picture's files, without what it takes to make its artists."""
    figure = _figure(picture)
    assert figure is not None
    with style.styled():
        return cpu_seconds(partial(write, figure, folder, picture.name))

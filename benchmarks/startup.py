"""How long the answers take that run nothing: ``--help``, a plan, and a study that is done already."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import points
from benchmarks.measure import Command, in_turn, median_ratio, python
from benchmarks.record import Cell, Findings, Table, Target

HELP_TARGET_S = 0.5
DONE_TARGET_S = 2.0
SMALL = ("batches=6", "batch_size=100")  # how long the study's tasks are is no part of the question


def run(quick: bool) -> Findings:
    """Time the commands in turn, with a bare interpreter as the yardstick."""
    rounds = 3 if quick else 11
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made:
        study = ("-m", "sweep", *points.FIG_8, *SMALL, f"output={Path(made) / 'packing'}")
        python(*study)
        commands = {
            "python -c pass": ("-c", "pass"),
            "--help": ("-m", "sweep", "--help"),
            "action=plan": (*study, "action=plan"),
            "everything done": study,
        }
        # A clock for the user: wall time is what a wait is made of.
        taken = in_turn({name: partial(python, *command) for name, command in commands.items()}, rounds)
    bare = _walls(taken["python -c pass"])
    walls = {name: median(_walls(runs)) for name, runs in taken.items()}
    rows: list[list[Cell]] = [
        [name, walls[name], median(run.cpu for run in runs), median_ratio(_walls(runs), bare)]
        for name, runs in taken.items()
    ]
    return Findings(
        [Table(f"python -m sweep, {rounds} runs each", ["", "wall s", "CPU s", "x bare python"], rows)],
        [
            Target("--help, wall", walls["--help"], HELP_TARGET_S, "s"),
            Target("everything done, wall", walls["everything done"], DONE_TARGET_S, "s"),
        ],
    )


def _walls(runs: Sequence[Command]) -> list[float]:
    return [run.wall for run in runs]

"""How long the answers take that run nothing: ``--help``, a plan, and a study that is done already."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import points
from benchmarks.measure import Command, in_turn, median_ratio, python
from benchmarks.record import Cell, Findings, Table, Target

HELP_TARGET_S = 0.5
PLAN_TARGET_S = 0.5
RATIO_TARGET = 0.75
NEW, AGAIN, DONE = "action=plan, a new command", "action=plan, typed before", "everything done"
SMALL = ("batches=6", "batch_size=100")  # how long the study's tasks are is no part of the question


def run(quick: bool) -> Findings:
    """Time the commands in turn, with a bare interpreter as the yardstick."""
    rounds = 3 if quick else 11
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made:
        study = ("-m", "sweep", *points.FIG_8, *SMALL, f"output={Path(made) / 'packing'}")
        python(*study)
        seeds = itertools.count(int(time.time()))
        commands: dict[str, Callable[[], Command]] = {
            "python -c pass": partial(python, "-c", "pass"),
            "--help": partial(python, "-m", "sweep", "--help"),
            # A seed that was never typed: the command is composed as if for the first time.
            NEW: lambda: python(*study, "action=plan", f"seed={next(seeds)}", f"output={made}/new"),
            AGAIN: partial(python, *study, "action=plan"),
            DONE: partial(python, *study),
        }
        taken = in_turn(commands, rounds)
    bare = _walls(taken["python -c pass"])
    walls = {name: median(_walls(runs)) for name, runs in taken.items()}
    # What others do on the machine lengthens CPU time much less than a wait, and the least of several least.
    cpu = {name: min(run.cpu for run in runs) for name, runs in taken.items()}
    rows: list[list[Cell]] = [
        [name, walls[name], cpu[name], median_ratio(_walls(runs), bare)] for name, runs in taken.items()
    ]
    return Findings(
        [Table(f"python -m sweep, {rounds} runs each", ["", "wall s", "least CPU s", "x bare python"], rows)],
        [
            Target("--help, wall", walls["--help"], HELP_TARGET_S, "s"),
            Target("a plan, CPU", cpu[AGAIN], PLAN_TARGET_S, "s"),
            Target("everything done, CPU", cpu[DONE], PLAN_TARGET_S, "s"),
            Target("a plan over one that is composed anew, CPU", cpu[AGAIN] / cpu[NEW], RATIO_TARGET, ""),
        ],
    )


def _walls(runs: Sequence[Command]) -> list[float]:
    return [run.wall for run in runs]

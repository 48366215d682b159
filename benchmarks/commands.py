"""How long commands take: ``--help``, a plan, a study that is done already, and the analysis of a study."""

import itertools
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import points
from benchmarks.measure import Command, in_turn, median_ratio, python
from benchmarks.record import Cell, Findings, Table, Target

BARE, HELP, ANALYSIS, FIGURE = "python -c pass", "--help", "analysis", "analysis figures=fig8"
NEW, AGAIN, DONE = "action=plan, a new command", "action=plan, typed before", "everything done"
SMALL = ("batches=6", "batch_size=100")  # how long the study's tasks are is no part of the question
STUDY = ("+experiment=packing", "replications=5", "batches=1", "warmup=0", "batch_size=200")
"""The points of the packing study in runs as short as can be: their length makes no difference."""


def run(quick: bool) -> Findings:
    """Time the commands in turn, with a bare interpreter as the yardstick."""
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made:
        figure = ("-m", "sweep", *points.FIG_8, *SMALL, f"output={made}/packing")
        python(*figure)
        python("-m", "sweep", *STUDY, *(["grid.load=[0.5,0.7,0.9]"] if quick else []), f"output={made}/study")
        seeds = itertools.count(int(time.time()))
        analysis = ("-m", "analysis", str(Path(made) / "study"))
        commands: dict[str, Callable[[], Command]] = {
            BARE: partial(python, "-c", "pass"),
            HELP: partial(python, "-m", "sweep", "--help"),
            # A seed that was never typed: the command is composed as if for the first time.
            NEW: lambda: python(*figure, "action=plan", f"seed={next(seeds)}", f"output={made}/new"),
            AGAIN: partial(python, *figure, "action=plan"),
            DONE: partial(python, *figure),
            ANALYSIS: partial(python, *analysis),
            FIGURE: partial(python, *analysis, "figures=fig8"),
        }
        taken = in_turn(commands, rounds)
    walls = {name: [run.wall for run in runs] for name, runs in taken.items()}
    # What others do on the machine lengthens CPU time much less than a wait, and the least of several least.
    cpu = {name: min(run.cpu for run in runs) for name, runs in taken.items()}
    rows: list[list[Cell]] = [
        [name, median(wall), cpu[name], median_ratio(wall, walls[BARE])] for name, wall in walls.items()
    ]
    return Findings(
        [Table(f"Commands, {rounds} runs each", ["", "wall s", "least CPU s", "x bare python"], rows)],
        [
            Target("--help beyond bare python, CPU", cpu[HELP] - cpu[BARE], 0.05, "s"),
            Target("a plan, CPU", cpu[AGAIN], 0.5, "s"),
            Target("a plan of a new command, CPU", cpu[NEW], 0.8, "s"),
            Target("everything done, CPU", cpu[DONE], 0.5, "s"),
            Target("the analysis of packing, wall", median(walls[ANALYSIS]), 3.0, "s"),
        ],
    )

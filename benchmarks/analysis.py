"""How long the analysis of a study takes: figures, claims and report."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import median_ratio, python
from benchmarks.record import Findings, Table, Target

WALL_TARGET_S = 3.0
STUDY = ("+experiment=packing", "replications=5", "batches=1", "warmup=0", "batch_size=200")
"""The points of the packing study in runs as short as can be: their length makes no difference."""

FEW = "grid.load=[0.5,0.7,0.9]"


def run(quick: bool) -> Findings:
    """Time the whole command, and one figure alone, in turn."""
    rounds = 3 if quick else 7
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made:
        results = Path(made) / "packing"
        python("-m", "sweep", *STUDY, *([FEW] if quick else []), f"output={results}")
        pairs = [
            (python("-m", "analysis", str(results)), python("-m", "analysis", str(results), "figures=fig8"))
            for _ in range(rounds)
        ]
    whole, one = ([pair[i] for pair in pairs] for i in (0, 1))
    rows = [
        [name, median(run.wall for run in runs), min(run.cpu for run in runs)]
        for name, runs in (("everything", whole), ("figures=fig8", one))
    ]
    ratio = median_ratio([run.wall for run in one], [run.wall for run in whole])
    return Findings(
        [Table(f"python -m analysis, {rounds} runs", ["", "wall s", "least CPU s"], rows)],
        [Target("the analysis of packing, wall", float(rows[0][1]), WALL_TARGET_S, "s")],
        [f"one figure takes {ratio:.2f} of the time of everything"],
    )

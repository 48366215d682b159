"""A small packing study, run for real: two schemes, loads up to one that no policy keeps up with."""

from pathlib import Path

import sweep

LOADS = [0.5, 0.75, 1.5]


def packing(folder: Path, loads: list[float]) -> sweep.Study:
    """Return the study; a folder that has a part of it grows."""
    grid = {
        "policy": ["best_fit", "buddy"],
        "load": loads,
        "alternation": ["exclusive", "none"],
        "unification": [True],
    }
    return sweep.Study(
        "packing", grid=grid, output=str(folder), executor="serial", replications=5, batches=4,
        batch_size=100, warmup=0,
    )  # fmt: skip

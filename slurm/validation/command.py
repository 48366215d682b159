"""``python -m slurm validate``: real runs, the model beside each, and a picture."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from slurm.testcluster import missing
from slurm.validation.cases import CASES, workload
from slurm.validation.comparing import Comparison, compare, on_slurm
from sweep.errors import SweepError, unknown
from sweep.store import writing

NEAR_S = 2.0
"""Largest accepted deviation from the real Slurm for nine of ten starts, in seconds."""


def validate(
    cases: Sequence[str], folder: Path, n_jobs: int, seeds: Sequence[int], root: Path | None = None
) -> int:
    """Compare the model with a real Slurm and print a line for each run; return 1 if one is too far off.

    `root` is the folder of another system with another Slurm."""
    for case in cases:
        if case not in CASES:
            raise SweepError(unknown("case", case, list(CASES)))
    if lacks := missing(accounting=any(CASES[case].accounts for case in cases), root=root):
        raise SweepError(lacks)
    found = []
    for seed in seeds:
        jobs = workload(seed, n_jobs)
        for case in cases:
            place = folder / f"{case}_{seed}"
            place.mkdir(parents=True, exist_ok=True)
            on_slurm(case, jobs, place, lambda text: print(f"\r{text:70}", end="", flush=True), root)
            found.append(compare(case, jobs, place))
            print(f"\rSlurm {found[-1].version:8} {found[-1].line}", flush=True)
    draw(found, folder / "validation.png")
    numbers = [{"case": one.case, "real": one.real.tolist(), "model": one.model.tolist()} for one in found]
    writing.replace(folder / "validation.json", json.dumps(numbers).encode())
    print(f"logs and configurations are in {folder}, a picture is in {folder / 'validation.png'}")
    off = [np.quantile(abs(one.model - one.real), 0.9, method="lower") for one in found]
    others = any(len({*one.left_out}) > 1 for one in found)
    return int(max(off) > NEAR_S or others)


def draw(found: Sequence[Comparison], path: Path) -> None:
    """Draw the model's starts against the real Slurm's, and the number of waiting jobs over time."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(found), figsize=(3.2 * len(found), 6), squeeze=False, layout="constrained"
    )
    for (above, below), one in zip(axes.T, found, strict=True):
        above.scatter(one.real, one.model, s=6)
        most = max(one.real.max(), one.model.max())
        above.plot([0, most], [0, most], linewidth=0.8, color="0.6", zorder=0)
        above.set(title=one.case, xlabel="start, Slurm (s)", ylabel="start, model (s)")
        for start, label, style in ((one.real, "Slurm", "-"), (one.model, "model", ":")):
            instant = np.concatenate([one.submitted, start])
            order = np.argsort(instant)
            change = np.concatenate([np.ones(len(start)), -np.ones(len(start))])[order]
            below.step(instant[order], np.cumsum(change), style, where="post", label=label)
        below.set(xlabel="time (s)", ylabel="waiting jobs")
        below.legend(frameon=False)
    with writing.private(path) as made:
        figure.savefig(made, dpi=150)
    plt.close(figure)

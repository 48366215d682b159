"""Peak memory of one simulation against the number of its batches: nothing but the results grows."""

from __future__ import annotations

from benchmarks import points
from benchmarks.measure import in_fresh_process, peak_memory
from benchmarks.record import Cell, Findings, Table, Target
from models import gang

BATCHES = (30, 300, 3000)
COPIES = 4
"""Results are held as they are measured, as one array a metric, and copied without the warm-up."""
NOISE_MB = 2.0
"""What an allocator makes of the same program run twice."""


def run(quick: bool) -> Findings:
    """Run the same point for ever longer, each time in a process of its own."""
    gang.FAMILY.warm_up()
    size = 50 if quick else 1000
    rows: list[list[Cell]] = []
    peaks = []
    for n_batches in BATCHES:
        before, peak, jobs = in_fresh_process(_simulate, n_batches, size)
        peaks.append(peak)
        rows.append([f"{n_batches:,}", jobs, before, peak, _results_mb(n_batches)])
    more = peaks[-1] - peaks[0]
    allowed = COPIES * _results_mb(BATCHES[-1]) + NOISE_MB
    return Findings(
        [
            Table(
                "Best fit at load 0.8", ["batches", "jobs", "MB before", "MB at most", "MB of results"], rows
            )
        ],
        [Target(f"more memory for {BATCHES[-1]:,} batches than for {BATCHES[0]}", more, allowed, "MB")],
    )


def _results_mb(n_batches: int) -> float:
    return n_batches * len(gang.FAMILY.measured({})) * 8 / 1e6


def _simulate(n_batches: int, size: int) -> tuple[float, float, int]:
    """Return the peak before (all loaded, a short run done) and after, in MB, and the jobs simulated."""
    point = (*points.FIG_8, "policy=best_fit", "grid.load=0.8", f"batch_size={size}")
    (short,) = points.tasks(*point, "batches=10")
    points.simulate(short)
    (task,) = points.tasks(*point, f"batches={n_batches}")
    before = peak_memory()
    jobs = points.simulate(task).jobs
    return before, peak_memory(), jobs

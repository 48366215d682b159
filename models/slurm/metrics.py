"""Measures of Slurm's scheduler beyond the common ones."""

from collections.abc import Mapping

import numpy as np

from models.arrays import Floats
from models.family import Metric
from models.jobs.division import Division
from models.jobs.schedule import Schedule
from models.slurm.power import Drawing

OF_JOBS = {"delay": ("s", "time in the system beyond the runtime")}

OF_STATES = (
    ("idle", "idle CPUs and nodes"),
    ("busy", "CPUs with jobs"),
    ("boot", "nodes that boot"),
    ("off", "nodes that are powered down"),
)
"""What draws power (`policy.watts`)."""

METRICS = (
    Metric("loss_of_capacity", "1", "loss of capacity (idle while jobs wait)", weight="period"),
    Metric("queue_length", "1", "average number of waiting jobs", weight="period"),
    Metric("backfilled_share", "1", "share of jobs that backfill started", weight="jobs"),
    Metric("killed_share", "1", "share of jobs that were ended at their limit", weight="jobs"),
    Metric("preempted_share", "1", "share of jobs that were preempted", weight="jobs"),
    Metric("refused_share", "1", "share of jobs that never start, because of limits", weight="submitted"),
    Metric("submitted", "1", "number of jobs with those that never start"),
    Metric("lost_time", "s", "time that a job ran in vain before preemption", weight="jobs"),
    Metric("suspended_time", "s", "time that a job was suspended", weight="jobs"),
    Metric("energy", "kWh", "electric energy of all nodes"),
    *(Metric(f"{state}_energy", "kWh", f"electric energy of {which}") for state, which in OF_STATES),
    Metric("period", "s", "time over which the machine was measured"),
)
"""The first two, the share of preempted jobs and the last are computed by `models.jobs.schedule_measures`."""


def shares(made: Schedule, division: Division, edges: Floats) -> Mapping[str, Floats]:
    """Return the averages over jobs and the energies that other schedules lack, shape (n_batches,)."""
    counts = np.bincount(division.batch, minlength=division.n_batches)
    found = {}
    for name, column in (
        ("backfilled_share", "by_backfill"),
        ("killed_share", "killed"),
        ("lost_time", "lost"),
        ("suspended_time", "suspended"),
    ):
        values = getattr(made, column)[division.these]
        with np.errstate(invalid="ignore"):  # a batch without a job
            found[name] = np.bincount(division.batch, values, division.n_batches) / counts
    refused = np.zeros_like(counts)
    if made.unmeasured is not None:  # these jobs are in no batch
        submit = made.jobs.submit[made.unmeasured]
        borders = np.nan_to_num(division.borders, nan=np.inf)  # the last of them may be behind the last end
        at = np.searchsorted(borders, submit, side="right") - 1
        refused = np.bincount(at[(at >= 0) & (at < len(counts))], minlength=len(counts))
    found["submitted"] = (counts + refused).astype(np.float64)
    with np.errstate(invalid="ignore"):
        found["refused_share"] = refused / found["submitted"]
    drawing: Drawing = made.drawing  # type: ignore[attr-defined]  # of this family's schedules
    return found | drawing.energy(edges)

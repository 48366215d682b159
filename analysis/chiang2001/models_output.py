"""Where this paper's figures touch the models: the jobs of one month, and the paper's Table 4.

The models are imported inside the functions: a report whose figures need none does not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.study import Study
from models.point import Point
from sweep.plan.seeds import seed


def month_of_jobs(
    study: Study, policy: str, month: str, replication: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return wait and actual runtime, seconds, of the jobs of a month that a dataset's point measured.

    Parameters
    ----------
    study : Study
        Under one reading.
    policy, month : str
    replication : int
    """
    from models.backfill.model import schedule

    parameters = {**study.parameters("policy", policy), **_readings_of_the_policy(study)}
    workload, machine = study.parameters("workload", month), study.parameters("machine")
    root = seed(int(study.settings["seed"]), month, replication)
    made = schedule(Point(parameters, workload, machine, seed=root))
    assert made.trace is not None  # a month ends
    return made.wait[made.trace.measured], made.jobs.runtime[made.trace.measured]


def _readings_of_the_policy(study: Study) -> dict[str, Any]:
    """Return the keys of policies that are axes of the grid, with the values that they have here."""
    axes: dict[str, str] = study.settings.get("axes") or {}
    there = {axis: study.data.coords[axis] for axis in axes if axis in study.data.coords}
    return {
        axes[axis].removeprefix("policy."): value.item()
        for axis, value in there.items()
        if value.ndim == 0 and axes[axis].startswith("policy.") and axes[axis].count(".") == 1
    }


@dataclass(frozen=True)
class PaperMonth:
    """A month of Table 4; arrays of shape (13,): all jobs, then each class."""

    jobs: np.ndarray
    processor_demand: np.ndarray
    memory_demand: np.ndarray


def table_4(workload: str, study: Study) -> PaperMonth | None:
    """Return the paper's numbers for a workload of the dataset; None where it is no month of the paper."""
    from models.workloads.o2k.table4 import TABLE_4

    found = TABLE_4.get(str(study.parameters("workload", workload).get("month")))
    if found is None:
        return None
    return PaperMonth(
        np.array([found.overall_jobs, *found.jobs], float),
        np.array([found.overall_processor_demand, *found.processor_demand], float),
        np.array([found.overall_memory_demand, *found.memory_demand], float),
    )

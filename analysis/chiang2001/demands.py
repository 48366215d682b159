"""The numbers of Table 4, and the generated ones beside them, for claims and figures."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.chiang2001.labels import month
from analysis.study import Study


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


def table_of_month(study: Study, metric: str, month: str) -> np.ndarray:
    """Return a metric of the grid's only policy, shape (its own dimensions..., replications, batches)."""
    found = study.data[metric].isel(policy=0)
    for dim in ("load", "machine"):
        if dim in found.dims:
            found = found.isel({dim: 0})
    if "workload" in found.dims:
        found = found.isel(workload=study.values_of("workload").index(month))
    return np.asarray(found.transpose(..., "replication", "batch").values)


def early_ends(study: Study) -> list[tuple[str, str]]:
    """Return what share of the jobs ends within a minute, of each month, as a row of the readings."""
    rows = []
    for name in study.config.get("workload", {}):
        file = study.parameters("workload", name)
        shares = file.get("under_a_minute")
        if isinstance(shares, Mapping):
            shares = shares.get(str(file.get("month")), {})
            text = ", ".join(f"{100 * share:.1f} % of {kind}" for kind, share in shares.items())
        elif shares is None:
            continue
        else:
            text = f"{100 * shares:.1f} % of all"
        rows.append(f"{month(name)}: {text}")
    return [("workload.under_a_minute", "; ".join(rows))] if rows else []

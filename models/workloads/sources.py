"""Where jobs come from: a registry of modules, and what they give.

A workload with an end of its own (a log, a month) is a module with ``ENDLESS = False``, `has_chance` and
``open_source(workload, machine, load, seed)``, which checks what it is given. An endless stream has ``ENDLESS
= True``, `has_chance`, `check` and ``draw(workload, machine, load, n_jobs, seed)``, where the first jobs of a
longer draw are those of a shorter one.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from models.arrays import Ints
from models.family import Parameters
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.swf import Log

MODELS = {
    "swf": "models.workloads.swf_log",
    "sacct": "models.workloads.sacct_log",
    "synthetic": "models.workloads.synthetic",
    "lublin2003": "models.workloads.lublin2003",
    "o2k": "models.workloads.o2k",
}
"""``workload.model`` -> module."""


@dataclass(frozen=True, eq=False)
class Source:
    """The jobs of a workload with an end of its own.

    Parameters
    ----------
    jobs : Jobs
        The first is submitted at 0.
    machine : Machine
    notes : tuple of str
        What a user should hear.
    measured : slice
        Jobs that count; what is before them fills the machine.
    until : float, optional
        Seconds at which the measured period ends; None is the end of the last measured job.
    log : Log, optional
        Where the jobs were read from, and `rows`, shape (n_jobs,), of its columns.
    rows : ndarray of int, optional
    """

    jobs: Jobs
    machine: Machine
    notes: tuple[str, ...] = ()
    measured: slice = field(default_factory=lambda: slice(None))
    until: float | None = None
    log: Log | None = None
    rows: Ints | None = None


def module_of(workload: Parameters) -> Any:
    """Return the module of a workload's model.

    Raises
    ------
    ValueError
        If there is none that serves backfilling.
    """
    model = workload.get("model")
    if model not in MODELS:
        raise ValueError(
            f"workload {workload.get('name', '')} has model {model}, which holds no requested times; "
            f"models.backfill takes {', '.join(MODELS)}"
        )
    return importlib.import_module(MODELS[model])

"""Workloads by name: what arrives, and how much of it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from models.family import Parameters, Seed

if TYPE_CHECKING:
    from models.workloads.sessions import SessionStream

# Each module has `open_stream`, `check` and HAS_CHANCE with the arguments of the functions here.
MODELS = {
    "feitelson1996": "models.workloads.feitelson1996",
    "swf": "models.workloads.log_replay",
}


def _module(workload: Parameters) -> Any:
    model = workload.get("model")
    if model not in MODELS:
        raise ValueError(f"workload.model={model} is unknown; known: {', '.join(MODELS)}")
    return importlib.import_module(MODELS[model])


def open_stream(
    workload: Parameters, n_pes: int, load: float | None, n_jobs: int, seed: Seed
) -> SessionStream:
    """Return the stream of job sessions of one replication.

    Parameters
    ----------
    workload : mapping
        The workload's YAML; ``model`` names the module.
    n_pes : int
        PEs of the machine.
    load : float or None
        Offered load as a fraction of the machine; None leaves a log as it is.
    n_jobs : int
        About how many jobs will be simulated.
    seed : tuple of int
    """
    return _module(workload).open_stream(workload, n_pes, load, n_jobs, seed)


def has_chance(workload: Parameters) -> bool:
    """Tell whether replications of a workload differ."""
    return bool(_module(workload).HAS_CHANCE)


def check(workload: Parameters, n_pes: int, load: float | None) -> Sequence[str]:
    """Return what is worth saying aloud; ``ValueError`` with one line for what cannot be simulated."""
    return _module(workload).check(workload, n_pes, load)

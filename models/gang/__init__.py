"""Gang scheduling of jobs packed into the slots of an Ousterhout matrix (Feitelson 1996).

The family's declaration loads no kernel, so that a plan can be made and checked at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import current_process, get_context

from models import workloads
from models.family import Family, Metric, Parameters, simulated_by
from models.gang import schemes
from models.kernels import cache as kernel_cache

# As `alternation.MODES` and `simulation.PRECEDENCE` have them.
CHOICES = {
    "alternation": ("none", "exclusive", "shared"),
    "precedence": ("arrival", "largest", "smallest"),
    "unification": (True, False),
}


simulate = simulated_by("models.gang.model")


def check(policy: Parameters, workload: Parameters, machine: Parameters, load: float | None) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Check`."""
    n_pes = machine.get("n_pes")
    if not isinstance(n_pes, int) or isinstance(n_pes, bool) or n_pes < 1:
        raise ValueError(f"machine.n_pes={n_pes}; allowed: a positive whole number of PEs")
    for key, allowed in CHOICES.items():
        if policy.get(key) not in allowed:
            words = ", ".join(str(value).lower() for value in allowed)
            raise ValueError(f"policy.{key}={policy.get(key)}; allowed: {words}")
    limit = policy.get("job_limit")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ValueError(f"policy.job_limit={limit}; allowed: a positive whole number of jobs")
    scheme = schemes.find(policy.get("scheme", "(none)"))
    scheme.arguments(policy)
    scheme.check(n_pes)
    return workloads.check(workload, n_pes, load)


def chance(policy: Parameters, workload: Parameters, machine: Parameters) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers, the workload may."""
    return workloads.has_chance(workload)


def warm_up() -> None:
    """Compile every kernel, schemes and engine side by side; where all are in the cache, none is loaded."""
    kernel_cache.complete(__name__, _compile)


def _compile() -> None:
    if current_process().daemon:  # such as a worker on a node whose cache is empty: it may have no children
        load()
        return
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as beside:
        schemes_ready = beside.submit(schemes.load_all)
        importlib.import_module("models.gang.model")
        schemes_ready.result()
    load()


def load() -> None:
    """Load every kernel; those that are not in the cache are compiled."""
    for module in ("models.gang.model", "models.workloads.redrawn", *workloads.MODELS.values()):
        importlib.import_module(module)
    schemes.load_all()


FAMILY = Family(
    name="gang scheduling",
    version=1,
    metrics=(
        Metric("slowdown", "1", "average slowdown"),
        Metric("unifications", "1", "slot unifications per job termination"),
        Metric("slots_per_job", "1", "average number of slots in which a job runs"),
        Metric("utilization", "1", "utilization (delivered PE time over capacity)"),
        Metric("used_slots", "1", "average number of used slots"),
        Metric("jobs_in_system", "1", "average number of jobs in the system"),
    ),
    simulate=simulate,
    check=check,
    warm_up=warm_up,
    chance=chance,
    preload="models.gang.preload",
)

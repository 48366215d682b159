"""Medium-term scheduling of jobs that need a minimum of processors (McCann 1994, chapter 6).

The family's declaration loads no kernel, so that a plan can be made and checked at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.family import Family, Metric, Parameters, simulated_by

simulate = simulated_by("models.medium_term.model")


def check(policy: Parameters, workload: Parameters, machine: Parameters, load: float | None) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Check`."""
    from models.medium_term import policies, requirements

    processors = machine.get("processors")
    if not isinstance(processors, int) or isinstance(processors, bool) or processors < 1:
        raise ValueError(f"machine.processors={processors}; allowed: a positive whole number of processors")
    if load is not None:
        raise ValueError(f"load={load}: a schedule of given jobs has no load; set grid.load=[null]")
    requirements.check(workload, processors)
    policies.check(policy, processors, requirements.n_jobs(workload))
    return []


def chance(policy: Parameters, workload: Parameters, machine: Parameters) -> bool:
    """Tell whether replications differ: policies draw no random numbers, workloads do but for lists."""
    return bool(workload["model"] != "listed")


def warm_up() -> None:
    """Compile every kernel, or load them."""
    import models.medium_term.model  # noqa: F401


FAMILY = Family(
    name="medium-term scheduling",
    version=1,
    metrics=(
        Metric("reallocations", "1", "processors reallocated within T"),
        Metric("epochs", "1", "spans between moments of reallocation within T"),
        Metric("uninterrupted", "1", "fraction of jobs that run the whole of T"),
        Metric("processors_per_job", "1", "processors that a job gets"),
        Metric("processors_at_once", "1", "processors reallocated at one moment, on average"),
    ),
    simulate=simulate,
    check=check,
    warm_up=warm_up,
    chance=chance,
)

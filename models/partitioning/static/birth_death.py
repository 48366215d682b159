"""Mean response time of equal jobs that come and go, by a birth-death chain (McCann 1994, section 5.3).

The states are the numbers of jobs that are ready to run. With S of them the machine completes EP(S) / E jobs
a second, where E is the time of a job alone, and at most L jobs run at once.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import inf, nan

import numpy as np

from models.arrays import Floats
from models.family import Family, Metric, Outcome
from models.partitioning.rules import Partitioning, memory_limit
from models.partitioning.static.efficiency import Job, efficiency_preservation, is_stochastic, read
from models.point import Point
from models.topology.mesh import Mesh

MOST_STATES = 4096
"""Efficiency preservation is computed for at most this many numbers of jobs."""


@lru_cache(maxsize=1 << 12)
def completion_rates(policy: Partitioning, mesh: Mesh, job: Job, limit: int) -> Floats:
    """Return EP(S) for S = 1 to `limit`: the rate of completions times E.

    Notes
    -----
    The text of section 5.3 has 1 / (E EP(S)), which would fall as efficiency preservation rises; its
    sentences mean EP(S) / E.
    """
    values = [efficiency_preservation(policy, mesh, job, jobs) for jobs in range(1, limit + 1)]
    return np.array(values)


def capacity(rates: Floats, unlimited: bool) -> float:
    """Return the load at which the policy saturates.

    Parameters
    ----------
    rates : ndarray, shape (limit,)
        See `completion_rates`.
    unlimited : bool
        Whether memory sets no limit, so that the chain's rates end only where they are no longer defined.

    Returns
    -------
    float
        At lower loads the system is stable.

    Notes
    -----
    Beyond the limit the rate stays as it is, so the chain has a stationary distribution only below that rate.
    The end of a chain without limit is not a property of the policy, so it must not be what limits the number
    of jobs: the last doubling of that number must make a state less likely, which holds up to the geometric
    mean of its rates. Folding with a constant time between rotations fails this at high loads, although its
    last state (a power of two: no rotation) is efficient: "the relative rotation load exceeds capacity"
    (section 5.3.1).
    """
    if rates.min() <= 0:
        return 0.0
    last = float(rates[-1])
    if not unlimited:
        return last
    doubling = rates[len(rates) // 2 :]
    return min(last, float(np.exp(np.log(doubling).mean())))


def mean_jobs(rates: Floats, load: float) -> float:
    """Return the mean number of jobs in the system.

    Parameters
    ----------
    rates : ndarray, shape (limit,)
        Rate of completions times E in states 1 to limit; the last rate applies to all states beyond.
    load : float
        Rate of arrivals times E.

    Returns
    -------
    float
        Infinite if there is no stationary distribution.

    Notes
    -----
    Balance of neighbouring states, in logarithms, because the weights span hundreds of orders of magnitude;
    the states beyond the limit are a geometric series. O(limit).
    """
    if rates.min() <= 0 or load >= rates[-1]:
        return inf
    logarithms = np.concatenate([[0.0], np.cumsum(np.log(load / rates))])
    weights = np.exp(logarithms - logarithms.max())
    limit, ratio = len(rates), load / rates[-1]
    beyond = weights[-1] * ratio / (1 - ratio)
    jobs = weights @ np.arange(limit + 1) + beyond * (limit + 1 / (1 - ratio))
    return float(jobs / (weights.sum() + beyond))


def read_chain(point: Point) -> tuple[Floats, bool]:
    """Return the rates of completions (see `completion_rates`), and whether memory sets no limit."""
    partitioning, mesh, job = read(point)
    limit = memory_limit(point.machine, mesh)
    given = point.machine.get("memory_limit")
    if limit > MOST_STATES:
        raise ValueError(
            f"machine.memory_limit={given} lets {limit} jobs run at once; the chain is "
            f"solved for up to {MOST_STATES}: set a lower limit"
        )
    return completion_rates(partitioning, mesh, job, limit), given is None


def simulate(point: Point) -> Outcome:
    """Solve one point, see `models.family.Family.simulate`."""
    (rates, unlimited), load = read_chain(point), read_load(point.load)
    jobs = mean_jobs(rates, load)
    jobs = jobs if jobs < inf else nan
    metrics = {"blow_up": np.array([jobs / load]), "jobs_in_system": np.array([jobs])}
    return Outcome(metrics, len(rates), load >= capacity(rates, unlimited))


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    (rates, unlimited), load = read_chain(point), read_load(point.load)
    bound = capacity(rates, unlimited)
    if load < bound:
        return []
    memory = "" if unlimited else f" with {len(rates)} jobs in memory"
    name = point.policy.get("name", point.policy["discipline"])
    return [f"policy {name} gives way at a load of {bound:.3g}{memory}: from there on its points saturate"]


def stuck(point: Point) -> bool:
    """Return whether the chain has a state that it cannot leave by a completion."""
    return bool(read_chain(point)[0].min() <= 0)


def read_load(load: float | None) -> float:
    """Return the load, or refuse a point without one."""
    if load is None:
        raise ValueError("load=null: jobs arrive at a rate that the load gives; use e.g. grid.load=[0.5,0.9]")
    return load


__all__ = ["FAMILY", "check", "is_stochastic", "simulate"]

FAMILY = Family(
    package=__name__,
    name="birth-death chain",
    version=2,
    metrics=(
        Metric("blow_up", "1", "mean response time over the time of a job alone"),
        Metric("jobs_in_system", "1", "average number of jobs in the system"),
    ),
    headline="blow_up",
    solves=True,
    policies=__name__,
    model=__name__,
    reads=frozenset({"machine.context_switch", "machine.bandwidth", "machine.memory_limit"}),
)

"""A simple stream of jobs: Poisson arrivals, sizes between powers of two, runtimes and requests by formula.

It models no site, and is for tests, benchmarks and first trials. log2 of the size is uniform (and rounded to
whole processors), runtimes are lognormal, and a job asks for its runtime times a uniform factor.
"""

import numpy as np

from models import checks
from models.arrays import Ints
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.stream import Stream
from models.point import Parameters, Point, Seed
from models.streams import stream
from models.units import KB_IN_MB
from models.workloads.memory import offered

COUNTED = 1000
"""Jobs among which those with reduced memory are counted for a note."""

LIMITS = {
    "largest_job": (1, np.inf),  # processors, or null: the largest host
    "median_runtime": (1e-9, 1e12),
    "runtime_spread": (0, 5),
    "overestimate": (1, 1e6),
    "memory_mb": (0, 1e9),
}
"""Keys of the YAML file and the least and largest value that they may have."""


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return the columns of its jobs."""
    return ("requested", "memory") if workload.get("memory_mb") else ("requested",)


def open_stream(point: Point, machine: Machine) -> Stream:
    """Return the jobs of a replication; ``ValueError`` with one line for what cannot be simulated."""
    workload, name = point.workload, point.workload.get("name", "")
    load = point.load
    if load is None:
        raise ValueError(f"workload {name} has no load of its own: give one, for instance grid.load=[0.8]")
    for key, (least, most) in LIMITS.items():
        if key == "largest_job" and workload.get(key) is None:
            continue
        allowed = f"{least:g} to {most:g} (see workload {name})"
        checks.number(workload, "workload", key, allowed, least=least, most=most)
    if (workload.get("largest_job") or 0) > machine.largest:
        raise ValueError(
            f"workload.largest_job={workload['largest_job']}, and the largest host has {machine.largest} "
            "processors; allowed: at most this number, or null"
        )
    notes = []
    if workload["memory_mb"] and machine.has_memory:
        size = sizes(workload, machine, COUNTED, point.seed)
        if cut := int((memory(workload, size, point.seed) > offered(machine, size)).sum()):
            notes.append(
                f"synthetic: {counted(cut, 'job', 'draws', of=COUNTED)} more memory than the smallest host "
                "with these processors offers: the offered memory is taken"
            )
    return Stream(
        "synthetic", machine, lambda n_jobs: draw(workload, machine, load, n_jobs, point.seed), tuple(notes)
    )


def mean_size(largest: int) -> float:
    """Return the mean of round(2^u) with u uniform between 0 and log2(largest)."""
    if largest == 1:
        return 1.0
    sizes = np.arange(1, largest + 1)
    upper = np.log2(np.minimum(sizes + 0.5, largest))
    lower = np.log2(np.maximum(sizes - 0.5, 1))
    return float(sizes @ (upper - lower) / np.log2(largest))


def draw(workload: Parameters, machine: Machine, load: float, n_jobs: int, seed: Seed) -> Jobs:
    """Return the first `n_jobs` jobs of a replication.

    Parameters
    ----------
    workload : mapping
        ``largest_job``, ``median_runtime`` (s), ``runtime_spread`` (standard deviation of its logarithm),
        ``overestimate`` (largest requested time / runtime), ``memory_mb`` (mean for each processor,
        exponential; a job is cut to what the smallest host that has its processors offers).
    load : float
        Work that arrives in a second, over the processors of all hosts.
    """
    arrivals, runtimes, requests = (stream(seed, cause) for cause in ("arrivals", "runtimes", "requests"))
    spread = workload["runtime_spread"]
    size = sizes(workload, machine, n_jobs, seed)
    runtime = workload["median_runtime"] * np.exp(spread * runtimes.standard_normal(n_jobs))
    factor = 1 + (workload["overestimate"] - 1) * requests.random(n_jobs)
    mean_work = mean_size(_largest(workload, machine)) * workload["median_runtime"] * np.exp(spread**2 / 2)
    gap = arrivals.standard_exponential(n_jobs) * mean_work / (machine.total * load)
    kilobytes = np.minimum(memory(workload, size, seed), offered(machine, size))
    return Jobs(np.cumsum(gap), runtime, runtime * factor, size, kilobytes)


def sizes(workload: Parameters, machine: Machine, n_jobs: int, seed: Seed) -> Ints:
    """Draw processors."""
    log_largest = np.log2(_largest(workload, machine))
    return np.rint(2 ** (log_largest * stream(seed, "sizes").random(n_jobs))).astype(np.int64)


def memory(workload: Parameters, size: Ints, seed: Seed) -> Ints:
    """Draw the KB of whole jobs, however much the machine has."""
    factor = stream(seed, "memory").standard_exponential(len(size))
    return np.rint(size * workload["memory_mb"] * KB_IN_MB * factor).astype(np.int64)


def _largest(workload: Parameters, machine: Machine) -> int:
    return int(workload.get("largest_job") or machine.largest)

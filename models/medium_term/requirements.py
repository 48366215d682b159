"""Minimum processor requirements of the jobs to be scheduled: drawn at random, or a list."""

from collections.abc import Callable, Iterator

import numpy as np

from models import checks
from models.point import Batches, Parameters, Seed
from models.streams import stream


def uniform(chance: np.ndarray, processors: int, workload: Parameters) -> np.ndarray:
    """Return requirements that are any number up to P with equal probability."""
    return np.floor(chance * processors).astype(np.int64) + 1


def powers_of_two(chance: np.ndarray, processors: int, workload: Parameters) -> np.ndarray:
    """Return requirements that are any power of two up to P with equal probability."""
    return 1 << np.floor(chance * processors.bit_length()).astype(np.int64)


def small_heavy(chance: np.ndarray, processors: int, workload: Parameters) -> np.ndarray:
    """Return requirements of a geometric distribution that is cut off at P.

    Its mean, before it is cut off, is the fraction ``mean`` of P, but at least one processor.
    """
    more = 1 - 1 / max(1.0, workload["mean"] * processors)
    if more == 0:
        return np.ones(chance.shape, np.int64)
    drawn = np.floor(np.log1p(-chance * (1 - more**processors)) / np.log(more)).astype(np.int64) + 1
    return np.minimum(drawn, processors)  # rounding may exceed the end


DRAWN: dict[str, Callable[[np.ndarray, int, Parameters], np.ndarray]] = {
    "uniform": uniform,
    "powers_of_two": powers_of_two,
    "small_heavy": small_heavy,
}
"""Distributions: from uniform random numbers, any shape, to requirements."""

LISTED = "listed"


def check(workload: Parameters, processors: int) -> None:
    """Raise ``ValueError`` with one clear line for requirements that are not possible."""
    model = checks.choice(workload, "workload", "model", (*DRAWN, LISTED))
    if model == LISTED:
        _check_list(workload.get("requirements"), processors)
        return
    checks.whole(workload, "workload", "jobs", "a positive whole number of jobs")
    if model == "small_heavy":
        checks.number(
            workload, "workload", "mean", "a fraction of the machine, above 0 and up to 1", above=0, most=1
        )


def _check_list(listed: object, processors: int) -> None:
    if not isinstance(listed, list) or not listed or any(type(n) is not int or n < 1 for n in listed):
        checks.refuse("workload.requirements", listed, "a list of positive whole numbers")
    if max(listed) > processors:
        raise ValueError(
            f"workload.requirements: a job needs at least {max(listed)} processors and the machine has "
            f"{processors}; lower it, or set machine.processors={max(listed)} or more"
        )


def is_stochastic(workload: Parameters) -> bool:
    """Return whether replications differ: a list is deterministic."""
    return bool(workload["model"] != LISTED)


def n_jobs(workload: Parameters) -> int:
    """Return the number of jobs to be scheduled."""
    return len(workload["requirements"]) if workload["model"] == LISTED else workload["jobs"]


def lists(workload: Parameters, processors: int, batches: Batches, seed: Seed) -> Iterator[np.ndarray]:
    """Yield the requirements of each batch, also in the warm-up.

    The random numbers depend only on the seed and the number of jobs: all policies get the same lists.

    Yields
    ------
    ndarray of int64, shape (batch_size, n_jobs)
        Lists of requirements, each ascending; a deterministic workload has a single list.
    """
    if workload["model"] == LISTED:
        listed = np.array([sorted(workload["requirements"])], np.int64)
        yield from (listed for _ in range(batches.most))
        return
    size = 1 if batches.size is None else batches.size
    rng = stream(seed, "requirements")
    for _ in range(batches.most):
        chance = rng.random((size, workload["jobs"]))
        yield np.sort(DRAWN[workload["model"]](chance, processors, workload), axis=1)

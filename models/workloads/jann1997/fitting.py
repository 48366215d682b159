"""A fit of the model to a log: ranges of sizes, and three moments of each one's gaps and runtimes.

Sizes are the processors allocated (requested, where these are unknown), runtimes the fourth column of the
format: wall-clock time, not the CPU time of the sixth. Gaps are the times between consecutive submissions
inside a range. A runtime of 0 is a value like any other, unless ``zero_runtime`` drops it.
"""

from dataclasses import replace

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.swf import Filters, select
from models.point import Parameters
from models.workloads import swf
from models.workloads.jann1997.hyper_erlang import MOST_STAGES, HyperErlang, fitted
from models.workloads.jann1997.model import Model, Range, label_of

ZERO_RUNTIME = ("keep", "drop", "second")
FEW_JOBS = REFUSE, MERGE = ("refuse", "merge")
LEAST_JOBS = 4
"""Three gaps, the fewest with three independent moments."""


def fit(workload: Parameters) -> tuple[Model, tuple[str, ...]]:
    """Return the model of a workload's log, and notes on it.

    Parameters
    ----------
    workload : mapping
        ``path``, the filters of a log, ``ranges``, ``least_jobs`` and ``few_jobs``, see
        conf/workload/published/jann1997.yaml.

    Raises
    ------
    ValueError
        With one line: no such log, a range with too few jobs, or with values that no distribution matches.
    """
    log = swf.read_log(workload)
    zero = checks.choice(workload, "workload", "zero_runtime", ZERO_RUNTIME)
    filters = replace(Filters.of(workload), zero_runtime="drop" if zero == "drop" else "second")
    jobs = select(log, log.max_processors, filters)
    if zero == "keep":
        notes = tuple(note for note in jobs.notes if "zero_runtime" not in note)
        jobs = replace(jobs, runtime=log.columns["runtime"][jobs.rows], notes=notes)
    least = checks.whole(
        workload, "workload", "least_jobs", f"a whole number of jobs from {LEAST_JOBS} on", least=LEAST_JOBS
    )
    merges = checks.choice(workload, "workload", "few_jobs", FEW_JOBS) == MERGE
    bounds, merged = ranges_of(log.name, jobs.size, limits(workload, log.max_processors), least, merges)
    ranges = []
    for low, high in bounds:
        its = (jobs.size >= low) & (jobs.size <= high)
        sizes, counts = np.unique(jobs.size[its], return_counts=True)
        values = {"gaps": np.diff(jobs.arrival[its]), "runtimes": jobs.runtime[its]}
        parts = {what: _fitted(log.name, label_of(low, high), what, x) for what, x in values.items()}
        ranges.append(Range(low, high, sizes.astype(np.int64), counts.astype(float), **parts))
    name = log.name.removesuffix(".gz").removesuffix(".swf")
    return Model(name, log.max_processors, tuple(ranges)), (*jobs.describe(), *merged)


def limits(workload: Parameters, processors: int) -> list[int]:
    """Return the largest size of each range; the last is the machine's size."""
    given = workload.get("ranges")
    if given is None:
        # 1, 2, 3-4, 5-8, … (Jann et al. 1997; Silva and Scherson 1999, section 3.1)
        given = [2**k for k in range(processors.bit_length() + 1)]
    whole = isinstance(given, list) and all(isinstance(x, int) and not isinstance(x, bool) for x in given)
    if not whole or not given or given[0] < 1 or sorted(set(given)) != given:
        allowed = "the largest size of each range, growing, e.g. [1, 2, 4, 8], or null (powers of two)"
        checks.refuse("workload.ranges", given, allowed)
    return [*(limit for limit in given if limit < processors), processors]


def ranges_of(
    name: str, size: Ints, most: list[int], least_jobs: int, merges: bool
) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the ranges that have jobs, and notes on those that were merged.

    A range with too few jobs joins the next smaller range with jobs (the smallest joins the next larger).
    """
    found = []
    for low, high in zip([1, *(limit + 1 for limit in most[:-1])], most, strict=True):
        if n := int(((size >= low) & (size <= high)).sum()):
            found.append((low, high, n))
    notes = []
    while few := [place for place, (_, _, n) in enumerate(found) if n < least_jobs]:
        low, high, n = found[few[-1]]
        if not merges or len(found) == 1:
            cure = "" if len(found) == 1 else "workload.few_jobs=merge, which joins it to a neighbour, other "
            raise ValueError(
                f"{name}: {counted(n, 'job')} of size {label_of(low, high)}, and a fit of that range needs "
                f"{least_jobs:,}; give {cure}workload.ranges, a lower workload.least_jobs, or a longer log"
            )
        first = max(few[-1] - 1, 0)
        (low, _, n), (_, high, more) = found[first : first + 2]
        parts = " and ".join(label_of(*one[:2]) for one in found[first : first + 2])
        notes.append(f"{name}: sizes {parts} are one range, for too few jobs (few_jobs=merge)")
        found[first : first + 2] = [(low, high, n + more)]
    return [(low, high) for low, high, _ in found], notes


def _fitted(name: str, label: str, what: str, values: Floats) -> HyperErlang:
    try:
        return fitted(values)
    except ValueError as why:
        raise ValueError(
            f"{name}: the {values.size:,} {what} of jobs of size {label} lie between {values.min():g} and "
            f"{values.max():g} s, and no distribution of an order up to {MOST_STAGES:,} has their moments; "
            "give other workload.ranges, which join these jobs to others, or leave them out by a filter"
        ) from why

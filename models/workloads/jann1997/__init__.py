"""The workload model of Jann et al. (1997): hyper-Erlang gaps and runtimes, by ranges of sizes.

Jobs of 1, 2, 3-4, 5-8, … processors are streams of their own. Times between submissions and runtimes have
hyper-Erlang distributions of common order that match the first three moments of a log's, each of the smallest
possible order. The published parameters (322 nodes of the Cornell Theory Center's SP2) are not in any public
copy, so that the model is what it was for its authors: a fit, to any log (``path``) or a given one (``fit``).

All streams start at 0 with a whole gap. Sizes within a range, and sizes on other machines than the log's, are
options (``sizes_in_range``, ``machine_sizes``): the paper's parameters are of ranges only.

References
----------
J. Jann, P. Pattnaik, H. Franke, F. Wang, J. Skovira and J. Riordan, "Modeling of workload in MPPs", in *Job
Scheduling Strategies for Parallel Processing*, LNCS 1291, 1997.

M. A. Johnson and M. R. Taaffe, "Matching moments to phase distributions: mixtures of Erlang distributions of
common order", *Stochastic Models* 5, 1989.
"""

from dataclasses import replace

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.stream import Stream
from models.point import Parameters, Point, Seed
from models.streams import stream
from models.workloads.jann1997.fitting import fit
from models.workloads.jann1997.model import Model, Range, of_table

SIZES_IN_RANGE = ("observed", "uniform", "largest")
MACHINE_SIZES = SCALED, CAPPED, DROP, AS_IS = ("scaled", "capped", "drop", "as_is")


def open_stream(point: Point, machine: Machine) -> Stream:
    """Return the jobs of a replication; ``ValueError`` with one line if they cannot be simulated."""
    model, notes = model_of(point.workload, machine)
    natural = model.natural_load(machine.total)
    note = (
        f"jann1997: its own load is {natural:.3f} on {counted(machine.total, 'processor')}; "
        f"{model.share_of_serial():.0%} of the jobs have one processor"
    )
    stretch = 1.0 if point.load is None else natural / point.load
    return Stream("jann1997", machine, lambda n: draw(model, stretch, n, point.seed), (*notes, note))


def model_of(workload: Parameters, machine: Machine) -> tuple[Model, tuple[str, ...]]:
    """Return the model with the sizes that jobs have on a machine, and notes on it.

    Raises
    ------
    ValueError
        With one line that names the allowed values.
    """
    path, table = workload.get("path"), workload.get("fit")
    within = checks.choice(workload, "workload", "sizes_in_range", SIZES_IN_RANGE)
    onto = checks.choice(workload, "workload", "machine_sizes", MACHINE_SIZES)
    if (path is None) == (table is None):
        raise ValueError(
            f"jann1997 has {'neither a log nor' if path is None else 'both a log and'} a fit; give "
            "workload.path=LOG and workload.fit=null, or choose a fit, e.g. grid.workload=[jann1997_kth]"
        )
    model, notes = (of_table(table), ()) if path is None else fit(workload)
    model = model.with_sizes(lambda jobs: _within(jobs, within))
    largest = machine.largest
    if onto == SCALED and model.processors != largest:
        note = f"jann1997: sizes times {largest / model.processors:.4g}, at least 1: {model.log} is of "
        notes = (*notes, note + f"{model.processors:,} processors (machine_sizes=scaled)")
    if model.largest > largest and onto == DROP:
        kept = tuple(jobs for jobs in model.ranges if jobs.most <= largest)
        note = f"jann1997: {len(kept)} of {len(model.ranges)} ranges of sizes fit {largest:,} processors, "
        model, notes = (
            replace(model, ranges=kept),
            (*notes, note + "the others are left out (machine_sizes=drop)"),
        )
    if model.largest > largest and onto == AS_IS:
        raise ValueError(
            f"{model.log} has jobs of up to {model.largest:,} processors, the largest host has {largest:,}; "
            "give workload.machine_sizes=scaled or workload.machine_sizes=capped, or use a larger machine"
        )
    if model.largest > largest and onto == CAPPED:
        note = f"jann1997: jobs of more than {largest:,} processors take {largest:,} (machine_sizes=capped)"
        notes = (*notes, note)
    return model.with_sizes(lambda jobs: (_onto(jobs.sizes, onto, model, largest), jobs.weights)), notes


def _within(jobs: Range, how: str) -> tuple[Ints, Floats]:
    if how == "uniform":
        sizes = np.arange(jobs.least, jobs.most + 1)
        return sizes, np.ones(sizes.size)
    if how == "largest":
        return np.array([jobs.most], np.int64), np.ones(1)
    return jobs.sizes, jobs.weights


def _onto(sizes: Ints, how: str, model: Model, largest: int) -> Ints:
    if how == SCALED:
        sizes = np.maximum(np.floor(sizes * (largest / model.processors) + 0.5), 1).astype(np.int64)
    return np.minimum(sizes, largest)


def draw(model: Model, stretch: float, n_jobs: int, seed: Seed) -> Jobs:
    """Return the first `n_jobs` jobs of a replication: the streams of all ranges, merged by submission.

    Takes O(n log n) time.
    """
    times = arrivals(model, n_jobs, seed)
    runtime = [
        jobs.runtimes.sample(
            its.size,
            stream(seed, f"runtimes {jobs.label}"),
            stream(seed, f"branches of runtimes {jobs.label}"),
        )
        for jobs, its in zip(model.ranges, times, strict=True)
    ]
    size = [
        jobs.sizes[np.searchsorted(jobs.steps, stream(seed, f"sizes {jobs.label}").random(its.size), "right")]
        for jobs, its in zip(model.ranges, times, strict=True)
    ]
    submit = np.concatenate(times)
    first = np.argsort(submit, kind="stable")[:n_jobs]
    return Jobs.bare(submit[first] * stretch, np.concatenate(runtime)[first], np.concatenate(size)[first])


def arrivals(model: Model, n_jobs: int, seed: Seed) -> list[Floats]:
    """Return submissions in each range, as many as the first `n_jobs` jobs of all can need, seconds."""
    rate = np.array([1 / jobs.gaps.mean for jobs in model.ranges])
    numbers = np.ceil(1.1 * n_jobs * rate / rate.sum()).astype(int) + 16
    times = [_range_arrivals(jobs, n, seed) for jobs, n in zip(model.ranges, numbers, strict=True)]
    while True:
        # The last of the jobs comes at this time or earlier: jobs still to be drawn can only come before it.
        last = np.partition(np.concatenate(times), max(n_jobs - 1, 0))[max(n_jobs - 1, 0)]
        short = [number for number, its in enumerate(times) if its[-1] < last]
        if not short:
            return times
        for number in short:
            numbers[number] *= 2
            times[number] = _range_arrivals(model.ranges[number], numbers[number], seed)


def _range_arrivals(jobs: Range, n: int, seed: Seed) -> Floats:
    gaps, branches = f"arrivals {jobs.label}", f"branches of arrivals {jobs.label}"
    return np.cumsum(jobs.gaps.sample(n, stream(seed, gaps), stream(seed, branches)))

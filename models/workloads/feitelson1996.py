"""The workload model of Feitelson 1996, section 3.5.

Sizes follow a harmonic distribution "hand tailored to emphasize small jobs and interesting sizes"; runtimes a
two-stage hyperexponential whose probability of the longer stage grows linearly with size; users repeat a job
for a run length of generalised Zipf distribution; sessions arrive in a Poisson stream. Values that the paper
does not give are parameters, see ``conf/workload/feitelson1996/feitelson1996.yaml``.

No kernel is loaded before a stream is opened, so that a plan can be made and checked at once.

References
----------
D. G. Feitelson, "Packing schemes for gang scheduling", in *Job Scheduling Strategies for Parallel
Processing*, LNCS 1162, 1996, section 3.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from models import checks
from models.arrays import Floats
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.stream import Stream, joined
from models.point import Parameters, Point, Seed
from models.streams import stream
from models.workloads import estimates, tsafrir2005

REDRAWN = "models.workloads.redrawn.redrawn_runtime"
"""The compiled function that draws the runtime of a repetition."""

CHUNK = 2048
"""Number of sessions drawn together; any number gives the same jobs, but another rounding of the load."""

KEPT_SEEDS, KEPT_CHUNKS, KEPT_JOBS = 32, 16, 50_000
"""Seeds, and first chunks of each, that are cached for runs of at most `KEPT_JOBS` jobs: 1.5 MB a seed."""

Chunk = dict[str, np.ndarray]
"""Columns of consecutive sessions: the gap before each, its size, runtime, number of runs and key."""

FEEDBACK, SEQUENCE = REPETITION = ("feedback", "sequence")
RERUN_RUNTIME = ("same", "redrawn")
LOAD_REFERENCE = ("expected", "sequence")

INTERESTING = {
    "powers_of_two": lambda size, largest: size & (size - 1) == 0,
    "squares": lambda size, largest: np.sqrt(size).round().astype(int) ** 2 == size,
    "multiples_of_ten": lambda size, largest: size % 10 == 0,
    "full_machine": lambda size, largest: size == largest,
    "one_more": lambda size, largest: np.isin(size - 1, [4, 9, 16, 25, 36, 49, 64, 81, 100, 121]),
}
"""Kinds of sizes that users prefer (section 3.1)."""


def size_probabilities(workload: Parameters, processors: int) -> np.ndarray:
    """Return the probability of each job size.

    Parameters
    ----------
    workload : mapping
        ``size_order`` (harmonic order) and ``emphasis`` (how much likelier an interesting size is than the
        harmonic law; where a size is interesting in several ways, the largest factor holds).
    processors : int
        Processors of the machine: the largest size.

    Returns
    -------
    ndarray, shape (processors,)
        Probability of sizes 1 to `processors`.
    """
    sizes = np.arange(1, processors + 1)
    factor = np.ones(processors)
    for kind, is_one in INTERESTING.items():
        holds = is_one(sizes, processors)
        factor[holds] = np.maximum(factor[holds], workload["emphasis"][kind])
    weight = factor * sizes ** -float(workload["size_order"])
    return weight / weight.sum()


def long_probabilities(workload: Parameters, processors: int) -> np.ndarray:
    """Return, for sizes 1 to `processors`, the probability of the longer stage: linear in the size."""
    sizes = np.arange(1, processors + 1)
    span = workload["long_probability_full"] - workload["long_probability_small"]
    return workload["long_probability_small"] + span * sizes / processors


def run_length_probabilities(workload: Parameters) -> np.ndarray:
    """Return the probability of run lengths 1 to ``run_length_max``: p(n) ~ n^-order (section 3.3)."""
    lengths = np.arange(1, workload["run_length_max"] + 1)
    weight = lengths ** -float(workload["run_length_order"])
    return weight / weight.sum()


def mean_runtimes(workload: Parameters, processors: int) -> np.ndarray:
    """Return the mean runtime of jobs of sizes 1 to `processors`, in the model's time unit."""
    short, long = workload["short_mean"], workload["long_mean"]
    return short + long_probabilities(workload, processors) * (long - short)


def mean_work(workload: Parameters, processors: int) -> float:
    """Return the mean of size times runtime of a job, in PEs times time units."""
    sizes = np.arange(1, processors + 1)
    probabilities = size_probabilities(workload, processors)
    return float(np.sum(probabilities * sizes * mean_runtimes(workload, processors)))


class Distributions(NamedTuple):
    """The distribution functions of sizes and run lengths from 1 on, and the probability of the longer stage.

    The last is by size from 0 on (no job has size 0).
    """

    size: Floats
    runs: Floats
    long: Floats


@lru_cache(maxsize=64)
def distributions(workload_text: str, processors: int) -> Distributions:
    """Return the distributions of a workload, given as JSON; cached for the tasks that follow."""
    workload = json.loads(workload_text)
    return Distributions(
        _steps(size_probabilities(workload, processors)),
        _steps(run_length_probabilities(workload)),
        np.concatenate([[np.nan], long_probabilities(workload, processors)]),
    )


def _steps(probabilities: Floats) -> Floats:
    """Return the distribution function of whole numbers from 1 on."""
    steps = np.cumsum(probabilities)
    steps[-1] = np.inf  # exactly 1, without rounding
    return steps


@lru_cache(maxsize=KEPT_SEEDS)
def kept_sessions(workload_text: str, processors: int, seed: Seed) -> list[Chunk]:
    """Return the first chunks of a workload, given as JSON; cached for the tasks that follow.

    All schemes and loads run the same jobs, and drawing them takes up to a sixth of a simulation.
    """
    return list(islice(standard_sessions(json.loads(workload_text), processors, seed), KEPT_CHUNKS))


def sessions(workload: Parameters, processors: int, n_jobs: int, seed: Seed) -> Iterator[Chunk]:
    """Yield the chunks of `standard_sessions`, cached for short runs: arrays that must not be changed."""
    n_kept = KEPT_CHUNKS if n_jobs <= KEPT_JOBS else 0
    if n_kept:
        yield from kept_sessions(json.dumps(dict(workload)), processors, seed)
    yield from islice(standard_sessions(workload, processors, seed), n_kept, None)


def standard_sessions(workload: Parameters, processors: int, seed: Seed) -> Iterator[Chunk]:
    """Yield chunks of sessions whose gaps have mean 1: the same for every scheme and load, without end."""
    drawn = distributions(json.dumps(dict(workload)), processors)
    mean = np.array([workload["short_mean"], workload["long_mean"]], dtype=float)
    of_size, of_stage, of_runtime, of_runs, of_arrival, of_key = (
        stream(seed, cause)
        for cause in ("sizes", "stages", "runtimes", "run lengths", "arrivals", "repetitions")
    )
    in_sequence = workload["repetition"] == SEQUENCE
    while True:
        size = 1 + drawn.size.searchsorted(of_size.random(CHUNK), side="right")
        is_long = of_stage.random(CHUNK) < drawn.long.take(size)
        runtime = of_runtime.standard_exponential(CHUNK)
        runtime *= mean.take(is_long)
        runs = 1 + drawn.runs.searchsorted(of_runs.random(CHUNK), side="right")
        key = of_key.integers(-(2**63), 2**63, CHUNK)
        if in_sequence:
            begin = np.repeat(np.cumsum(runs) - runs, runs)
            run = np.arange(runs.sum()) - begin
            size, key, runtime = np.repeat(size, runs), np.repeat(key, runs), np.repeat(runtime, runs)
            if workload["rerun_runtime"] == "redrawn":
                from models.workloads.redrawn import redrawn_runtime

                parameters = rerun_parameters(workload, processors)
                for i in np.flatnonzero(run):
                    runtime[i] = redrawn_runtime(runtime[i], size[i], key[i], run[i], parameters)
            runs = np.ones(len(size), np.int64)
        yield {
            "gap": of_arrival.standard_exponential(len(size)),
            "size": size,
            "runtime": runtime,
            "runs": runs,
            "key": key,
        }


def rerun_parameters(workload: Parameters, processors: int) -> np.ndarray:
    """Return the parameters of `redrawn.redrawn_runtime`."""
    small = float(workload["long_probability_small"])
    slope = (workload["long_probability_full"] - small) / processors
    return np.array([small, slope, workload["short_mean"], workload["long_mean"]], dtype=float)


def mean_gap(workload: Parameters, processors: int, load: float, n_jobs: int, seed: Seed) -> float:
    """Return the mean time between sessions that gives an offered load.

    Under the reading ``expected`` the load is the model's; under ``sequence`` it is the load of the run of
    jobs itself, as far as `n_jobs` jobs go, so that all replications have the same load.
    """
    if workload["load_reference"] == "expected":
        lengths = run_length_probabilities(workload)
        mean = float(np.sum(lengths * np.arange(1, len(lengths) + 1)))
        runs = 1.0 if workload["repetition"] == SEQUENCE else mean
        return runs * mean_work(workload, processors) / (load * processors)
    work, time = work_and_time(json.dumps(dict(workload)), processors, n_jobs, seed)
    return work / (load * processors * time)


@lru_cache(maxsize=256)
def work_and_time(workload_text: str, processors: int, n_jobs: int, seed: Seed) -> tuple[float, float]:
    """Return the work of the first `n_jobs` jobs, and the sum of the gaps (of mean 1) between their sessions.

    Cached for the tasks that follow; the workload is given as JSON.
    """
    workload = json.loads(workload_text)
    work = time = 0.0
    jobs = 0
    for chunk in sessions(workload, processors, n_jobs, seed):
        ends = np.cumsum(chunk["runs"]) + jobs
        last = min(int(np.searchsorted(ends, n_jobs)) + 1, len(ends))
        work += float(np.sum(session_work(chunk, workload, processors)[:last]))
        time += float(np.sum(chunk["gap"][:last]))
        jobs = int(ends[last - 1])
        if jobs >= n_jobs:
            break
    return work, time


def session_work(chunk: Chunk, workload: Parameters, processors: int) -> np.ndarray:
    """Return the PEs times time units of each session of a chunk."""
    size, runtime, runs = chunk["size"], chunk["runtime"], chunk["runs"]
    if workload["rerun_runtime"] != "redrawn":
        return size * runtime * runs
    from models.workloads.redrawn import work_of_redrawn

    parameters = rerun_parameters(workload, processors)
    work: np.ndarray = work_of_redrawn(size, runtime, runs, chunk["key"], parameters)
    return work


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return the columns of its jobs: repetitions, unless each is one more arrival."""
    return () if workload.get("repetition") == SEQUENCE else ("repetition",)


def open_stream(point: Point, machine: Machine) -> Stream:
    """Return the jobs of a replication; ``ValueError`` with one line for parameters outside the model.

    The largest job takes the largest host, and the load counts all hosts together.
    """
    workload, largest, load, seed = point.workload, machine.largest, point.load, point.seed
    if load is None:
        raise ValueError("feitelson1996 has no load of its own: give one, for instance grid.load=[0.5,0.9]")
    check_parameters(workload)
    n_jobs = point.batches.jobs(point.batches.most)
    feedback = workload["repetition"] == FEEDBACK

    def chunks() -> Iterator[Jobs]:
        gap = mean_gap(workload, largest, load, n_jobs, seed) * (largest / machine.total)
        now = 0.0
        for chunk in sessions(workload, largest, n_jobs, seed):
            # Added one by one, so that the cut into chunks changes no digit.
            submit = chunk["gap"] * gap
            submit[0] += now
            submit.cumsum(out=submit)
            now = submit[-1]
            again = {name: chunk[name] for name in ("runs", "key") if feedback}
            yield Jobs.bare(submit, chunk["runtime"], chunk["size"], **again)

    redrawn = feedback and workload["rerun_runtime"] != "same"
    return Stream(
        "feitelson1996",
        machine,
        lambda n: joined(chunks(), n),
        notes(workload),
        chunks,
        REDRAWN if redrawn else None,
        rerun_parameters(workload, largest) if redrawn else np.zeros(1),
    )


def notes(workload: Parameters) -> tuple[str, ...]:
    """Return a note if requested times are drawn in seconds, and runtimes have no unit."""
    if workload.get("estimates") != estimates.TSAFRIR or workload["long_mean"] >= tsafrir2005.MINUTE:
        return ()
    return (
        "feitelson1996: users request 30 s and more (estimates=tsafrir2005), and runtimes are in a unit of "
        f"their own (long_mean={workload['long_mean']:g}); give workload.short_mean and workload.long_mean "
        "in seconds, or give workload.estimates=exact",
    )


def check_parameters(workload: Parameters) -> None:
    """Raise ``ValueError`` with one line for parameters outside the model."""
    checks.choice(workload, "workload", "repetition", REPETITION)
    checks.choice(workload, "workload", "rerun_runtime", RERUN_RUNTIME)
    checks.choice(workload, "workload", "load_reference", LOAD_REFERENCE)
    for key in ("size_order", "run_length_order"):
        checks.number(workload, "workload", key, "a number")
    for key in ("long_probability_small", "long_probability_full"):
        checks.number(workload, "workload", key, "a probability, 0 to 1", least=0, most=1)
    emphasis = checks.mapping(workload.get("emphasis"), "workload.emphasis", INTERESTING)
    for kind in INTERESTING:
        checks.number(emphasis, "workload.emphasis", kind, "a number above 0", above=0)
    for key in ("short_mean", "long_mean"):
        checks.number(workload, "workload", key, "a number above 0", above=0)
    checks.whole(workload, "workload", "run_length_max", "a whole number above 0", most=10**6)

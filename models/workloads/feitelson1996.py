"""The workload model of Feitelson 1996, section 3.5.

Sizes follow a harmonic distribution "hand tailored to emphasize small jobs and interesting sizes"; runtimes a
two-stage hyperexponential whose probability of the longer stage grows linearly with size; users repeat a job
for a run length of generalised Zipf distribution; sessions arrive in a Poisson stream. What the paper leaves
open is a parameter, see ``conf/workload/feitelson1996.yaml``.

No kernel is loaded before a stream is opened, so that a plan can be made and checked at once.

References
----------
D. G. Feitelson, "Packing schemes for gang scheduling", in *Job Scheduling Strategies for Parallel
Processing*, LNCS 1162, 1996, section 3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from models import checks
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.stream import Stream, joined
from models.point import Parameters, Point, Seed
from models.streams import stream

FILLS = ("repetition",)

REDRAWN = "models.workloads.redrawn.redrawn_runtime"
"""The compiled function that draws the runtime of a repetition."""

CHUNK = 2048  # sessions; any number gives the same workload

REPETITION = ("feedback", "sequence")
RERUN_RUNTIME = ("same", "redrawn")
LOAD_REFERENCE = ("expected", "sequence")


def size_probabilities(workload: Parameters, n_pes: int) -> np.ndarray:
    """Return the probability of each job size.

    Parameters
    ----------
    workload : mapping
        ``size_order`` (harmonic order) and ``emphasis`` (how much likelier an interesting size is than the
        harmonic law says; where a size is interesting in several ways the largest factor holds).
    n_pes : int
        PEs of the machine, the largest size.

    Returns
    -------
    ndarray, shape (n_pes,)
        Probability of sizes 1 to `n_pes`.
    """
    sizes = np.arange(1, n_pes + 1)
    emphasis = workload["emphasis"]
    root = np.sqrt(sizes).round().astype(int)
    interesting = {
        "powers_of_two": sizes & (sizes - 1) == 0,
        "squares": root * root == sizes,
        "multiples_of_ten": sizes % 10 == 0,
        "full_machine": sizes == n_pes,
        "one_more": np.isin(sizes - 1, [4, 9, 16, 25, 36, 49, 64, 81, 100, 121]),
    }
    factor = np.ones(n_pes)
    for kind, holds in interesting.items():
        factor[holds] = np.maximum(factor[holds], emphasis[kind])
    weight = factor * sizes ** -float(workload["size_order"])
    return weight / weight.sum()


def long_probabilities(workload: Parameters, n_pes: int) -> np.ndarray:
    """Return, for sizes 1 to `n_pes`, the probability of the longer stage: linear in the size."""
    sizes = np.arange(1, n_pes + 1)
    span = workload["long_probability_full"] - workload["long_probability_small"]
    return workload["long_probability_small"] + span * sizes / n_pes


def run_length_probabilities(workload: Parameters) -> np.ndarray:
    """Return the probability of run lengths 1 to ``run_length_max``: p(n) ~ n^-order (section 3.3)."""
    lengths = np.arange(1, workload["run_length_max"] + 1)
    weight = lengths ** -float(workload["run_length_order"])
    return weight / weight.sum()


def mean_runtimes(workload: Parameters, n_pes: int) -> np.ndarray:
    """Return the mean runtime of jobs of sizes 1 to `n_pes`, in the model's time unit."""
    short, long = workload["short_mean"], workload["long_mean"]
    return short + long_probabilities(workload, n_pes) * (long - short)


def mean_work(workload: Parameters, n_pes: int) -> float:
    """Return the mean of size times runtime of a job, in PEs times time units."""
    sizes = np.arange(1, n_pes + 1)
    return float(np.sum(size_probabilities(workload, n_pes) * sizes * mean_runtimes(workload, n_pes)))


def mean_run_length(workload: Parameters) -> float:
    """Return the mean number of runs of a session."""
    probabilities = run_length_probabilities(workload)
    return float(np.sum(probabilities * np.arange(1, len(probabilities) + 1)))


def standard_sessions(workload: Parameters, n_pes: int, seed: Seed) -> Iterator[dict[str, np.ndarray]]:
    """Yield chunks of sessions whose gaps have mean 1: the same for every scheme and load, without end."""
    size_steps = np.cumsum(size_probabilities(workload, n_pes))
    run_steps = np.cumsum(run_length_probabilities(workload))
    long = long_probabilities(workload, n_pes)
    sizes, stages, runtimes, run_lengths, arrivals, keys = (
        stream(seed, cause)
        for cause in ("sizes", "stages", "runtimes", "run lengths", "arrivals", "repetitions")
    )
    in_sequence = workload["repetition"] == "sequence"
    while True:
        size = 1 + np.minimum(np.searchsorted(size_steps, sizes.random(CHUNK), side="right"), n_pes - 1)
        is_long = stages.random(CHUNK) < long[size - 1]
        runtime = runtimes.standard_exponential(CHUNK)
        runtime *= np.where(is_long, workload["long_mean"], workload["short_mean"])
        runs = 1 + np.minimum(
            np.searchsorted(run_steps, run_lengths.random(CHUNK), side="right"), len(run_steps) - 1
        )
        key = keys.integers(-(2**63), 2**63, CHUNK)
        if in_sequence:
            first = np.repeat(np.cumsum(runs) - runs, runs)
            run = np.arange(runs.sum()) - first
            size, key, runtime = np.repeat(size, runs), np.repeat(key, runs), np.repeat(runtime, runs)
            if workload["rerun_runtime"] == "redrawn":
                from models.workloads.redrawn import redrawn_runtime

                parameters = rerun_parameters(workload, n_pes)
                for i in np.flatnonzero(run):
                    runtime[i] = redrawn_runtime(runtime[i], size[i], key[i], run[i], parameters)
            runs = np.ones(len(size), np.int64)
        yield {
            "gap": arrivals.standard_exponential(len(size)),
            "size": size.astype(np.int64),
            "runtime": runtime,
            "runs": runs.astype(np.int64),
            "key": key,
        }


def rerun_parameters(workload: Parameters, n_pes: int) -> np.ndarray:
    """Return what `redrawn.redrawn_runtime` is told."""
    small = float(workload["long_probability_small"])
    slope = (workload["long_probability_full"] - small) / n_pes
    return np.array([small, slope, workload["short_mean"], workload["long_mean"]], dtype=float)


def mean_gap(workload: Parameters, n_pes: int, load: float, n_jobs: int, seed: Seed) -> float:
    """Return the mean time between sessions that gives an offered load.

    Under the reading ``expected`` the load is that of the model; under ``sequence`` that of the run of jobs
    itself, as far as `n_jobs` jobs go, so that no replication is loaded more than another by chance.
    """
    if workload["load_reference"] == "expected":
        runs = 1.0 if workload["repetition"] == "sequence" else mean_run_length(workload)
        return runs * mean_work(workload, n_pes) / (load * n_pes)
    work, time = work_and_time(json.dumps(dict(workload)), n_pes, n_jobs, seed)
    return work / (load * n_pes * time)


@lru_cache(maxsize=256)
def work_and_time(workload_text: str, n_pes: int, n_jobs: int, seed: Seed) -> tuple[float, float]:
    """Return the work of the first `n_jobs` jobs, and the sum of the gaps (of mean 1) between their sessions.

    Kept for the tasks that follow: all schemes and loads contend with the same jobs.

    Parameters
    ----------
    workload_text : str
        The workload as JSON.
    n_pes, n_jobs : int
    seed : tuple of int
    """
    workload = json.loads(workload_text)
    work = time = 0.0
    jobs = 0
    for chunk in standard_sessions(workload, n_pes, seed):
        ends = np.cumsum(chunk["runs"]) + jobs
        last = min(int(np.searchsorted(ends, n_jobs)) + 1, len(ends))
        work += float(np.sum(session_work(chunk, workload, n_pes)[:last]))
        time += float(np.sum(chunk["gap"][:last]))
        jobs = int(ends[last - 1])
        if jobs >= n_jobs:
            break
    return work, time


def session_work(chunk: dict[str, np.ndarray], workload: Parameters, n_pes: int) -> np.ndarray:
    """Return the PEs times time units of each session of a chunk."""
    size, runtime, runs = chunk["size"], chunk["runtime"], chunk["runs"]
    if workload["rerun_runtime"] != "redrawn":
        return size * runtime * runs
    from models.workloads.redrawn import work_of_redrawn

    work: np.ndarray = work_of_redrawn(size, runtime, runs, chunk["key"], rerun_parameters(workload, n_pes))
    return work


def has_chance(workload: Parameters) -> bool:
    """Tell whether replications differ."""
    return True


def open_stream(point: Point, machine: Machine) -> Stream:
    """Return the jobs of a replication; ``ValueError`` with one line for parameters outside the model."""
    workload, n_pes, load, seed = point.workload, machine.largest, point.load, point.seed
    if load is None:
        raise ValueError("feitelson1996 has no load of its own: give one, for instance grid.load=[0.5,0.9]")
    check_parameters(workload)
    n_jobs = point.batches.jobs(point.batches.most)

    def chunks() -> Iterator[Jobs]:
        gap = mean_gap(workload, n_pes, load, n_jobs, seed)
        now = 0.0
        for chunk in standard_sessions(workload, n_pes, seed):
            # Added one by one, so that the cut into chunks changes no digit.
            submit = np.cumsum(np.concatenate([[now], chunk["gap"] * gap]))[1:]
            now = submit[-1]
            size = chunk["size"]
            unknown, none = np.full(len(size), np.nan), np.zeros(len(size), np.int64)
            yield Jobs(submit, chunk["runtime"], unknown, size, none, runs=chunk["runs"], key=chunk["key"])

    stream = Stream("feitelson1996", machine, lambda n: joined(chunks(), n), chunked=chunks)
    if workload["rerun_runtime"] == "same":
        return stream
    return replace(stream, rerun=REDRAWN, rerun_parameters=rerun_parameters(workload, n_pes))


def check_parameters(workload: Parameters) -> None:
    """Raise ``ValueError`` with one line for parameters outside the model."""
    checks.choice(workload, "workload", "repetition", REPETITION)
    checks.choice(workload, "workload", "rerun_runtime", RERUN_RUNTIME)
    checks.choice(workload, "workload", "load_reference", LOAD_REFERENCE)
    for key in ("size_order", "run_length_order"):
        checks.number(workload, "workload", key, "a number")
    for key in ("long_probability_small", "long_probability_full"):
        checks.number(workload, "workload", key, "a probability, 0 to 1", least=0, most=1)
    for kind in workload["emphasis"]:
        checks.number(workload["emphasis"], "workload.emphasis", kind, "a number above 0", above=0)
    for key in ("short_mean", "long_mean", "run_length_max"):
        checks.number(workload, "workload", key, "a number above 0", above=0)

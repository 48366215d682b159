"""The workload model of Lublin and Feitelson (2003): sizes, runtimes, and arrivals with a daily cycle.

The model has neither memory nor requested times: the latter come from the model of Tsafrir et al. (2005).

Where the authors' program redraws a value that is too large, the truncated distribution is inverted: it is
the same distribution with one random number for each job, so that the first jobs of a longer draw equal a
shorter draw. Times of arrival are not truncated to whole seconds: in the program's output the truncations add
up, half a second per job, and shift its jobs against its daily cycle by more than an hour in 10,000 jobs.

References
----------
U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid
jobs", *Journal of Parallel and Distributed Computing* 63, 2003; the values are from the authors' program.
"""

from functools import lru_cache

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.stream import Stream
from models.point import Parameters, Point, Seed
from models.streams import stream
from models.workloads.lublin2003_parameters import KINDS, Kind

TOO_LONG = 12.0
"""Runtimes are at most e^12 s, 45 hours."""

TOO_LATE = 13.0
"""Two jobs are at most e^13 s of an average time of day apart."""

BUCKETS, BUCKET = 48, 1800.0
"""Half hours of a day, seconds."""

FIRST_BUCKET = 11
"""The daily cycle is fitted to days that begin at 5 in the morning."""


def open_stream(point: Point, machine: Machine) -> Stream:
    """Return the jobs of a replication; ``ValueError`` with one line for what cannot be simulated."""
    kind = kind_of(point.workload, machine)
    largest, natural = kind.largest, natural_load(kind, machine.total)
    notes = [f"lublin2003: its own load is {natural:.3f} on {counted(machine.total, 'processor')}"]
    if largest & (largest - 1):
        notes.append(
            f"lublin2003: {largest} processors are not a power of two; jobs whose size the model rounds up "
            f"to the next one get {2 ** (largest.bit_length() - 1)}"
        )
    stretch = 1.0 if point.load is None else natural / point.load
    return Stream("lublin2003", machine, lambda n_jobs: draw(kind, stretch, n_jobs, point.seed), tuple(notes))


def kind_of(workload: Parameters, machine: Machine) -> Kind:
    """Return the parameters of a workload's kind of jobs, fitted to the largest host (or job).

    Raises
    ------
    ValueError
        With one line that names the allowed values.
    """
    name = checks.choice(workload, "workload", "jobs_of", KINDS)
    largest = machine.largest
    if largest < 2:
        raise ValueError(
            f"workload {workload.get('name', '')} has jobs of 2 processors and more, but the largest host "
            f"has {largest}; give machine.processors=128, or another number from 2 on"
        )
    if workload.get("largest_job") is not None:
        allowed = f"null, or 2 to the {largest} processors of the largest host"
        largest = checks.whole(workload, "workload", "largest_job", allowed, least=2, most=largest)
    u_med = workload.get("u_med")
    if u_med is not None:
        allowed = "a number, or null (2.5 below log2 of the largest job)"
        u_med = checks.number(workload, "workload", "u_med", allowed)
    kind = KINDS[name].fitted(largest, u_med)
    if not kind.u_low < kind.u_med < kind.u_hi:
        raise ValueError(
            f"u_med={kind.u_med:.3g} is not between {kind.u_low:g} and {kind.u_hi:.3g}, log2 of the smallest "
            "parallel job and of the largest; give workload.u_med=..., 1.5 to 3.5 below the latter"
        )
    return kind


def draw(kind: Kind, stretch: float, n_jobs: int, seed: Seed) -> Jobs:
    """Return the first `n_jobs` jobs of a replication, which starts at midnight.

    Parameters
    ----------
    stretch : float
        Rescales the time between arrivals, and with it the day.
    """
    size = sizes(kind, n_jobs, seed)
    return Jobs.bare(arrivals(kind, n_jobs, seed) * stretch, runtimes(kind, size, seed), size)


def sizes(kind: Kind, n_jobs: int, seed: Seed) -> Ints:
    """Draw processors: serial, a power of two, or any, with log2 uniform in two stages."""
    decides = stream(seed, "kinds of sizes").random(n_jobs)
    x = kind.log_size(stream(seed, "sizes").random(n_jobs))
    exponent = np.minimum(np.floor(x + 0.5), np.floor(kind.u_hi))
    x = np.where(decides < kind.serial + kind.power_of_two, exponent, x)
    return np.where(decides < kind.serial, 1, np.floor(2**x + 0.5)).astype(np.int64)


def size_probabilities(kind: Kind) -> Floats:
    """Return the probabilities of the sizes 1 to `kind.largest`."""
    size = np.arange(1, kind.largest + 1)
    any_size = np.diff(kind.log_size_below(np.log2(np.arange(kind.largest + 1) + 0.5)))
    powers = np.zeros(kind.largest)
    exponents = np.arange(int(kind.u_hi) + 1)
    below = np.append(kind.log_size_below(exponents[:-1] + 0.5), 1.0)
    powers[2**exponents - 1] = np.diff(below, prepend=0.0)
    parallel = 1 - kind.serial - kind.power_of_two
    return kind.serial * (size == 1) + kind.power_of_two * powers + parallel * any_size


def short_probability(kind: Kind, size: Ints | Floats) -> Floats:
    """Return the probability of the shorter gamma distribution, given that e^12 s is not exceeded."""
    p = np.clip(kind.pa * size + kind.pb, 0.0, 1.0)
    short, long = p * kind.short.below(TOO_LONG), (1 - p) * kind.long.below(TOO_LONG)
    return np.asarray(short / (short + long))


def runtimes(kind: Kind, size: Ints, seed: Seed) -> Floats:
    """Draw whole seconds, at least 1: the larger a job, the likelier is the longer gamma distribution."""
    is_short = stream(seed, "stages").random(size.size) < short_probability(kind, size)
    uniforms = stream(seed, "runtimes").random(size.size)
    log_runtime = np.empty(size.size)
    for gamma, these in ((kind.short, is_short), (kind.long, ~is_short)):
        log_runtime[these] = gamma.truncated(TOO_LONG, uniforms[these])
    return np.floor(np.exp(log_runtime))


@lru_cache(maxsize=16)
def mean_runtimes(kind: Kind) -> tuple[float, float]:
    """Return the mean runtimes under both gamma distributions, seconds: the sum of P(runtime >= k) over k."""
    logs = np.log(np.arange(1, np.floor(np.exp(TOO_LONG)) + 1))
    short, long = (
        float(np.sum(1 - gamma.below(logs) / gamma.below(TOO_LONG))) for gamma in (kind.short, kind.long)
    )
    return short, long


def mean_work(kind: Kind) -> float:
    """Return the mean of size times runtime, processor-seconds."""
    size = np.arange(1, kind.largest + 1)
    short, long = mean_runtimes(kind)
    is_short = short_probability(kind, size)
    return float(np.sum(size_probabilities(kind) * size * (is_short * short + (1 - is_short) * long)))


def natural_load(kind: Kind, processors: int) -> float:
    """Return the load that the model's own arrivals put on a machine of this size."""
    return mean_work(kind) / (processors * kind.gap.mean_exponential(TOO_LATE))


def bucket_weights(kind: Kind) -> Floats:
    """Return the rates of arrival in the half hours from midnight on, relative to their mean."""
    bucket = np.arange(FIRST_BUCKET, FIRST_BUCKET + BUCKETS)
    weights = np.empty(BUCKETS)
    weights[(bucket - 1) % BUCKETS] = kind.cycle.below(bucket + 0.5) - kind.cycle.below(bucket - 0.5)
    return np.asarray(weights / weights.mean())


def arrivals(kind: Kind, n_jobs: int, seed: Seed) -> Floats:
    """Draw times of arrival, seconds after midnight.

    A job has e^g / 1800 points to spend on its way through the half hours; passing through one of them costs
    its weight. So the points of all jobs together, cumulated, are the cumulated weights at the arrivals.
    """
    g = kind.gap.truncated(TOO_LATE, stream(seed, "arrivals").random(n_jobs))
    points = np.cumsum(np.exp(g)) / BUCKET
    day, rest = np.divmod(points, BUCKETS)
    spent = np.concatenate([[0.0], np.cumsum(bucket_weights(kind))])
    return BUCKET * (BUCKETS * day + np.interp(rest, spent, np.arange(BUCKETS + 1)))

"""Short and long jobs in a Poisson stream (McCann 1994, section 5.4).

Both classes repeat one cycle of computing and communicating, and differ only in the mean of the number of
cycles, which is geometric. Policies, loads and mixes contend with the same random numbers: a load stretches
the gaps, and a mix turns short jobs into long ones without touching the others.

The jobs do not request a number of processors: in the paper they run on as many as they are allocated.
With ``workload.size`` they are rigid jobs, each as long as its cycles take on that number of processors.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.stream import Stream, joined
from models.point import Parameters, Point, Seed
from models.streams import stream
from models.topology.mesh import Mesh
from models.workloads.speedup.cycle import Steps, best_speeds, mean_step

JOB_CLASSES = ("short", "long")
SHORT, LONG = range(2)

CHUNK = 4096
"""Arrivals that are drawn together; any number gives the same jobs."""


class Drawn(NamedTuple):
    """A chunk of arrivals, arrays of one length.

    submit : float64, seconds
    job_class : int64, index into `JOB_CLASSES`
    work : float64, seconds alone on the machine
    """

    submit: Floats
    job_class: Ints
    work: Floats


def open_stream(point: Point, machine: Machine) -> Stream:
    """Return the jobs of a replication as rigid jobs; ``ValueError`` with one line if impossible."""
    workload, load, mesh = point.workload, read_load(point.load), Mesh.of(point.machine)
    check(workload, mesh, load)
    sizes = read_sizes(workload, mesh)
    if sizes is None:
        raise ValueError(
            "workload.size=null: the jobs of short_long have no number of processors of their own, and this "
            "policy needs one; give a number, e.g. workload.size=16, or of each class {short:4,long:64}"
        )

    def chunks() -> Iterator[Jobs]:
        return (jobs for jobs, _ in jobs_and_work(workload, mesh, load, point.seed))

    share = np.array([workload["short_fraction"], 1 - workload["short_fraction"]])
    share = share * [workload["short_time"], workload["long_time"]]
    speed = best_speeds(mesh, Steps.of(workload))[list(sizes)]
    rigid = load * float((share / share.sum()) @ (np.array(sizes) / speed)) / mesh.n_processors
    note = (
        f"short_long: {sizes[0]} processors of short and {sizes[1]} of long jobs, on which their cycles take "
        f"longer than alone on the machine: load {load:g} is {rigid:.3g} of its processor time"
    )
    return Stream("short_long", machine, lambda n: joined(chunks(), n), (note,), chunks)


def jobs_and_work(workload: Parameters, mesh: Mesh, load: float, seed: Seed) -> Iterator[tuple[Jobs, Drawn]]:
    """Yield chunks of jobs without end, and the drawn arrivals.

    Without ``workload.size`` a job asks for the whole machine, and its runtime is that alone on it.
    """
    steps = Steps.of(workload)
    sizes = read_sizes(workload, mesh)
    asked = np.array((mesh.n_processors,) * 2 if sizes is None else sizes)
    speed = np.ones(2) if sizes is None else best_speeds(mesh, steps)[asked]
    step = mean_step(mesh, steps, mesh.rows, mesh.columns)
    for chunk in drawn(workload, step, load, seed):
        runtime = chunk.work / speed[chunk.job_class]
        yield Jobs.bare(chunk.submit, runtime, asked[chunk.job_class]), chunk


def drawn(workload: Parameters, step: float, load: float, seed: Seed) -> Iterator[Drawn]:
    """Yield chunks of arrivals without end.

    Parameters
    ----------
    workload : mapping
        ``short_time`` and ``long_time`` (mean seconds alone on the machine) and ``short_fraction``.
    step : float
        Seconds of one cycle of a job alone on the machine.
    load : float
        Mean work arriving in a second, in seconds alone on the machine.
    """
    gaps, classes, cycles = (stream(seed, cause) for cause in ("arrivals", "classes", "cycles"))
    mean_cycles = np.array([workload["short_time"], workload["long_time"]]) / step
    p = workload["short_fraction"]
    # Jobs arrive at the rate load / (p E_short + (1 - p) E_long) (section 5.4.1).
    mean_gap = 1 / float(load / (p * workload["short_time"] + (1 - p) * workload["long_time"]))
    now = 0.0
    while True:
        job_class = np.where(classes.random(CHUNK) < p, SHORT, LONG)
        n_cycles = geometric(cycles.random(CHUNK), mean_cycles, job_class)
        # Added one by one, so that the cut into chunks changes no digit.
        submit = np.cumsum(np.concatenate([[now], mean_gap * gaps.standard_exponential(CHUNK)]))[1:]
        now = submit[-1]
        yield Drawn(submit, job_class, step * n_cycles)


def geometric(uniform: Floats, mean: Floats, which: Ints) -> Floats:
    """Return whole numbers from 1 on, of geometric distribution, by inversion of numbers from [0, 1).

    `which` is the place of each one's mean, at least 1. A larger number gives a larger one at any mean.
    """
    with np.errstate(divide="ignore"):  # a mean of 1 divides by the logarithm of 0, and gives 1
        return np.maximum(np.ceil(np.log1p(-uniform) / np.log1p(-1 / mean)[which]), 1.0)


def read_load(load: float | None) -> float:
    """Return the load, or refuse its absence with a ``ValueError`` of one line."""
    if load is None:
        raise ValueError("short and long jobs have no load of their own: give one, e.g. grid.load=[0.5]")
    return load


def read_sizes(workload: Parameters, mesh: Mesh) -> tuple[int, int] | None:
    """Return the processors that short and long jobs request, None if any number will do."""
    given = workload.get("size")
    if given is None:
        return None
    allowed = f"processors from 1 to {mesh.n_processors}, of each class as {{short: 4, long: 64}}, or null"
    if isinstance(given, dict):
        sizes = checks.mapping(given, "workload.size", JOB_CLASSES)
        short, long = (
            checks.whole(sizes, "workload.size", name, allowed, most=mesh.n_processors)
            for name in JOB_CLASSES
        )
        return short, long
    size = checks.whole(workload, "workload", "size", allowed, most=mesh.n_processors)
    return size, size


def check(workload: Parameters, mesh: Mesh, load: float | None) -> None:
    """Raise ``ValueError`` with one line for a workload that cannot be simulated."""
    read_load(load)
    checks.choice({"speedup": "mccann", **workload}, "workload", "speedup", ("mccann",))
    steps = Steps.of(workload)
    step = mean_step(mesh, steps, mesh.rows, mesh.columns)
    for key in ("short_time", "long_time"):
        allowed = (
            f"the mean seconds of a job alone on the machine, at least one cycle of {step:.3g} s (see "
            "conf/workload/mccann1994/short_long.yaml)"
        )
        checks.number(workload, "workload", key, allowed, least=step)
    checks.number(workload, "workload", "short_fraction", "a fraction of the jobs, 0 to 1", least=0, most=1)
    read_sizes(workload, mesh)

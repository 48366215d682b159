"""The time of a communicate-compute job for one step on a rectangle of processors (McCann, section 5.2.1).

A job has as many threads as the machine has processors. A step ends when the last processor has done its
part: compute for all its threads, switch between them, and exchange data with the neighbours. Where the
threads' compute times vary, so does the step, and its mean is integrated numerically: nothing here is drawn.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.point import Parameters
from models.topology.mesh import Mesh
from models.workloads.speedup import irwin_hall

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
PANELS = 32


@dataclass(frozen=True)
class Steps:
    """The parts of a step of a job.

    Parameters
    ----------
    compute : float, seconds
        Mean compute time of a thread (t).
    spread : float, seconds
        Half the range of that time, which is uniform and drawn for each thread and step (delta).
    exchange : float, seconds
        To exchange data with one neighbour (s).
    """

    compute: float
    spread: float
    exchange: float

    @classmethod
    def of(cls, given: Parameters, where: str = "workload") -> Steps:
        """Read the keys compute_time (s), delta (ms) and communication_time (s).

        Raises
        ------
        ValueError
            If a time is not a number or out of range.
        """
        compute = checks.number(given, where, "compute_time", "a positive number of s", above=0)
        most = 1000 * compute
        delta = checks.number(
            given, where, "delta",
            f"ms from 0 up to {where}.compute_time ({most:g} ms), so that no thread computes for less than "
            "no time", least=0, most=most,
        )  # fmt: skip
        exchange = checks.number(given, where, "communication_time", "a number of s, 0 or more", least=0)
        return cls(float(compute), delta / 1000, float(exchange))


@dataclass(frozen=True)
class Cycle:
    """A job's repeated steps, and the memory of its threads.

    Parameters
    ----------
    data_bytes, code_bytes : float
        Bytes of a thread.
    """

    steps: Steps
    data_bytes: float
    code_bytes: float

    @classmethod
    def of(cls, given: Parameters, where: str = "workload") -> Cycle:
        """Read the keys of `Steps.of`, data_bytes and code_bytes; ``ValueError`` for one out of range."""
        data, code = (
            checks.number(given, where, key, "a number of bytes, 0 or more", least=0)
            for key in ("data_bytes", "code_bytes")
        )
        return cls(Steps.of(given, where), float(data), float(code))


KEYS = ("compute_time", "delta", "communication_time", "code_bytes", "data_bytes")
"""Keys of a cycle."""


@lru_cache(maxsize=1 << 16)
def mean_step(mesh: Mesh, steps: Steps, height: int, width: int, snake: bool = False) -> float:
    """Return the mean time of a step on a partition, in seconds; each shape is computed once.

    Parameters
    ----------
    mesh : Mesh
        The machine, which is also the shape of the job's threads.
    height, width : int
        Rows and columns of processors in the partition.
    snake : bool
        Whether threads are mapped along a snake (EQUI+, equation 4.3) instead of by contraction (4.1).

    Notes
    -----
    Equation 5.2, with the text's names of the two smaller terms put right: a processor with n threads in x
    rows and y columns computes n times, switches n - 1 times and communicates for (x + y) s.
    """
    fixed: Counter[tuple[int, float]] = Counter()
    for (rows, columns, threads), processors in loads(mesh, height, width, snake).items():
        switching = (threads - 1) * mesh.context_switch
        fixed[threads, switching + (rows + columns) * steps.exchange] += processors
    if steps.spread == 0:
        return max(threads * steps.compute + rest for threads, rest in fixed)
    if sum(fixed.values()) == 1:
        (threads, rest), *_ = fixed
        return threads * steps.compute + rest
    return _mean_maximum(
        np.array([n for n, _ in fixed]),
        np.array([n * steps.compute + rest for n, rest in fixed]),
        np.array(list(fixed.values())),
        steps.spread,
    )


@lru_cache(maxsize=64)
def best_speeds(mesh: Mesh, steps: Steps) -> Floats:
    """Return the best rectangles' speeds by number of processors, relative to the whole machine.

    Returns
    -------
    ndarray, shape (n_processors + 1,)
        By number of processors; it never falls.
    """
    speed = np.zeros(mesh.n_processors + 1)
    alone = mean_step(mesh, steps, mesh.rows, mesh.columns)
    for height in range(1, mesh.rows + 1):
        for width in range(1, mesh.columns + 1):
            found = alone / mean_step(mesh, steps, height, width)
            speed[height * width] = max(speed[height * width], found)
    return np.maximum.accumulate(speed)


def loads(mesh: Mesh, height: int, width: int, snake: bool) -> Counter[tuple[int, int, int]]:
    """Count a partition's processors by their rows, columns and number of threads.

    Raises
    ------
    ValueError
        If the partition does not fit, or neither side of it divides the machine's, as a snake needs.
    """
    if not (1 <= height <= mesh.rows and 1 <= width <= mesh.columns):
        raise ValueError(
            f"a partition of {height} × {width} processors; allowed: up to the machine's "
            f"{mesh.rows} × {mesh.columns}"
        )
    if not snake:
        found: Counter[tuple[int, int, int]] = Counter()
        for x, above in _shares(mesh.rows, height).items():
            for y, beside in _shares(mesh.columns, width).items():
                found[x, y, x * y] += above * beside
        return found
    # Rows of processors share the threads' rows evenly, and each deals out its threads to its processors; or
    # columns do, where only the width divides the machine's.
    if mesh.rows % height == 0:
        depth, length, lanes, each = mesh.rows // height, mesh.columns, height, width
    elif mesh.columns % width == 0:
        depth, length, lanes, each = mesh.columns // width, mesh.rows, width, height
    else:
        raise ValueError(
            f"a partition of {height} × {width} processors has no side that divides the machine's "
            f"({mesh.rows} × {mesh.columns}); the snake mapping needs one"
        )
    # A processor's part of the snake is `depth` threads wide. That it may begin and end in the middle of a
    # turn is taken to cost nothing (section 4.3.2: the added messages are neglected).
    return Counter(
        {
            (depth, ceil(threads / depth), threads): lanes * processors
            for threads, processors in _shares(depth * length, each).items()
        }
    )


def _shares(items: int, parts: int) -> Counter[int]:
    """Return how many parts have which number of items when these are divided as evenly as possible."""
    least, more = divmod(items, parts)
    return Counter({least: parts - more, least + 1: more} if more else {least: parts})


def _mean_maximum(threads: Ints, means: Floats, processors: Floats, spread: float) -> float:
    """Return the mean of the longest of many processors' independent times.

    Parameters
    ----------
    threads : ndarray of int, shape (n_groups,)
        Threads of a processor of each group; their times are uniform on ±`spread` around their mean.
    means : ndarray, shape (n_groups,), seconds
        Mean time of a processor.
    processors : ndarray of int, shape (n_groups,)
        Number of processors in each group.

    Notes
    -----
    The mean is b - ∫ F(x) dx from a to b, where F, the product of all processors' distribution functions, is
    0 below a and 1 above b. With very many processors F is steep, so a and b are drawn close around its rise.
    """

    def probability(x: Floats) -> Floats:
        logarithm = np.zeros_like(x)
        for n, mean, many in zip(threads.tolist(), means, processors, strict=True):
            with np.errstate(divide="ignore"):
                logarithm += many * np.log(irwin_hall.below((x - mean) / spread, n))
        return np.exp(logarithm)

    low, high = float((means - threads * spread).max()), float((means + threads * spread).max())
    for _ in range(6):
        grid = np.linspace(low, high, 65)
        rises = probability(grid)
        first = int(np.searchsorted(rises > 1e-15, True)) - 1
        last = int(np.searchsorted(rises >= 1 - 1e-12, True))
        low, high = grid[max(first, 0)], grid[min(last, 64)]
        if last - first > 32:
            break
    width = (high - low) / PANELS
    x = low + width * (np.arange(PANELS)[:, None] + (NODES + 1) / 2)
    return float(high - width / 2 * (probability(x.ravel()).reshape(x.shape) @ WEIGHTS).sum())

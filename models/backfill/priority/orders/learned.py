"""F1 to F4: functions fitted to simulations of small sets of jobs, the lowest value first.

With r, the requested time, and s, the time of submission (both in seconds), and n, the processors. The paper
fits them with runtimes as r; here r is what a job requests, which is all that a scheduler knows. Of the
functions that the paper fits they are the best four, F1 the best.

A priority never changes while a job waits: what log10(s) takes from later jobs stands for its age. So it
matters where s begins: here with the first submission of the workload, and the first second counts as 1,
because log10(0) is minus infinity.

References
----------
D. Carastan-Santos, R. Y. de Camargo, "Obtaining dynamic scheduling policies with simulation and machine
learning", in *SC'17: International Conference for High Performance Computing, Networking, Storage and
Analysis*, 2017.
"""

from math import log10, sqrt

from models.backfill.priority.order import FIXED_SIGNATURE
from models.kernels.compiling import kernel


@kernel(FIXED_SIGNATURE)
def f1(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return what is highest where log10(r) n + 8.70e2 log10(s) is lowest."""
    return -(log10(requested) * processors + 8.70e2 * log10(max(submitted, 1.0)))


@kernel(FIXED_SIGNATURE)
def f2(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return what is highest where sqrt(r) n + 2.56e4 log10(s) is lowest."""
    return -(sqrt(requested) * processors + 2.56e4 * log10(max(submitted, 1.0)))


@kernel(FIXED_SIGNATURE)
def f3(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return what is highest where r n + 6.86e6 log10(s) is lowest."""
    return -(requested * processors + 6.86e6 * log10(max(submitted, 1.0)))


@kernel(FIXED_SIGNATURE)
def f4(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return what is highest where r sqrt(n) + 5.30e5 log10(s) is lowest."""
    return -(requested * sqrt(processors) + 5.30e5 * log10(max(submitted, 1.0)))

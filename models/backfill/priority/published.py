"""Orders of waiting jobs from the literature: functions of a job; the job with the highest value is first.

Here w is the time that a job has waited, r the time that it requests, s the time of its submission (all in
seconds), and n its number of processors.

WFP3 and UNICEF are utilities that grow while a job waits, from the Blue Gene/P systems of Argonne (Tang et
al. 2009; the functions of the machines themselves are in the wiki of their scheduler, Cobalt, "Utility
Functions"), in the form of Carastan-Santos and de Camargo (2017).

F1 to F4 are functions fitted to simulations of small sets of jobs, the lowest value first, F1 the best
(Carastan-Santos and de Camargo 2017). The paper fits them with runtimes as r; here r is the request, as a
scheduler has no more. A priority never changes while a job waits: what log10(s) takes from later jobs stands
for its age. So it matters where s begins: here with the first submission of the workload, and the first
second counts as 1, because log10(0) is minus infinity.

The smallest request first is in time (SJF, SJBF: Tsafrir et al. 2007) or in processors times time (SAF:
Carastan-Santos et al. 2019).

References
----------
W. Tang, Z. Lan, N. Desai, D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", in
*IEEE Cluster*, 2009.

D. Carastan-Santos, R. Y. de Camargo, "Obtaining dynamic scheduling policies with simulation and machine
learning", in *SC'17*, 2017.

D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling using system-generated predictions rather than user
runtime estimates", *IEEE Transactions on Parallel and Distributed Systems* 18(6), 2007.

D. Carastan-Santos, R. Y. de Camargo, D. Trystram, S. Zrigui, "One can only gain by replacing EASY
backfilling: a simple scheduling policies case study", in *CCGrid*, 2019.
"""

from math import log2, log10, sqrt

from models.backfill.priority.order import FIXED_SIGNATURE, PRIORITY_SIGNATURE
from models.kernels.compiling import kernel


@kernel(PRIORITY_SIGNATURE)
def wfp3(waited: float, requested: float, processors: int, memory: int, bypassed: int) -> float:
    """Return (w/r)^3 n: priority grows with the wait relative to the request, and faster for large jobs."""
    ratio = waited / requested
    return ratio * ratio * ratio * processors


@kernel(PRIORITY_SIGNATURE)
def unicef(waited: float, requested: float, processors: int, memory: int, bypassed: int) -> float:
    """Return w / (log2(n) r), which gives small jobs a fast turnaround.

    One processor counts as two, because log2(1) is 0. Cobalt does the same for the smallest partition that
    its machines have: its divisor is 1.
    """
    return waited / (max(log2(processors), 1.0) * requested)


@kernel(FIXED_SIGNATURE)
def f1(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return -(log10(r) n + 8.70e2 log10(s))."""
    return -(log10(requested) * processors + 8.70e2 * log10(max(submitted, 1.0)))


@kernel(FIXED_SIGNATURE)
def f2(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return -(sqrt(r) n + 2.56e4 log10(s))."""
    return -(sqrt(requested) * processors + 2.56e4 * log10(max(submitted, 1.0)))


@kernel(FIXED_SIGNATURE)
def f3(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return -(r n + 6.86e6 log10(s))."""
    return -(requested * processors + 6.86e6 * log10(max(submitted, 1.0)))


@kernel(FIXED_SIGNATURE)
def f4(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return -(r sqrt(n) + 5.30e5 log10(s))."""
    return -(requested * sqrt(processors) + 5.30e5 * log10(max(submitted, 1.0)))


@kernel(FIXED_SIGNATURE)
def shortest_first(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return minus the requested time."""
    return -requested


@kernel(FIXED_SIGNATURE)
def smallest_area_first(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return minus processors times requested time."""
    return -(processors * requested)

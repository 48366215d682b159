"""WFP3 and UNICEF: utilities that grow while a job waits, from the Blue Gene/P systems of Argonne.

With w, the time that a job has waited, r, the time that it requests (both in seconds), and n, its processors.

References
----------
W. Tang, Z. Lan, N. Desai, D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", in
*IEEE Cluster*, 2009; the two functions of the machines themselves are in the wiki of their scheduler, Cobalt
("Utility Functions"). In the form used here: D. Carastan-Santos, R. Y. de Camargo, "Obtaining dynamic
scheduling policies with simulation and machine learning", in *SC'17*, 2017.
"""

from math import log2

from models.backfill.priority.order import PRIORITY_SIGNATURE
from models.kernels.compiling import kernel


@kernel(PRIORITY_SIGNATURE)
def wfp3(waited: float, requested: float, processors: int, memory: int, bypassed: int) -> float:
    """Return (w/r)^3 n: jobs get angry the longer they wait for their length, and large ones more so."""
    ratio = waited / requested
    return ratio * ratio * ratio * processors


@kernel(PRIORITY_SIGNATURE)
def unicef(waited: float, requested: float, processors: int, memory: int, bypassed: int) -> float:
    """Return w / (log2(n) r): a fast turnaround for small jobs.

    One processor counts as two, because log2(1) is 0. Cobalt does the same for the smallest partition that
    its machines have: its divisor is 1.
    """
    return waited / (max(log2(processors), 1.0) * requested)

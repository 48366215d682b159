"""The smallest request first: in time (SJF, SJBF) or in processors times time (SAF).

References
----------
D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling using system-generated predictions rather than user
runtime estimates", *IEEE Transactions on Parallel and Distributed Systems* 18(6), 2007: the shortest job is
backfilled first (SJBF).

D. Carastan-Santos, R. Y. de Camargo, D. Trystram, S. Zrigui, "One can only gain by replacing EASY
backfilling: a simple scheduling policies case study", in *CCGrid*, 2019: the smallest estimated area first
(SAF).
"""

from models.backfill.priority.order import FIXED_SIGNATURE
from models.kernels.compiling import kernel


@kernel(FIXED_SIGNATURE)
def shortest_first(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return what is highest where the requested time is least."""
    return -requested


@kernel(FIXED_SIGNATURE)
def smallest_area_first(submitted: float, requested: float, processors: int, memory: int) -> float:
    """Return what is highest where processors times requested time is least."""
    return -(processors * requested)

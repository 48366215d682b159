"""Who goes first: a job's priority, by the weights of Table 3 (Chiang and Vernon 2001) or as a user says.

An order of one's own is a compiled function of `PRIORITY_SIGNATURE`; the job with the highest number goes
first, of equals the first submitted:

    @kernel(PRIORITY_SIGNATURE)
    def largest_first(waited, requested, processors, memory, bypassed):
        return float(processors)

The declared type matters: the event loops take functions of that type, so that they are compiled once for
all of them.
"""

from __future__ import annotations

from typing import Any

from numba import float64, int64, types
from numba.core.errors import NumbaError

from models import dotted
from models.backfill.priority.weights import Weights
from models.kernels.compiling import kernel, part

PRIORITY_SIGNATURE = float64(
    float64,  # waited: seconds since the submission
    float64,  # requested: seconds
    int64,  # processors
    int64,  # memory: KB
    int64,  # bypassed: jobs of lower priority that started before it while it waited
)
PRIORITY = types.FunctionType(PRIORITY_SIGNATURE)
WEIGHTS = types.NamedUniTuple(float64, len(Weights._fields), Weights)

SECONDS_IN_HOUR = 3600.0
KB_IN_MEMORY_UNIT = 358.4 * 1024
"""Requested memory counts in units of 358.4 MB, the average memory of a processor (footnote of Table 3)."""


@part(float64(WEIGHTS, float64, float64, int64, int64, int64))
def weighted(weights: Weights, waited: float, requested: float, size: int, need: int, bypassed: int) -> float:
    """Return a job's priority as the weights say; its arguments are those of `PRIORITY_SIGNATURE`."""
    waited_h = waited / SECONDS_IN_HOUR
    requested_h = requested / SECONDS_IN_HOUR
    memory = need / KB_IN_MEMORY_UNIT
    return (
        weights.wait * waited_h
        + weights.expansion * ((waited_h + requested_h) / requested_h)
        + weights.processors * size
        + weights.memory * memory
        + weights.larger * max(float(size), memory)
        + weights.bypass * bypassed
        + weights.shortness / requested_h
    )


@kernel(PRIORITY_SIGNATURE)
def in_order_of_submission(
    waited: float, requested: float, processors: int, memory: int, bypassed: int
) -> float:
    """All jobs are equal, so that the first submitted goes first."""
    return 0.0


def compiled(priority: object) -> Any:
    """Return a user's order of priority as the event loops take it.

    Parameters
    ----------
    priority : str or compiled function
        A dotted name is imported.

    Raises
    ------
    ValueError
        With one line, if it is no compiled function of `PRIORITY_SIGNATURE`.
    """
    function: Any = priority
    if isinstance(priority, str):
        function = dotted.function(priority, "policy.priority", ["null"], "a compiled function")
    told = priority if isinstance(priority, str) else getattr(priority, "__name__", priority)
    if not hasattr(function, "nopython_signatures"):
        raise ValueError(
            f"policy.priority={told} is no compiled function; give the dotted name of one, or one itself, "
            "decorated with @kernel(PRIORITY_SIGNATURE), see models.backfill.priority.order"
        )
    arguments = PRIORITY_SIGNATURE.args
    try:
        if arguments not in function.overloads:
            function.compile(arguments)
        returned = function.overloads[arguments].signature.return_type
    except (NumbaError, RuntimeError, TypeError, KeyError):  # declared for other types, or too few
        returned = None
    if returned != float64:
        raise ValueError(
            f"policy.priority={told} does not take (waited, requested, processors, memory, bypassed), which "
            f"are ({', '.join(map(str, arguments))}), and return a float64"
        )
    return function

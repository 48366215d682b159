"""A job's priority, by the weights of Table 3 (Chiang and Vernon 2001) or by a function.

The job with the highest number is first; ties go to the first submitted. A function of `FIXED_SIGNATURE` has
the arguments known at a job's submission, and is called once; a function of `PRIORITY_SIGNATURE` also has the
time that the job has waited, and is called again in each pass::

    @kernel(FIXED_SIGNATURE)
    def widest_first(submitted, requested, processors, memory):
        return float(processors)

    @kernel(PRIORITY_SIGNATURE)
    def longest_waiting_for_its_size(waited, requested, processors, memory, bypassed):
        return waited / processors

A job's runtime is not known: `requested` is the time by which it is scheduled, see
`models.backfill.requests`. The declared types matter: the event loops take functions of that
type, so that they are compiled once for all of them.
"""

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba import float64, int64, njit, types, void

from models import dotted
from models.arrays import Floats, Ints
from models.backfill.priority.declared import ORDERS, Weights
from models.kernels import functions
from models.kernels.compiling import kernel, part
from models.kernels.types import FLOATS, INTS

PRIORITY_SIGNATURE = float64(
    float64,  # waited: seconds since the submission
    float64,  # requested: seconds
    int64,  # processors
    int64,  # memory: KB
    int64,  # bypassed: jobs of lower priority that started before it while it waited
)
PRIORITY = types.FunctionType(PRIORITY_SIGNATURE)

FIXED_SIGNATURE = float64(
    float64,  # submitted: seconds since the first submission of the workload
    float64,  # requested: seconds
    int64,  # processors
    int64,  # memory: KB
)
FIXED = types.FunctionType(FIXED_SIGNATURE)

WEIGHTS = types.NamedUniTuple(float64, len(Weights._fields), Weights)

SECONDS_IN_HOUR = 3600.0

KB_IN_MEMORY_UNIT = 358.4 * 1024
"""Requested memory counts in units of 358.4 MB, the average memory of a processor (footnote of Table 3)."""


def weighted_sum(
    weights: Weights, waited_h: Any, requested_h: Any, size: Any, units: Any, shortness: Any, bypassed: Any
) -> Any:
    """Return a job's priority, given its hours, its units of memory, and the contribution of its shortness.

    Works for numbers and for arrays.
    """
    return (
        weights.wait * waited_h
        + weights.expansion * ((waited_h + requested_h) / requested_h)
        + weights.processors * size
        + weights.memory * units
        + weights.larger * np.maximum(size, units)
        + weights.bypass * bypassed
        + shortness
    )


added_up = part(float64(WEIGHTS, float64, float64, float64, float64, float64, int64))(weighted_sum)
"""The same for the numbers of one job in a kernel."""


@part(int64(FLOATS, INTS, int64, int64))
def highest(key: Floats, job: Ints, begin: int, end: int) -> int:
    """Return the place of the highest key in a range of places; ties go to the first job.

    NaN is lower than any key. O(end - begin).
    """
    best, top, lowest = begin, -np.inf, np.int64(2**62)
    for i in range(begin, end):
        at = np.uint64(i)
        if key[at] > top or (key[at] == top and job[at] < lowest):
            best, top, lowest = i, key[at], job[at]
    return best


@kernel(PRIORITY_SIGNATURE)
def in_order_of_submission(
    waited: float, requested: float, processors: int, memory: int, bypassed: int
) -> float:
    """Return 0 for all jobs, so that the first submitted is first."""
    return 0.0


@kernel(void(FIXED, FLOATS, FLOATS, INTS, INTS, FLOATS))
def evaluate(
    function: Callable[..., float], submit: Floats, requested: Floats, size: Ints, need: Ints, key: Floats
) -> None:
    """Fill in the priorities by a function of `FIXED_SIGNATURE`; arrays of the shape (n_jobs,)."""
    for job in range(key.shape[0]):
        key[job] = function(submit[job] - submit[0], requested[job], size[job], need[job])


def compiled(given: object, where: str = "policy.priority") -> Any:
    """Return an order in the form that the event loops take.

    Parameters
    ----------
    given : str or compiled function
        A name in `ORDERS`, a user's own function, or its dotted name, which is imported. A function may be
        declared to take ``float64`` only.
    where : str
        Its key on the command line.

    Raises
    ------
    ValueError
        With one line, if it is not a compiled function of `PRIORITY_SIGNATURE` or `FIXED_SIGNATURE`.
    """
    named = ORDERS.get(given, given) if isinstance(given, str) else given
    signature, of_numbers = PRIORITY_SIGNATURE, _changing_of_numbers
    if _arguments(named) == len(FIXED_SIGNATURE.args):
        signature, of_numbers = FIXED_SIGNATURE, _fixed_of_numbers
    takes = f"{__name__}.PRIORITY_SIGNATURE or FIXED_SIGNATURE"
    function = functions.compiled(named, signature, where, takes, of_numbers)
    if named is given:  # the user's own
        _try_out(function, len(signature.args), where)
    return function


def _try_out(function: Any, n_arguments: int, where: str) -> None:
    """Raise ``ValueError`` with one line for an order that returns NaN, or raises, for usual jobs."""
    name = getattr(function, "__name__", function)
    for job in itertools.product((0.0, 600.0), (60.0, 86400.0), (1, 64), (0, 2**20), (0, 1)):
        try:
            value = function(*job[:n_arguments])
        except Exception as error:  # a user's function may raise anything
            why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise ValueError(f"{where}={name} fails for {job[:n_arguments]} ({why})") from None
        if np.isnan(value):
            raise ValueError(f"{where}={name} is NaN for {job[:n_arguments]}; return a number for every job")


@lru_cache(maxsize=8)
def _changing_of_numbers(declared: Any) -> Any:
    """Return an order that calls another one, which takes numbers of any type."""

    @njit
    def order(waited, requested, processors, memory, bypassed):  # type: ignore[no-untyped-def]
        return declared(waited, requested, processors, memory, bypassed)

    return order


@lru_cache(maxsize=8)
def _fixed_of_numbers(declared: Any) -> Any:
    """Return an order that never changes and calls another one, which takes numbers of any type."""

    @njit
    def order(submitted, requested, processors, memory):  # type: ignore[no-untyped-def]
        return declared(submitted, requested, processors, memory)

    return order


def changes(function: Any) -> bool:
    """Return whether a compiled order depends on how long a job has waited."""
    return _arguments(function) == len(PRIORITY_SIGNATURE.args)


def _arguments(order: object) -> int | None:
    """Return how many arguments a compiled function has, None for any other object."""
    try:
        function: Any = dotted.imported(order) if isinstance(order, str) else order
    except ImportError:
        return None
    plain = getattr(function, "py_func", None)
    return None if plain is None else int(plain.__code__.co_argcount)

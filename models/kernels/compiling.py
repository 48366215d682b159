"""The one place that says how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}
"""Of every kernel."""

UNCOUNTED: dict[str, Any] = {**OPTIONS, "_nrt": False}
"""Of kernels that allocate nothing: no references are counted, so that arrays travel in tuples for free."""


def kernel(
    signature: Any = None, inline: bool = False, allocates: bool = False
) -> Callable[[Callable], Callable]:
    """Compile a function: at import for a declared signature, else when a caller first needs it.

    Parameters
    ----------
    signature : numba signature, optional
        Declared where functions are passed as arguments, and where literal arguments would make numba compile
        one copy for each of them.
    inline : bool
        Whether the compiler puts the function where it is called: what an event loop does at each event.
    allocates : bool
        Whether it makes arrays. An event loop does not: each look at an array in a tuple would count a
        reference, which takes longer than most of what is done at an event.

    Notes
    -----
    Kernels are kept on disk (`models.kernels.cache`), because compiling them takes seconds and every worker
    needs them. Division follows numpy: a check for zero at each division would cost a branch, and no kernel
    divides by what may be zero.
    """
    options: dict[str, Any] = {**(OPTIONS if allocates else UNCOUNTED), "forceinline": inline}
    return njit(**options) if signature is None else njit(signature, **options)


def part(signature: Any, inline: bool = True) -> Callable[[Callable], Callable]:
    """Compile a part of an event loop, put where it is called if `inline`; Python itself cannot call it.

    A way in from Python would unpack every array of every tuple, and takes longer to compile than the part.
    """
    options: dict[str, Any] = {**UNCOUNTED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(signature, **options, forceinline=inline)

"""The one place that says how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}
"""Of every kernel."""

UNCOUNTED: dict[str, Any] = {**OPTIONS, "_nrt": False}
"""Of kernels that allocate nothing and hand over so many arrays that counting references takes long."""


def kernel(signature: Any = None, inline: bool = False) -> Callable[[Callable], Callable]:
    """Compile a function: at import for a declared signature, else when a caller first needs it.

    Kernels are kept on disk (`models.kernels.cache`), because compiling them takes seconds and every worker
    needs them. Division follows numpy: a check for zero at each division would cost a branch, and no kernel
    divides by what may be zero. A signature is declared where functions are passed as arguments, and where
    literal arguments would make numba compile one copy for each of them. What an event loop does at each
    event is put `inline`: handing over a dozen arrays takes longer than the work itself. For the same reason
    kernels take arrays one by one, however many: each look at an array in a tuple counts a reference.
    """
    options: dict[str, Any] = {**OPTIONS, "forceinline": inline}
    return njit(**options) if signature is None else njit(signature, **options)


def event_loop(signature: Any) -> Callable[[Callable], Callable]:
    """Compile, at import, an event loop that shares a large part with others; references are not counted.

    A call that hands over some thirty arrays counts a reference to each of them, before and after, even where
    it is inlined by the compiler; at each event that takes as long as the part itself. So the common part is
    written out in the loop before anything is compiled (`written_out`), and references are not counted: such
    a loop allocates nothing.
    """
    return njit(signature, **UNCOUNTED)


def written_out(part: Callable) -> Callable:
    """Write a part out where an event loop calls it.

    It takes thirty arguments at most: Python hands over more of them in another way, which cannot be written
    out.
    """
    return njit(inline="always", **UNCOUNTED)(part)

"""The one place that says how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(signature: Any = None, inline: bool = False) -> Callable[[Callable], Callable]:
    """Compile a function: at import for a declared signature, else when a caller first needs it.

    Kernels are kept on disk (`models.kernel_cache`), because compiling them takes seconds and every worker
    needs them. Division follows numpy: a check for zero at each division would cost a branch, and no kernel
    divides by what may be zero. A signature is declared where functions are passed as arguments, and where
    literal arguments would make numba compile one copy for each of them. What an event loop does at each
    event is put `inline`: handing over a dozen arrays takes longer than the work itself. For the same reason
    kernels take arrays one by one, however many: each look at an array in a tuple counts a reference.
    """
    options: dict[str, Any] = {"cache": True, "error_model": "numpy", "forceinline": inline}
    return njit(**options) if signature is None else njit(signature, **options)

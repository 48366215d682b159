"""How event loops are compiled that have a large part in common.

A call that hands over some thirty arrays counts a reference to each of them, before and after, even where it
is inlined by the compiler; at each event that takes as long as the pass itself. So a common part is written
out in the loop before anything is compiled, and references are not counted: no loop here allocates anything.
Python hands over more than thirty arguments in another way, which cannot be written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}


def event_loop(signature: Any) -> Callable[[Callable], Callable]:
    """Compile an event loop at import; as `models.kernels.kernel`, without counting references."""
    return njit(signature, **OPTIONS)


def written_out(part: Callable) -> Callable:
    """Write a part out where an event loop calls it; it takes thirty arguments at most."""
    return njit(inline="always", **OPTIONS)(part)

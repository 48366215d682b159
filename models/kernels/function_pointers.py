"""Compiled functions as arguments of kernels that take functions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba.core.types.function_type import CompileResultWAP


@lru_cache(maxsize=64)
def function_pointer(function: Any, signature: Any) -> CompileResultWAP:
    """Return a compiled function as a kernel takes it, see "First-class function objects" in numba's manual.

    Numba accepts the function itself, too, and then searches for its code at each call of the kernel.
    """
    return CompileResultWAP(function.get_compile_result(signature))

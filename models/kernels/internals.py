"""What this project uses of numba beyond its documented interface; no other file does.

Numba may change these names in any version. So pyproject.toml allows none above the one tested, and
``tests/models/test_numba_internals.py`` states which of them a version lacks.
"""

from typing import Any

from numba.core import event
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from numba.core.errors import NumbaError
from numba.core.types.function_type import CompileResultWAP

__all__ = ["CacheImpl", "CompileResultWAP", "NumbaError", "UserProvidedCacheLocator", "event"]

UNCOUNTED: dict[str, Any] = {"_nrt": False}
"""Options of a kernel that counts no references to arrays, and so can allocate none."""

NOT_FROM_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True}
"""Options of a kernel that only other kernels call, perhaps through a pointer."""

NOT_BY_POINTER: dict[str, Any] = {"no_cfunc_wrapper": True}
"""Options of a kernel to which there is no pointer."""


def ask_first(locator: type[UserProvidedCacheLocator]) -> None:
    """Let numba ask a locator first where it keeps a kernel; must come before any kernel is made."""
    if locator not in CacheImpl._locator_classes:
        CacheImpl._locator_classes.insert(0, locator)

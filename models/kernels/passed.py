"""Compiled functions on their way into a kernel that takes functions as arguments.

To hand a compiled function over, numba looks for its code anew at each call, which takes as long as some
hundred events of a simulation. An engine is called many times with the same functions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba.core.types import FunctionType, WrapperAddressProtocol


class Passed(WrapperAddressProtocol):
    """A compiled function as an argument: its type and the address of its code.

    Parameters
    ----------
    function : compiled function
        It is compiled for the signature where that has not been done yet.
    signature : numba signature

    Raises
    ------
    TypeError
        If it returns something else.
    """

    def __init__(self, function: Any, signature: Any) -> None:
        made = function.get_compile_result(signature)
        if made.signature.return_type != signature.return_type:
            raise TypeError(f"{function.__name__} returns {made.signature.return_type}, not {signature}")
        self.function = function  # keeps the code
        self._signature = signature
        self._address = made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name)
        self._numba_type_ = FunctionType(signature)  # looked at first, and `signature` if it were not there

    def __wrapper_address__(self) -> int:
        """Return the address, see "First-class function objects" in numba's manual."""
        return int(self._address)

    def signature(self) -> Any:
        """Return the signature."""
        return self._signature


@lru_cache(maxsize=64)
def passed(function: Any, signature: Any) -> Passed:
    """Return a compiled function as a kernel takes it, see `Passed`."""
    return Passed(function, signature)

"""Compiled functions on their way into a kernel that takes functions as arguments.

To hand a compiled function over, numba looks for its code anew at each call, which takes as long as some
hundred events of a simulation. An engine is called many times with the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numba import int64
from numba.core import cgutils, types
from numba.core.types import FunctionType, WrapperAddressProtocol
from numba.extending import intrinsic

from models.arrays import Ints


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
        # The code itself, which `taken_from` wants: what C calls is a way in to it.
        self.inner_address = int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))

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


def addresses(functions: Sequence[Passed]) -> Ints:
    """Return where the code of some functions is; whoever uses that has to keep the functions."""
    return np.array([function.inner_address for function in functions], np.int64)


def taken_from(signature: Any) -> Any:
    """Return an intrinsic of kernels: address -> function of a signature.

    To take five functions as arguments takes as long as some fifty arrays: numba asks Python twice for each.
    """
    declared = FunctionType(signature)

    @intrinsic
    def function_at(typing: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, asked: Any, arguments: Any) -> Any:
            function = cgutils.create_struct_proxy(declared)(context, builder)
            pointer = context.get_value_type(types.voidptr)
            function.jit_addr = builder.inttoptr(arguments[0], pointer)
            function.c_addr = function.py_addr = cgutils.get_null_value(pointer)
            return function._getvalue()

        return declared(int64), code

    return function_at

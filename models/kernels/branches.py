"""Which way a branch nearly always goes, where the compiler cannot know.

LLVM takes every branch for even and every loop for long. So what is rare, and full of loops, gets the
registers, and its addresses are computed beforehand at every event; what each event does is spread between,
and waits for what was put aside in memory. How long it waits then depends on where the kernel happens to be
loaded: up to a fifth more from one process to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import boolean

from models.kernels.lanes import inside

BIT = ir.IntType(1)


def _expected(what: bool) -> Callable[..., Any]:
    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(BIT, [BIT, BIT])
        expect = builder.module.declare_intrinsic("llvm.expect", [BIT], kind)
        return builder.call(expect, [arguments[0], BIT(what)])

    return made


@inside
def mostly(typing: Any, condition: Any) -> Any:
    """Return a condition that is nearly always true."""
    return boolean(boolean), _expected(True)


@inside
def rarely(typing: Any, condition: Any) -> Any:
    """Return a condition that is nearly always false."""
    return boolean(boolean), _expected(False)

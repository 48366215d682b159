"""Parts of an event loop that are chosen by the types of its arguments when the loop is compiled."""

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from models.kernels.compiling import UNCOUNTED


def by_type(choose: Callable[..., Callable]) -> Callable:
    """Return a function for kernels to call, which becomes what `choose` returns for the arguments' types.

    Parameters
    ----------
    choose : callable
        Called with numba's types of the arguments; returns a Python function of as many arguments. It is put
        where it is called, and kept with the kernel: as fast as a loop written out by hand.
    """

    def part(*_: Any) -> None:
        """Stand for what is chosen."""

    def chosen(*arguments: Any) -> Callable:
        return choose(*arguments)

    options: Any = {**UNCOUNTED, "cache": False, "forceinline": True}
    overload(part, jit_options=options, strict=False)(chosen)
    return part

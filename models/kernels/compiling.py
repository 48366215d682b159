"""How kernels are compiled."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from numba import njit
from numba.extending import overload

from models.kernels import internals, locating

locating.install()

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, **internals.AS_KERNEL}
"""Options of every kernel. Other threads run beside it: to show progress, and to answer a scheduler."""

UNCOUNTED: dict[str, Any] = {**OPTIONS, **internals.UNCOUNTED}
"""Options of kernels that allocate nothing: without reference counts, passing arrays in tuples is free."""


def kernel(signature: Any = None, allocates: bool = False) -> Callable[[Callable], Callable]:
    """Compile a function that Python calls, or that is passed to another one as an argument.

    Parameters
    ----------
    signature : numba signature, optional
        The types for which it is compiled at import; without them, it is compiled when a caller first needs
        it.
    allocates : bool
        Whether it makes arrays. An event loop does not: each use of an array in a tuple would count a
        reference, which takes longer than most work at an event.

    Notes
    -----
    Kernels are kept on disk (`models.kernels.cache`), because compiling them takes seconds and every worker
    needs them. Division follows numpy: a check for zero at each division would cost a branch, and no kernel
    divides by a number that may be zero.
    """
    options = OPTIONS if allocates else UNCOUNTED
    return njit(**options) if signature is None else njit(signature, **options)


def passable(signature: Any) -> Callable[[Callable], Callable]:
    """Compile a function that is only handed to kernels as an argument; Python itself cannot call it.

    An entry point for Python takes longer to compile than a small function with many arrays.

    Parameters
    ----------
    signature : numba signature
    """
    options: dict[str, Any] = {**UNCOUNTED, **internals.NOT_FROM_PYTHON}
    return njit(signature, **options)


def part(signature: Any = None, inline: bool = True) -> Callable[[Callable], Callable]:
    """Compile a part of a kernel, put where it is called if `inline`; Python itself cannot call it.

    An entry point for Python would unpack every array of every tuple, and takes longer to compile than the
    part.

    Parameters
    ----------
    signature : numba signature, optional
        Types, declared so that a part that several modules use is compiled and kept once. Otherwise it is
        compiled with each kernel that needs it, and kept only as a piece of that kernel.
    inline : bool
        Whether the part is inlined, as parts that an event loop calls at each event are.
    """
    options: dict[str, Any] = {**UNCOUNTED, **internals.NOT_FROM_PYTHON, **internals.NOT_BY_POINTER}
    if signature is None:
        piece = njit(**{**options, **internals.AS_PART}, forceinline=inline)
        return lambda function: internals.without_literals(piece(function))
    return njit(signature, **options, forceinline=inline)


def by_type(choose: Callable[..., Callable]) -> Callable:
    """Return a function for kernels that stands for the one that `choose` returns for the argument types.

    Parameters
    ----------
    choose : callable
        Called with numba's types of the arguments; returns a Python function with the same number of
        arguments. It is inlined, and kept with the kernel: as fast as hand-written code.
    """

    def part(*_: Any) -> None:
        """Stand for the chosen function."""

    options: Any = {**UNCOUNTED, **internals.AS_PART, "forceinline": True}
    overload(part, jit_options=options, strict=False)(choose)
    return part


@lru_cache(maxsize=64)
def function_pointer(function: Any, signature: Any) -> Any:
    """Return a compiled function for a kernel, see "First-class function objects" in numba's manual.

    Numba accepts the function itself, too, and then searches for its code at each call of the kernel.
    """
    if internals.INTERPRETED:
        return function
    return internals.CompileResultWAP(function.get_compile_result(signature))

"""All uses of numba beyond its documented interface; no other file has any.

Numba may change these names in any version. So pyproject.toml allows none above the one tested, and
``tests/models/test_numba_internals.py`` states which of them a version lacks.
"""

from typing import Any

from numba import config
from numba.core import event
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from numba.core.cgutils import intp_t, voidptr_t
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.errors import NumbaError
from numba.core.types import unliteral
from numba.core.types.function_type import CompileResultWAP
from numba.core.typing.templates import AttributeTemplate

__all__ = [
    "AttributeTemplate",
    "CacheImpl",
    "CompileResultWAP",
    "NumbaError",
    "UserProvidedCacheLocator",
    "event",
    "intp_t",
    "voidptr_t",
]

INTERPRETED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # numba makes it as it is imported
"""Whether kernels are plain functions, for a debugger: `NUMBA_DISABLE_JIT` is set."""

UNCOUNTED: dict[str, Any] = {"_nrt": False}
"""Options of a kernel that counts no references to arrays, and so can allocate none."""

NOT_FROM_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True}
"""Options of a kernel that only other kernels call, perhaps through a pointer."""

NOT_BY_POINTER: dict[str, Any] = {"no_cfunc_wrapper": True}
"""Options of a kernel without pointers to it."""


def ask_first(locator: type[UserProvidedCacheLocator]) -> None:
    """Let numba ask a locator first where it keeps a kernel; must come before any kernel is made."""
    if locator not in CacheImpl._locator_classes:
        CacheImpl._locator_classes.insert(0, locator)


def without_literals(function: Any) -> Any:
    """Let numba compile a function once for all values of its arguments, not once per literal value."""
    if INTERPRETED:
        return function
    found = function.get_call_template
    function.get_call_template = lambda args, named: found(tuple(map(unliteral, args)), named)
    return function


class PartLibrary(JITCodeLibrary):
    """LLVM's code of a part, which is optimised, and becomes machine code, within kernels only.

    Numba would do both for each part by itself, too, with all the parts that it reaches.
    """

    codegen = property(lambda self: self)

    def set_env(self, name: str, environment: Any) -> None:
        """Ignore the environment for calls from Python."""

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no pointer."""
        return 0

    def finalize(self) -> None:
        """Leave the code as it is."""
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return the code with all that it reaches, for a function that numba compiles without parts."""
        whole = super()._get_module_for_linking().clone()
        _link(self, whole)
        return whole


class KernelLibrary(JITCodeLibrary):
    """LLVM's code of a kernel, with each part that it reaches once."""

    def finalize(self) -> None:
        """Link the parts, optimise everything, and generate machine code."""
        _link(self, self._final_module)
        self._linking_libraries = []
        super().finalize()


def _link(library: JITCodeLibrary, module: Any) -> None:
    """Add the code that a library reaches to a module, callers first: LLVM adds only missing code."""
    order: dict[JITCodeLibrary, None] = {}

    def reach(one: JITCodeLibrary) -> None:
        if one not in order:
            for called in one._linking_libraries if isinstance(one, PartLibrary) else ():
                reach(called)
            order[one] = None

    for called in library._linking_libraries:
        reach(called)
    for one in reversed(order):
        module.link_in(JITCodeLibrary._get_module_for_linking(one), preserve=True)
        library._reload_init.update(one._reload_init)


class _KernelCompiler(Compiler):
    library: type[JITCodeLibrary] = KernelLibrary

    def define_pipelines(self) -> Any:
        """Return numba's passes, of which the last one fills the library."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


class _PartCompiler(_KernelCompiler):
    library = PartLibrary


AS_KERNEL: dict[str, Any] = {"pipeline_class": _KernelCompiler}
"""Options of a kernel, into which its parts are compiled."""

AS_PART: dict[str, Any] = {"pipeline_class": _PartCompiler, "cache": False}
"""Options of a part that is kept within kernels only."""

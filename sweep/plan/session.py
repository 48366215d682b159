"""The identity of a function that exists only in this session: all code and values that it uses.

Values count by their content: otherwise a task would count as finished after one of them has changed. Code of
modules counts by its source, see `sweep.plan.sources`.
"""

import functools
import hashlib
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

import cloudpickle  # type: ignore[import-untyped] # it has no types

from sweep.errors import SweepError, one_line
from sweep.plan import finding, sources
from sweep.programs import DECLARED

PLAIN = (type(None), bool, int, float, complex, str, type(...))

MADE_AGAIN = {
    *("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__", "_abc_impl"),
    *("__firstlineno__", "__static_attributes__"),
}
"""Attributes that Python adds to a class, which change no result."""

OF_CODE = (
    *("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_exceptiontable"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
)


def pickled(function: Callable[..., Any], name: str) -> tuple[bytes, str]:
    """Return a function of this session in the form that workers receive, and the hash of its identity.

    Raises
    ------
    SweepError
        If it uses a value that cannot be sent to another process, and so cannot be identified either.
    """
    try:
        return cloudpickle.dumps(function), _Reach(function).digest()
    except Exception as error:  # any exception that a value of the session raises
        raise SweepError(
            f"model={name}: it uses a value that cannot be sent to other processes ({one_line(error)}); make "
            "that value within the function"
        ) from None


class _Reach:
    """Everything that a function uses, as strings that differ whenever the code or a value differs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._modules: set[str] = set()
        self._seen: dict[int, tuple[int, Any]] = {}  # keeps the value, so that no later one gets its id

    def digest(self) -> str:
        text = self._text(self._function)
        files = {name: finding.file_of(name) for name in self._modules - {"__main__"}}
        own = sorted(name for name, file in files.items() if file and not finding.is_installed(file))
        reached = sources.of_named({"code": [f"{name}.it" for name in own]})
        return hashlib.sha256(repr([text, sorted(reached.items())]).encode()).hexdigest()

    def _text(self, value: Any) -> str:
        if type(value) in PLAIN:
            return repr(value)
        if isinstance(value, bytes | bytearray):
            return hashlib.sha256(value).hexdigest()
        if id(value) in self._seen:  # a part of itself, or used twice
            return f"#{self._seen[id(value)][0]}"
        self._seen[id(value)] = len(self._seen), value
        texts = [self._text(part) for part in self._parts(value)]
        if isinstance(value, set | frozenset):  # whose order differs from process to process
            texts.sort()
        return f"{type(value).__qualname__}[{', '.join(texts)}]"

    def _parts(self, value: Any) -> Iterator[Any]:
        """Yield the parts of a value."""
        inner = getattr(value, "__wrapped__", None) or getattr(value, "py_func", None)  # cached, numba
        if isinstance(value, ModuleType):
            self._modules.add(value.__name__)
            yield value.__name__
        elif isinstance(value, type | FunctionType | BuiltinFunctionType) and self._is_of_a_module(value):
            self._modules.add(value.__module__)
            yield f"{value.__module__}.{value.__qualname__}"
        elif isinstance(value, FunctionType):
            yield from _of_function(value)
        elif isinstance(inner, FunctionType):
            yield inner
        elif isinstance(value, CodeType):
            yield from (getattr(value, name) for name in (*OF_CODE, "co_consts"))
        elif isinstance(value, type):
            yield value.__bases__
            yield {name: one for name, one in vars(value).items() if name not in MADE_AGAIN}
        elif isinstance(value, staticmethod | classmethod):
            yield value.__func__
        elif isinstance(value, property):
            yield from (value.fget, value.fset, value.fdel)
        elif isinstance(value, functools.cached_property):
            yield value.func
        elif isinstance(value, MemberDescriptorType | GetSetDescriptorType):
            yield value.__name__
        elif type(value) in (list, tuple, set, frozenset):
            yield from value
        elif type(value) is dict:
            yield from value.items()
        else:
            yield from _reduced(value)

    def _is_of_a_module(self, value: Any) -> bool:
        """Whether a module has it under its name, so that its source counts: others are made in functions."""
        module = sys.modules.get(str(value.__module__))
        if value is self._function or module is None or module.__name__ == "__main__":
            return False
        with suppress(AttributeError):
            return bool(operator.attrgetter(value.__qualname__)(module) is value)
        return False


def _of_function(function: FunctionType) -> Iterator[Any]:
    names = _names(function.__code__) & function.__globals__.keys()
    yield function.__code__
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not filled yet
            yield cell.cell_contents
    yield from (
        function.__defaults__,
        function.__kwdefaults__,
        sorted(map(repr, function.__annotations__.items())),
    )
    yield {name: value for name, value in vars(function).items() if name != DECLARED}
    yield from ((name, function.__globals__[name]) for name in sorted(names))


def _names(code: CodeType) -> set[str]:
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return {*code.co_names, *(name for one in inner for name in _names(one))}


def _reduced(value: Any) -> Iterator[Any]:
    """Yield the parts from which pickle would rebuild an object; its bytes if these are not plain values."""
    try:
        found = value.__reduce_ex__(4)
    except TypeError:
        yield cloudpickle.dumps(value)
        return
    if isinstance(found, str):  # its name in its module
        yield f"{getattr(value, '__module__', type(value).__module__)}.{found}"
        return
    make, arguments, *more = found
    yield make
    yield arguments
    for part in more:
        yield [*part] if isinstance(part, Iterator) else part

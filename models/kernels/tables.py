"""Dozens of arrays that kernels take as one pointer.

A named tuple of arrays is passed as all their addresses and lengths: hundreds of words at each call of a
part, most of the code that LLVM works on, and up to half of the time of an event.
"""

from typing import Any, get_type_hints

import numpy as np
from numba import typeof, types
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from models.arrays import Ints
from models.kernels.internals import INTERPRETED, AttributeTemplate, intp_t, voidptr_t
from models.kernels.types import of_hint

_at: dict[int, Any] = {}
"""Tables by address where kernels are interpreted, with the fields of records as attributes."""


class Tables(types.Type):
    """The type of a pointer to where the arrays of a named tuple lie, annotated as `record` takes them."""

    def __init__(self, given: type) -> None:
        hints = get_type_hints(given, include_extras=True)
        self.arrays: dict[str, types.Array] = {name: of_hint(hint) for name, hint in hints.items()}
        super().__init__(f"{given.__module__}.{given.__qualname__}")


register_model(Tables)(models.OpaqueModel)


def addresses(given: Any, tables: Tables) -> Ints:
    """Return the address and the shape of each array of a named tuple.

    A kernel takes the address of the result, which must be kept as long as the kernel runs.

    Raises
    ------
    TypeError
        With one line, for an array of another type.
    """
    made = []
    for name, array in zip(tables.arrays, given, strict=True):
        if typeof(array) != tables.arrays[name]:
            raise TypeError(f"{name} is {typeof(array)}, and has to be {tables.arrays[name]}")
        made += [array.ctypes.data, *array.shape]
    listed = np.array(made, np.int64)
    if INTERPRETED:
        _at[listed.ctypes.data] = given._make(array.view(np.recarray) for array in given)
    return listed


def at_address(tables: Tables) -> Any:
    """Return a function with which a kernel turns an address into tables."""
    if INTERPRETED:
        return _at.get

    @intrinsic
    def found(_: Any, address: Any) -> Any:
        """Return the tables."""
        kind = tables(types.uint64)
        return kind, lambda _, builder, __, given: builder.inttoptr(given[0], voidptr_t)

    return found


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Tables

    def generic_resolve(self, tables: Tables, name: str) -> Any:  # type: ignore[override]
        """Return the type of an array."""
        return tables.arrays.get(name)


@lower_getattr_generic(Tables)
def _array(context: Any, builder: Any, tables: Tables, pointer: Any, name: str) -> Any:
    """Return an array. No kernel changes where it lies, so LLVM may read that once, before a loop."""
    names, kind = list(tables.arrays), tables.arrays[name]
    at = sum(1 + tables.arrays[before].ndim for before in names[: names.index(name)])
    words = builder.bitcast(pointer, intp_t.as_pointer())
    read = [builder.load(builder.gep(words, [intp_t(at + k)])) for k in range(1 + kind.ndim)]
    for one in read:
        one.set_metadata("invariant.load", builder.module.add_metadata([]))
    size = intp_t(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in read[:1:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    made = context.make_array(kind)(context, builder)
    data = builder.inttoptr(read[0], made.data.type)
    context.populate_array(made, data=data, shape=read[1:], strides=strides, itemsize=size, meminfo=None)
    return made._getvalue()

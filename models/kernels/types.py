"""Types of the kernels' arguments."""

from __future__ import annotations

from typing import Any, get_type_hints

from numba import boolean, float64, int64, types

from models.arrays import Floats, Ints

FLOATS = float64[::1]
INTS = int64[::1]

_RECORDS: dict[str, type] = {}

OF_ANNOTATIONS = {Floats: FLOATS, Ints: INTS, bool: boolean, int: int64, float: float64}


def record(fields: type) -> Any:
    """Return the numba type of a named tuple of arrays, numbers and such tuples, as its annotations say.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Queue(NamedTuple):
    ...     job: Ints
    ...     n: int
    >>> record(Queue)
    Queue(array(int64, 1d, C), int64)
    """
    hints = get_type_hints(fields).values()
    declared = types.BaseTuple.from_types(
        [OF_ANNOTATIONS.get(hint) or record(hint) for hint in hints], fields
    )
    if _RECORDS.setdefault(declared.name, fields) is not fields:
        raise TypeError(
            f"{fields.__module__} and {_RECORDS[declared.name].__module__} both have a tuple "
            f"{fields.__name__} with fields of these types, and numba takes one for the other: rename one"
        )
    return declared

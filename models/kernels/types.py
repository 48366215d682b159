"""Types of the kernels' arguments."""

from typing import Any, get_type_hints

import numpy as np
from numba import boolean, float64, from_dtype, int64, types

from models.arrays import Floats, Ints

FLOATS = float64[::1]
INTS = int64[::1]

OF_ANNOTATIONS = {Floats: FLOATS, Ints: INTS, bool: boolean, int: int64, float: float64}


def fields(floats: str = "", ints: str = "") -> np.dtype:
    """Return the dtype of records of float64 and int64 fields, each list of names separated by blanks.

    Examples
    --------
    >>> fields("now", "n_waiting n_running").names
    ('now', 'n_waiting', 'n_running')
    """
    columns = [(name, np.float64) for name in floats.split()] + [(name, np.int64) for name in ints.split()]
    return np.dtype(columns, align=True)


def record(fields: type, **chosen: type) -> Any:
    """Return the numba type of a named tuple of arrays, numbers and such tuples, as its annotations say.

    An array of records is annotated by its dtype, ``Annotated[np.ndarray, JOB]``, any other array by numba's
    type. The type of a field that has several is given by its name.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Queue(NamedTuple):
    ...     job: Ints
    ...     n: int
    >>> record(Queue)
    Queue(array(int64, 1d, C), int64)
    """
    hints = {**get_type_hints(fields, include_extras=True), **chosen}.values()
    return types.BaseTuple.from_types([of_hint(hint) for hint in hints], fields)


def of_hint(hint: Any) -> Any:
    """Return the numba type of an annotation, see `record`."""
    if metadata := getattr(hint, "__metadata__", None):
        kind = metadata[0]
        return from_dtype(kind)[::1] if isinstance(kind, np.dtype) else kind
    return OF_ANNOTATIONS.get(hint) or record(hint)

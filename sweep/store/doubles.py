"""Doubles from the base64 of many records at once."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def doubles(texts: Iterable[bytes | memoryview], n: int) -> NDArray[np.float64]:
    """Return the numbers of each text.

    Parameters
    ----------
    texts : iterable of bytes
        Each the base64 of little-endian doubles.
    n : int
        How many there are in each.

    Returns
    -------
    ndarray, shape (len(texts), n)
        Read only.

    Raises
    ------
    ValueError
        If a text is not the base64 of `n` doubles.

    Examples
    --------
    >>> doubles([b"AAAAAAAA8D8AAAAAAAAAQA==", b"AAAAAAAA8L8AAAAAAAD4fw=="], 2).tolist()
    [[1.0, 2.0], [-1.0, nan]]
    """
    every = [a2b_base64(text, strict_mode=True) for text in texts]
    if any(len(raw) != 8 * n for raw in every):
        raise ValueError(f"not every text is the base64 of {n} doubles")
    return np.frombuffer(b"".join(every), "<f8").reshape(len(every), n)

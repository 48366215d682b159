"""Lists in arrays: the first `n` places are in use."""

import numpy as np

from models.kernels.compiling import part


@part(inline=False)
def remove(items: np.ndarray, n: int, item: int) -> int:
    """Remove an existing item, keep the order of the rest, and return the place that it had. O(n)."""
    at = 0
    while items[at] != item:
        at += 1
    for later in range(at, n - 1):
        items[later] = items[later + 1]
    return at

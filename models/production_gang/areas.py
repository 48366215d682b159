"""Step functions, and the area below them."""

import numpy as np

from models.arrays import Floats


def steps(begin: Floats, end: Floats, height: np.ndarray) -> tuple[Floats, Floats]:
    """Return times, and the sum of all heights from each of them on."""
    time = np.concatenate([begin, end])
    order = np.argsort(time, kind="stable")
    return time[order], np.cumsum(np.concatenate([height, -height]).astype(np.float64)[order])


def area(time: Floats, level: Floats, edges: Floats) -> Floats:
    """Return the integral of a step function up to each edge; before the first time it is 0."""
    if not time.size:
        return np.zeros(edges.size)
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(time))])
    at = np.clip(np.searchsorted(time, edges, side="right") - 1, 0, None)
    return area[at] + np.maximum(edges - time[at], 0.0) * level[at]

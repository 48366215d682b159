"""What happens first when several events share an instant: the rule of every event loop that has `instant`.

`models.jobs.ties` has the names. A loop advances in steps. Each takes some events of one instant, and the
scheduler goes through the queue once after them. With ``ties: instant`` a step takes all ends of its instant,
then all its submissions. With ``ties: event`` it takes one event: submissions come first, in their order,
then ends, in the order of `models.kernels.ends`.

    while True:
        next_submit = next_submission(submit, arrived)
        now = min(next_submit, next_end(end, heap, n_running))
        if now == np.inf:
            break
        n_ended = 0
        while takes_end(instant, now, next_end(end, heap, n_running), next_submit, n_ended):
            ...
            n_ended += 1
        n_taken = n_ended
        while takes_submission(instant, now, next_submission(submit, arrived), n_taken):
            ...
            n_taken += 1
"""

import numpy as np
from numba import boolean, float64, int64

from models.arrays import Floats, Ints
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS


@part(float64(FLOATS, int64))
def next_submission(submit: Floats, arrived: int) -> float:
    """Return when the next job is submitted after `arrived` jobs, inf if there is none."""
    return submit[arrived] if arrived < submit.shape[0] else np.inf


@part(float64(FLOATS, INTS, int64))
def next_end(end: Floats, heap: Ints, n: int) -> float:
    """Return when the first of `n` running jobs ends (`models.kernels.ends`), inf if none runs."""
    return end[heap[0]] if n > 0 else np.inf


@part(boolean(boolean, float64, float64, float64, int64))
def takes_end(instant: bool, now: float, ends: float, next_submit: float, n_taken: int) -> bool:
    """Return whether this step, which has taken `n_taken` events, takes the next end as well."""
    return (instant or (n_taken == 0 and next_submit > now)) and ends == now


@part(boolean(boolean, float64, float64, int64))
def takes_submission(instant: bool, now: float, next_submit: float, n_taken: int) -> bool:
    """Return whether this step, which has taken `n_taken` events, takes the next submission as well."""
    return (instant or n_taken == 0) and next_submit == now

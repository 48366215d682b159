"""An event loop makes progress or ends: it counts its steps at one instant, and stops at too many.

    state.repeated = count_repeated(state.repeated, state.now, now)
    if stands_still(state.repeated, n_jobs):
        return ...

The scalar `REPEATED` of the loop's record then still has the count, by which `check` raises.
"""

from typing import Any

from numba import boolean, float64, int64

from models.kernels.compiling import part

REPEATED = "repeated"
"""The scalar that counts the steps since time advanced."""

STEPS_OF_A_JOB, STEPS = 100, 100_000
"""Steps at one instant, for each job and timer, and in all: far more than there can be."""


@part(int64(int64, float64, float64))
def count_repeated(repeated: int, before: float, now: float) -> int:
    """Return the steps at this instant before this one. O(1)."""
    return repeated + 1 if now <= before else 0


@part(boolean(int64, int64))
def stands_still(repeated: int, n_jobs: int) -> bool:
    """Return whether there were more steps at an instant than jobs and timers allow. O(1)."""
    return repeated > STEPS + STEPS_OF_A_JOB * n_jobs


def check(scalars: Any, n_jobs: int) -> None:
    """Raise ``RuntimeError`` with one line where the loop of a record of scalars has stood still."""
    repeated = int(scalars[REPEATED])
    if repeated > STEPS + STEPS_OF_A_JOB * n_jobs:
        raise RuntimeError(
            f"time stands still at {float(scalars['now']):g} s, after {repeated:,} events at that instant, "
            f"more than {n_jobs:,} jobs and timers allow; this is a fault of the model: report its command"
        )

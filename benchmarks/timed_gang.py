"""Gang scheduling with one more metric: the CPU time that a simulation takes, so that a dataset tells it.

The sweep's own ``seconds`` are those of a wall clock and grow when others use the machine. A policy becomes
one of this family by ``policy.family=benchmarks.timed_gang``.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import numpy as np

from models import gang
from models.family import Metric, Outcome
from models.point import Point

METRIC = "kernel_seconds"


@cache
def _loaded() -> None:
    """Load the kernels, with a worker's first call: no work of theirs."""
    gang.FAMILY.warm_up()
    gang.FAMILY.preload()


def simulate(point: Point) -> Outcome:
    """Simulate as `models.gang` does; each batch reports its share of the CPU time."""
    _loaded()
    start = time.thread_time()
    outcome = gang.FAMILY.simulate(point)
    n_batches = len(outcome.metrics["slowdown"])
    share = (time.thread_time() - start) / max(n_batches, 1)
    return replace(outcome, metrics={**outcome.metrics, METRIC: np.full(n_batches, share)})


FAMILY = replace(
    gang.FAMILY,
    name="gang scheduling, timed",
    metrics=(*gang.FAMILY.metrics, Metric(METRIC, "s", "CPU time of the simulation, by batch")),
    policies="models.gang.policies",
    model=__name__,
)

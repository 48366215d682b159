"""Gang scheduling with one more metric: the CPU time that a simulation takes, as a part of the dataset.

The sweep's own ``seconds`` are those of a wall clock and grow when others use the machine. A policy becomes
one of this family by ``policy.family=benchmarks.timed_gang``.
"""

import time
from dataclasses import fields

import numpy as np

from models import gang
from models.family import Family, Metric, Outcome
from models.point import Point

METRIC = "kernel_seconds"


class Timed(Family):
    """A family whose first batch reports the CPU time that a task takes."""

    def simulate(self, point: Point) -> Outcome:
        """Run the model."""
        start = time.thread_time()
        outcome = super().simulate(point)
        outcome.metrics[METRIC] = taken = np.zeros(len(outcome.metrics[self.headline]))
        # What this takes counts as the executors': no more than has to be, without which there is no metric.
        taken[:1] = time.thread_time() - start
        return outcome


_DECLARED = {each.name: getattr(gang.FAMILY, each.name) for each in fields(Family)}

FAMILY = Timed(
    **_DECLARED
    | {
        "package": __name__,
        "policies": "models.gang.policies",
        "model": "models.gang.model",
        "name": "gang scheduling, timed",
        "metrics": (*gang.FAMILY.metrics, Metric(METRIC, "s", "CPU time of the simulation: of all batches")),
    }
)

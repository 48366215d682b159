"""Medium-term scheduling as the sweep sees it: plain data in, batches out."""

from __future__ import annotations

import numpy as np

from models.family import Outcome
from models.jobs import machine as machines
from models.medium_term import requirements, scheduling
from models.medium_term.measures import METRICS, measure
from models.point import Point


def simulate(point: Point) -> Outcome:
    """Schedule the lists of jobs of one replication, see `models.family.Family.simulate`.

    A batch's value is the mean over its lists. There is no queue, so nothing saturates.
    """
    processors = machines.of(point.machine).total
    batches = point.batches
    fill = scheduling.prepare(point.policy)
    totals = np.zeros((batches.most, len(METRICS)))
    scheduled = 0
    for batch, lists in enumerate(requirements.lists(point.workload, processors, batches, point.seed)):
        for minimum in lists:
            boxes = fill(processors, minimum)
            measure(boxes.unit, boxes.y, boxes.width, boxes.height, totals[batch])
        totals[batch] /= len(lists)
        scheduled += lists.size
        measured = totals[batches.warmup : batch + 1]
        metrics = {name: measured[:, i].copy() for i, name in enumerate(METRICS)}
        done = len(measured) in batches.looks
        if done and batches.enough is not None and batches.enough(metrics):
            break
    return Outcome(metrics, False, scheduled)

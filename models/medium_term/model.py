"""Medium-term scheduling for the sweep: a point in, batches out."""

import numpy as np

from models.family import Outcome
from models.jobs import machine as machines
from models.medium_term import engine, requirements
from models.medium_term.boxes import Totals
from models.medium_term.policies import is_stochastic, rules_of
from models.point import Batches, Point

ONE = Batches(None, 0, (1,))
"""A given list of jobs has a single schedule."""


def simulate(point: Point) -> Outcome:
    """Schedule the lists of jobs of one replication, see `models.family.Family.simulate`.

    A batch's value is the mean over its lists. There is no queue, so nothing saturates.
    """
    processors, rules = machines.of(point.machine).total, rules_of(point.policy)
    batches = point.batches if is_stochastic(point) else ONE
    totals = Totals(*np.zeros((len(Totals._fields), batches.most)))
    scheduled = 0
    for batch, lists in enumerate(requirements.lists(point.workload, processors, batches, point.seed)):
        engine.measure(rules, processors, lists, totals, batch)
        scheduled += lists.size
        metrics = {}
        for name, values in totals._asdict().items():
            values[batch] /= len(lists)
            metrics[name] = values[batches.warmup : batch + 1].copy()
        done = batch + 1 - batches.warmup in batches.checkpoints
        if done and batches.enough is not None and batches.enough(metrics):
            break
    return Outcome(metrics, scheduled)

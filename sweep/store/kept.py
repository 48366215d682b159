"""The part of each run that a dataset keeps, ``keep=``: its batches, or their mean alone."""

from collections.abc import Mapping

import numpy as np

from sweep import statistics
from sweep.config.settings import REPLICATIONS
from sweep.plan.data import Plan


def n_batches(plan: Plan) -> int:
    """Return how many batches of each run are stored."""
    return 1 if plan.settings.keep == REPLICATIONS else int(plan.longest.checkpoints[-1])


def reduced(plan: Plan, values: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Return what is stored of the metrics of a block, shape (axes..., replication, batch, own...)."""
    if plan.settings.keep != REPLICATIONS:
        return values
    place, found = len(plan.shape) + 1, {}
    for name, metric in plan.metrics.items():
        samples = np.moveaxis(values[name], place, -1)
        if metric.weight in plan.metrics:
            samples = statistics.weighed(samples, np.moveaxis(values[metric.weight], place, -1))
        found[name] = np.expand_dims(statistics.mean_of(samples, ~np.isnan(samples)), place)
    return found

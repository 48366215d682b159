"""The best contestant at a point, its probability, and its significance within its family and beyond."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.families.contestants import Contestant, Field
from analysis.study.curve import DONE
from sweep import statistics


@dataclass(frozen=True)
class Best:
    """The best at a point of the map.

    Parameters
    ----------
    probability : float
        That its mean is the lowest of all; NaN if the sample is too small.
    beats_family : bool
        Whether it is significantly better than all contestants of other families.
    beats_all : bool
        Whether it is significantly better than all others.
    """

    one: Contestant
    probability: float
    beats_family: bool
    beats_all: bool


def at(
    field: Field, metric: str, workload: str, load: float, cost: str, among: Sequence[Contestant]
) -> Best | None:
    """Return the best contestant at a load and a cost of switches; None if none has a mean.

    Each comparison is judged by its own interval, paired by the same jobs.
    """
    found: dict[Contestant, np.ndarray] = {}
    for one in among:
        curve = field.curve(metric, one, workload, cost=cost)
        place = np.flatnonzero(np.isclose(curve.x, load, equal_nan=True))
        if place.size and curve.status[place[0]] == DONE:
            found[one] = curve.values[place[0]]
    if not found:
        return None
    width = max(values.shape[1] for values in found.values())
    alike = {
        one: np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=np.nan)
        for one, values in found.items()
    }
    names = list(alike)
    means = [statistics.interval(values).mean for values in alike.values()]
    best = names[int(np.argmin(means))]

    def beaten(other: Contestant) -> bool:
        gap = statistics.paired_difference(alike[best], alike[other], field.study.confidence)
        return gap.mean + gap.half_width < 0

    others = [one for one in names if one != best]
    probability = (
        float(statistics.probability_lowest(np.array(list(alike.values())))[names.index(best)])
        if len(names) > 1
        else 1.0
    )
    return Best(
        best,
        probability,
        all(beaten(one) for one in others if one.family != best.family),
        all(map(beaten, others)),
    )

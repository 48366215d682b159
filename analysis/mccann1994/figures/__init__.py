"""The figures of the dissertation, by the experiment that has their numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from analysis.figures.captions import captioned
from analysis.mccann1994 import drawings, labels
from analysis.mccann1994.figures import exact, schedules, simulation
from analysis.paper import Picture, of_each_reading
from analysis.study import Study

FIGURES: Mapping[str, Mapping[str, Callable[[Study], Figure]]] = {
    labels.EFFICIENCY: exact.EFFICIENCIES,
    labels.MOST_LOADED: exact.FAIRNESS,
    labels.RESPONSE: {},
    labels.BLOW_UP: exact.BIRTH_DEATH,
    labels.REALLOCATIONS: schedules.DRAWN,
}
"""The figures of an experiment, by the first of these metrics that it has; `simulation` chooses by axes."""


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures in the dissertation's order; of each reading, if there are several."""
    metric = next((name for name in FIGURES if name in study.data), None)
    if metric is None:
        return []

    def of_one(one: Study) -> Iterator[Picture]:
        if metric == labels.REALLOCATIONS and not labels.on_random_lists(one):
            return schedules.examples()
        return captioned(labels.KEY, one, FIGURES[metric] or simulation.drawn(one), load=simulation.LOAD)

    found = of_each_reading(study, of_one)
    if metric == labels.EFFICIENCY:
        first, *chapter_4 = drawings.pictures()
        return [first, *found[:2], *chapter_4, *found[2:]]
    return found

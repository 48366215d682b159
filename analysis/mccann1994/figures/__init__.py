"""The figures of the dissertation, by the experiment that has their numbers."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from analysis.mccann1994 import drawings
from analysis.mccann1994.figures import birth_death, efficiency, fairness, schedules, simulation
from analysis.mccann1994.labels import BLOW_UP, EFFICIENCY, MOST_LOADED, REALLOCATIONS, RESPONSE
from analysis.paper import Picture, of_each_reading
from analysis.study import Study

FIGURES: dict[str, Callable[[Study], Iterator[Picture]]] = {
    EFFICIENCY: efficiency.pictures,
    MOST_LOADED: fairness.pictures,
    RESPONSE: simulation.pictures,
    BLOW_UP: birth_death.pictures,
    REALLOCATIONS: schedules.pictures,
}
"""The figures of an experiment, by the first of these metrics that it has."""


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures in the dissertation's order; of each reading, if there are several."""
    metric = next((name for name in FIGURES if name in study.data), None)
    if metric is None:
        return []
    found = of_each_reading(study, FIGURES[metric])
    if metric == EFFICIENCY:
        found[2:2] = drawings.pictures()
    return found

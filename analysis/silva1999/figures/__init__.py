"""The figures of the paper, those of what it only claims, and the map of what its open choices change."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.paper import Picture, of_each_reading
from analysis.silva1999.figures import assumptions, classes, gains, horizons, idling, pe_time, scale
from analysis.silva1999.labels import CENTRAL_COST, HORIZON, MIXED, PROCESSORS, SCHEME, workloads
from analysis.study import Study


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures that a study's axes have; of many readings of one horizon, the map of verdicts."""
    if len(study.readings) > 1 and not study.varies(HORIZON):
        return [*assumptions.pictures(study), *gains.of_readings(study)]
    return [*of_each_reading(study, _of_one), *assumptions.pictures(study)]


def _of_one(study: Study) -> Iterator[Picture]:
    if study.values_of(SCHEME):
        yield from idling.pictures(study)
    elif study.varies(PROCESSORS) and study.values_of(CENTRAL_COST):
        yield from scale.pictures(study)
    elif MIXED in workloads(study):
        yield from classes.pictures(study)
    else:
        if study.values_of(HORIZON):
            yield from horizons.pictures(study)
        yield from gains.pictures(study)
        yield from pe_time.pictures(study)
